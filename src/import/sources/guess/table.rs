//! What the rows of a table are, and which column is which field: headers and values decide together.

use std::collections::BTreeMap;

use crate::sources::guess::FileDescription;
use crate::sources::guess::header::{self, Meaning, Owner, words};
use crate::sources::guess::sample::Sample;
use crate::sources::guess::values::{self, most, share, some};
use crate::sources::input::column_name;
use crate::sources::mapping::list;
use crate::sources::missing::MissingIn;
use crate::sources::money::{self, MoneyCell, Sign};
use data::{FirmKind, Stage, StartupStatus};

pub(super) struct Column<'s> {
    pub header: &'s str,
    pub meaning: Meaning,
    /// Its values, without texts of unknown ones.
    pub values: Vec<&'s str>,
    /// All its values.
    pub texts: Vec<&'s str>,
    /// True if a mapping can name it: it has a header that no earlier column has.
    pub is_named: bool,
}

/// What the rows of a table are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RowKind {
    Firms,
    Startups,
    Rounds,
    People,
    /// Rows that are not described, and why.
    Unknown(&'static str),
}

/// The columns of a table with what they mean.
pub(super) struct Outline<'s> {
    pub columns: Vec<Column<'s>>,
    /// Values of the column with most.
    pub height: usize,
    pub rows: RowKind,
    /// Column with the names of firms, startups or people; of rounds, those of their startups.
    pub subject: Option<usize>,
    /// Column whose values identify the rows.
    pub id: Option<usize>,
    pub described: &'s FileDescription,
    /// Lines above the header.
    pub titles: &'s [String],
    /// Meaning of the name of the file.
    pub file: Meaning,
}

impl<'s> Column<'s> {
    fn all(sample: &'s Sample) -> Vec<Self> {
        let mut known: Vec<String> = Vec::new();
        let mut columns = Vec::new();
        let prefix = header::shared_prefix(&sample.headers).unwrap_or_default();
        for (index, header) in sample.headers.iter().enumerate() {
            let name = column_name(header);
            let texts: Vec<&str> = sample.values.get(index).into_iter().flatten().map(String::as_str).collect();
            columns.push(Self {
                header,
                meaning: Meaning::read_below(prefix, header),
                values: texts.iter().copied().filter(|text| !MissingIn::Other.is_missing(text)).collect(),
                texts,
                is_named: !name.is_empty() && !known.contains(&name),
            });
            known.push(name);
        }
        columns
    }

    pub(super) fn noun(&self) -> Option<&'static str> {
        match self.meaning.noun().filter(|_| self.meaning.is_plain()) {
            // `Investor category`
            Some("sectors") if values::is_vocabulary::<FirmKind>(&self.values) => Some("type"),
            noun => noun,
        }
    }

    /// True if at least every second row has a value.
    fn is_filled(&self, height: usize) -> bool {
        self.values.len() * 2 >= height
    }

    /// True if nothing of the header is unknown.
    pub(super) fn is_sure(&self) -> bool {
        self.meaning.unknown == 0
    }

    pub(super) fn is_of(&self, owners: &[Option<Owner>]) -> bool {
        owners.contains(&self.meaning.owner())
    }

    /// Share of distinct values. Notes behind names, such as addresses of pages, do not count.
    fn distinct(&self) -> f64 {
        let bare = |value: &'s str| list::note(value).map_or(value, |(name, _)| name);
        let names: Vec<&str> = self.values.iter().map(|value| bare(value)).collect();
        values::distinct(&names).len() as f64 / self.values.len().max(1) as f64
    }

    /// True if some cells have several values. A few commas may be part of names.
    fn is_list(&self) -> bool {
        match values::list_step(&self.values) {
            Some(step) => values::split(&self.values, step).len() * 4 >= self.values.len() * 5,
            None => some(&self.values, |value| value.starts_with(['[', '{'])),
        }
    }

    /// False for managers that do not look like firms: they may be people.
    fn may_be_firms(&self) -> bool {
        !self.meaning.is_manager || share(&self.values, values::has_firm_word) >= 0.3
    }

    /// True if the cells name firms that invest, one or several.
    pub(super) fn has_investors(&self) -> bool {
        let is_text = |value: &str| value.chars().any(char::is_alphabetic) && !values::is_email(value);
        let is_other = |value: &str| values::is_flag(value) || value.starts_with("http") || values::is_date(value);
        self.noun() == Some("name")
            && self.is_of(&[Some(Owner::Firm)])
            && self.is_sure()
            && share(&self.values, is_text) >= 0.9
            && !some(&self.values, is_other)
            && !some(&self.values, |value| value.contains(char::is_numeric) && MoneyCell::read(value).is_some())
            && !values::is_vocabulary::<FirmKind>(&self.values)
            && self.may_be_firms()
    }

    /// True if the header names the amounts of rounds. A size or a round is one if it has a currency: `Size ($)`.
    pub(super) fn names_amounts(&self) -> bool {
        let is_sum = || self.noun() == Some("size") || self.meaning.is_of_round();
        self.noun() == Some("amount") || is_sum() && money::currency_of_header(self.header).is_some()
    }

    pub(super) fn has_amounts(&self) -> bool {
        self.names_amounts()
            && self.is_of(&[None, Some(Owner::Round), Some(Owner::Startup)])
            && most(&self.values, |value| MoneyCell::read(value).is_some())
            && !most(&self.values, values::is_date)
    }

    /// True if it has the days of rounds.
    pub(super) fn has_days(&self) -> bool {
        self.noun() == Some("date")
            && self.is_sure()
            && self.is_of(&[None, Some(Owner::Round)])
            && most(&self.values, |value| values::is_date(value) || values::is_year(value))
    }

    fn has_names(&self) -> bool {
        matches!(self.noun(), Some("name" | "legal"))
            && self.is_sure()
            && values::are_names(&self.values)
            && self.may_be_firms()
    }
}

