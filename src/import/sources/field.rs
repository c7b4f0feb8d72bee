//! Fields that statements can be about: the columns of a dataset, with the form of their values.

use crate::sources::EntityKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldForm {
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
    ReviewStatus,
    ReviewerRole,
    ReviewProof,
    /// Keyed hash of an account.
    KeyedHash,
    Month,
    /// Whole number from 1 to 5.
    Rating,
    Truth,
    /// Slug or id that a record keeps.
    Slug,
    /// Name of a sector; the statement refers to the sector.
    Sector,
    /// Reference to an entity of the same source, of one of these kinds.
    Reference(&'static [EntityKind]),
    /// Identifier of the scheme in the field's name.
    Identifier,
}

pub(crate) struct SourceField {
    /// Column of the dataset.
    pub name: &'static str,
    pub form: FieldForm,
    pub is_list: bool,
}

const fn one(name: &'static str, form: FieldForm) -> SourceField {
    SourceField { name, form, is_list: false }
}

const fn list(name: &'static str, form: FieldForm) -> SourceField {
    SourceField { name, form, is_list: true }
}

const FIRM: &[SourceField] = &[
    one("name", FieldForm::Line),
    list("aliases", FieldForm::Line),
    one("kind", FieldForm::FirmKind),
    one("website", FieldForm::Website),
    one("description", FieldForm::Text),
    one("country", FieldForm::Country),
    one("city", FieldForm::Line),
    one("founded_year", FieldForm::Year),
    list("stages", FieldForm::Stage),
    list("sectors", FieldForm::Sector),
    one("check_min_usd", FieldForm::Dollars),
    one("check_max_usd", FieldForm::Dollars),
    one("aum_usd", FieldForm::Dollars),
];

const STARTUP: &[SourceField] = &[
    one("name", FieldForm::Line),
    list("aliases", FieldForm::Line),
    one("website", FieldForm::Website),
    one("description", FieldForm::Text),
    one("country", FieldForm::Country),
    one("city", FieldForm::Line),
    one("founded_year", FieldForm::Year),
    one("stage", FieldForm::Stage),
    list("sectors", FieldForm::Sector),
    one("status", FieldForm::StartupStatus),
];

const ROUND: &[SourceField] = &[
    one("startup", FieldForm::Reference(&[EntityKind::Startup])),
    one("stage", FieldForm::Stage),
    one("amount_usd", FieldForm::Dollars),
    one("announced_on", FieldForm::Date),
    list("lead_investors", FieldForm::Reference(&[EntityKind::Firm])),
    list("investors", FieldForm::Reference(&[EntityKind::Firm])),
];

const PERSON: &[SourceField] = &[
    one("name", FieldForm::Line),
    one("title", FieldForm::Line),
    one("organization", FieldForm::Reference(&[EntityKind::Firm, EntityKind::Startup])),
    one("country", FieldForm::Country),
];

const SECTOR: &[SourceField] = &[
    one("name", FieldForm::Line),
    one("parent", FieldForm::Reference(&[EntityKind::Sector])),
    one("description", FieldForm::Text),
];

const REVIEW: &[SourceField] = &[
    one("firm", FieldForm::Reference(&[EntityKind::Firm])),
    one("stage", FieldForm::Stage),
    one("rating", FieldForm::Rating),
    one("responsiveness", FieldForm::Rating),
    one("fairness", FieldForm::Rating),
    one("value_add", FieldForm::Rating),
    one("ghosted", FieldForm::Truth),
    one("title", FieldForm::Line),
    one("body", FieldForm::Text),
    one("status", FieldForm::ReviewStatus),
    one("created_on", FieldForm::Date),
    one("role", FieldForm::ReviewerRole),
    one("contact_month", FieldForm::Month),
    one("proof", FieldForm::ReviewProof),
    one("author", FieldForm::KeyedHash),
    one("author_since", FieldForm::Date),
    one("reply", FieldForm::Text),
    one("replied_on", FieldForm::Date),
    one("disputed_on", FieldForm::Date),
    one("cleared", FieldForm::Truth),
];

impl SourceField {
    /// Slug that the record of an entity has or keeps. It is not part of the view's rows: the view gives it to the record.
    pub(crate) const SLUG: &Self = &one("slug", FieldForm::Slug);

    /// Fields of a kind of entity, in the order of the dataset's columns.
    pub(crate) fn of_kind(kind: EntityKind) -> &'static [Self] {
        match kind {
            EntityKind::Firm => FIRM,
            EntityKind::Startup => STARTUP,
            EntityKind::Round => ROUND,
            EntityKind::Person => PERSON,
            EntityKind::Review => REVIEW,
            EntityKind::Sector => SECTOR,
        }
    }

    /// Fields without which there is no record.
    pub(crate) const fn required(kind: EntityKind) -> &'static [&'static str] {
        match kind {
            EntityKind::Firm | EntityKind::Startup | EntityKind::Sector => &["name"],
            EntityKind::Person => &["name", "organization"],
            EntityKind::Review => &["firm", "rating", "status", "created_on"],
            EntityKind::Round => &["startup"],
        }
    }

    pub(crate) fn named(kind: EntityKind, name: &str) -> Option<&'static Self> {
        Self::of_kind(kind).iter().find(|field| field.name == name)
    }

    /// Field of a section of a mapping: one of the kind, or the slug.
    pub(crate) fn of_section(kind: EntityKind, name: &str) -> Option<&'static Self> {
        Self::of_kind(kind).iter().chain([Self::SLUG]).find(|field| field.name == name)
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
            assert_eq!(SourceField::of_kind(kind).iter().map(|field| field.name).collect::<Vec<_>>(), columns);
        }
        check::<rows::DatasetFirm>(EntityKind::Firm, &["slug"]);
        check::<rows::DatasetStartup>(EntityKind::Startup, &["slug"]);
        check::<rows::DatasetRound>(EntityKind::Round, &["id"]);
        check::<rows::DatasetPerson>(EntityKind::Person, &["slug", "organization_kind"]);
        check::<rows::DatasetReview>(EntityKind::Review, &["id"]);
        check::<rows::DatasetSector>(EntityKind::Sector, &["slug"]);
    }
}
