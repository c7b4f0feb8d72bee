//! Text values of the facets in [`Facet::LISTED`]: cities, job titles, hosts, identifiers.

use std::io;
use std::sync::Arc;

use crate::archive::ArchiveWriter;
use crate::archive::column_writer::ColumnWriter;
use crate::fold::fold;
use crate::import::identifiers::NormalIdentifier;
use crate::import::{Dataset, website};
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
    /// Writes the values, one facet at a time, because each may have as many texts as there are rows.
    pub(super) fn write(dataset: &Dataset, writer: &mut ArchiveWriter<'_>) -> io::Result<Self> {
        let (firms, startups, people) = (&dataset.firms, &dataset.startups, &dataset.people);
        let folded_cities = [texts(firms, |firm| folded(&firm.city)), texts(startups, |startup| folded(&startup.city))];
        let (_, cities) = write_terms(writer, Facet::City, &folded_cities)?;
        drop(folded_cities);
        let folded_titles = [texts(people, |person| folded(&person.title))];
        let (names, [titles]) = write_terms(writer, Facet::Title, &folded_titles)?;
        let roles = names.into_iter().map(Role::of_title).collect();
        drop(folded_titles);
        let hosts = [texts(firms, |firm| host(&firm.website)), texts(startups, |startup| host(&startup.website))];
        let (_, websites) = write_terms(writer, Facet::Website, &hosts)?;
        drop(hosts);
        let of_firms = firms.iter().flat_map(|firm| &firm.identifiers);
        let of_startups = startups.iter().flat_map(|startup| &startup.identifiers);
        let of_people = people.iter().flat_map(|person| &person.identifiers);
        let mut identifiers: Vec<String> = of_firms.chain(of_startups).chain(of_people).map(identifier_text).collect();
        identifiers.sort_unstable();
        identifiers.dedup();
        writer.texts(&format!("{}/terms", Facet::Identifier), identifiers.iter())?;
        Ok(Self { cities, websites, titles, roles, identifiers })
    }

    pub(super) fn roles(&self, person: usize) -> &[Role] {
        self.titles.1[person].map_or(&[], |title| &self.roles[title as usize])
    }

    pub(super) fn write_identifiers<'s>(
        &self,
        columns: &mut ColumnWriter<'_, '_>,
        carried: impl Fn(usize) -> &'s [NormalIdentifier],
    ) -> io::Result<()> {
        columns.facet(Facet::Identifier, self.identifiers.len(), |row, each| {
            let texts = carried(row).iter().map(identifier_text);
            texts.filter_map(|text| self.identifiers.binary_search(&text).ok()).for_each(|index| each(index as u32));
        })
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

/// Writes the distinct texts of all lists, sorted. Returns them with the index of each text in each list.
fn write_terms<'t, const N: usize>(
    writer: &mut ArchiveWriter<'_>,
    facet: Facet,
    lists: &'t [Vec<Option<String>>; N],
) -> io::Result<(Vec<&'t str>, [TermValues; N])> {
    let mut texts: Vec<&str> = lists.iter().flat_map(|list| list.iter().flatten()).map(String::as_str).collect();
    texts.sort_unstable();
    texts.dedup();
    let number = |text: &Option<String>| {
        text.as_deref().map(|text| texts.binary_search(&text).expect("all texts are listed") as u32)
    };
    let values = lists.each_ref().map(|list| (texts.len(), list.iter().map(number).collect()));
    writer.texts(&format!("{facet}/terms"), texts.iter())?;
    Ok((texts, values))
}
