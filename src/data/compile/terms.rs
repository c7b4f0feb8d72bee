//! Text values of the facets in [`Facet::LISTED`]: cities, job titles, hosts, identifiers.

use std::sync::Arc;

use crate::archive::column_writer::ColumnWriter;
use crate::archive::writer::Sections;
use crate::fold::fold;
use crate::import::identifiers::NormalIdentifier;
use crate::import::{Dataset, website};
use crate::parallel::both;
use crate::{Facet, Role};

/// Number of values of a facet in [`Facet::LISTED`], and the value of each row of the dataset.
type TermValues = (usize, Vec<Option<u32>>);

/// Values of the facets in [`Facet::LISTED`], and people's roles, which follow from their titles.
pub(super) struct FacetTerms {
    /// Of firms, and of startups.
    pub cities: [TermValues; 2],
    /// Of firms, and of startups.
    pub websites: [TermValues; 2],
    pub titles: TermValues,
    roles: Vec<Vec<Role>>,
    /// Distinct identifiers in the form of [`identifier_text`], ascending.
    identifiers: Vec<String>,
}

impl FacetTerms {
    /// The values, and the sections that list them. On two threads, each with one facet at a time, because a facet may have
    /// as many texts as there are rows.
    pub(super) fn compute(dataset: &Dataset) -> (Self, Sections) {
        let (firms, startups, people) = (&dataset.firms, &dataset.startups, &dataset.people);
        let cities_and_titles = || {
            let mut out = Sections::default();
            let cities = [texts(firms, |firm| folded(&firm.city)), texts(startups, |startup| folded(&startup.city))];
            let (_, cities) = number_terms(&mut out, Facet::City, &cities);
            let titles = [texts(people, |person| folded(&person.title))];
            let (names, [titles]) = number_terms(&mut out, Facet::Title, &titles);
            let roles: Vec<Vec<Role>> = names.into_iter().map(Role::of_title).collect();
            (out, cities, titles, roles)
        };
        let websites_and_identifiers = || {
            let mut out = Sections::default();
            let hosts = [texts(firms, |firm| host(&firm.website)), texts(startups, |startup| host(&startup.website))];
            let (_, websites) = number_terms(&mut out, Facet::Website, &hosts);
            drop(hosts);
            let of_firms = firms.iter().flat_map(|firm| &firm.identifiers);
            let of_startups = startups.iter().flat_map(|startup| &startup.identifiers);
            let of_people = people.iter().flat_map(|person| &person.identifiers);
            let all = of_firms.chain(of_startups).chain(of_people);
            let mut identifiers: Vec<String> = all.map(identifier_text).collect();
            identifiers.sort_unstable();
            identifiers.dedup();
            out.add_texts(&format!("{}/terms", Facet::Identifier), identifiers.iter());
            (out, websites, identifiers)
        };
        let ((mut sections, cities, titles, roles), (others, websites, identifiers)) =
            both(cities_and_titles, websites_and_identifiers);
        sections.extend(others);
        (Self { cities, websites, titles, roles, identifiers }, sections)
    }

    pub(super) fn roles(&self, person: usize) -> &[Role] {
        self.titles.1[person].map_or(&[], |title| &self.roles[title as usize])
    }

    pub(super) fn write_identifiers<'s>(
        &'s self,
        columns: &mut ColumnWriter<'_, 's>,
        carried: impl Fn(usize) -> &'s [NormalIdentifier] + Send + 's,
    ) {
        columns.facet(Facet::Identifier, self.identifiers.len(), move |row, each| {
            let texts = carried(row).iter().map(identifier_text);
            texts.filter_map(|text| self.identifiers.binary_search(&text).ok()).for_each(|index| each(index as u32));
        });
    }
}

fn texts<R>(rows: &[R], text: impl Fn(&R) -> Option<String>) -> Vec<Option<String>> {
    rows.iter().map(text).collect()
}

fn folded(text: &Option<Arc<str>>) -> Option<String> {
    text.as_deref().map(fold).filter(|folded| !folded.is_empty())
}

fn host(url: &Option<String>) -> Option<String> {
    url.as_deref().map(website::host).filter(|host| !host.is_empty())
}

fn identifier_text(identifier: &NormalIdentifier) -> String {
    identifier.to_string().to_lowercase()
}

/// Adds the distinct texts of all lists, sorted. Returns them with the index of each text in each list.
fn number_terms<'t, const N: usize>(
    out: &mut Sections,
    facet: Facet,
    lists: &'t [Vec<Option<String>>; N],
) -> (Vec<&'t str>, [TermValues; N]) {
    let mut texts: Vec<&str> = lists.iter().flat_map(|list| list.iter().flatten()).map(String::as_str).collect();
    texts.sort_unstable();
    texts.dedup();
    let number = |text: &Option<String>| {
        text.as_deref().map(|text| texts.binary_search(&text).expect("all texts are listed") as u32)
    };
    let values = lists.each_ref().map(|list| (texts.len(), list.iter().map(number).collect()));
    out.add_texts(&format!("{facet}/terms"), texts.iter());
    (texts, values)
}