impl<'s> Outline<'s> {
    /// `file` is the meaning of the name of the file or the sheet.
    pub(super) fn new(file: Meaning, sample: &'s Sample, described: &'s FileDescription) -> Self {
        let columns = Column::all(sample);
        let height = columns.iter().map(|column| column.texts.len()).max().unwrap_or_default();
        let rows = Evidence { columns: &columns, file: &file, height }.rows();
        let mut outline =
            Self { columns, height, rows, subject: None, id: None, described, titles: &sample.titles, file };
        outline.subject = outline.find_subject();
        if outline.subject.is_none() && matches!(outline.rows, RowKind::Firms | RowKind::Startups) {
            outline.rows = RowKind::Unknown("no column is sure to have names");
        }
        outline.id = outline.find_id();
        outline
    }

    /// Whose table it is, if it has firms or startups.
    pub(super) fn owner(&self) -> Option<Owner> {
        match self.rows {
            RowKind::Firms => Some(Owner::Firm),
            RowKind::Startups => Some(Owner::Startup),
            _ => None,
        }
    }

    /// Column with the names of the rows' firms, startups or people.
    fn find_subject(&self) -> Option<usize> {
        let own = match self.rows {
            RowKind::Firms => Owner::Firm,
            RowKind::Startups | RowKind::Rounds => Owner::Startup,
            RowKind::People => Owner::Person,
            RowKind::Unknown(_) => return None,
        };
        let score = |column: &Column<'_>| {
            let owner = match column.meaning.owner() {
                Some(owner) if owner == own => 4,
                None => 3,
                Some(Owner::Organization) if own != Owner::Person => 3,
                Some(Owner::Startup) if own == Owner::Firm => 2,
                _ => return None,
            };
            let is_fit = column.is_named && column.has_names();
            // The names of a list differ.
            let is_list = !matches!(self.rows, RowKind::Rounds | RowKind::People);
            let is_own = !is_list || column.distinct() >= 0.5 && column.is_filled(self.height);
            let is_first = u32::from(column.noun() == Some("name"));
            // The firm of a fund is its manager.
            let is_manager = u32::from(column.meaning.is_manager);
            (is_fit && is_own).then_some(owner * 2 + is_first * 2 + is_manager)
        };
        let scored = self.columns.iter().enumerate().filter_map(|(index, column)| Some((score(column)?, index)));
        scored.max_by_key(|(score, index)| (*score, std::cmp::Reverse(*index))).map(|(_, index)| index)
    }

    /// Column with the identifiers of the rows: each has another one. Those of rounds may group rows.
    fn find_id(&self) -> Option<usize> {
        let own: &[Option<Owner>] = match self.rows {
            RowKind::Firms => &[None, Some(Owner::Firm), Some(Owner::Organization)],
            RowKind::Startups => &[None, Some(Owner::Startup), Some(Owner::Organization)],
            RowKind::Rounds => &[None, Some(Owner::Round)],
            RowKind::People => &[None, Some(Owner::Person)],
            RowKind::Unknown(_) => return None,
        };
        let is_id = |column: &Column<'_>| {
            let is_grouped = self.rows == RowKind::Rounds && column.meaning.owner() == Some(Owner::Round);
            column.noun() == Some("key")
                && column.is_named
                && column.is_sure()
                && column.is_of(own)
                && column.values.len() == self.height
                && self.height > 1
                && (is_grouped || values::distinct(&column.values).len() == self.height)
        };
        self.columns.iter().position(is_id)
    }

    /// Columns that identify the rows as they are described; none if that is the name.
    pub(super) fn described_key(&self) -> &'s [String] {
        let subject = self.subject.and_then(|subject| self.columns.get(subject));
        let is_name = subject.is_some_and(|column| matches!(&*self.described.key, [key] if key == column.header));
        if is_name { &[] } else { &self.described.key }
    }

    /// Columns that pass a test and that a mapping can name.
    pub(super) fn all(&self, test: impl Fn(&Column<'s>) -> bool) -> Vec<usize> {
        let passes = |index: &usize| self.columns.get(*index).is_some_and(|column| column.is_named && test(column));
        (0..self.columns.len()).filter(passes).collect()
    }

    /// Headers of columns whose values are written once for several rows, as in merged cells: rounds with an investor in each
    /// row, or with a list that is broken behind a separator. None if a row below might also be the rest of a name.
    pub(super) fn filled_down(&self, sample: &Sample) -> Vec<&'s str> {
        let (RowKind::Rounds, Some(subject)) = (&self.rows, self.subject) else { return Vec::new() };
        let cell = |column: usize, row: usize| {
            let at = sample.rows.get(column)?.binary_search(&row).ok()?;
            sample.values.get(column)?.get(at).map(String::as_str)
        };
        let below: Vec<usize> = (0..sample.height).filter(|row| cell(subject, *row).is_none()).collect();
        let lists = self.all(|column| column.has_investors() || column.noun() == Some("lead"));
        // A row with a day or an amount of its own is another round of the same startup.
        let own = self.all(|column| column.has_days() || column.has_amounts());
        let has = |columns: &[usize], row: &usize| columns.iter().any(|column| cell(*column, *row).is_some());
        let is_broken = |column: usize, row: usize| {
            let ends = |text: &str| text.ends_with([',', ';', '/', '&', '+', '、', '،']);
            cell(column, row).is_none() || row.checked_sub(1).and_then(|above| cell(column, above)).is_some_and(ends)
        };
        let is_whole = |column: &&usize| {
            let texts = self.columns.get(**column).map_or(&[][..], |column| &column.texts);
            values::list_step(texts) == Some("")
        };
        let divided: Vec<usize> = lists.iter().filter(|column| !is_whole(column)).copied().collect();
        let is_row =
            |row: &usize| has(&own, row) || has(&lists, row) && divided.iter().all(|column| is_broken(*column, *row));
        if below.first().is_none_or(|first| *first == 0) || !below.iter().all(is_row) {
            return Vec::new();
        }
        // Each round has an amount, a date and a stage of its own.
        let has_rounds = below.iter().any(|row| has(&own, row));
        let of_rounds = self.all(|column| matches!(column.noun(), Some("amount" | "date" | "round" | "stage")));
        let is_own = |column: &usize| lists.contains(column) || has_rounds && of_rounds.contains(column);
        let is_once = |column: &usize| !is_own(column) && below.iter().all(|row| cell(*column, *row).is_none());
        let columns = self.all(|column| !column.texts.is_empty());
        columns
            .iter()
            .filter(|column| is_once(column))
            .filter_map(|column| Some(self.columns.get(*column)?.header))
            .collect()
    }

    /// Column with the currencies of another one's amounts: the one whose header is the most like that of the amounts.
    pub(super) fn currency_of(&self, amounts: usize) -> Option<usize> {
        let wanted = words(self.columns.get(amounts)?.header);
        let is_near = |index: &usize| {
            let known = words(self.columns.get(*index).map_or("", |column| column.header));
            let shared = wanted.iter().filter(|word| known.contains(word)).count();
            let others = known.iter().filter(|word| !wanted.contains(word)).count();
            (shared, std::cmp::Reverse(others))
        };
        let found = self.all(|column| {
            column.values.len() * 2 >= column.texts.len() && share(&column.values, money::is_currency) >= 0.9
        });
        let best = found.iter().copied().max_by_key(is_near)?;
        let is_only = found.iter().all(|index| *index == best || is_near(index) < is_near(&best));
        is_only.then_some(best)
    }

    /// True if the amounts of a column are in US dollars, by its header or by the column with its currencies.
    pub(super) fn has_dollars(&self, amounts: usize) -> bool {
        let is_dollar = |sign: &Sign| matches!(sign, Sign::Code(code) if code == "USD");
        let header = self.columns.get(amounts).and_then(|column| money::currency_of_header(column.header));
        let currencies = self.currency_of(amounts).and_then(|index| self.columns.get(index));
        header.as_ref().is_some_and(is_dollar)
            || currencies.is_some_and(|column| column.values.iter().all(|value| *value == "USD"))
    }

    /// Share of a column's values that another column has, too.
    pub(super) fn overlap(&self, column: usize, other: &Outline<'_>, with: usize) -> f64 {
        let (Some(column), Some(with)) = (self.columns.get(column), other.columns.get(with)) else { return 0.0 };
        let step = values::list_step(&column.values).unwrap_or_default();
        let known = values::distinct(&with.values);
        let parts = values::split(&column.values, step);
        share(&parts.iter().map(String::as_str).collect::<Vec<_>>(), |value| known.contains(value))
    }
}

