//! The sections of a mapping that a table becomes, and remarks on the columns that are left out.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::EntityKind;
use crate::sources::field::{FieldForm, SourceField};
use crate::sources::guess::evidence::are_firms;
use crate::sources::guess::header::{self, Owner};
use crate::sources::guess::sample::Sample;
use crate::sources::guess::table::{Column, Outline, RowKind, Vocabularies};
use crate::sources::guess::values::{self, most, share, some};
use crate::sources::guess::{FileDescription, comment, examples, quote};
use crate::sources::mapping::list;
use crate::sources::missing::MissingIn;
use crate::sources::money::MoneyCell;
use data::meaning::Meaning;
use data::vocabulary::Vocabulary as _;
use data::{Country, FirmKind, PartialDate, Stage, StartupStatus, identifier};

pub(super) struct Section {
    pub kind: EntityKind,
    pub lines: Vec<String>,
}

/// How the entities of a table are identified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Key {
    /// By name and country.
    #[default]
    Default,
    /// By name alone, because other tables refer to them by name.
    Name,
    /// By the table's own identifiers.
    Id,
}

/// A column that is left out: why, and the line that would use it.
struct Open {
    reason: String,
    line: Option<String>,
}

type Line = Result<String, Open>;

fn open(reason: impl Into<String>) -> Open {
    Open { reason: reason.into(), line: None }
}

/// How a table refers to the entities of another kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// By a column with names.
    Name(usize),
    /// By a column with the identifiers of another table.
    Id(usize),
}

impl Reference {
    pub(super) fn column(self) -> usize {
        match self {
            Self::Name(column) | Self::Id(column) => column,
        }
    }
}

/// What other tables tell of a table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Relations {
    pub key: Key,
    /// How rounds refer to their startups, and people to their organizations.
    pub parent: Option<Reference>,
    /// Kind of the organizations of people; `None` if it is not sure.
    pub organization: Option<EntityKind>,
    /// True if investors are identified by a table of firms that has other keys than names.
    pub has_other_firms: bool,
    /// True if no other table describes the organizations of people.
    pub describes_organizations: bool,
}

pub(super) struct Sections<'o, 's> {
    outline: &'o Outline<'s>,
    relations: Relations,
    vocabularies: &'o mut Vocabularies,
    /// Fields of columns that are used.
    used: BTreeMap<usize, &'static str>,
    open: BTreeMap<usize, Open>,
    /// Columns that say nothing of the records of a section, such as the cities of people next to their firms.
    foreign: BTreeSet<usize>,
    pub sections: Vec<Section>,
}

impl<'o, 's> Sections<'o, 's> {
    pub(super) fn new(outline: &'o Outline<'s>, relations: Relations, vocabularies: &'o mut Vocabularies) -> Self {
        let of_several = || outline.of_several_rounds.iter().copied();
        let several = |index| (index, open("a row has several rounds; give each round a row of its own"));
        let (used, open, foreign) = (BTreeMap::new(), of_several().map(several).collect(), of_several().collect());
        let mut sections = Self { outline, relations, vocabularies, used, open, foreign, sections: Vec::new() };
        match outline.rows {
            RowKind::Firms | RowKind::Startups if outline.kinds.is_some() => sections.entities_by_kind(),
            RowKind::Firms => sections.entities(EntityKind::Firm),
            RowKind::Startups => sections.entities(EntityKind::Startup),
            RowKind::Rounds => sections.rounds(),
            RowKind::People => sections.people(),
            RowKind::Unknown(_) => {}
        }
        sections
    }

