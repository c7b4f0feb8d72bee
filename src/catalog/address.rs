//! Addresses as search texts: `https://www.acme.com/about`, `jane.doe@acme.com`, `@acme`, `linkedin.com/in/jane-doe`.
//! Records with the website of the host come first. The rest is a name: the host without its ending for firms and
//! startups, the local part of an e-mail address for people, and the name of a profile for all.

use crate::Catalog;
use data::fold::fold;
use data::import::website;
use data::name::{OwnName, WordList};
use data::vocabulary::Vocabulary;
use data::{Country, Facet, Table};
use search::{CLOSE_SCORE, Explanation, Hit, MATCH_SCORE, MAX_HITS, MAX_SCORE, MatchClass, ScorePart, SearchResults};

/// Minimum number of letters of a name without them.
const MIN_REST: usize = 4;
/// Factor of the score of a name without them: below [`CLOSE_SCORE`] if it is exact.
const CUT_FACTOR: f32 = 0.79;
/// Maximum number of records of a host; one with more belongs to a platform.
const MAX_OF_HOST: u64 = 4;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchAddress {
    /// The host, lowercase, without `www.`; `None` for mail providers and hosts of profiles.
    pub(crate) host: Option<String>,
    /// The local part of an e-mail address, if it names a person.
    person: Option<String>,
    /// A handle, or the name of a profile.
    name: Option<String>,
}

/// Names to search for besides the host. The `cut` ones are tried only if no likely name has a sure match.
#[derive(Debug, Default, PartialEq, Eq)]
struct AddressNames {
    likely: Vec<String>,
    cut: Vec<String>,
}

impl SearchAddress {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_matches(['<', '>', '"', '\'', ',', ';']);
        let text = text.strip_prefix("mailto:").unwrap_or(text).trim_start_matches('/');
        if text.contains(char::is_whitespace) || !text.contains(['.', '@']) {
            return None;
        }
        if let Some(handle) = text.strip_prefix('@').filter(|handle| !handle.contains(['/', '@'])) {
            let name = (!handle.is_empty()).then(|| handle.to_owned())?;
            return Some(Self { name: Some(name), ..Self::default() });
        }
        if !text.contains('/')
            && let Some((local, host)) = text.split_once('@')
        {
            let host = host.to_lowercase();
            let local = local.split('+').next().filter(|local| !local.is_empty())?;
            if !is_host(&host) {
                return None;
            }
            let person = Some(local.to_owned()).filter(|local| !WordList::RoleAccounts.contains(&local.to_lowercase()));
            let host = Some(host).filter(|host| !WordList::MailProviders.contains(OwnName::parse(host).label));
            return (host.is_some() || person.is_some()).then_some(Self { host, person, name: None });
        }
        let host = website::host(text);
        let lower = text.to_lowercase();
        let is_marked = lower.starts_with("www.") || lower.contains("://");
        let ending = host.rsplit('.').next().unwrap_or_default();
        let is_country = ending.len() == 2 && Country::from_alpha2(&ending.to_uppercase()).is_some();
        if !is_host(&host) || !(is_marked || is_country || WordList::HostEndings.contains(ending)) {
            return None;
        }
        let name = profile(text, &host);
        Some(Self { host: Some(host).filter(|_| name.is_none()), person: None, name })
    }

    pub(crate) fn words(&self) -> usize {
        let texts = [&self.host, &self.person, &self.name].into_iter().flatten();
        texts.map(|text| fold(text).split(' ').count()).max().unwrap_or(0)
    }

    fn names(&self, table: Table) -> AddressNames {
        if let Some(name) = &self.name {
            return AddressNames { cut: cut_names(name), likely: vec![name.clone()] };
        }
        if let Some(person) = self.person.as_ref().filter(|_| table == Table::People || self.host.is_none()) {
            let name = person.trim_end_matches(|char: char| char.is_ascii_digit());
            let name = name.replace(['.', '_', '-'], " ");
            // Initial of the given name, then the surname.
            let mut letters = name.chars();
            let first = letters.next().filter(|_| !name.contains(' ') && name.len() >= MIN_REST);
            let cut = first.map(|first| format!("{first} {}", letters.as_str()));
            return AddressNames { likely: vec![name], cut: cut.into_iter().collect() };
        }
        let Some(host) = &self.host else { return AddressNames::default() };
        let own = OwnName::parse(host);
        // `58.com` and `sequoia.capital` are also names.
        AddressNames { likely: vec![own.domain.to_owned(), own.label.to_owned()], cut: cut_names(own.label) }
    }
}

