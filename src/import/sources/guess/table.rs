//! What the rows of a table are, and which column is which field: headers and values decide together.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::guess::FileDescription;
use crate::sources::guess::evidence::Evidence;
use crate::sources::guess::header::{self, Meaning, Owner, words};
use crate::sources::guess::kinds::KindColumn;
use crate::sources::guess::sample::Sample;
use crate::sources::guess::several_rounds::{rounds_in_cells, rounds_in_columns};
use crate::sources::guess::values::{self, most, share, some};
use crate::sources::input::column_name;
use crate::sources::mapping::{date_format, list};
use crate::sources::missing::MissingIn;
use crate::sources::money::{self, MoneyCell, Sign};
use data::FirmKind;

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
    /// Columns of rounds of which a row has several: in its cells, as in `2019;2022`, or in numbered columns.
    pub of_several_rounds: Vec<usize>,
    /// Rows of the texts of each column.
    places: &'s [Vec<usize>],
    /// True if no row is missing.
    pub is_whole: bool,
    /// The column with the kinds of the records.
    pub kinds: Option<KindColumn>,
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
        Self::mark_parts_of_people(&mut columns);
        columns
    }

    /// `Nome` next to `Cognome` is of a person, as the other part of its name or the whole of it.
    fn mark_parts_of_people(columns: &mut [Self]) {
        let is_part = |column: &Self| matches!(column.noun(), Some("first_name" | "last_name"));
        let parts: Vec<usize> = (0..columns.len()).filter(|index| is_part(&columns[*index])).collect();
        // `Cognome referente` is of a contact, and its neighbor perhaps of a firm.
        let [part] = *parts else { return };
        if !columns[part].meaning.owners.is_empty() {
            return;
        }
        let is_plain = |value: &str| {
            value.split_whitespace().count() <= 4 && !value.contains(char::is_numeric) && !values::has_firm_word(value)
        };
        for column in columns.iter_mut().skip(part.saturating_sub(1)).take(part.min(1) + 2) {
            if column.noun() == Some("name")
                && column.meaning.owners.is_empty()
                && share(&column.values, is_plain) >= 0.9
            {
                column.meaning.owners.push(Owner::Person);
            }
        }
    }

    pub(super) fn noun(&self) -> Option<&'static str> {
        match self.meaning.noun().filter(|_| self.meaning.is_plain()) {
            // `Investor category`
            Some("sectors") if values::is_vocabulary::<FirmKind>(&self.values) => Some("type"),
            // `Month` with `March 2024`
            Some("month" | "quarter") if most(&self.values, values::is_date) => Some("date"),
            noun => noun,
        }
    }

    /// True if at least every second row has a value.
    pub(super) fn is_filled(&self, height: usize) -> bool {
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
    pub(super) fn distinct(&self) -> f64 {
        let bare = |value: &'s str| list::note(value).map_or(value, |(name, _)| name);
        let names: Vec<&str> = self.values.iter().map(|value| bare(value)).collect();
        values::distinct(&names).len() as f64 / self.values.len().max(1) as f64
    }

    /// True if some cells have several values. A few commas may be part of names.
    pub(super) fn is_list(&self) -> bool {
        match values::list_step(&self.values) {
            Some(step) => values::split(&self.values, step).len() * 4 >= self.values.len() * 5,
            None => some(&self.values, |value| value.starts_with(['[', '{'])),
        }
    }

    /// False for managers that do not look like firms: they may be people, unless the header says what they are.
    pub(super) fn may_be_firms(&self) -> bool {
        !self.meaning.is_manager
            || self.meaning.owners.contains(&Owner::Organization)
            || share(&self.values, values::has_firm_word) >= 0.3
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

    /// True if it has what was invested in rounds, or in quarters.
    pub(super) fn has_invested(&self) -> bool {
        let is_named = || values::is_of_list("invested", &header::without_unit(self.header));
        self.has_amounts() || is_named() && most(&self.texts, |text| MoneyCell::read(text).is_some())
    }

    /// True if it has numbers or classes of shares.
    pub(super) fn is_of_shares(&self) -> bool {
        values::is_of_list("shares", self.header) && self.meaning.owner() != Some(Owner::Holder)
    }

    /// True if it has the days of rounds.
    pub(super) fn has_days(&self) -> bool {
        self.noun() == Some("date")
            && self.is_sure()
            && self.is_of(&[None, Some(Owner::Round)])
            && most(&self.values, |value| values::is_date(value) || values::is_year(value))
    }

    pub(super) fn has_names(&self) -> bool {
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
        let (titles, places) = (&sample.titles, &sample.rows);
        let of_several_rounds = [rounds_in_cells(&columns, places), rounds_in_columns(&columns)].concat();
        let has_several_rounds = !of_several_rounds.is_empty();
        let is_whole = !sample.is_full();
        let kinds = KindColumn::find(&columns);
        let evidence =
            Evidence { columns: &columns, file: &file, titles, height, has_several_rounds, kinds: kinds.as_ref() };
        let rows = evidence.rows();
        let kinds = kinds.filter(|_| matches!(rows, RowKind::Firms | RowKind::Startups));
        let (subject, id) = (None, None);
        let mut outline = Self {
            columns,
            height,
            rows,
            subject,
            id,
            described,
            titles,
            file,
            of_several_rounds,
            places,
            is_whole,
            kinds,
        };
        outline.subject = outline.find_subject();
        if outline.subject.is_none() && matches!(outline.rows, RowKind::Firms | RowKind::Startups) {
            outline.rows = RowKind::Unknown("no column is sure to have names");
        }
        if outline.rows == RowKind::Rounds && outline.repeats_rounds() {
            outline.rows = RowKind::Unknown(
                "it has a row for each quarter of a company, and the same round in several; give each round one row",
            );
        }
        outline.id = outline.find_id();
        outline
    }

    /// True for a table with a row for each quarter of a company.
    pub(super) fn has_periods(&self) -> bool {
        let is_repeated =
            self.subject.and_then(|subject| self.columns.get(subject)).is_some_and(|column| column.distinct() < 1.0);
        let is_period =
            |column: &Column<'_>| column.noun() == Some("date") && most(&column.values, date_format::is_period);
        is_repeated && self.columns.iter().any(is_period)
    }

    /// True if the rows of quarters repeat a round: one company has the same stage and amount in several.
    fn repeats_rounds(&self) -> bool {
        let Some(subject) = self.subject.filter(|_| self.has_periods()) else { return false };
        let cells = |index: usize| -> BTreeMap<usize, &str> {
            let texts = self.columns.get(index).map_or(&[][..], |column| &column.texts);
            self.rows_of(index).iter().copied().zip(texts.iter().copied()).collect()
        };
        let [amounts, stages] = [
            self.all(Column::has_invested).first().copied(),
            self.all(|column| matches!(column.noun(), Some("round" | "stage"))).first().copied(),
        ];
        let (names, [amounts, stages]) = (cells(subject), [amounts, stages].map(|column| column.map(cells)));
        let is_nothing = |text: &str| MoneyCell::read(text).is_some_and(|cell| cell.is_zero());
        let mut seen = BTreeSet::new();
        names.iter().any(|(row, name)| {
            let stage = stages.as_ref().and_then(|cells| cells.get(row)).copied().unwrap_or_default();
            let amount = amounts.as_ref().map(|cells| cells.get(row).copied().filter(|text| !is_nothing(text)));
            match amount {
                Some(Some(amount)) => !seen.insert((*name, stage, amount)),
                None => !stage.is_empty() && !seen.insert((*name, stage, "")),
                Some(None) => false,
            }
        })
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
            // The names of a list differ, but for managers of several funds.
            let is_list = !matches!(self.rows, RowKind::Rounds | RowKind::People) && !column.meaning.is_manager;
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

    /// Rows of the texts of a column.
    pub(super) fn rows_of(&self, column: usize) -> &'s [usize] {
        self.places.get(column).map_or(&[], Vec::as_slice)
    }

    /// True if a header or one of these values is written in Japanese syllables.
    pub(super) fn is_japanese(&self, values: &[&str]) -> bool {
        let is_kana = |text: &str| text.contains(|char| matches!(char, '\u{3041}'..='\u{30fa}'));
        self.columns.iter().any(|column| is_kana(column.header)) || values.iter().any(|value| is_kana(value))
    }

    /// True if rows with the same name in one column have the same values in another. `None` if no name is repeated.
    pub(super) fn agrees(&self, names: usize, column: usize) -> Option<bool> {
        let cells = |index: usize| {
            let texts = self.columns.get(index).map_or(&[][..], |column| &column.texts);
            self.rows_of(index).iter().copied().zip(texts.iter().copied())
        };
        let values: BTreeMap<usize, &str> = cells(column).collect();
        let (mut known, mut is_repeated): (BTreeMap<&str, &str>, bool) = (BTreeMap::new(), false);
        for (row, name) in cells(names) {
            let Some(value) = values.get(&row).copied() else { continue };
            let name = list::note(name).map_or(name, |(name, _)| name);
            match known.insert(name, value) {
                Some(other) if other != value => return Some(false),
                other => is_repeated |= other.is_some(),
            }
        }
        is_repeated.then_some(true)
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
        // A column that is called so has currencies even if a few of its cells are none: their amounts are left out.
        let found = self.all(|column| {
            let is_named = values::has_word("currencies", column.header)
                && some(&column.values, |value| money::currency_named(value).is_some());
            column.values.len() * 2 >= column.texts.len()
                && (is_named || share(&column.values, money::is_currency) >= 0.9)
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

/// Words of closed vocabularies that are not known, by the name of the vocabulary.
pub(super) type Vocabularies = BTreeMap<&'static str, BTreeMap<String, String>>;