/// Meaning of the name of a file.
pub(super) fn meaning_of_file(path: &str) -> Meaning {
    Meaning::read(stem(path).trim_end_matches(|char: char| char.is_ascii_digit()))
}

/// Name of a file without folders and ending.
pub(super) fn stem(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or_default();
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

/// What the columns of a table tell of its rows. The name of its file decides only what they leave open.
struct Evidence<'c, 's> {
    columns: &'c [Column<'s>],
    file: &'c Meaning,
    /// Values of the column with most.
    height: usize,
}

impl<'s> Evidence<'_, 's> {
    fn any(&self, test: impl Fn(&Column<'s>) -> bool) -> bool {
        self.columns.iter().any(test)
    }

    fn has_names_of(&self, owners: &[Option<Owner>]) -> bool {
        self.any(|column| column.is_of(owners) && column.has_names())
    }

    fn rows(&self) -> RowKind {
        let without_header =
            self.columns.iter().filter(|column| column.header.trim().is_empty() && !column.texts.is_empty());
        if without_header.count() * 2 > self.columns.len() {
            return RowKind::Unknown("most of its columns have no header");
        }
        let is_holder = |column: &Column<'_>| column.meaning.owner() == Some(Owner::Holder);
        if self.any(|column| is_holder(column) && column.meaning.noun() == Some("name")) {
            return RowKind::Unknown(
                "it has the holders of shares: people and firms, and neither rounds nor what was invested",
            );
        }
        if self.are_rounds() {
            return RowKind::Rounds;
        }
        if self.are_people() {
            return RowKind::People;
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

    fn are_rounds(&self) -> bool {
        let owners = [Some(Owner::Startup), Some(Owner::Organization), None];
        // The identifier of a startup is enough if another table has its name.
        let is_id =
            |column: &Column<'_>| column.noun() == Some("key") && column.is_of(&owners[..2]) && column.is_sure();
        let has_startups = self.has_names_of(&owners) || self.any(is_id);
        let has_investors = self.any(Column::has_investors) || self.any(|column| column.meaning.has("lead"));
        let has_days = self.any(Column::has_days);
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

    /// True if the investors of a column are people, and another column has organizations.
    fn names_people_of_firms(&self) -> bool {
        let is_name = |column: &Column<'_>| column.noun() == Some("name") && column.has_names() && !column.is_list();
        let has_people = |column: &Column<'_>| is_name(column) && values::are_people(&column.values);
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
            + 2 * i32::from(has_status)
            + 2 * i32::from(has_funds || has_investors)
            + i32::from(has_founders)
            + i32::from(has_stage)
            + i32::from(self.file.owners.contains(&Owner::Startup))
    }
}

/// Words of closed vocabularies that are not known, by the name of the vocabulary.
pub(super) type Vocabularies = BTreeMap<&'static str, BTreeMap<String, String>>;