/// True for at least two labels of letters, digits and hyphens; the last one has letters only.
fn is_host(host: &str) -> bool {
    let is_label =
        |label: &str| !label.is_empty() && label.chars().all(|char| char.is_alphanumeric() || "-_".contains(char));
    let ending = host.rsplit('.').next().unwrap_or_default();
    host.contains('.')
        && host.split('.').all(is_label)
        && ending.chars().count() > 1
        && (ending.starts_with("xn--") || ending.chars().all(char::is_alphabetic))
}

/// The name of a profile on another site: `linkedin.com/in/jane-doe`.
fn profile(text: &str, host: &str) -> Option<String> {
    if !OwnName::parse(host).is_of_profiles() {
        return None;
    }
    let path = text.split_once("://").map_or(text, |(_, rest)| rest).split(['?', '#']).next()?.split_once('/')?.1;
    let mut parts =
        path.split('/').filter(|part| !part.is_empty() && !WordList::ProfilePaths.contains(&part.to_lowercase()));
    let name = parts.next()?.trim_start_matches('@');
    // `jane-doe-1a2b3c` ends with a member number.
    let is_number = |end: &str| end.len() > 4 && end.contains(|char: char| char.is_ascii_digit());
    let name = name.rsplit_once('-').filter(|(_, end)| is_number(end)).map_or(name, |(name, _)| name);
    let name = name.replace(['-', '_'], " ");
    (!name.is_empty()).then_some(name)
}

/// A name without the words that hosts and handles add: `getacme`, `acmehq`, `acme-app`.
fn cut_names(name: &str) -> Vec<String> {
    let name = name.to_lowercase();
    let before = WordList::HandlePrefixes.words().filter_map(|added| name.strip_prefix(added));
    let after = WordList::HandleSuffixes.words().filter_map(|added| name.strip_suffix(added));
    let rest = before.chain(after).map(|rest| rest.trim_matches(['-', '_', ' ', '.']));
    rest.filter(|rest| rest.chars().count() >= MIN_REST).map(str::to_owned).collect()
}

impl Catalog {
    pub(super) fn search_address(&self, table: Table, address: &SearchAddress) -> SearchResults {
        let names = address.names(table);
        let mut found = SearchResults::default();
        for name in &names.likely {
            let other = self.search_names(table, name);
            if found.hits.is_empty() && found.did_you_mean.is_empty() || other.best_score() > found.best_score() {
                found = other;
            }
        }
        let of_host = self.rows_of_host(table, address);
        if of_host.is_empty() {
            for name in names.cut {
                if found.best_score() >= CLOSE_SCORE {
                    break;
                }
                let mut other = self.search_names(table, &name);
                other.hits.iter_mut().for_each(|hit| hit.score *= CUT_FACTOR);
                other.hits.retain(|hit| hit.score >= MATCH_SCORE);
                other.is_loose = !other.hits.is_empty();
                if other.best_score() > found.best_score() {
                    found = other;
                }
            }
            return found;
        }
        // Among several records of a host, the one with its name comes first.
        let (mut hits, others): (Vec<Hit>, Vec<Hit>) = found.hits.iter().partition(|hit| of_host.contains(&hit.row));
        hits.iter_mut().for_each(|hit| hit.score = MAX_SCORE);
        let further = of_host.into_iter().filter(|row| hits.iter().all(|hit| hit.row != *row));
        let further: Vec<Hit> = further.map(|row| Hit { row, score: MAX_SCORE }).collect();
        hits.extend(further);
        hits.extend(others);
        hits.truncate(MAX_HITS);
        SearchResults { hits, did_you_mean: Vec::new(), is_loose: false, left_out: Vec::new(), ..found }
    }

