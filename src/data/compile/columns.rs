//! The columns of each table of an archive.

use std::iter;

use crate::archive::column_writer::{ColumnWriter, SectionTask};
use crate::compile::Compiled;
use crate::compile::terms::FacetTerms;
use crate::derive::near_duplicates::{self, NearDuplicate};
use crate::derive::record::reference;
use crate::derive::{country_of, each_ancestor};
use crate::import::rows::DatasetInvestor;
use crate::vocabulary::Vocabulary;
use crate::{
    Facet, FirmKind, Metric, NONE_I32, NONE_U8, NONE_U16, NONE_U32, NONE_U64, OrganizationKind, PartialDate, Role,
    Stage, Table,
};

impl Compiled {
    fn begin<'t, 'a>(&'a self, tasks: &'t mut Vec<SectionTask<'a>>, table: Table) -> ColumnWriter<'t, 'a> {
        ColumnWriter::begin(tasks, &self.dataset, table, &self.orders[table])
    }

    fn write_names<'a>(
        &'a self,
        columns: &mut ColumnWriter<'_, 'a>,
        table: Table,
        aliases: impl Fn(usize) -> &'a [String] + Send + 'a,
        prominence: &'a [u32],
    ) {
        columns.texts("name", columns.rows().map(move |row| reference(&self.dataset, table, row as u32).name));
        columns.texts("aliases", columns.rows().map(move |row| aliases(row).join("|")));
        columns.numbers("prominence", move |row| prominence[row]);
        let rows = columns.rows();
        columns.section("main", move || {
            let found = near_duplicates::of_table(&self.dataset, &self.derived, &self.orders, table);
            let main = |duplicate: NearDuplicate| self.orders.new_row(table, duplicate.main);
            rows.map(|row| found[row].map_or(NONE_U32, main)).collect()
        });
    }

    fn write_sector_facet<'a>(
        &'a self,
        columns: &mut ColumnWriter<'_, 'a>,
        sectors: impl Fn(usize) -> &'a [u32] + Send + 'a,
    ) {
        columns.facet(Facet::Sector, self.dataset.sectors.len(), move |row, each| {
            each_ancestor(&self.derived.lineage, sectors(row), |sector| {
                each(self.orders.new_row(Table::Sectors, sector))
            });
        });
    }

    fn write_investor_facet<'a>(
        &'a self,
        columns: &mut ColumnWriter<'_, 'a>,
        investors: impl Fn(usize) -> &'a [DatasetInvestor] + Send + 'a,
    ) {
        columns.facet(Facet::Investor, self.dataset.firms.len(), move |row, each| {
            investors(row).iter().for_each(|investor| each(self.orders.new_row(Table::Firms, investor.firm)));
        });
    }

    pub(super) fn write_firms<'a>(&'a self, tasks: &mut Vec<SectionTask<'a>>, terms: &'a FacetTerms) {
        let (firms, stats, assessed) = (&self.dataset.firms, &self.derived.firms, &self.derived.assessments);
        let mut columns = self.begin(tasks, Table::Firms);
        self.write_names(&mut columns, Table::Firms, move |row| &firms[row].aliases, &self.derived.prominence.firms);

        columns.numbers("health_score", move |row| assessed[row].score.value.unwrap_or(NONE_U8));
        columns.numbers("ghosting_rate", move |row| assessed[row].ghosting_tenths.unwrap_or(NONE_U16));
        columns.numbers("check_min_usd", move |row| firms[row].own.check_min_usd.unwrap_or(NONE_U64));
        columns.numbers("check_max_usd", move |row| firms[row].own.check_max_usd.unwrap_or(NONE_U64));
        columns.numbers("last_investment_on", move |row| code(stats[row].last_investment_on));
        columns.numbers("country", move |row| firms[row].country.map_or(NONE_U16, |c| c.index() as u16));

        columns.name_order(move |row| &firms[row].name);
        columns.order("health_score", move |row| assessed[row].score.value);
        columns.order("ghosting_rate", move |row| assessed[row].ghosting_tenths);
        columns.order("review_count", move |row| Some(assessed[row].score.review_count));
        columns.order("portfolio_count", move |row| Some(stats[row].portfolio_count));
        columns.order("investment_count", move |row| Some(stats[row].investment_count));
        columns.order("last_investment_on", move |row| stats[row].last_investment_on.map(PartialDate::code));
        columns.order("check_min_usd", move |row| firms[row].own.check_min_usd.map(dollars));
        columns.order("founded_year", move |row| firms[row].founded_year);
        columns.order("check_max_usd", move |row| firms[row].own.check_max_usd.map(dollars));
        columns.order("aum_usd", move |row| firms[row].own.aum_usd.map(dollars));
        for metric in [Metric::Responsiveness, Metric::Fairness, Metric::ValueAdd, Metric::Activity] {
            columns.order(metric.name(), move |row| self.metric(metric, row));
        }

        columns.facet(Facet::Stage, Stage::ALL.len(), move |row, each| {
            stats[row].stages.iter().for_each(|stage| each(stage.index() as u32));
        });
        self.write_sector_facet(&mut columns, move |row| &stats[row].sectors);
        columns.country_facet(move |row| firms[row].country);
        columns.word_facet(Facet::Kind, move |row| firms[row].own.kind);

        columns.term_facet(Facet::City, &terms.cities[0], move |row| row);
        columns.term_facet(Facet::Website, &terms.websites[0], move |row| row);
        terms.write_identifiers(&mut columns, move |row| &firms[row].identifiers);
        for metric in Metric::ALL {
            columns.leaderboard(*metric, move |row| self.metric(*metric, row));
        }
    }

    /// The value of a firm's metric, by the firm's row in the dataset; `None` if the firm is not ranked.
    fn metric(&self, metric: Metric, firm: usize) -> Option<i32> {
        let rank = self.derived.assessments[firm].rank;
        let recent = self.derived.firms[firm].recent_investments;
        match metric {
            Metric::Activity => (recent > 0).then_some(recent as i32),
            _ => rank.map(|rank| rank[metric.index()]),
        }
    }

    pub(super) fn write_startups<'a>(&'a self, tasks: &mut Vec<SectionTask<'a>>, terms: &'a FacetTerms) {
        let (startups, stats) = (&self.dataset.startups, &self.derived.startups);
        let mut columns = self.begin(tasks, Table::Startups);
        let prominence = &self.derived.prominence.startups;
        self.write_names(&mut columns, Table::Startups, move |row| &startups[row].aliases, prominence);

        columns.name_order(move |row| &startups[row].name);
        columns.order("total_raised_usd", move |row| stats[row].total_raised_usd.map(dollars));
        columns.order("round_count", move |row| Some(stats[row].round_count));
        columns.order("last_round_on", move |row| stats[row].last_round_on.map(PartialDate::code));
        columns.order("founded_year", move |row| startups[row].founded_year);

        columns.word_facet(Facet::Stage, move |row| startups[row].own.stage);
        self.write_sector_facet(&mut columns, move |row| &startups[row].sectors);
        columns.country_facet(move |row| startups[row].country);
        columns.word_facet(Facet::Status, move |row| startups[row].own.status);
        columns.term_facet(Facet::City, &terms.cities[1], move |row| row);
        columns.term_facet(Facet::Website, &terms.websites[1], move |row| row);
        terms.write_identifiers(&mut columns, move |row| &startups[row].identifiers);
        self.write_investor_facet(&mut columns, move |row| &stats[row].investors);
    }

    pub(super) fn write_rounds<'a>(&'a self, tasks: &mut Vec<SectionTask<'a>>, terms: &'a FacetTerms) {
        let (rounds, startups) = (&self.dataset.rounds, &self.dataset.startups);
        let startup = move |row: usize| self.orders.new_row(Table::Startups, rounds[row].startup);
        let mut columns = self.begin(tasks, Table::Rounds);
        let credible = move |row: usize| self.derived.limits.credible(&rounds[row]);
        columns.numbers("amount_usd", move |row| credible(row).unwrap_or(NONE_U64));
        columns.numbers("announced_on", move |row| code(rounds[row].announced_on));
        columns.numbers("startup", startup);
        columns.numbers("stage", move |row| rounds[row].stage.map_or(NONE_U8, |stage| stage.index() as u8));
        let led = move |investor: &DatasetInvestor| investor.lead == Some(true);
        let firm = move |investor: &DatasetInvestor| self.orders.new_row(Table::Firms, investor.firm);
        let rows = columns.rows();
        columns.section("investors", move || {
            let joined = rows.flat_map(|row| &rounds[row].investors);
            joined.map(|investor| firm(investor) << 1 | u32::from(led(investor))).collect()
        });
        let rows = columns.rows();
        columns.section("investors#", move || {
            let mut end = 0;
            let ends = rows.map(|row| {
                end += rounds[row].investors.len() as u64;
                end
            });
            iter::once(0).chain(ends).collect()
        });

        columns.order("announced_on", move |row| rounds[row].announced_on.map(PartialDate::code));
        columns.order("amount_usd", move |row| credible(row).map(dollars));

        columns.word_facet(Facet::Stage, move |row| rounds[row].stage);
        self.write_sector_facet(&mut columns, move |row| &startups[rounds[row].startup as usize].sectors);
        columns.country_facet(move |row| startups[rounds[row].startup as usize].country);
        columns.single_facet(Facet::Startup, startups.len(), move |row| Some(startup(row)));
        self.write_investor_facet(&mut columns, move |row| &rounds[row].investors);
        columns.facet(Facet::Lead, self.dataset.firms.len(), move |row, each| {
            rounds[row].investors.iter().filter(|investor| led(investor)).map(firm).for_each(each);
        });
        columns.term_facet(Facet::City, &terms.cities[1], move |row| rounds[row].startup as usize);
        columns.facet(Facet::Kind, FirmKind::ALL.len(), move |row, each| {
            let kind_of = |investor: &DatasetInvestor| self.dataset.firms[investor.firm as usize].own.kind;
            let kinds = rounds[row].investors.iter().filter_map(kind_of);
            let kinds = kinds.fold(0_u32, |kinds, kind| kinds | 1 << kind.index());
            (0..FirmKind::ALL.len() as u32).filter(|kind| kinds >> kind & 1 == 1).for_each(each);
        });
    }

    pub(super) fn write_people<'a>(&'a self, tasks: &mut Vec<SectionTask<'a>>, terms: &'a FacetTerms) {
        let people = &self.dataset.people;
        let mut columns = self.begin(tasks, Table::People);
        self.write_names(&mut columns, Table::People, move |row| &people[row].aliases, &self.derived.prominence.people);
        columns.name_order(move |row| &people[row].name);
        columns.word_facet(Facet::Kind, move |row| Some(people[row].organization_kind));
        columns.country_facet(move |row| country_of(&self.dataset, &people[row]).map(|(country, _)| country));
        for (facet, kind, table) in [
            (Facet::Firm, OrganizationKind::Firm, Table::Firms),
            (Facet::Startup, OrganizationKind::Startup, Table::Startups),
        ] {
            columns.single_facet(facet, self.rows(table), move |row| {
                let person = &people[row];
                (person.organization_kind == kind).then(|| self.orders.new_row(table, person.organization))
            });
        }
        columns.single_facet(Facet::City, terms.cities[0].0, move |row| {
            terms.cities[people[row].organization_kind.index()].1[people[row].organization as usize]
        });
        columns.facet(Facet::Role, Role::ALL.len(), move |row, each| {
            terms.roles(row).iter().for_each(|role| each(role.index() as u32));
        });
        columns.term_facet(Facet::Title, &terms.titles, move |row| row);
        terms.write_identifiers(&mut columns, move |row| &people[row].identifiers);
    }

    pub(super) fn write_reviews<'a>(&'a self, tasks: &mut Vec<SectionTask<'a>>) {
        let reviews = &self.dataset.reviews;
        let content = move |row: usize| reviews[row].published();
        let mut columns = self.begin(tasks, Table::Reviews);
        columns.section("priors", || vec![self.derived.priors]);
        columns.order("created_on", move |row| Some(reviews[row].published_on().code()));
        columns.order("rating", move |row| Some(content(row)?.rating));
        columns.order("responsiveness", move |row| content(row)?.responsiveness);
        columns.order("fairness", move |row| content(row)?.fairness);
        columns.order("value_add", move |row| content(row)?.value_add);
        columns.single_facet(Facet::Firm, self.dataset.firms.len(), move |row| {
            Some(self.orders.new_row(Table::Firms, reviews[row].firm))
        });
        columns.word_facet(Facet::Status, move |row| reviews[row].listed_status());
        columns.word_facet(Facet::Stage, move |row| content(row)?.stage);
        columns.single_facet(Facet::Ghosted, 2, move |row| content(row)?.ghosted.map(u32::from));
        columns.single_facet(Facet::Rating, 6, move |row| Some(u32::from(content(row)?.rating)));
    }

    pub(super) fn write_sectors<'a>(&'a self, tasks: &mut Vec<SectionTask<'a>>) {
        let (sectors, stats) = (&self.dataset.sectors, &self.derived.sectors);
        let mut columns = self.begin(tasks, Table::Sectors);
        self.write_names(&mut columns, Table::Sectors, |_| &[], &self.derived.prominence.sectors);
        let parent = |row: usize| Some(self.orders.new_row(Table::Sectors, sectors[row].parent?));
        columns.numbers("parent", move |row| parent(row).unwrap_or(NONE_U32));
        columns.name_order(move |row| &sectors[row].name);
        columns.order("vc_count", move |row| Some(stats[row].vc_count));
        columns.order("startup_count", move |row| Some(stats[row].startup_count));
        columns.order("average_health_score", move |row| stats[row].average_health_tenths);
        columns.single_facet(Facet::Parent, sectors.len(), parent);
    }
}

/// An amount as a sort key; no amount exceeds the range.
fn dollars(usd: u64) -> i64 {
    i64::try_from(usd).unwrap_or(i64::MAX)
}

fn code(date: Option<PartialDate>) -> i32 {
    date.map_or(NONE_I32, PartialDate::code)
}
