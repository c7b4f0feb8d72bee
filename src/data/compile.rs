//! Compiles a checked dataset into the archive of a snapshot.
//!
//! Tables are sorted first, so that everything written afterwards (records, columns, facets, sort orders) uses the final
//! row numbers. The archive is written as a stream, with one record in memory at a time.

use std::io::{self, Write};
use std::path::Path;

use bytemuck::Pod;

use crate::data::archive::Writer;
use crate::data::archive::facet_column;
use crate::data::derive::Derived;
use crate::data::derive::record::Record;
use crate::data::derive::row_order::RowOrders;
use crate::data::derive::sort_order::{Permutation, SortOrder, ranks_of_texts};
use crate::data::fold::fold;
use crate::data::import::rows::Dataset;
use crate::data::snapshot::MetaSection;
use crate::data::vocabulary::Vocabulary;
use crate::data::{
    Country, Date, Facet, FirmKind, Metric, NONE_I32, NONE_U8, NONE_U16, NONE_U32, NONE_U64, OrganizationKind,
    ReviewStatus, SnapshotVersion, Stage, StartupStatus, Table, import,
};
use crate::data::{Progress, Report};

/// Checks the dataset in `folder` without writing anything.
pub fn check(folder: &Path, progress: &dyn Progress) -> Report {
    import::read(folder, progress).1
}

/// Reads, checks and derives the dataset in `folder`; returns the report if it has errors.
pub fn compile(folder: &Path, progress: &dyn Progress) -> Result<Compiled, Report> {
    let (dataset, report) = import::read(folder, progress);
    let Some(dataset) = dataset else { return Err(report) };
    progress.step("derive", 0);
    let derived = Derived::of(&dataset);
    let orders = RowOrders::of(&dataset, &derived);
    progress.done();
    Ok(Compiled { dataset, derived, orders, report })
}

/// A dataset with its derived values, ready to be written.
pub struct Compiled {
    dataset: Dataset,
    derived: Derived,
    orders: RowOrders,
    report: Report,
}

impl Compiled {
    pub fn version(&self) -> SnapshotVersion {
        self.dataset.meta.version
    }

    /// The warnings.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Number of rows of a table.
    pub fn rows(&self, table: Table) -> usize {
        self.orders.of_table(table).old.len()
    }

