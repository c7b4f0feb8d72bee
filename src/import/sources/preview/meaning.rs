//! What a column of a table can mean: a field of the entities of a section.

use std::fmt;
use std::str::FromStr;

use crate::sources::EntityKind;
use crate::sources::field::{FieldForm, SourceField};
use crate::sources::mapping::read::is_identified;
use data::identifier;
use data::vocabulary::Vocabulary as _;

/// Key of the entities of a section.
pub(crate) const KEY: &str = "key";

/// A field of a section of a mapping, written as `firm.0.name`, `startup.1.id.lei` or `round.0.key`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    pub kind: EntityKind,
    /// Number of the section among those of its kind, from 0.
    pub section: usize,
    pub field: String,
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.kind, self.section, self.field)
    }
}

impl FromStr for Meaning {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.splitn(3, '.');
        let kind = parts.next().and_then(|name| EntityKind::ALL.iter().find(|kind| kind.name() == name));
        let section = parts.next().and_then(|number| number.parse().ok());
        let meaning = kind.zip(section).zip(parts.next());
        let meaning = meaning.map(|((kind, section), field)| Self { kind: *kind, section, field: field.to_owned() });
        let is_known = |meaning: &Self| match meaning.scheme() {
            Some(scheme) => !scheme.is_empty(),
            None => meaning.field == KEY || SourceField::of_section(meaning.kind, &meaning.field).is_some(),
        };
        meaning.filter(is_known).ok_or_else(|| format!("{text:?} is not a field, such as `firm.0.name`"))
    }
}

impl Meaning {
    pub(crate) fn scheme(&self) -> Option<&str> {
        self.field.strip_prefix("id.")
    }

    pub(crate) fn form(&self) -> FieldForm {
        match SourceField::of_section(self.kind, &self.field) {
            Some(field) => field.form,
            None if self.field == KEY => FieldForm::Line,
            None => FieldForm::Identifier,
        }
    }

    pub(crate) fn is_list(&self) -> bool {
        self.scheme().is_some() || SourceField::of_section(self.kind, &self.field).is_some_and(|field| field.is_list)
    }

    /// True for amounts: they need a currency, which is never guessed.
    pub fn is_amount(&self) -> bool {
        self.form() == FieldForm::Dollars
    }

    /// True for a field of which all records of a file may have the same value. Amounts have currencies, and what tells
    /// records apart differs.
    pub fn may_be_constant(&self) -> bool {
        let is_own =
            self.field == KEY || self.scheme().is_some() || matches!(&*self.field, "name" | "aliases" | "slug");
        !is_own && !self.is_amount()
    }

    /// Settings of how the texts of the field are read.
    pub fn settings(&self) -> &'static [&'static str] {
        match self.form() {
            FieldForm::Dollars => &["currency", "unit", "decimal", "end"],
            FieldForm::Year | FieldForm::Date | FieldForm::Month => &["dates"],
            FieldForm::Reference([_, _, ..]) => &["kind"],
            _ if self.is_list() => &["split"],
            _ => &[],
        }
    }

    /// Name for people, such as `firm: least check (US$)`.
    pub fn label(&self) -> String {
        format!("{}: {}", self.kind, field_label(&self.field))
    }
}

pub fn field_label(field: &str) -> String {
    match field {
        KEY => "its ID in this file".to_owned(),
        "check_min_usd" => "smallest check".to_owned(),
        "check_max_usd" => "largest check".to_owned(),
        "aum_usd" => "assets under management".to_owned(),
        "amount_usd" => "amount".to_owned(),
        "announced_on" => "date".to_owned(),
        "founded_year" => "year or date of foundation".to_owned(),
        "aliases" => "other names".to_owned(),
        _ => match field.strip_prefix("id.") {
            Some(scheme) => format!("identifier: {scheme}"),
            None => field.replace('_', " "),
        },
    }
}

/// Fields of a kind with their names for people, in the order of a menu.
pub fn fields_of(kind: EntityKind) -> Vec<String> {
    let fields = SourceField::of_kind(kind).iter().map(|field| field.name.to_owned());
    let schemes =
        identifier::SCHEMES.iter().filter(|_| is_identified(kind)).map(|scheme| format!("id.{}", scheme.name));
    fields.chain([KEY.to_owned()]).chain(schemes).collect()
}