    /// Fields of the columns that are used.
    #[cfg(test)]
    pub(super) fn fields(&self) -> &BTreeMap<usize, &'static str> {
        &self.used
    }

    /// The section below which a line that would use a column belongs, if it is not the last one.
    fn section_of(&self, column: usize) -> Option<EntityKind> {
        let (last, others) = self.sections.split_last()?;
        let line = self.open.get(&column)?.line.as_ref()?;
        let (field, _) = line.split_once(" = ")?;
        let has = |section: &&Section| SourceField::named(section.kind, field).is_some();
        others.iter().find(has).map(|section| section.kind).filter(|kind| *kind != last.kind)
    }

    /// Remarks with lines that belong below a section which others follow.
    pub(super) fn remarks_below(&self, kind: EntityKind) -> Vec<String> {
        self.remarks_of(|section| section == Some(kind))
    }

    /// Remarks on the columns that are left out, each with values, what it might be, and the line that would use it; without those
    /// below their sections.
    pub(super) fn remarks(&self) -> Vec<String> {
        self.remarks_of(|section| section.is_none())
    }

    fn remarks_of(&self, is_wanted: impl Fn(Option<EntityKind>) -> bool) -> Vec<String> {
        let mut remarks = Vec::new();
        for (index, column) in self.outline.columns.iter().enumerate() {
            if self.used.contains_key(&index) || !is_wanted(self.section_of(index)) {
                continue;
            }
            let header = comment(column.header);
            if column.meaning.is_private() || some(&column.values, values::is_email) {
                remarks.push(format!("# {header}: private; left out"));
                continue;
            }
            let values = examples(&column.texts);
            let open = self.open.get(&index);
            let reason = match open {
                _ if column.header.trim().is_empty() => "has no header, by which a mapping names it".to_owned(),
                _ if !column.is_named => "an earlier column has the same header; give them different ones".to_owned(),
                Some(open) => open.reason.clone(),
                None => self.reason(column).to_owned(),
            };
            remarks.push(format!("# {header}: {reason} ({values})"));
            if let Some(line) = open.and_then(|open| open.line.as_ref()).filter(|_| column.is_named) {
                remarks.push(format!("#{line}"));
            }
        }
        remarks
    }

    /// Why a column is left out that no field considered.
    fn reason(&self, column: &Column<'_>) -> &'static str {
        let meaning = &column.meaning;
        match () {
            () if column.texts.is_empty() => "empty; left out",
            () if meaning.is_sales => "of the management of sales; left out",
            () if meaning.is_count => "a number of things; left out",
            () if meaning.is_flag => "true or false; left out",
            () if meaning.is_other => "no field of a record; left out",
            () if meaning.owner() == Some(Owner::Person) => "of a person; left out",
            () if meaning.noun().is_none() => "not known; left out",
            () if meaning.owner() == Some(Owner::Firm) && self.outline.rows == RowKind::Startups => {
                "investors belong to rounds, which this table does not have; left out"
            }
            () => "not sure; left out",
        }
    }

    fn column(&self, index: usize) -> Option<&'o Column<'s>> {
        self.outline.columns.get(index)
    }

    /// Columns that pass a test and may say something of the records of a section.
    fn own(&self, test: impl Fn(&Column<'s>) -> bool) -> Vec<usize> {
        let mut columns = self.outline.all(test);
        columns.retain(|index| !self.foreign.contains(index));
        columns
    }

    fn header(&self, index: usize) -> String {
        quote(self.column(index).map_or("", |column| column.header))
    }

    fn headers(&self, columns: &[usize]) -> String {
        columns.iter().map(|index| self.header(*index)).collect::<Vec<_>>().join(", ")
    }

    fn mark(&mut self, columns: &[usize], field: &'static str) {
        self.used.extend(columns.iter().map(|index| (*index, field)));
    }

    /// Puts a line into a section and marks its column as used; a line that is not sure becomes a remark.
    fn put(&mut self, lines: &mut Vec<String>, index: usize, field: &'static str, line: Line) -> bool {
        match line {
            Ok(line) => {
                lines.push(line);
                self.used.insert(index, field);
                true
            }
            Err(open) => {
                self.open.entry(index).or_insert(open);
                false
            }
        }
    }

    /// A list of firms and startups, of which a column says which are which.
    fn entities_by_kind(&mut self) {
        let Some(kinds) = self.outline.kinds.as_ref() else { return };
        let mut used = BTreeMap::new();
        for kind in [EntityKind::Startup, EntityKind::Firm] {
            let values: Vec<String> = kinds.values_of(kind).iter().map(|value| quote(value)).collect();
            if values.is_empty() {
                continue;
            }
            self.used.insert(kinds.column, "when");
            self.entities(kind);
            if let Some(section) = self.sections.last_mut().filter(|section| section.kind == kind) {
                let when = format!(
                    "when = {{ {} = [{}] }}",
                    quote(self.outline.columns[kinds.column].header),
                    values.join(", ")
                );
                section.lines.splice(0..0, ["# Other rows are other records.".to_owned(), when]);
                // `VC` and `Angel` are also kinds of firms.
                if kind == EntityKind::Firm
                    && kinds.values_of(kind).iter().all(|value| FirmKind::meaning(value).is_some())
                {
                    section.lines.push(line(
                        "kind",
                        &quote(self.outline.columns[kinds.column].header),
                        ", unknown = \"drop\"",
                    ));
                }
            }
            used.append(&mut std::mem::take(&mut self.used));
        }
        self.used = used;
    }

    /// A list of firms or startups.
    fn entities(&mut self, kind: EntityKind) {
        let Some(subject) = self.outline.subject else { return };
        let mut lines = Vec::new();
        if let Some(key) = self.key_line(subject) {
            lines.push(key);
        }
        self.name(&mut lines, subject);
        let own = if kind == EntityKind::Firm { Owner::Firm } else { Owner::Startup };
        // A list of firms may call them companies.
        let subject = self.column(subject).map(|column| &column.meaning);
        let is_fund = |column: &Column<'_>| {
            column.meaning.noun() == Some("name") && column.is_of(&[Some(Owner::Firm)]) && !column.meaning.is_manager
        };
        let has_funds = subject.is_some_and(|meaning| meaning.is_manager) && !self.outline.all(is_fund).is_empty();
        if has_funds {
            self.leave_out_of_funds();
        }
        // What one fund has raised is not what its firm manages.
        let has_vintages = !self.outline.all(|column| values::is_of_list("vintages", column.header)).is_empty();
        if has_funds || has_vintages && kind == EntityKind::Firm {
            let is_size =
                |column: &Column<'_>| column.noun() == Some("aum") && values::has_word("words of funds", column.header);
            for index in self.outline.all(is_size) {
                self.foreign.insert(index);
                self.open.insert(index, open("the size of one fund, not what its firm manages; left out"));
            }
        }
        let owners = match subject.and_then(header::Meaning::owner) {
            // Fields of the fund are not those of the firm that manages it.
            _ if has_funds => vec![None, Some(Owner::Organization)],
            Some(Owner::Startup) => vec![None, Some(own), Some(Owner::Organization), Some(Owner::Startup)],
            _ => vec![None, Some(own), Some(Owner::Organization)],
        };
        self.attributes(&mut lines, kind, &owners);
        if kind == EntityKind::Startup {
            self.status_of_names(&mut lines);
        }
        self.sections.push(Section { kind, lines });
    }

    /// Leaves out what differs between the funds of a firm, but for lists, which have the values of all.
    fn leave_out_of_funds(&mut self) {
        let Some(subject) = self.outline.subject else { return };
        let differs = |index: &usize| self.outline.agrees(subject, *index) == Some(false);
        let columns = self.outline.all(|column| !matches!(column.noun(), Some("stage" | "sectors")));
        for index in columns.into_iter().filter(differs) {
            self.foreign.insert(index);
            self.open.insert(index, open("differs between the funds of a firm; left out"));
        }
    }

    /// The states of startups from the notes behind their names, unless a column has them: `Kelpworks (written off)`.
    fn status_of_names(&self, lines: &mut Vec<String>) {
        const IN_PARENTHESES: &str = "regex([(（\\[]([^()（）\\[\\]]+)[)）\\]]$)";
        let Some(subject) = self.outline.subject else { return };
        let has_status = self.column(subject).is_some_and(|column| some(&column.values, list::has_status));
        if has_status && !self.used.values().any(|field| *field == "status") {
            let steps = format!(", do = [{}], unknown = \"drop\"", quote(IN_PARENTHESES));
            lines.push(line("status", &self.header(subject), &steps));
        }
    }

    fn described_key(&mut self) -> Option<String> {
        let described = self.outline.described_key();
        if described.is_empty() {
            return None;
        }
        let columns: Vec<String> = described.iter().map(|header| quote(header)).collect();
        for index in self.outline.all(|column| described.iter().any(|key| key == column.header)) {
            self.used.entry(index).or_insert("key");
        }
        Some(format!("key = {{ columns = [{}] }}", columns.join(", ")))
    }

    fn key_line(&mut self, subject: usize) -> Option<String> {
        if let Some(key) = self.described_key() {
            return Some(key);
        }
        match (self.relations.key, self.outline.id) {
            (Key::Id, Some(id)) => {
                self.used.insert(id, "key");
                Some(format!("key = {}", self.header(id)))
            }
            (Key::Name, _) => {
                let steps = self.name_steps(subject);
                Some(format!("key = {{ column = {}{steps}, by = \"name\" }}", self.header(subject)))
            }
            _ => None,
        }
    }

    /// Steps that take the name from the cells of a column whose names have notes: `Alder (https://wiki.example/alder)`.
    fn name_steps(&self, column: usize) -> &'static str {
        let has_notes = |column: &Column<'_>| values::have_notes(&column.values);
        if self.column(column).is_some_and(has_notes) { ", do = [\"names\"]" } else { "" }
    }

    fn name(&mut self, lines: &mut Vec<String>, subject: usize) {
        lines.push(line("name", &self.header(subject), self.name_steps(subject)));
        self.used.insert(subject, "name");
    }

    /// The fields of firms or startups besides their names.
    fn attributes(&mut self, lines: &mut Vec<String>, kind: EntityKind, owners: &[Option<Owner>]) {
        let nouns: &[(&str, &'static str)] = match kind {
            EntityKind::Firm => &[
                ("type", "kind"),
                ("website", "website"),
                ("url", "website"),
                ("domain", "website"),
                ("description", "description"),
                ("country", "country"),
                ("city", "city"),
                ("founded", "founded_year"),
                ("stage", "stages"),
                ("sectors", "sectors"),
                ("check", "check_min_usd"),
                ("check", "check_max_usd"),
                ("aum", "aum_usd"),
            ],
            _ => &[
                ("website", "website"),
                ("url", "website"),
                ("domain", "website"),
                ("description", "description"),
                ("country", "country"),
                ("city", "city"),
                ("founded", "founded_year"),
                ("stage", "stage"),
                ("sectors", "sectors"),
                ("status", "status"),
            ],
        };
        let is_list = |field: &str| SourceField::named(kind, field).is_some_and(|known| known.is_list);
        let mut done: BTreeSet<&str> = BTreeSet::new();
        for (noun, field) in nouns.iter().copied() {
            let columns = self.own(|column| column.noun() == Some(noun) && column.is_of(owners));
            let sure: Vec<usize> = columns.iter().copied().filter(|index| self.is_sure(*index, field)).collect();
            for index in columns.iter().filter(|index| !sure.contains(index)) {
                let suggestion = self.field_line(kind, field, &[*index]).ok();
                self.open.entry(*index).or_insert(Open { reason: format!("perhaps `{field}`"), line: suggestion });
            }
            // Rounds have stages of their own.
            if done.contains(field) || (self.outline.rows == RowKind::Rounds && noun == "stage") {
                continue;
            }
            if is_list(field) && sure.len() > 1 {
                let line = self.field_line(kind, field, &sure);
                if self.put(lines, sure[0], field, line) {
                    self.mark(&sure, field);
                    done.insert(field);
                }
                continue;
            }
            // Dollars need no rates.
            let mut sure = sure;
            if field.ends_with("_usd") {
                sure.sort_by_key(|index| !self.outline.has_dollars(*index));
            }
            for index in sure {
                let is_used = self.used.get(&index).is_some_and(|known| *known != "check_min_usd");
                if done.contains(field) || is_used || !self.is_end(index, field) {
                    continue;
                }
                let is_open = noun == "check" && self.is_one_amount(index);
                let line = match self.field_line(kind, field, &[index]) {
                    Ok(line) if is_open => {
                        let reason = format!("one amount, neither the least nor the most; if it is `{field}`");
                        Err(Open { reason, line: Some(line) })
                    }
                    line => line,
                };
                if self.put(lines, index, field, line) {
                    done.insert(field);
                }
            }
        }
        self.location(lines, owners, &done);
        self.aliases(lines, owners);
        self.identifiers(lines, owners);
    }

    /// True if the header says all that it has to for a field. The words of a vocabulary say it, too.
    fn is_sure(&self, index: usize, field: &str) -> bool {
        let Some(column) = self.column(index) else { return false };
        let is_said = match field {
            "kind" => values::is_vocabulary::<FirmKind>(&column.values),
            "stages" => values::is_vocabulary::<Stage>(&column.values),
            // The labels of sales say how they go, and what describes a deal are notes on it.
            "sectors" if self.has_sales() && values::is_of_list("labels", column.header) => return false,
            // `Venture Capital & Private Equity` is what firms are, not where they invest.
            "sectors"
                if matches!(self.outline.rows, RowKind::Firms | RowKind::People)
                    && some(&column.values, values::has_firm_word) =>
            {
                return false;
            }
            "description" if self.has_sales() && self.outline.rows == RowKind::Rounds => {
                return column.is_sure() && column.meaning.owner().is_some();
            }
            _ => false,
        };
        column.is_sure() || (is_said && column.meaning.unknown == 1)
    }

    /// True if columns are of the management of sales.
    fn has_sales(&self) -> bool {
        self.outline.columns.iter().any(|column| column.meaning.is_sales)
    }

    /// False if the column has only the other end of the range of a check.
    fn is_end(&self, index: usize, field: &str) -> bool {
        let has = |noun: &str| self.column(index).is_some_and(|column| column.meaning.has(noun));
        match field {
            "check_min_usd" => !has("max"),
            "check_max_usd" => !has("min"),
            _ => true,
        }
    }

    /// True for a check that is neither a range nor one of its ends.
    fn is_one_amount(&self, index: usize) -> bool {
        self.column(index).is_some_and(|column| {
            !column.meaning.has("min") && !column.meaning.has("max") && !values::are_ranges(&column.values)
        })
    }

    /// Country and city of one column, as in `Paris, France`.
    fn location(&mut self, lines: &mut Vec<String>, owners: &[Option<Owner>], done: &BTreeSet<&str>) {
        let columns = self.own(|column| column.noun() == Some("location") && column.is_of(owners));
        for index in columns {
            let Some(column) = self.column(index) else { continue };
            let header = self.header(index);
            let country = format!("country = {{ column = {header}, do = [\"place(country)\"], unknown = \"drop\" }}");
            if done.contains("country") || done.contains("city") {
                self.open.entry(index).or_insert(open("country and city have their own columns; left out"));
            } else if !column.is_sure() || !values::are_locations(&column.values) || values::are_streets(&column.values)
            {
                let is_country = most(&column.values, |value| Country::read(value).is_some());
                let field = if is_country { "country" } else { "city" };
                let line = Some(format!("{field} = {header}"));
                let reason =
                    format!("its values are not cities with their country; if they are of the field `{field}`");
                self.open.entry(index).or_insert(Open { reason, line });
            } else {
                lines.push(country);
                lines.push(format!("city = {{ column = {header}, do = [\"place(city)\"], unknown = \"drop\" }}"));
                self.used.insert(index, "location");
                return;
            }
        }
    }

    fn aliases(&mut self, lines: &mut Vec<String>, owners: &[Option<Owner>]) {
        let is_alias = |column: &Column<'_>| {
            matches!(column.noun(), Some("alias" | "legal"))
                && column.is_of(owners)
                && column.is_sure()
                && values::are_names(&column.values)
        };
        let mut columns = self.own(is_alias);
        columns.retain(|index| !self.used.contains_key(index));
        let Some(first) = columns.first().copied() else { return };
        let line = self.list_line("aliases", &columns, None, "");
        if self.put(lines, first, "aliases", line) {
            self.mark(&columns, "aliases");
        }
    }

    fn identifiers(&mut self, lines: &mut Vec<String>, owners: &[Option<Owner>]) {
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let schemes = self.own(|column| {
            column.noun().is_some_and(|noun| noun.starts_with("id.")) && column.is_of(owners) && column.is_sure()
        });
        for index in schemes {
            let Some(noun) = self.column(index).and_then(Column::noun) else { continue };
            let line = if known.contains(noun) {
                Err(open(format!("another column has the field `{noun}`")))
            } else {
                self.scheme_line(noun, index)
            };
            if self.put(lines, index, noun, line) {
                known.insert(noun);
            }
        }
        let domains = self.own(|column| column.noun() == Some("domain") && column.is_of(owners) && column.is_sure());
        for index in domains.into_iter().take(1) {
            if self.column(index).is_some_and(|column| values::are_websites(&column.values)) {
                lines.push(format!("id.domain = {{ column = {}, unknown = \"drop\" }}", self.header(index)));
                self.used.entry(index).or_insert("id.domain");
            }
        }
    }

    /// Line of an identifier, `id.SCHEME`.
    fn scheme_line(&self, noun: &str, index: usize) -> Line {
        let Some(column) = self.column(index) else { return Err(open("no column")) };
        let scheme = noun.trim_start_matches("id.");
        // Of a profile's address the identifier is a part.
        let parts = [("linkedin", "/company/"), ("crunchbase", "/organization/")];
        let part = parts
            .into_iter()
            .find(|(known, part)| *known == scheme && most(&column.values, |value| value.contains(part)));
        let is_valid = |value: &str| match part {
            Some((_, part)) => value.contains(part),
            None => identifier::normalize(scheme, value).is_ok(),
        };
        let step = part.map_or_else(String::new, |(_, part)| steps_part(&[&format!("regex({part}([^/?#]+))")]));
        // What a few records share is no identifier.
        let is_own = values::distinct(&column.values).len() * 10 >= column.values.len() * 9;
        if !is_own || !most(&column.values, is_valid) {
            return Err(open(format!("its values are not of the scheme `{scheme}`")));
        }
        Ok(format!("{noun} = {{ column = {}{step}, unknown = \"drop\" }}", self.header(index)))
    }

    /// Line of a field that one column has, or several of a list.
    fn field_line(&mut self, kind: EntityKind, field: &'static str, columns: &[usize]) -> Line {
        let Some(known) = SourceField::named(kind, field) else { return Err(open("not a field")) };
        let Some(column) = columns.first().and_then(|index| self.column(*index)) else { return Err(open("no column")) };
        let header = self.header(columns[0]);
        let texts: Vec<&str> =
            columns.iter().filter_map(|index| self.column(*index)).flat_map(|column| column.texts.clone()).collect();
        let missing = MissingIn::field(field, known.form);
        let used: Vec<&str> = texts.iter().copied().filter(|text| !missing.is_missing(text)).collect();
        if used.is_empty() {
            return Err(open("empty; left out"));
        }
        if known.is_list {
            let more = if known.form == FieldForm::Stage {
                let step = list_step(&used, field, &header)?;
                let parts = values::split(&used, step);
                let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
                if !some(&parts, |part| Stage::meaning(part).is_some()) {
                    let line = Some(line(field, &header, &format!("{}, unknown = \"drop\"", steps_part(&[step]))));
                    return Err(Open { reason: "its values are no known stages; if they are".to_owned(), line });
                }
                self.word_part::<Stage>(field, &parts)
            } else {
                reference_part(known.form, &used)
            };
            return self.list_line(field, columns, None, &more);
        }
        let suggestion = |reason: &str| Open { reason: reason.to_owned(), line: Some(line(field, &header, "")) };
        let more = match known.form {
            FieldForm::Text | FieldForm::Line if values::are_websites(&used) || most(&used, values::is_number) => {
                return Err(open(format!("its values are not of the field `{field}`")));
            }
            // `@mira` is who wrote a row.
            FieldForm::Line if field == "city" && used.iter().any(|value| value.starts_with(['@', '#'])) => {
                return Err(open("its values are no places; left out"));
            }
            FieldForm::Line if field == "city" && some(&used, |value| value.contains([',', ';', '/'])) => {
                return Err(suggestion("its values are not cities alone; if they are"));
            }
            FieldForm::Line if field == "city" && most(&used, |value| Country::read(value).is_some()) => {
                return Err(suggestion("its values are countries; if they are also cities"));
            }
            FieldForm::Website if values::are_websites(&used) => ", unknown = \"drop\"".to_owned(),
            FieldForm::Website => return Err(open("its values are not websites of their own; left out")),
            FieldForm::Country if most(&used, |value| Country::read(value).is_some()) => {
                ", unknown = \"drop\"".to_owned()
            }
            FieldForm::Country if values::are_locations(&used) => {
                return Ok(format!("country = {{ column = {header}, do = [\"place(country)\"], unknown = \"drop\" }}"));
            }
            FieldForm::Country => {
                let line = Some(line(field, &header, ", unknown = \"drop\""));
                return Err(Open { reason: "its values are not known countries; if they are".to_owned(), line });
            }
            FieldForm::Year | FieldForm::Date | FieldForm::Month => {
                let dates = match self.outline.described.dates.get(column.header) {
                    Some(format) => Ok(format!(", dates = [{}]", quote(format))),
                    None => values::date_forms(column.header, &used, true),
                };
                dates.map_err(|(reason, form)| {
                    let line = (!form.is_empty()).then(|| line(field, &header, &form));
                    Open { reason, line }
                })?
            }
            FieldForm::Dollars => {
                let currencies = self.outline.currency_of(columns[0]).map(|index| self.header(index));
                let titles = self.outline.titles;
                let form = values::amount_form(column.header, field, &used, currencies.as_deref(), titles);
                let is_part = field == "amount_usd" && self.is_part_of_round(columns[0]);
                let (reason, form) = match form {
                    Ok(form) if is_part => {
                        (Some("may be what one investor paid; if it is all of a round".to_owned()), form)
                    }
                    Ok(form) => (None, form),
                    Err((reason, form)) => (Some(reason), form),
                };
                let (form, remark) = form.split_once("  #").unwrap_or((&form, ""));
                let remark = if remark.is_empty() { String::new() } else { format!("  #{remark}") };
                let line = format!("{}{remark}", line(field, &header, form));
                return match reason {
                    None => Ok(line),
                    Some(reason) => Err(Open { reason, line: (!form.is_empty()).then_some(line) }),
                };
            }
            FieldForm::Stage if are_stages(column, &used) => self.word_part::<Stage>("stage", &used),
            FieldForm::FirmKind
                if some(&used, |value| FirmKind::meaning(value).is_some()) || column.is_of(&[Some(Owner::Firm)]) =>
            {
                self.word_part::<FirmKind>(field, &used)
            }
            FieldForm::StartupStatus
                if self.outline.rows == RowKind::Rounds && column.meaning.owner() != Some(Owner::Startup)
                    || used.iter().any(|value| values::is_of_list("states of deals", value)) =>
            {
                return Err(suggestion("its values may be states of deals; if they are those of the startups"));
            }
            FieldForm::StartupStatus if most(&used, |value| StartupStatus::meaning(value).is_some()) => {
                self.word_part::<StartupStatus>(field, &used)
            }
            FieldForm::Stage | FieldForm::FirmKind | FieldForm::StartupStatus => {
                return Err(suggestion(&format!("its values are no known words of `{field}`; if they are")));
            }
            form => reference_part(form, &used),
        };
        Ok(line(field, &header, &more))
    }

    /// What translates the words of a closed vocabulary; those that are not known are listed for the operator.
    fn word_part<V: Meaning>(&mut self, field: &'static str, values: &[&str]) -> String {
        match values::translations::<V>(field, values, self.outline.is_japanese(values)) {
            None => ", unknown = \"drop\"".to_owned(),
            Some(words) => {
                self.vocabularies.entry(field).or_default().extend(words);
                format!(", map = {}, unknown = \"drop\"", quote(field))
            }
        }
    }

    /// Line of a list, whose values are in one column or in several.
    fn list_line(&self, field: &str, columns: &[usize], joining: Option<&str>, more: &str) -> Line {
        let texts: Vec<&str> =
            columns.iter().filter_map(|index| self.column(*index)).flat_map(|column| column.texts.clone()).collect();
        let headers = self.headers(columns);
        let divides = joining.map(|word| format!("split({word})")).unwrap_or_default();
        let names = if values::have_notes(&texts) { "names" } else { "" };
        let step = match list_step(&texts, field, &headers)? {
            // Names behind which others are mentioned are lists that are not complete.
            "" if field.ends_with("investors") && texts.iter().any(|text| list::without_others(text).is_some()) => {
                "list"
            }
            step => step,
        };
        let steps = steps_part(&[step, &divides, names]);
        Ok(match columns {
            [_] => line(field, &headers, &format!("{steps}{more}")),
            _ => format!("{field} = {{ columns = [{headers}]{steps}{more} }}"),
        })
    }

    /// True if a column of amounts may have what single investors paid: one of several, each next to its investor, or next to
    /// what their part is worth.
    fn is_part_of_round(&self, index: usize) -> bool {
        // The other words of a header with a number: `Amount 2`.
        let numbered = |column: &Column<'_>| -> Option<Vec<String>> {
            let (numbers, words): (Vec<String>, Vec<String>) = header::words(column.header)
                .into_iter()
                .partition(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
            (!numbers.is_empty()).then_some(words)
        };
        let columns = &self.outline.columns;
        match self.column(index).and_then(numbered) {
            Some(own) => columns.iter().filter(|column| numbered(column).as_ref() == Some(&own)).count() > 1,
            None => self.has_holdings(),
        }
    }

    /// True if columns say what an investor's part is worth.
    fn has_holdings(&self) -> bool {
        self.outline.columns.iter().any(|column| values::is_of_list("holdings", column.header))
    }

    /// Rows that are no rounds of financing, by what columns say of them: a condition for each.
    fn no_rounds(&self) -> BTreeMap<usize, String> {
        // What became of a startup says nothing of its rounds.
        let has_holdings = self.has_holdings();
        let says = |column: &Column<'_>| {
            let noun = column.meaning.noun();
            let is_state = noun == Some("status") && (has_holdings || column.is_of(&[Some(Owner::Startup)]));
            let is_named = matches!(noun, Some("round" | "stage" | "type" | "status"));
            (is_named || column.meaning.is_sales || values::is_of_list("deal states", column.header)) && !is_state
        };
        let conditions = self.outline.all(says).into_iter().filter_map(|index| {
            let values = values::distinct(&self.column(index)?.values).into_iter();
            let values: Vec<String> =
                values.filter(|value| values::is_of_list("no rounds", value)).map(quote).collect();
            (!values.is_empty()).then(|| (index, format!("not = [{}]", values.join(", "))))
        });
        let mut conditions: BTreeMap<usize, String> = conditions.collect();
        // In a table with a row for each quarter, most quarters have no round.
        if self.outline.has_periods() {
            let has_nothing = |column: &Column<'_>| {
                let is_zero = |value: &&&str| MoneyCell::read(value).is_some_and(|cell| cell.is_zero());
                let zeros = column.texts.iter().filter(is_zero).count();
                column.has_invested() && zeros > 0 && zeros < column.texts.len()
            };
            if let Some(index) = self.outline.all(has_nothing).first() {
                conditions.entry(*index).or_insert("matches = \"[1-9]\"".to_owned());
            }
        }
        conditions
    }

    /// A column that is empty in the rows that have only a startup, if there are such rows.
    fn filled_by_rounds(&self) -> Option<usize> {
        const FIELDS: [&str; 5] = ["stage", "amount_usd", "announced_on", "lead_investors", "investors"];
        let columns: Vec<usize> =
            self.used.iter().filter(|(_, field)| FIELDS.contains(field)).map(|(index, _)| *index).collect();
        let rows = |index: usize| self.outline.rows_of(index).iter().copied().collect::<BTreeSet<usize>>();
        let all: BTreeSet<usize> = columns.iter().flat_map(|index| rows(*index)).collect();
        let named = self.outline.subject.map(rows).unwrap_or_default();
        let full = columns.into_iter().find(|index| rows(*index) == all)?;
        (self.outline.is_whole && !named.is_subset(&all)).then_some(full)
    }

    /// Rounds with their startups and investors.
    fn rounds(&mut self) {
        let named = self.outline.subject.map(Reference::Name);
        let Some(parent) = self.relations.parent.or(named) else { return };
        let owners = [None, Some(Owner::Round)];
        let has_sales = self.has_sales();
        let mut lines = Vec::new();
        lines.push(match parent {
            Reference::Name(column) => {
                let steps = self.name_steps(column);
                format!("startup = {{ column = {}{steps}, by = \"name\" }}", self.header(column))
            }
            Reference::Id(column) => format!("startup = {}", self.header(column)),
        });
        self.used.insert(parent.column(), "startup");
        for (nouns, field) in
            [(&["round", "stage", "type"][..], "stage"), (&["amount"], "amount_usd"), (&["date"], "announced_on")]
        {
            let is_candidate = |column: &Column<'_>| {
                let owner = column.is_of(&owners) || (field == "amount_usd" && column.is_of(&[Some(Owner::Startup)]));
                let is_named = match field {
                    "amount_usd" => column.names_amounts(),
                    _ => column.noun().is_some_and(|noun| nouns.contains(&noun)),
                };
                is_named && owner
            };
            let mut columns = self.outline.all(is_candidate);
            let rank = |index: &usize| {
                let noun = self.column(*index).and_then(Column::noun);
                nouns.iter().position(|known| noun == Some(*known)).unwrap_or(nouns.len())
            };
            // `Round Size (USD)` is said of the round; `Amount`, next to a stage of sales, of the own part. Dollars need no rates.
            let is_said = |index: &usize| {
                let is_of_round = |column: &Column<'_>| column.is_of(&[Some(Owner::Round)]) && column.is_sure();
                has_sales && field == "amount_usd" && self.column(*index).is_some_and(is_of_round)
            };
            // A day says more than a year.
            let is_year = |index: &usize| field == "announced_on" && self.has_only_years(*index);
            columns
                .sort_by_key(|index| (!is_said(index), rank(index), is_year(index), !self.outline.has_dollars(*index)));
            if field == "stage" && self.stages(&mut lines, &columns) {
                continue;
            }
            for index in columns {
                let is_sure = self.column(index).is_some_and(Column::is_sure);
                let line = match (self.field_line(EntityKind::Round, field, &[index]), is_sure) {
                    (Ok(line), false) => Err(Open { reason: format!("perhaps `{field}`"), line: Some(line) }),
                    (line, _) => line,
                };
                if self.put(&mut lines, index, field, line) {
                    break;
                }
            }
        }
        self.date_precision(&mut lines);
        self.date_parts(&mut lines);
        // Days that are not sure enough for a field still tell the rate, or that there is none.
        let is_day = |column: &Column<'_>| {
            column.noun() == Some("date")
                && column.is_of(&owners)
                && column.values.iter().any(|value| values::is_date(value))
        };
        let other_day = self.outline.all(is_day).first().map(|index| self.header(*index));
        add_rate_days(&mut lines, other_day);
        self.investors(&mut lines);
        let key = self.round_key(parent.column());
        lines.insert(0, key);
        let mut conditions = self.no_rounds();
        if let Some(column) = self.filled_by_rounds() {
            let known = conditions.entry(column).or_default();
            *known = if known.is_empty() { "present = true".to_owned() } else { format!("{known}, present = true") };
        }
        if !conditions.is_empty() {
            let conditions = conditions.iter().map(|(column, test)| format!("{} = {{ {test} }}", self.header(*column)));
            let when = format!("when = {{ {} }}", conditions.collect::<Vec<_>>().join(", "));
            lines.insert(0, "# Other rows are no rounds of financing.".to_owned());
            lines.insert(1, when);
        }
        // The rows also say what the startups are; if they are identified by a table of their own, it does.
        let mut about = Vec::new();
        if let Reference::Name(column) = parent {
            let steps = self.name_steps(column);
            about.push(format!("key = {{ column = {}{steps}, by = \"name\" }}", self.header(column)));
            self.name(&mut about, column);
            self.used.insert(column, "startup");
            self.attributes(&mut about, EntityKind::Startup, &[None, Some(Owner::Startup), Some(Owner::Organization)]);
        }
        self.sections.push(Section { kind: EntityKind::Round, lines });
        if !about.is_empty() {
            self.sections.push(Section { kind: EntityKind::Startup, lines: about });
        }
    }

    /// Stages of two columns: one names series, the other says less but has a value in every row. True if there are such.
    fn stages(&mut self, lines: &mut Vec<String>, columns: &[usize]) -> bool {
        let known = |index: usize| {
            let is_named = |value: &str| Stage::meaning(value).is_some_and(|stage| stage != Stage::Other);
            self.column(index).map_or(0.0, |column| share(&column.values, is_named))
        };
        let (Some(first), Some(best)) = (
            columns.first().copied(),
            columns.iter().copied().max_by(|one, other| known(*one).total_cmp(&known(*other))),
        ) else {
            return false;
        };
        if known(best) < 0.9 || known(first) >= 0.9 || !self.column(best).is_some_and(Column::is_sure) {
            return false;
        }
        let Ok(line) = self.field_line(EntityKind::Round, "stage", &[best, first]) else { return false };
        let [best_header, both] = [self.header(best), self.headers(&[best, first])];
        let line = line.replace(&format!("column = {best_header}"), &format!("columns = [{both}], do = [\"first\"]"));
        lines.push(line);
        self.mark(&[best, first], "stage");
        true
    }

    /// Dates with their precision in another column: those of a month have its first day.
    fn date_precision(&mut self, lines: &mut [String]) {
        let is_precision = |column: &Column<'_>| {
            !column.values.is_empty()
                && column.values.len() == column.texts.len()
                && column.values.iter().all(|value| values::is_precision(value))
        };
        let Some(date) = self.used.iter().find(|(_, field)| **field == "announced_on").map(|(index, _)| *index) else {
            return;
        };
        let plain = format!("announced_on = {}", self.header(date));
        if let [precision] = &*self.outline.all(is_precision)
            && let Some(line) = lines.iter_mut().find(|line| **line == plain)
        {
            let columns = self.headers(&[date, *precision]);
            let forms = "\"%Y-%m-%d day\", \"%Y-%m-01 month\", \"%Y-01-01 year\", \"%Y-%m-%d\", \"%Y-%m\", \"%Y\"";
            *line = format!("announced_on = {{ columns = [{columns}], join = \" \", dates = [{forms}] }}");
            self.used.insert(*precision, "announced_on");
        }
    }

    fn has_only_years(&self, index: usize) -> bool {
        self.column(index).is_some_and(|column| {
            most(&column.values, |value| {
                values::clear_date(value).is_some_and(|date| !date.is_day() && !date.is_month())
            })
        })
    }

    /// Dates with their year, month and perhaps day in columns of their own. A part that is not sure becomes a remark.
    fn date_parts(&mut self, lines: &mut [String]) {
        let of_rounds = |column: &Column<'_>| column.is_of(&[None, Some(Owner::Round)]);
        let is_part = |column: &Column<'_>| matches!(column.noun(), Some("month" | "quarter")) && of_rounds(column);
        let parts = self.outline.all(is_part);
        let years = self.used.iter().find(|(_, field)| **field == "announced_on").map(|(index, _)| *index);
        let Some(years) = years.filter(|index| self.has_only_years(*index)) else { return };
        let is_day = |column: &Column<'_>| {
            let is_named =
                column.noun() == Some("date") && column.is_sure() || values::is_of_list("days", column.header);
            let is_number = |value: &str| value.parse().is_ok_and(|day: u8| (1..=31).contains(&day));
            is_named && of_rounds(column) && most(&column.values, is_number)
        };
        let days = self.outline.all(is_day);
        let is_month = |index: &usize| self.column(*index).is_some_and(|column| column.noun() == Some("month"));
        let months: Vec<usize> = parts.iter().copied().filter(is_month).collect();
        let is_sure = |index: &usize| self.column(*index).is_some_and(Column::is_sure);
        let line = lines.iter_mut().find(|line| **line == format!("announced_on = {}", self.header(years)));
        let joined = match (&*months, &*days) {
            ([month], [day]) => [vec![years, *month, *day], vec![years, *month]],
            ([month], _) => [vec![years, *month], Vec::new()],
            _ => Default::default(),
        };
        let mut found = joined.into_iter().filter_map(|columns| Some((self.date_form(&columns)?, columns)));
        let reason = match (found.next(), line) {
            (Some((form, columns)), Some(line)) if columns[..2].iter().all(is_sure) => {
                let headers = self.headers(&columns);
                *line = format!("announced_on = {{ columns = [{headers}], join = \"-\"{form} }}");
                self.mark(&columns, "announced_on");
                "not joined with the dates, which have another part"
            }
            _ => "perhaps a part of the dates, which have only years; left out",
        };
        self.open.extend([parts, days].concat().into_iter().map(|index| (index, open(reason))));
    }

    /// How the dates of columns with a year, a month and perhaps a day are read; `None` if they are not dates of that precision.
    fn date_form(&self, columns: &[usize]) -> Option<&'static str> {
        const FORMS: [&str; 2] = ["%Y-%m-%d", "%Y-%B-%d"];
        const DATES: &str = ", dates = [\"%Y-%m-%d\", \"%Y-%B-%d\"]";
        let cells = |index: &usize| -> BTreeMap<usize, &str> {
            let texts = self.column(*index).map_or(&[][..], |column| &column.texts);
            self.outline.rows_of(*index).iter().copied().zip(texts.iter().copied()).collect()
        };
        let parts: Vec<BTreeMap<usize, &str>> = columns.iter().map(cells).collect();
        let rows: Vec<&usize> = parts.last()?.keys().collect();
        let text = |row: &&usize| parts.iter().filter_map(|part| part.get(row).copied()).collect::<Vec<_>>().join("-");
        let dates: Vec<String> = rows.iter().map(text).collect();
        let dates: Vec<&str> = dates.iter().map(String::as_str).collect();
        let is_day = |text: &str| values::clear_date(text).is_some_and(PartialDate::is_day);
        let is_month = |text: &str| values::clear_date(text).is_some_and(PartialDate::is_month);
        match columns.len() {
            2 if share(&dates, is_month) >= 0.9 => Some(""),
            // Without its month, a day would be read as one: where a row may lack it, the forms tell.
            3 if share(&dates, |text| FORMS.iter().any(|form| values::reads(form, text))) >= 0.9
                && parts.iter().all(|part| part.len() == rows.len()) =>
            {
                Some(DATES)
            }
            3 if share(&dates, is_day) >= 0.9 && self.outline.is_whole => {
                rows.iter().all(|row| parts[1].contains_key(row)).then_some("")
            }
            _ => None,
        }
    }

    /// Key of a round: its identifier, or else startup, day and stage, and the amount if they are equal without it.
    fn round_key(&mut self, startup: usize) -> String {
        if let Some(key) = self.described_key() {
            return key;
        }
        if let Some(id) = self.outline.id {
            self.used.insert(id, "key");
            return format!("key = {}", self.header(id));
        }
        let find = |field: &str| -> Vec<usize> {
            self.used.iter().filter(|(_, known)| **known == field).map(|(index, _)| *index).collect()
        };
        let mut days = find("announced_on");
        if days.is_empty() {
            days.extend(self.outline.all(Column::has_days).first());
        }
        let stage = find("stage").into_iter().take(1).collect();
        let mut parts: Vec<usize> = [vec![startup], days, stage].concat();
        if parts.len() < 2 {
            parts.extend(self.outline.all(Column::has_amounts).first());
        }
        format!("key = {{ columns = [{}], by = \"name\" }}", self.headers(&parts))
    }

    fn investors(&mut self, lines: &mut Vec<String>) {
        let names = self.outline.all(Column::has_investors);
        let (leads, names): (Vec<usize>, Vec<usize>) =
            names.into_iter().partition(|index| self.column(*index).is_some_and(|column| column.meaning.has("lead")));
        // `Deal lead` may be who looks after a deal.
        let has_people =
            |column: &Column<'_>| !column.is_of(&[Some(Owner::Firm)]) && values::are_people(&column.values);
        let only_leads = self.outline.all(|column| {
            column.noun() == Some("lead")
                && column.is_sure()
                && values::are_names(&column.values)
                && !has_people(column)
        });
        let leads: Vec<usize> = if only_leads.is_empty() { leads } else { only_leads };
        let others = self.others_with(&self.parts(&[leads.clone(), names.clone()].concat()));
        let names = [names, others].concat();
        let all = [leads.clone(), names.clone()].concat();
        let cells = all.iter().filter_map(|index| self.column(*index)).flat_map(|column| column.values.clone());
        let joining = values::joining_word(&self.parts(&all), &cells.collect::<Vec<_>>());
        let by_name = ", by = \"name\", create = true";
        for (field, columns) in [("lead_investors", leads), ("investors", names.clone())] {
            let Some(first) = columns.first().copied() else { continue };
            let joining = joining.as_deref();
            let joining = joining.filter(|word| self.parts(&columns).iter().any(|part| part.contains(word)));
            let line = match (self.list_line(field, &columns, joining, by_name), self.relations.has_other_firms) {
                (Ok(line), true) => {
                    let reason = "the firms of another table have other keys than their names".to_owned();
                    Err(Open { reason, line: Some(line) })
                }
                (line, _) => line,
            };
            if self.put(lines, first, field, line) {
                self.mark(&columns, field);
            }
        }
        // `Alder Capital (lead), Birch Ventures`
        if let [name] = &*names
            && self.used.get(name) == Some(&"investors")
            && !self.used.values().any(|field| *field == "lead_investors")
            && self.column(*name).is_some_and(|column| values::have_leads(&column.values))
        {
            let steps = ", do = [\"list\", \"leads\"]";
            lines.push(line("lead_investors", &self.header(*name), &format!("{steps}{by_name}")));
        }
        // One investor a row, and a column that says whether it leads.
        let is_lead = |column: &Column<'_>| {
            column.meaning.has("lead") && !column.meaning.is_count && share(&column.values, values::is_flag) >= 0.9
        };
        if let ([name], [lead]) = (&*names, &*self.outline.all(is_lead))
            && self.used.get(name) == Some(&"investors")
            && self.column(*name).is_some_and(|column| values::list_step(&column.values) == Some(""))
        {
            let yes: Vec<String> = values::word_list("yes").iter().map(|word| quote(word)).collect();
            let when = format!(", when = {{ {} = [{}] }}", self.header(*lead), yes.join(", "));
            lines.push(line("lead_investors", &self.header(*name), &format!("{when}{by_name}")));
            self.used.insert(*lead, "lead_investors");
        }
    }

    /// The values of columns, with those of lists apart.
    fn parts(&self, columns: &[usize]) -> Vec<String> {
        let columns = columns.iter().filter_map(|index| self.column(*index));
        let parts = columns.flat_map(|column| {
            values::list_step(&column.values).map(|step| values::split(&column.values, step)).unwrap_or_default()
        });
        parts.map(|part| list::note(&part).map(|(name, _)| name.to_owned()).unwrap_or(part)).collect()
    }

    /// Columns whose header says nothing, but most of whose values are known investors, or parts of such.
    fn others_with(&self, known: &[String]) -> Vec<usize> {
        let is_open = |column: &Column<'_>| {
            column.noun().is_none() && column.meaning.owner().is_none() && column.meaning.is_plain()
        };
        let is_known = |name: &String| known.contains(name);
        let mut columns = self.outline.all(is_open);
        columns.retain(|index| {
            let parts: BTreeSet<String> = self.parts(&[*index]).into_iter().collect();
            let shared = parts.iter().filter(|part| is_known(part)).count();
            !self.used.contains_key(index) && shared >= 3 && shared * 2 >= parts.len()
        });
        columns
    }

    /// People with their organizations.
    fn people(&mut self) {
        let find = |noun: &str| self.outline.all(|column| column.noun() == Some(noun)).first().copied();
        let full = self.outline.subject;
        let (first, last) = (find("first_name"), find("last_name"));
        let is_joined = |index: usize, part: usize| match (self.column(index), self.column(part)) {
            (Some(whole), Some(part)) => {
                whole.texts.len() == part.texts.len()
                    && whole.texts.iter().zip(&part.texts).all(|(whole, part)| whole.contains(part))
            }
            _ => false,
        };
        // `Prénom` and `Nom`, `Nombre` and `Apellidos`
        let mut names: Vec<usize> = match (first, last, full) {
            (Some(first), None, Some(name)) if !is_joined(name, first) => vec![first, name],
            (None, Some(last), Some(name)) if !is_joined(name, last) => vec![name, last],
            (_, _, Some(name)) => vec![name],
            // A given name alone is half of one.
            (Some(_), None, None) | (None, Some(_), None) => return,
            // `Voornaam`, `Tussenvoegsel`, `Achternaam`: `van der` is part of the name.
            (Some(first), Some(last), None) => {
                let is_particle = |index: &usize| {
                    self.column(*index).is_some_and(|column| column.is_named && values::are_particles(&column.values))
                };
                let between = (first.min(last) + 1..first.max(last)).filter(is_particle);
                std::iter::once(first).chain(between).chain([last]).collect()
            }
            (None, None, None) => return,
        };
        // In scripts without blanks the family is first.
        let is_unspaced = |column: &Column<'_>| most(&column.values, |value| value.contains(header::is_unspaced));
        if last.and_then(|last| self.column(last)).is_some_and(is_unspaced) {
            names.sort_by_key(|index| Some(*index) != last);
        }
        let Some(parent) = self.relations.parent else { return };
        let mut lines = Vec::new();
        let mut parts = names.clone();
        parts.push(parent.column());
        let key = self.described_key();
        lines.push(key.unwrap_or_else(|| format!("key = {{ columns = [{}], by = \"name\" }}", self.headers(&parts))));
        lines.push(match &*names {
            [name] => format!("name = {}", self.header(*name)),
            names => format!("name = {{ columns = [{}], join = \" \" }}", self.headers(names)),
        });
        self.mark(&[names.clone(), first.into_iter().chain(last).collect()].concat(), "name");
        let is_title = |column: &Column<'_>| {
            let is_degree = values::most(&column.values, values::is_degree);
            column.noun() == Some("title") && column.is_of(&[None, Some(Owner::Person)]) && !is_degree
        };
        for index in self.outline.all(is_title) {
            let line = self.field_line(EntityKind::Person, "title", &[index]);
            if self.put(&mut lines, index, "title", line) {
                break;
            }
        }
        let kind = self.relations.organization.map_or("startup", EntityKind::name);
        let header = self.header(parent.column());
        lines.push(match parent {
            Reference::Name(column) => {
                let steps = self.name_steps(column);
                format!(
                    "organization = {{ kind = {}, column = {header}{steps}, by = \"name\", create = true }}",
                    quote(kind)
                )
            }
            Reference::Id(_) => format!("organization = {{ kind = {}, column = {header} }}", quote(kind)),
        });
        self.used.insert(parent.column(), "organization");
        self.sections.push(Section { kind: EntityKind::Person, lines });
        if let (Reference::Name(column), Some(EntityKind::Firm)) = (parent, self.relations.organization)
            && self.relations.describes_organizations
            && are_firms(&self.outline.columns, column)
        {
            self.organizations(column);
        }
    }

    /// The firms of people, as far as the rows say the same of each.
    fn organizations(&mut self, names: usize) {
        let owner = self.column(names).and_then(|column| column.meaning.owner());
        let owners = [None, Some(Owner::Firm), Some(Owner::Organization), owner];
        let is_place = |column: &Column<'_>| matches!(column.noun(), Some("city" | "country" | "location" | "region"));
        let people = self.used.iter().find(|(_, field)| **field == "name").map_or(0, |(index, _)| *index);
        // Where a firm is, its people are, too.
        let has_places_of_people = self.outline.columns.iter().enumerate().any(|(index, column)| {
            is_place(column)
                && column.is_of(&[None, Some(Owner::Person)])
                && self.outline.agrees(names, index) == Some(false)
        });
        for (index, column) in self.outline.columns.iter().enumerate() {
            // People may live and work where their firm is not, and write about themselves.
            let is_bare = column.meaning.owners.is_empty();
            let reason = match self.outline.agrees(names, index) {
                Some(false) => "differs between the people of a firm; left out",
                _ if is_bare && column.noun() == Some("description") => "may describe the person; left out",
                _ if is_place(column) && has_places_of_people => {
                    "the firm's place, where not all of its people are; left out"
                }
                None if is_bare && is_place(column) && !(names < people && index < people) => {
                    "may be the place of the person; left out"
                }
                _ => continue,
            };
            self.foreign.insert(index);
            if column.noun().is_some() && column.is_of(&owners) && !self.used.contains_key(&index) {
                self.open.entry(index).or_insert(open(reason));
            }
        }
        self.foreign.extend(self.used.keys());
        let steps = self.name_steps(names);
        let mut lines = vec![format!("key = {{ column = {}{steps}, by = \"name\" }}", self.header(names))];
        self.name(&mut lines, names);
        let count = lines.len();
        self.attributes(&mut lines, EntityKind::Firm, &owners);
        self.used.insert(names, "organization");
        if lines.len() > count {
            self.sections.push(Section { kind: EntityKind::Firm, lines });
        }
    }
}