    /// Writes the archive.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = Writer::new(out)?;
        let meta = &self.dataset.meta;
        let section = MetaSection {
            version: meta.version.to_string(),
            released_on: meta.released_on.to_string(),
            title: meta.title.clone(),
            source: meta.source.clone(),
            license: meta.license.clone(),
            invented: meta.invented,
            rows: Table::ALL.map(|table| self.rows(table) as u32).to_vec(),
        };
        writer.begin("meta")?;
        writer.append(&serde_json::to_vec(&section)?)?;
        for table in Table::ALL {
            self.write_records(&mut writer, table)?;
        }
        self.write_firms(&mut writer)?;
        self.write_startups(&mut writer)?;
        self.write_rounds(&mut writer)?;
        self.write_people(&mut writer)?;
        self.write_reviews(&mut writer)?;
        self.write_sectors(&mut writer)?;
        writer.finish()
    }

    fn write_records(&self, writer: &mut Writer<'_>, table: Table) -> io::Result<()> {
        let name = table.name();
        let old = &self.orders.of_table(table).old;
        let mut record = Record::default();
        let mut starts = Vec::with_capacity(old.len() + 1);
        let mut ends: Vec<u32> = Vec::with_capacity(old.len() * table.fields().len());
        let mut at = 0_u64;
        writer.begin(&format!("{name}/text"))?;
        for row in old {
            record.write(&self.dataset, &self.derived, table, *row as usize);
            starts.push(at);
            ends.extend_from_slice(&record.ends);
            writer.append(&record.text)?;
            at += record.text.len() as u64;
        }
        starts.push(at);
        writer.section(&format!("{name}/starts"), &starts)?;
        writer.section(&format!("{name}/ends"), &ends)
    }

    /// The value of each row, in the table's order.
    fn column<'s, T>(&'s self, table: Table, value: impl Fn(usize) -> T + 's) -> impl Iterator<Item = T> + 's {
        self.orders.of_table(table).old.iter().map(move |row| value(*row as usize))
    }

    fn numbers<T: Pod>(
        &self,
        writer: &mut Writer<'_>,
        table: Table,
        name: &str,
        value: impl Fn(usize) -> T,
    ) -> io::Result<()> {
        let values: Vec<T> = self.column(table, value).collect();
        writer.section(&format!("{}/{name}", table.name()), &values)
    }

    /// Writes slugs and their order; returns the rank of each slug.
    fn write_slugs<'s>(
        &'s self,
        writer: &mut Writer<'_>,
        table: Table,
        slug: impl Fn(usize) -> &'s str,
    ) -> io::Result<Vec<u32>> {
        let name = table.name();
        let slugs: Vec<&str> = self.column(table, slug).collect();
        writer.texts(&format!("{name}/slug"), slugs.iter().copied())?;
        let sorted = Permutation::by_text(slugs.len(), |row| slugs[row]);
        writer.section(&format!("{name}/by_slug"), &sorted.old)?;
        writer.section(&format!("{name}/slug_rank"), &sorted.new)?;
        Ok(sorted.new)
    }

    fn write_names<'s>(
        &'s self,
        writer: &mut Writer<'_>,
        table: Table,
        name: impl Fn(usize) -> &'s str,
        aliases: impl Fn(usize) -> &'s [String],
        prominence: impl Fn(usize) -> u32,
    ) -> io::Result<()> {
        let prefix = table.name();
        writer.texts(&format!("{prefix}/name"), self.column(table, name))?;
        let aliases: Vec<String> = self.column(table, |row| aliases(row).join("|")).collect();
        writer.texts(&format!("{prefix}/aliases"), aliases.iter().map(String::as_str))?;
        self.numbers(writer, table, "prominence", prominence)
    }

    fn write_order<V: Ord + Copy>(
        &self,
        writer: &mut Writer<'_>,
        table: Table,
        key: &str,
        slug_ranks: &[u32],
        value: impl Fn(usize) -> Option<V>,
    ) -> io::Result<()> {
        let old = &self.orders.of_table(table).old;
        let order = SortOrder::by(slug_ranks, |row| value(old[row] as usize));
        let name = format!("{}/sort/{key}", table.name());
        writer.section(&format!("{name}+"), &order.ascending)?;
        writer.section(&format!("{name}-"), &order.descending)?;
        writer.section(&format!("{name}="), &order.ranks)
    }

    /// Writes the order of the folded names.
    fn write_name_order<'s>(
        &'s self,
        writer: &mut Writer<'_>,
        table: Table,
        slug_ranks: &[u32],
        name: impl Fn(usize) -> &'s str,
    ) -> io::Result<()> {
        let names: Vec<String> = self.column(table, |row| fold(name(row))).collect();
        let ranks = ranks_of_texts(&names);
        let new = &self.orders.of_table(table).new;
        self.write_order(writer, table, "name", slug_ranks, |row| Some(ranks[new[row] as usize]))
    }

    fn write_facet(
        &self,
        writer: &mut Writer<'_>,
        table: Table,
        facet: Facet,
        values: usize,
        of: impl Fn(usize, &mut dyn FnMut(u32)),
    ) -> io::Result<()> {
        let old = &self.orders.of_table(table).old;
        facet_column::write(writer, &format!("{}/{}", table.name(), facet.name()), values, old.len(), |each| {
            for (row, old) in old.iter().enumerate() {
                of(*old as usize, &mut |value| each(value, row as u32));
            }
        })
    }

    fn write_sector_facet<'s>(
        &'s self,
        writer: &mut Writer<'_>,
        table: Table,
        sectors: impl Fn(usize) -> &'s [u32],
    ) -> io::Result<()> {
        self.write_facet(writer, table, Facet::Sector, self.dataset.sectors.len(), |row, each| {
            self.derived.each_ancestor(sectors(row), |sector| each(self.orders.sectors.new[sector as usize]));
        })
    }

    fn write_country_facet(
        &self,
        writer: &mut Writer<'_>,
        table: Table,
        country: impl Fn(usize) -> Option<Country>,
    ) -> io::Result<()> {
        self.write_facet(writer, table, Facet::Country, Country::all().count(), |row, each| {
            if let Some(country) = country(row) {
                each(country.index() as u32);
            }
        })
    }

    fn write_word_facet<V: Vocabulary>(
        &self,
        writer: &mut Writer<'_>,
        table: Table,
        facet: Facet,
        word: impl Fn(usize) -> Option<V>,
    ) -> io::Result<()> {
        self.write_facet(writer, table, facet, V::ALL.len(), |row, each| {
            if let Some(word) = word(row) {
                each(word.index() as u32);
            }
        })
    }

    fn write_firms(&self, writer: &mut Writer<'_>) -> io::Result<()> {
        const TABLE: Table = Table::Firms;
        let (firms, stats, assessed) = (&self.dataset.firms, &self.derived.firms, &self.derived.assessments);
        let slug_ranks = self.write_slugs(writer, TABLE, |row| &firms[row].slug)?;
        let prominence = |row: usize| stats[row].investment_count.saturating_add(assessed[row].score.review_count);
        self.write_names(writer, TABLE, |row| &firms[row].name, |row| &firms[row].aliases, prominence)?;

        self.numbers(writer, TABLE, "health_score", |row| assessed[row].score.value.unwrap_or(NONE_U8))?;
        self.numbers(writer, TABLE, "ghosting_rate", |row| assessed[row].ghosting_tenths.unwrap_or(NONE_U16))?;
        self.numbers(writer, TABLE, "review_count", |row| assessed[row].score.review_count)?;
        self.numbers(writer, TABLE, "check_min_usd", |row| firms[row].check_min_usd.unwrap_or(NONE_U64))?;
        self.numbers(writer, TABLE, "check_max_usd", |row| firms[row].check_max_usd.unwrap_or(NONE_U64))?;
        self.numbers(writer, TABLE, "last_investment_on", |row| days(stats[row].last_investment_on))?;
        self.numbers(writer, TABLE, "country", |row| firms[row].country.map_or(NONE_U16, |c| c.index() as u16))?;

        let order = |writer: &mut Writer<'_>, key: &str, value: &dyn Fn(usize) -> Option<i64>| {
            self.write_order(writer, TABLE, key, &slug_ranks, value)
        };
        self.write_name_order(writer, TABLE, &slug_ranks, |row| &firms[row].name)?;
        order(writer, "health_score", &|row| assessed[row].score.value.map(i64::from))?;
        order(writer, "ghosting_rate", &|row| assessed[row].ghosting_tenths.map(i64::from))?;
        order(writer, "review_count", &|row| Some(i64::from(assessed[row].score.review_count)))?;
        order(writer, "portfolio_count", &|row| Some(i64::from(stats[row].portfolio_count)))?;
        order(writer, "investment_count", &|row| Some(i64::from(stats[row].investment_count)))?;
        order(writer, "last_investment_on", &|row| stats[row].last_investment_on.map(|date| i64::from(date.days())))?;
        order(writer, "check_min_usd", &|row| firms[row].check_min_usd.map(|usd| usd as i64))?;
        order(writer, "founded_year", &|row| firms[row].founded_year.map(i64::from))?;

        self.write_facet(writer, TABLE, Facet::Stage, Stage::ALL.len(), |row, each| {
            stats[row].stages.iter().for_each(|stage| each(stage.index() as u32));
        })?;
        self.write_sector_facet(writer, TABLE, |row| &stats[row].sectors)?;
        self.write_country_facet(writer, TABLE, |row| firms[row].country)?;
        self.write_word_facet::<FirmKind>(writer, TABLE, Facet::Kind, |row| firms[row].kind)?;

        let of_city: Vec<Option<String>> =
            firms.iter().map(|firm| firm.city.as_deref().map(fold).filter(|city| !city.is_empty())).collect();
        let mut cities: Vec<&str> = of_city.iter().flatten().map(String::as_str).collect();
        cities.sort_unstable();
        cities.dedup();
        writer.texts("firms/cities", cities.iter().copied())?;
        self.write_facet(writer, TABLE, Facet::City, cities.len(), |row, each| {
            if let Some(city) = &of_city[row] {
                each(cities.binary_search(&city.as_str()).expect("all cities are listed") as u32);
            }
        })?;
        for metric in Metric::ALL {
            self.write_leaderboard(writer, *metric, &slug_ranks)?;
        }
        Ok(())
    }

    /// Writes the leaderboard of a metric: the ranked rows, best first, and their values.
    fn write_leaderboard(&self, writer: &mut Writer<'_>, metric: Metric, slug_ranks: &[u32]) -> io::Result<()> {
        let mut leaderboard: Vec<(i32, u32)> = Vec::new();
        for (row, old) in self.orders.firms.old.iter().enumerate() {
            let rank = self.derived.assessments[*old as usize].rank;
            let recent = self.derived.firms[*old as usize].recent_investments;
            let value = match metric {
                Metric::HealthScore => rank.map(|rank| rank.cautious_tenths),
                Metric::Responsiveness => rank.map(|rank| rank.means[0]),
                Metric::Fairness => rank.map(|rank| rank.means[1]),
                Metric::ValueAdd => rank.map(|rank| rank.means[2]),
                Metric::GhostingRate => rank.map(|rank| rank.ghosting),
                Metric::Activity => (recent > 0).then_some(recent as i32),
            };
            leaderboard.extend(value.map(|value| (value, row as u32)));
        }
        let ascending = metric == Metric::GhostingRate;
        leaderboard.sort_unstable_by_key(|(value, row)| {
            let value = i64::from(*value);
            (if ascending { value } else { -value }, slug_ranks[*row as usize])
        });
        let (values, rows): (Vec<i32>, Vec<u32>) = leaderboard.into_iter().unzip();
        writer.section(&format!("firms/leaderboard/{}", metric.name()), &rows)?;
        writer.section(&format!("firms/leaderboard/{}=", metric.name()), &values)
    }

    fn write_startups(&self, writer: &mut Writer<'_>) -> io::Result<()> {
        const TABLE: Table = Table::Startups;
        let (startups, stats) = (&self.dataset.startups, &self.derived.startups);
        let slug_ranks = self.write_slugs(writer, TABLE, |row| &startups[row].slug)?;
        let prominence = |row: usize| {
            let money = stats[row].total_raised_usd.map_or(0, |usd| usd.max(1).ilog2());
            stats[row].round_count * 4 + stats[row].investors.len() as u32 + money
        };
        self.write_names(writer, TABLE, |row| &startups[row].name, |row| &startups[row].aliases, prominence)?;

        self.write_name_order(writer, TABLE, &slug_ranks, |row| &startups[row].name)?;
        self.write_order(writer, TABLE, "total_raised_usd", &slug_ranks, |row| stats[row].total_raised_usd)?;
        self.write_order(writer, TABLE, "round_count", &slug_ranks, |row| Some(stats[row].round_count))?;
        self.write_order(writer, TABLE, "last_round_on", &slug_ranks, |row| stats[row].last_round_on)?;
        self.write_order(writer, TABLE, "founded_year", &slug_ranks, |row| startups[row].founded_year)?;

        self.write_word_facet::<Stage>(writer, TABLE, Facet::Stage, |row| startups[row].stage)?;
        self.write_sector_facet(writer, TABLE, |row| &startups[row].sectors)?;
        self.write_country_facet(writer, TABLE, |row| startups[row].country)?;
        self.write_word_facet::<StartupStatus>(writer, TABLE, Facet::Status, |row| startups[row].status)?;
        self.write_facet(writer, TABLE, Facet::Investor, self.dataset.firms.len(), |row, each| {
            stats[row].investors.iter().for_each(|investor| each(self.orders.firms.new[investor.firm as usize]));
        })
    }

    fn write_rounds(&self, writer: &mut Writer<'_>) -> io::Result<()> {
        const TABLE: Table = Table::Rounds;
        let (rounds, startups) = (&self.dataset.rounds, &self.dataset.startups);
        let slug_ranks = self.write_slugs(writer, TABLE, |row| &rounds[row].id)?;
        self.numbers(writer, TABLE, "amount_usd", |row| rounds[row].amount_usd.unwrap_or(NONE_U64))?;
        self.numbers(writer, TABLE, "announced_on", |row| days(rounds[row].announced_on))?;
        self.numbers(writer, TABLE, "startup", |row| self.orders.startups.new[rounds[row].startup as usize])?;
        self.numbers(writer, TABLE, "stage", |row| rounds[row].stage.index() as u8)?;
        let mut starts: Vec<u64> = vec![0];
        let mut investors: Vec<u32> = Vec::new();
        for row in &self.orders.rounds.old {
            for investor in &rounds[*row as usize].investors {
                investors.push(self.orders.firms.new[investor.firm as usize] << 1 | u32::from(investor.lead));
            }
            starts.push(investors.len() as u64);
        }
        writer.section("funding_rounds/investors", &investors)?;
        writer.section("funding_rounds/investors#", &starts)?;

        self.write_order(writer, TABLE, "announced_on", &slug_ranks, |row| rounds[row].announced_on)?;
        self.write_order(writer, TABLE, "amount_usd", &slug_ranks, |row| rounds[row].amount_usd)?;

        self.write_word_facet::<Stage>(writer, TABLE, Facet::Stage, |row| Some(rounds[row].stage))?;
        self.write_sector_facet(writer, TABLE, |row| &startups[rounds[row].startup as usize].sectors)?;
        self.write_country_facet(writer, TABLE, |row| startups[rounds[row].startup as usize].country)?;
        self.write_facet(writer, TABLE, Facet::Startup, startups.len(), |row, each| {
            each(self.orders.startups.new[rounds[row].startup as usize]);
        })?;
        self.write_facet(writer, TABLE, Facet::Investor, self.dataset.firms.len(), |row, each| {
            rounds[row].investors.iter().for_each(|investor| each(self.orders.firms.new[investor.firm as usize]));
        })
    }

    fn write_people(&self, writer: &mut Writer<'_>) -> io::Result<()> {
        const TABLE: Table = Table::People;
        let people = &self.dataset.people;
        let slug_ranks = self.write_slugs(writer, TABLE, |row| &people[row].slug)?;
        let prominence = |row: usize| match people[row].organization_kind {
            OrganizationKind::Firm => self.derived.firms[people[row].organization as usize].investment_count,
            OrganizationKind::Startup => self.derived.startups[people[row].organization as usize].round_count,
        };
        self.write_names(writer, TABLE, |row| &people[row].name, |_| &[], prominence)?;
        self.write_name_order(writer, TABLE, &slug_ranks, |row| &people[row].name)?;
        self.write_word_facet::<OrganizationKind>(writer, TABLE, Facet::Kind, |row| {
            Some(people[row].organization_kind)
        })?;
        self.write_country_facet(writer, TABLE, |row| people[row].country)?;
        let member = |kind: OrganizationKind, row: usize| {
            (people[row].organization_kind == kind).then_some(people[row].organization as usize)
        };
        self.write_facet(writer, TABLE, Facet::Firm, self.dataset.firms.len(), |row, each| {
            member(OrganizationKind::Firm, row).into_iter().for_each(|firm| each(self.orders.firms.new[firm]));
        })?;
        self.write_facet(writer, TABLE, Facet::Startup, self.dataset.startups.len(), |row, each| {
            member(OrganizationKind::Startup, row)
                .into_iter()
                .for_each(|startup| each(self.orders.startups.new[startup]));
        })
    }

    fn write_reviews(&self, writer: &mut Writer<'_>) -> io::Result<()> {
        const TABLE: Table = Table::Reviews;
        let reviews = &self.dataset.reviews;
        let slug_ranks = self.write_slugs(writer, TABLE, |row| &reviews[row].id)?;
        self.write_order(writer, TABLE, "created_on", &slug_ranks, |row| Some(reviews[row].created_on))?;
        self.write_order(writer, TABLE, "rating", &slug_ranks, |row| Some(reviews[row].rating))?;
        self.write_facet(writer, TABLE, Facet::Firm, self.dataset.firms.len(), |row, each| {
            each(self.orders.firms.new[reviews[row].firm as usize]);
        })?;
        self.write_word_facet::<ReviewStatus>(writer, TABLE, Facet::Status, |row| Some(reviews[row].status))?;
        self.write_word_facet::<Stage>(writer, TABLE, Facet::Stage, |row| reviews[row].stage)?;
        self.write_facet(writer, TABLE, Facet::Ghosted, 2, |row, each| {
            reviews[row].ghosted.into_iter().for_each(|ghosted| each(u32::from(ghosted)));
        })?;
        self.write_facet(writer, TABLE, Facet::Rating, 6, |row, each| each(u32::from(reviews[row].rating)))
    }

    fn write_sectors(&self, writer: &mut Writer<'_>) -> io::Result<()> {
        const TABLE: Table = Table::Sectors;
        let (sectors, stats) = (&self.dataset.sectors, &self.derived.sectors);
        let slug_ranks = self.write_slugs(writer, TABLE, |row| &sectors[row].slug)?;
        let prominence = |row: usize| stats[row].vc_count.saturating_add(stats[row].startup_count);
        self.write_names(writer, TABLE, |row| &sectors[row].name, |_| &[], prominence)?;
        let parent = |row: usize| sectors[row].parent.map(|parent| self.orders.sectors.new[parent as usize]);
        self.numbers(writer, TABLE, "parent", |row| parent(row).unwrap_or(NONE_U32))?;
        self.write_name_order(writer, TABLE, &slug_ranks, |row| &sectors[row].name)?;
        self.write_order(writer, TABLE, "vc_count", &slug_ranks, |row| Some(stats[row].vc_count))?;
        self.write_order(writer, TABLE, "startup_count", &slug_ranks, |row| Some(stats[row].startup_count))?;
        self.write_facet(writer, TABLE, Facet::Parent, sectors.len(), |row, each| {
            parent(row).into_iter().for_each(each);
        })
    }
}

fn days(date: Option<Date>) -> i32 {
    date.map_or(NONE_I32, Date::days)
}