    pub(super) fn explain_address(&self, table: Table, address: &SearchAddress, row: u32) -> Option<Explanation> {
        if self.rows_of_host(table, address).contains(&row) {
            let part = ScorePart { strategy: "website", ceiling: 1.0, similarity: 1.0, points: 1.0 };
            let host = address.host.clone().unwrap_or_default();
            // As high as the best score of a name.
            return Some(Explanation::new(vec![part], host, MatchClass::Exact, MAX_SCORE - 1.0));
        }
        let names = address.names(table);
        let best = |left: Explanation, right: Explanation| if right.score > left.score { right } else { left };
        let likely = names.likely.iter().filter_map(|name| self.explain_name(table, name, row)).reduce(best)?;
        if likely.score >= CLOSE_SCORE {
            return Some(likely);
        }
        let cut = names.cut.iter().filter_map(|name| self.explain_name(table, name, row)).map(|mut explanation| {
            explanation.score *= CUT_FACTOR;
            explanation.prominence_bonus *= CUT_FACTOR;
            for part in &mut explanation.parts {
                part.ceiling *= CUT_FACTOR;
                part.points *= CUT_FACTOR;
            }
            explanation.matches &= explanation.score >= MATCH_SCORE;
            explanation.match_class = MatchClass::Relaxed.name();
            explanation
        });
        cut.fold(likely, best).into()
    }

    pub(super) fn classes_of_address(&self, table: Table, address: &SearchAddress, rows: &[u32]) -> Vec<MatchClass> {
        let of_host = self.rows_of_host(table, address);
        let names = address.names(table).likely.into_iter();
        let of_names: Vec<_> = names.map(|name| self.match_classes_of_name(table, &name, rows)).collect();
        let of_name = |index: usize| of_names.iter().filter_map(|classes| classes.get(index).copied()).min();
        let class = |(index, row): (usize, &u32)| {
            if of_host.contains(row) { MatchClass::Exact } else { of_name(index).unwrap_or(MatchClass::Relaxed) }
        };
        rows.iter().enumerate().map(class).collect()
    }

    /// True if a search text is an address and its host is that of a row's website.
    pub fn has_host(&self, table: Table, row: u32, text: &str) -> bool {
        SearchAddress::parse(text).is_some_and(|address| self.rows_of_host(table, &address).contains(&row))
    }

    /// Finds the records whose website is at the domain of an e-mail address; none for mail providers and platforms.
    pub fn rows_of_mail_domain(&self, table: Table, domain: &str) -> Vec<u32> {
        let own = OwnName::parse(domain);
        if own.is_of_profiles() || WordList::MailProviders.contains(own.label) {
            return Vec::new();
        }
        let value = self.snapshot().find_term(Facet::Website, domain);
        let rows = value.map(|value| self.snapshot().facet_rows(table, Facet::Website, value));
        rows.filter(|rows| rows.count() <= MAX_OF_HOST).map_or_else(Vec::new, |rows| rows.iter().collect())
    }