/// Line of a mapping that gives a column this field; `None` if its values do not fit, or if it is not sure how.
pub(crate) fn line_for(sample: &Sample, column: usize, kind: EntityKind, field: &str) -> Option<String> {
    let described = FileDescription::default();
    let outline = Outline::new(header::Meaning::default(), sample, &described);
    let mut vocabularies = Vocabularies::new();
    let (used, open, foreign) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
    let (relations, sections) = (Relations::default(), Vec::new());
    let mut table =
        Sections { outline: &outline, relations, vocabularies: &mut vocabularies, used, open, foreign, sections };
    if field.starts_with("id.") {
        return table.scheme_line(field, column).ok();
    }
    let line = table.field_line(kind, SourceField::named(kind, field)?.name, &[column]).ok()?;
    // The mapping does not have the vocabulary; without it, the words that are not known are reported.
    Some(vocabularies.keys().fold(line, |line, name| line.replace(&format!(", map = {}", quote(name)), "")))
}

/// True if values are stages: some of them, or one if the header says that they are names of rounds.
fn are_stages(column: &Column<'_>, values: &[&str]) -> bool {
    let is_stage = |value: &str| Stage::meaning(value).is_some() || Stage::is_unknown(value);
    some(values, is_stage) || (column.noun() == Some("round") && values.iter().any(|value| is_stage(value)))
}

