//! Decides what the rows of a table are, from its columns.

use crate::sources::EntityKind;
use crate::sources::guess::header::{Meaning, Owner};
use crate::sources::guess::kinds::KindColumn;
use crate::sources::guess::table::{Column, RowKind};
use crate::sources::guess::values::{self, share};
use data::{FirmKind, Stage, StartupStatus};

/// What the columns of a table tell of its rows. The name of its file decides only what they leave open.
pub(super) struct Evidence<'c, 's> {
    pub columns: &'c [Column<'s>],
    pub file: &'c Meaning,
    /// Lines above the header.
    pub titles: &'c [String],
    pub has_several_rounds: bool,
    /// Values of the column with most.
    pub height: usize,
    pub kinds: Option<&'c KindColumn>,
}

impl<'s> Evidence<'_, 's> {
    fn any(&self, test: impl Fn(&Column<'s>) -> bool) -> bool {
        self.columns.iter().any(test)
    }

    fn has_names_of(&self, owners: &[Option<Owner>]) -> bool {
        self.any(|column| column.is_of(owners) && column.has_names())
    }

    pub(super) fn rows(&self) -> RowKind {
        let without_header =
            self.columns.iter().filter(|column| column.header.trim().is_empty() && !column.texts.is_empty());
        if without_header.count() * 2 > self.columns.len() {
            return RowKind::Unknown("most of its columns have no header");
        }
        if self.is_cap_table() {
            return RowKind::Unknown(
                "it is a cap table: its rows are the holders or classes of the shares of one company, and neither rounds nor \
                 what was invested",
            );
        }
        if self.are_rounds() {
            return RowKind::Rounds;
        }
        if self.are_people() || self.are_contacts() {
            return RowKind::People;
        }
        if let Some(kinds) = self.kinds {
            let are_startups = !kinds.values_of(EntityKind::Startup).is_empty();
            return if are_startups { RowKind::Startups } else { RowKind::Firms };
        }
        let (firms, startups) = (self.firms(), self.startups());
        if firms > startups && self.names_people_of_firms() {
            return RowKind::Unknown("its investors are people, and another column has their firms");
        }
        match firms - startups {
            more if more >= 1 => RowKind::Firms,
            less if less <= -1 => RowKind::Startups,
            _ => RowKind::Unknown("its columns do not tell if its rows are firms or startups"),
        }
    }

    /// True for the shares of one company: of their holders, or two columns with shares, or a title that says so.
    fn is_cap_table(&self) -> bool {
        let find = |test: &dyn Fn(&Column<'s>) -> bool| self.columns.iter().position(test);
        let is_holder = |column: &Column<'_>| column.meaning.owner() == Some(Owner::Holder);
        let is_startup = |column: &Column<'s>| {
            column.is_of(&[Some(Owner::Startup), Some(Owner::Organization)]) && column.has_names()
        };
        let has_title =
            || self.file.has("captable") || self.titles.iter().any(|title| Meaning::read(title).has("captable"));
        // What a portfolio has of many companies has values, too.
        let is_worth = |column: &Column<'_>| {
            values::is_of_list("holdings", column.header) && !values::is_of_list("shares", column.header)
        };
        let count = self.columns.iter().filter(|column| is_holder(column) || column.is_of_shares()).count();
        let startups = find(&is_startup);
        match find(&|column| is_holder(column) && column.noun() == Some("name")) {
            // A list of startups may name their shareholders.
            Some(holders) => {
                let is_list = |at: usize| at < holders && self.columns[at].distinct() >= 0.9;
                count > 1 || !startups.is_some_and(is_list)
            }
            None if startups.is_some() => false,
            None => {
                // The notes of one company: `Investor`, `Principal`, `Valuation cap`.
                let notes = self.columns.iter().filter(|column| values::is_of_list("notes", column.header)).count();
                let is_ledger = notes >= 2 && self.has_names_of(&[Some(Owner::Firm)]) && !self.has_names_of(&[None]);
                has_title() || is_ledger || count >= 2 && !self.any(is_worth)
            }
        }
    }

    fn are_rounds(&self) -> bool {
        if self.has_several_rounds {
            return false;
        }
        let owners = [Some(Owner::Startup), Some(Owner::Organization), None];
        // The identifier of a startup is enough if another table has its name.
        let is_id =
            |column: &Column<'_>| column.noun() == Some("key") && column.is_of(&owners[..2]) && column.is_sure();
        let has_startups = self.has_names_of(&owners) || self.any(is_id);
        let has_investors = self.any(Column::has_investors) || self.any(|column| column.meaning.has("lead"));
        // The year in which a few companies closed is no day of rounds.
        let has_days = self.any(|column| column.has_days() && column.values.len() * 4 >= self.height);
        let has_round = self.any(|column| column.noun() == Some("round") && column.is_sure());
        let points = 2 * usize::from(self.any(Column::has_amounts))
            + 2 * usize::from(has_investors)
            + usize::from(has_days)
            + usize::from(has_round || self.any(|column| column.noun() == Some("stage") && column.is_sure()));
        let is_named = self.file.has("round") || self.file.owners.contains(&Owner::Round);
        // Who met whom, and when, has investors and days, too.
        let is_round = has_round
            || self.any(Column::has_amounts)
            || self.any(|column| column.meaning.owners.contains(&Owner::Round) || column.noun() == Some("stage"));
        // A pipeline of sales has amounts and days, too.
        let is_sales = self.any(|column| column.meaning.is_sales) && !self.any(Column::has_investors);
        has_startups
            && !is_sales
            && ((has_days && has_round) || (points >= 3 && (has_days && is_round || has_round || is_named)))
    }

    fn are_people(&self) -> bool {
        let has_parts = self.any(|column| matches!(column.noun(), Some("first_name" | "last_name")));
        let has_people = self.any(|column| {
            column.noun() == Some("name")
                && (column.is_of(&[Some(Owner::Person)])
                    || (column.is_of(&[None]) && values::are_people(&column.values)))
                && values::are_names(&column.values)
        });
        let has_title = self.any(|column| column.noun() == Some("title") && column.is_of(&[None]));
        let has_address = self.any(|column| column.meaning.is_private());
        let nouns =
            ["website", "description", "founded", "sectors", "check", "aum", "stage", "round", "status", "amount"];
        let others = nouns.iter().filter(|noun| self.any(|column| column.noun() == Some(**noun))).count();
        let points = 3 * usize::from(has_parts)
            + usize::from(has_people)
            + 2 * usize::from(has_title)
            + usize::from(has_address);
        // Exports of people describe their firms, too.
        (has_parts || has_people) && (others < 2 || has_parts && has_title) && points >= 2 + 2 * others
    }

    /// True for people with the firms that they work for, and with what is known of these.
    fn are_contacts(&self) -> bool {
        let find = |test: &dyn Fn(&Column<'s>) -> bool| self.columns.iter().position(test);
        let is_part = |column: &Column<'_>| matches!(column.noun(), Some("first_name" | "last_name"));
        let is_whole = |column: &Column<'_>| {
            column.noun() == Some("name")
                && (column.is_of(&[Some(Owner::Person)]) || column.is_of(&[None]) && values::are_people(&column.values))
        };
        let is_organization = |column: &Column<'_>| {
            column.noun() == Some("name")
                && column.is_of(&[Some(Owner::Firm), Some(Owner::Startup), Some(Owner::Organization)])
                && column.has_names()
                && !column.is_list()
                && column.is_filled(self.height)
                && !values::are_people(&column.values)
        };
        let has_title = self.any(|column| column.noun() == Some("title") && column.is_of(&[None, Some(Owner::Person)]));
        let parts = self.columns.iter().filter(|column| is_part(column)).count();
        let Some(organization) = find(&is_organization) else { return false };
        // Angels name the startups that they work for.
        if !are_firms(self.columns, organization) {
            return false;
        }
        let is_founder = |column: &Column<'_>| values::has_word("founders", column.header);
        // A contact in front of a firm, not behind it.
        let whole = self.columns.iter().enumerate().position(|(index, column)| {
            is_whole(column) && (column.meaning.owners.is_empty() || index < organization && !is_founder(column))
        });
        let has_parts = parts == 2 || parts == 1 && self.any(is_whole);
        let Some(person) = (if has_parts { find(&is_part) } else { whole }) else { return false };
        let is_known = has_title || has_parts && self.any(|column| column.meaning.is_private());
        // A list of firms may have a person for each, behind what it says of them.
        let of_firms =
            organization < person && self.columns.get(organization).is_some_and(|column| column.distinct() == 1.0);
        is_known && !of_firms
    }

    /// True if the investors of a column are people, and another column has organizations.
    fn names_people_of_firms(&self) -> bool {
        let is_name = |column: &Column<'_>| column.noun() == Some("name") && column.has_names() && !column.is_list();
        // Funds may have names like people. Their managers, or the years in which they began, tell that they are none.
        let has_managers = self.any(|column| column.meaning.is_manager && is_name(column));
        let has_vintages = self.any(|column| values::is_of_list("vintages", column.header));
        let is_fund = |column: &Column<'_>| {
            values::has_word("words of funds", column.header)
                || !column.meaning.is_manager && (has_vintages || has_managers && column.is_of(&[Some(Owner::Firm)]))
        };
        let has_people =
            |column: &Column<'_>| is_name(column) && values::are_people(&column.values) && !is_fund(column);
        let others = [None, Some(Owner::Firm), Some(Owner::Startup), Some(Owner::Organization)];
        let is_other = |column: &Column<'_>| is_name(column) && column.is_of(&others) && !has_people(column);
        let has_title = self.any(|column| column.noun() == Some("title"));
        let has_firm = self.any(|column| is_other(column) && values::some(&column.values, values::has_firm_word));
        self.any(|column| column.is_of(&[None, Some(Owner::Firm)]) && has_people(column))
            && (has_firm || has_title && self.any(is_other))
    }

    /// True if a column says that the rows are those of an owner: `Portfolio Startup` in each.
    fn are_typed(&self, owner: Owner) -> bool {
        let is_of = |value: &str| {
            let meaning = Meaning::read(value);
            meaning.owner() == Some(owner) && meaning.unknown == 0
        };
        self.any(|column| column.noun() == Some("type") && share(&column.values, is_of) >= 0.95)
    }

    /// Share of distinct names in the column of startups, or of nobody in particular, that has most.
    fn most_distinct(&self) -> f64 {
        let is_name = |column: &&Column<'_>| {
            let is_plain =
                column.is_of(&[None]) && column.noun() == Some("name") && !values::are_people(&column.values);
            (is_plain || column.is_of(&[Some(Owner::Startup)])) && column.has_names()
        };
        self.columns.iter().filter(is_name).map(Column::distinct).fold(0.0, f64::max)
    }

    /// Points for rows that are firms.
    fn firms(&self) -> i32 {
        let is_own = |column: &Column<'_>| column.is_of(&[Some(Owner::Firm)]) && column.has_names();
        // What has another name in each row belongs to few firms: `Name`, and `Fund` with two values.
        let most_distinct = self.most_distinct();
        let has_name = self.any(|column| {
            is_own(column) && !column.is_list() && column.distinct() >= most_distinct && column.is_filled(self.height)
        });
        let has_field = self.any(|column| {
            matches!(column.noun(), Some("check" | "aum" | "id.crd"))
                || (column.noun() == Some("type")
                    && (column.is_of(&[Some(Owner::Firm)]) || values::is_vocabulary::<FirmKind>(&column.values)))
        });
        let has_stages = self.any(|column| {
            let step = values::list_step(&column.values).unwrap_or_default();
            column.noun() == Some("stage") && !step.is_empty()
        });
        let is_subject = |column: &&Column<'_>| {
            column.has_names() && !column.is_of(&[Some(Owner::Person)]) && !column.is_list() && column.distinct() >= 0.5
        };
        let names = self.columns.iter().filter(is_subject);
        let words = names.map(|column| share(&column.values, values::has_firm_word)).fold(0.0, f64::max);
        3 * i32::from(has_name)
            + 3 * i32::from(has_field || self.are_typed(Owner::Firm))
            + 2 * i32::from(has_stages)
            + 2 * i32::from(words >= 0.5)
            + i32::from(words >= 0.8)
            + i32::from(self.file.owners.contains(&Owner::Firm))
    }

    /// Points for rows that are startups.
    fn startups(&self) -> i32 {
        let has_name = self.any(|column| {
            column.is_of(&[Some(Owner::Startup)])
                && column.has_names()
                && !(column.is_list() && column.distinct() < 1.0)
        });
        let has_status = self.any(|column| values::is_vocabulary::<StartupStatus>(&column.values));
        // Each row has a fund, and few have all of them: a portfolio.
        let has_funds = self.any(|column| {
            column.is_of(&[Some(Owner::Firm)])
                && column.has_names()
                && column.values.len() > 3
                && column.distinct() * 2.0 <= self.most_distinct()
        });
        // Who has investors is no firm.
        let has_investors = self
            .any(|column| (column.has_investors() || column.noun() == Some("lead")) && column.is_list())
            && self.any(|column| {
                column.is_of(&[None, Some(Owner::Organization)]) && column.has_names() && column.distinct() >= 0.9
            });
        let has_founders = self.any(|column| column.noun() == Some("name") && column.is_of(&[Some(Owner::Person)]));
        let has_stage = self.any(|column| {
            column.noun() == Some("stage") && values::is_vocabulary::<Stage>(&column.values) && !column.is_list()
        });
        3 * i32::from(has_name || self.are_typed(Owner::Startup))
            + 3 * i32::from(self.has_several_rounds)
            + 2 * i32::from(has_status)
            + 2 * i32::from(has_funds || has_investors)
            + i32::from(has_founders)
            + i32::from(has_stage)
            + i32::from(self.file.owners.contains(&Owner::Startup))
    }
}

/// True if the organizations of people are firms, and none is a startup: by the header of their column, their kinds, or their names
/// and what the people are.
pub(super) fn are_firms(columns: &[Column<'_>], organizations: usize) -> bool {
    let Some(column) = columns.get(organizations) else { return false };
    let names: Vec<&str> = values::distinct(&column.values).into_iter().collect();
    let is_founder = |title: &str| values::has_word("startup titles", title) && !values::has_word("firm titles", title);
    let mut titles = columns.iter().filter(|column| column.noun() == Some("title"));
    let has_founders = titles.any(|column| share(&column.values, is_founder) > 0.2);
    let is_firm = |kind: &str| values::labelled(kind) == Some(EntityKind::Firm);
    let has_kinds = columns.iter().any(|column| column.noun() == Some("type") && share(&column.values, is_firm) >= 0.9);
    column.is_of(&[Some(Owner::Firm)]) || has_kinds || share(&names, values::has_firm_word) >= 0.6 && !has_founders
}