    /// Finds the records with a website on the host of an address or on the domain it belongs to; none for a platform.
    fn rows_of_host(&self, table: Table, address: &SearchAddress) -> Vec<u32> {
        let Some(host) = &address.host else { return Vec::new() };
        let domain = OwnName::parse(host).domain;
        let parents = host.match_indices('.').map(|(at, _)| &host[at + 1..]);
        let hosts = std::iter::once(host.as_str()).chain(parents).take_while(|host| host.len() >= domain.len());
        let snapshot = self.snapshot();
        let values = hosts.filter_map(|host| snapshot.find_term(Facet::Website, host));
        let rows = values.map(|value| snapshot.facet_rows(table, Facet::Website, value));
        let found = rows.filter(|rows| rows.count() > 0).take(1).filter(|rows| rows.count() <= MAX_OF_HOST);
        found.flat_map(|rows| rows.iter()).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn host_of(text: &str) -> Option<String> {
        SearchAddress::parse(text)?.host
    }

    fn likely(text: &str, table: Table) -> Vec<String> {
        SearchAddress::parse(text).map(|address| address.names(table).likely).unwrap_or_default()
    }

    #[test]
    fn addresses_of_every_form_have_the_same_host() {
        for text in [
            "acme.com",
            "ACME.com.",
            "www.acme.com",
            "http://acme.com",
            "https://www.Acme.com:443/about/us?ref=a.b#top",
            "//acme.com/",
            "acme.com/pricing",
            "<https://acme.com>",
            "jane.doe+news@acme.com",
            "mailto:info@acme.com",
        ] {
            assert_eq!(host_of(text).as_deref(), Some("acme.com"), "{text}");
        }
    }

    #[test]
    fn names_are_not_addresses() {
        for text in [
            "",
            ".",
            "@",
            "acme",
            "Acme Inc.",
            "N.E.A.",
            "U.S. Venture",
            "kabir.bose",
            "v2.0",
            "3.14",
            "a..com",
            "Acme & Co. Ltd",
            "s.oliver/bonprix",
            "and/or",
            "jane@",
            "@@",
            "http://",
            "www.",
            "1.1.1.1",
            "e.ventures capital",
            "★.★",
        ] {
            assert_eq!(SearchAddress::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_host_is_cut_to_the_name_of_its_owner() {
        for (text, names) in [
            ("https://www.stripe.com/de", ["stripe.com", "stripe"]),
            ("blog.stripe.co.uk", ["stripe.co.uk", "stripe"]),
            ("www.sequoia.capital", ["sequoia.capital", "sequoia"]),
            ("http://acme-labs.wordpress.com/about", ["acme-labs.wordpress.com", "acme-labs"]),
            ("wordpress.com", ["wordpress.com", "wordpress"]),
            ("co.uk", ["co.uk", "co"]),
            ("sales@mail.acme.io", ["acme.io", "acme"]),
        ] {
            assert_eq!(likely(text, Table::Startups), names, "{text}");
        }
    }

    #[test]
    fn an_email_address_names_a_person_and_a_firm() {
        for (text, person, firm) in [
            ("jane.doe@acme.com", "jane doe", "acme.com"),
            ("jane_doe99@gmail.com", "jane doe", "jane doe"),
            ("info@acme.com", "acme.com", "acme.com"),
        ] {
            assert_eq!(likely(text, Table::People)[0], person, "{text}");
            assert_eq!(likely(text, Table::Firms)[0], firm, "{text}");
        }
        let names = SearchAddress::parse("jdoe@acme.com").unwrap().names(Table::People);
        assert_eq!((names.likely, names.cut), (vec!["jdoe".to_owned()], vec!["j doe".to_owned()]));
        assert_eq!(SearchAddress::parse("info@gmail.com"), None);
    }

    #[test]
    fn a_profile_on_another_site_is_a_name() {
        for (text, name) in [
            ("linkedin.com/in/jane-doe", "jane doe"),
            ("https://www.linkedin.com/in/jane-doe-8a1b2c34/?x=y", "jane doe"),
            ("https://uk.linkedin.com/company/acme", "acme"),
            ("twitter.com/acme", "acme"),
            ("https://www.crunchbase.com/organization/acme-2", "acme 2"),
            ("https://medium.com/@acme", "acme"),
            ("@acme", "acme"),
            ("@get_acme", "get_acme"),
        ] {
            assert_eq!(likely(text, Table::Startups), [name], "{text}");
            assert_eq!(likely(text, Table::People), [name], "{text}");
        }
        assert_eq!(host_of("linkedin.com").as_deref(), Some("linkedin.com"));
    }

    #[test]
    fn what_addresses_add_to_a_name_is_cut() {
        for text in ["getacme", "acmehq", "try-acme", "Acme_App", "acme.io"] {
            assert!(cut_names(text).contains(&"acme".to_owned()), "{text}: {:?}", cut_names(text));
        }
        assert_eq!(cut_names("usenet"), Vec::<String>::new());
        assert_eq!(cut_names("acme"), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn any_text_is_parsed(text in "\\PC{0,40}", from in "(@|www\\.|https?://|a@|linkedin.com/)?") {
            if let Some(address) = SearchAddress::parse(&format!("{from}{text}")) {
                for table in [Table::Firms, Table::People] {
                    address.names(table);
                }
            }
        }

        #[test]
        fn decoration_does_not_change_the_host(
            label in "[a-z][a-z0-9-]{0,8}[a-z]", ending in "(com|co\\.uk|io|vc)", sub in "(www\\.)?",
            scheme in "(https?://)?", port in "(:[0-9]{2,4})?", path in "(/[a-z]{1,5}){0,2}", query in "(\\?[a-z]=[a-z.]{1,4})?",
        ) {
            prop_assume!(!OwnName::parse(&label).is_of_profiles() && !WordList::MailProviders.contains(&label) && label != "www");
            let plain = format!("{label}.{ending}");
            prop_assert_eq!(host_of(&format!("{scheme}{sub}{plain}{port}{path}{query}")), Some(plain.clone()));
            let person = format!("jane@{plain}");
            prop_assert_eq!(host_of(&person), Some(plain));
        }
    }
}