/// Adds the days of the rates to amounts in other currencies than dollars: those of the rounds, or those of another column.
fn add_rate_days(lines: &mut [String], other: Option<String>) {
    let day = lines.iter().find_map(|line| line.strip_prefix("announced_on = ").map(str::to_owned)).or(other);
    let amount =
        lines.iter_mut().find(|line| line.starts_with("amount_usd = ") && !line.contains("currency = \"USD\""));
    if let (Some(day), Some(amount)) = (day, amount)
        && let Some((begin, end)) = amount.rsplit_once(" }")
    {
        *amount = format!("{begin}, rate_on = {day} }}{end}");
    }
}

/// A field of a column, as a plain name if nothing else is said.
fn line(field: &str, header: &str, more: &str) -> String {
    if more.is_empty() { format!("{field} = {header}") } else { format!("{field} = {{ column = {header}{more} }}") }
}

/// How a field refers to other records: by their names, unless the values are codes.
fn reference_part(form: FieldForm, values: &[&str]) -> String {
    let FieldForm::Reference(kinds) = form else { return String::new() };
    let kind = if kinds.len() > 1 { ", kind = \"startup\"" } else { "" };
    let by = if most(values, values::is_uuid) { "" } else { ", by = \"name\", create = true" };
    format!("{kind}{by}")
}

