//! The fields that sources make statements about: the columns of a dataset, with the form of their values.

use crate::sources::EntityKind;

/// What the values of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One line of text.
    Line,
    Text,
    Website,
    Country,
    Year,
    Date,
    /// Whole US dollars.
    Dollars,
    Stage,
    FirmKind,
    StartupStatus,
    /// The name of a sector; the statement refers to the sector.
    Sector,
    /// Another entity of the source, of one of these kinds.
    Reference(&'static [EntityKind]),
    /// A value of the scheme in the field's name.
    Identifier,
}

/// A field of one kind of entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// The column of the dataset.
    pub name: &'static str,
    pub form: Form,
    pub is_list: bool,
}

const fn one(name: &'static str, form: Form) -> Field {
    Field { name, form, is_list: false }
}

const fn list(name: &'static str, form: Form) -> Field {
    Field { name, form, is_list: true }
}

const FIRM: &[Field] = &[
    one("name", Form::Line),
    list("aliases", Form::Line),
    one("kind", Form::FirmKind),
    one("website", Form::Website),
    one("description", Form::Text),
    one("country", Form::Country),
    one("city", Form::Line),
    one("founded_year", Form::Year),
    list("stages", Form::Stage),
    list("sectors", Form::Sector),
    one("check_min_usd", Form::Dollars),
    one("check_max_usd", Form::Dollars),
    one("aum_usd", Form::Dollars),
];

const STARTUP: &[Field] = &[
    one("name", Form::Line),
    list("aliases", Form::Line),
    one("website", Form::Website),
    one("description", Form::Text),
    one("country", Form::Country),
    one("city", Form::Line),
    one("founded_year", Form::Year),
    one("stage", Form::Stage),
    list("sectors", Form::Sector),
    one("status", Form::StartupStatus),
];

const ROUND: &[Field] = &[
    one("startup", Form::Reference(&[EntityKind::Startup])),
    one("stage", Form::Stage),
    one("amount_usd", Form::Dollars),
    one("announced_on", Form::Date),
    list("lead_investors", Form::Reference(&[EntityKind::Firm])),
    list("investors", Form::Reference(&[EntityKind::Firm])),
];

const PERSON: &[Field] = &[
    one("name", Form::Line),
    one("title", Form::Line),
    one("organization", Form::Reference(&[EntityKind::Firm, EntityKind::Startup])),
    one("country", Form::Country),
];

const SECTOR: &[Field] =
    &[one("name", Form::Line), one("parent", Form::Reference(&[EntityKind::Sector])), one("description", Form::Text)];

impl Field {
    /// The fields of a kind of entity, in the order of the dataset's columns.
    pub(crate) fn of(kind: EntityKind) -> &'static [Self] {
        match kind {
            EntityKind::Firm => FIRM,
            EntityKind::Startup => STARTUP,
            EntityKind::Round => ROUND,
            EntityKind::Person => PERSON,
            EntityKind::Sector => SECTOR,
        }
    }

    pub(crate) fn named(kind: EntityKind, name: &str) -> Option<&'static Self> {
        Self::of(kind).iter().find(|field| field.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::import::csv_table::TableRow;
    use data::import::rows;

    #[test]
    fn fields_are_the_columns_of_the_dataset() {
        fn check<T: TableRow>(kind: EntityKind, others: &[&str]) {
            let columns: Vec<&str> = T::HEADER.split(',').filter(|column| !others.contains(column)).collect();
            assert_eq!(Field::of(kind).iter().map(|field| field.name).collect::<Vec<_>>(), columns);
        }
        check::<rows::Firm>(EntityKind::Firm, &["slug"]);
        check::<rows::Startup>(EntityKind::Startup, &["slug"]);
        check::<rows::Round>(EntityKind::Round, &["id"]);
        check::<rows::Person>(EntityKind::Person, &["slug", "organization_kind"]);
        check::<rows::Sector>(EntityKind::Sector, &["slug"]);
    }
}