/// Steps of a field; an empty text is none.
fn steps_part(steps: &[&str]) -> String {
    let steps: Vec<String> = steps.iter().filter(|step| !step.is_empty()).map(|step| quote(step)).collect();
    if steps.is_empty() { String::new() } else { format!(", do = [{}]", steps.join(", ")) }
}

fn list_step(values: &[&str], field: &str, header: &str) -> Result<&'static str, Open> {
    values::list_step(values).ok_or_else(|| {
        let line = (!header.contains("\", \"")).then(|| line(field, header, ", do = [\"list\"]"));
        let reason = "its cells are lists of a form that is not sure; if the parts are between commas".to_owned();
        Open { reason, line }
    })
}

/// Kind of the organizations of people: by the header of their column, their names, the titles of the people, labels in
/// other columns, and the name of the file. `None` if these say nothing, or different things.
pub(super) fn organization_kind(outline: &Outline<'_>, organizations: usize) -> Option<EntityKind> {
    let column = outline.columns.get(organizations)?;
    if column.meaning.owner() == Some(Owner::Firm) {
        return Some(EntityKind::Firm);
    }
    let points_of = |kind: Option<EntityKind>, points: i32| match kind {
        Some(EntityKind::Firm) => points,
        Some(_) => -points,
        None => 0,
    };
    let names: Vec<&str> = values::distinct(&column.values).into_iter().collect();
    let firms = share(&names, values::has_firm_word);
    let is_title = |column: &Column<'_>| column.noun() == Some("title") && column.is_of(&[None, Some(Owner::Person)]);
    let titles = outline.columns.iter().filter(|column| is_title(column)).flat_map(|column| column.values.clone());
    let titles: Vec<&str> = titles.collect();
    let has = |list: &str, other: &str| {
        most(&titles, |title| values::has_word(list, title))
            && !titles.iter().any(|title| values::has_word(other, title) && !values::has_word(list, title))
    };
    let of_titles = match (has("firm titles", "startup titles"), has("startup titles", "firm titles")) {
        (true, false) => Some(EntityKind::Firm),
        (false, true) => Some(EntityKind::Startup),
        _ => None,
    };
    // `VC` or `Fund` in most rows that have a label.
    let is_label = |column: &&Column<'_>| {
        let is_other = column.meaning.is_private() || is_title(column) || column.noun() == Some("name");
        !is_other && column.values.len() * 3 >= outline.height
    };
    let of_labels = outline.columns.iter().filter(is_label).find_map(|column| {
        let is_of = |kind| share(&column.values, |value| values::labelled(value) == Some(kind)) >= 0.9;
        [EntityKind::Firm, EntityKind::Startup].into_iter().find(|kind| is_of(*kind))
    });
    // `Founder` is who founded a startup.
    let subject = outline.subject.and_then(|subject| outline.columns.get(subject)).map_or("", |column| column.header);
    let of_subject = values::has_word("founders", subject).then_some(EntityKind::Startup);
    let of_file = match outline.file.owner() {
        Some(Owner::Firm) => Some(EntityKind::Firm),
        Some(Owner::Startup) => Some(EntityKind::Startup),
        _ => None,
    };
    let of_names = match firms {
        0.6.. => 4,
        0.3.. => 1,
        _ => 0,
    };
    // Who appointed the members of a board are firms, next to startups.
    let is_of_firms = |column: &Column<'_>| {
        column.noun().is_none_or(|noun| noun == "name")
            && values::are_names(&column.values)
            && most(&column.values, |name| values::has_firm_word(name) && !values::is_address(name))
    };
    let is_startup = firms == 0.0 && column.is_of(&[Some(Owner::Startup), Some(Owner::Organization)]);
    let of_others = (is_startup && outline.columns.iter().any(is_of_firms)).then_some(EntityKind::Startup);
    let points = of_names
        + points_of(of_others, 2)
        + points_of(of_labels, 4)
        + points_of(of_titles, 2)
        + points_of(of_subject, 2)
        + points_of(of_file, 1);
    match points {
        2.. => Some(EntityKind::Firm),
        ..=-2 => Some(EntityKind::Startup),
        _ => None,
    }
}
