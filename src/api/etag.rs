//! The weak validator of an answer, made from the request alone: program, release, path and query, never the key.
//!
//! It is needed before the quota is taken, so it reads the query without asking the catalog for rows: names become those
//! of the parameter table, values their canonical texts, what holds anyway is left out. A query that is not understood
//! in full counts as it is written.

use http::{HeaderMap, HeaderValue};
use xxhash_rust::xxh3::Xxh3;

use crate::catalog::{Catalog, Resource};
use crate::data::Table;

use crate::http::headers::if_none_match;

use crate::api::SUGGESTIONS;
use crate::api::endpoint::{Endpoint, split};
use crate::api::fields;
use crate::api::pagination::default_of;
use crate::api::version::whole;
use crate::api::{DEFAULT_LIMIT, MAX_LIMIT, Version};

/// The validator of what a path and query are answered with.
pub(crate) struct ETag {
    /// Its text, as in `ETag`.
    pub text: HeaderValue,
    /// What is asked for; none where it was answered before.
    endpoint: Option<Endpoint>,
    /// Whether the query was understood in full.
    is_canonical: bool,
}

type Pairs<'a> = Vec<(&'a str, &'a str)>;

impl ETag {
    /// The validator of the answer to a path and query; `None` where the answer is not to be kept, or there is none.
    pub(crate) fn of(catalog: &Catalog, path: &str, values: &[(String, String)]) -> Option<Self> {
        let (version, path) = split(path);
        let version = version?;
        let endpoint = Endpoint::find(version, path)?;
        let pairs = values.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let pairs: Pairs<'_> = pairs.filter(|(name, _)| *name != "_" && !name.starts_with("utm_")).collect();
        let reading = Reading { catalog, version, pairs: &pairs };
        let canonical = match &endpoint {
            Endpoint::Usage | Endpoint::Snapshots => return None,
            Endpoint::List(resource) => reading.list(*resource, &[]),
            Endpoint::OfFirm(resource @ Resource::People, parameter, _) => {
                reading.list(*resource, &[parameter, "kind"])
            }
            Endpoint::OfFirm(resource, parameter, _) => reading.list(*resource, &[parameter]),
            Endpoint::Facets => reading.filters(Resource::Firms, &["sort"], &["fields"]),
            Endpoint::Suggest => reading.known(&["q", "limit", "fields"], SUGGESTIONS),
            Endpoint::Single(..) | Endpoint::Stats if version == Version::V3 => reading.known(&["fields"], 0),
            Endpoint::Single(..) | Endpoint::Stats => reading.known(&[], 0),
        };

        let mut hash = Xxh3::new();
        hash.update(&catalog.snapshot().content().to_le_bytes());
        let snapshot = catalog.version();
        hash.update(&snapshot.date.days().to_le_bytes());
        hash.update(&snapshot.counter.to_le_bytes());
        for part in [env!("CARGO_PKG_VERSION"), version.number(), &path.to_ascii_lowercase()] {
            hash.update(part.as_bytes());
            hash.update(&[0]);
        }
        let mut pair = |name: &str, value: &str| {
            for part in [name, value] {
                hash.update(&(part.len() as u64).to_le_bytes());
                hash.update(part.as_bytes());
            }
        };
        match &canonical {
            Some(canonical) => canonical.iter().for_each(|(name, value)| pair(name, value)),
            None => {
                pair("as written", "");
                pairs.iter().for_each(|(name, value)| pair(name, value));
            }
        }
        let is_canonical = canonical.is_some();
        let text = HeaderValue::try_from(format!("W/\"{:032x}\"", hash.digest128())).ok()?;
        Some(Self { text, endpoint: Some(endpoint), is_canonical })
    }

    /// The validator of an answer that was made.
    pub(crate) fn of_kept(text: HeaderValue) -> Self {
        Self { text, endpoint: None, is_canonical: true }
    }

    /// True where `If-None-Match` names it: the client has the answer.
    pub(crate) fn is_known_to(&self, headers: &HeaderMap, catalog: &Catalog) -> bool {
        let own = self.text.to_str().unwrap_or_default().trim_start_matches("W/");
        if_none_match(headers).any(|known| match known {
            "*" => self.exists(catalog),
            known => known == own,
        })
    }

    /// Whether there is such an answer, as far as it can be told without making it.
    fn exists(&self, catalog: &Catalog) -> bool {
        self.is_canonical
            && match &self.endpoint {
                Some(Endpoint::Single(table, slug)) => catalog.find(*table, slug).is_some(),
                Some(Endpoint::OfFirm(_, _, slug)) => catalog.find(Table::Firms, slug).is_some(),
                _ => true,
            }
    }
}

/// A query being read; each step ends with `None` where something is not understood.
struct Reading<'a> {
    catalog: &'a Catalog,
    version: Version,
    pairs: &'a Pairs<'a>,
}

/// Canonical names and values, without what holds anyway.
type Canonical = Vec<(&'static str, String)>;

impl Reading<'_> {
    /// The query of a list whose path gives the parameters `fixed`.
    fn list(&self, resource: Resource, fixed: &[&str]) -> Option<Canonical> {
        let searches = resource.parameter("q").is_some();
        self.filters(resource, fixed, self.version.window_parameters(searches))
    }

    fn filters(&self, resource: Resource, fixed: &[&str], others: &[&'static str]) -> Option<Canonical> {
        let parameter = |name: &str| resource.parameter(name).filter(|known| !fixed.contains(&known.name));
        if self.pairs.iter().any(|(name, _)| parameter(name).is_none() && !others.contains(&&**name)) {
            return None;
        }
        let mut canonical = Canonical::new();
        let mut searches = false;
        for parameter in resource.parameters() {
            let is_named = |name: &str| name == parameter.name || parameter.aliases.contains(&name);
            let given: Vec<&str> = self.values(|name| is_named(name)).collect();
            let text = match given.is_empty() {
                true => continue,
                false => self.catalog.canonical(resource, parameter, &given, self.version.is_strict())?,
            };
            searches |= parameter.name == "q";
            if !text.is_empty() {
                canonical.push((parameter.name, text));
            }
        }
        // Beside a cursor a default that is spelt out says something: that the cursor's query has it.
        if self.values(|name| name == "cursor").next().is_none() {
            let is_default =
                |name: &str, text: &String| default_of(self.version, resource, name, searches).as_ref() == Some(text);
            canonical.retain(|(name, text)| !is_default(name, text));
        }
        self.window(others, DEFAULT_LIMIT, &mut canonical)?;
        Some(canonical)
    }

    /// The query of a path that takes no filters.
    fn known(&self, names: &[&'static str], limit: u64) -> Option<Canonical> {
        if self.pairs.iter().any(|(name, _)| !names.contains(&&**name)) {
            return None;
        }
        let mut canonical = Canonical::new();
        self.window(names, limit, &mut canonical)?;
        Some(canonical)
    }

    /// The values under a name, trimmed, without empty ones.
    fn values(&self, is_named: impl Fn(&str) -> bool) -> impl Iterator<Item = &str> {
        let named = self.pairs.iter().filter(move |(name, _)| is_named(name));
        named.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    fn window(&self, names: &[&'static str], default_limit: u64, canonical: &mut Canonical) -> Option<()> {
        // A cursor carries these; what is left out beside it is not the default.
        let beside_cursor = names.contains(&"cursor") && self.values(|name| name == "cursor").next().is_some();
        for name in names {
            if *name == "fields" {
                self.fields(canonical)?;
                continue;
            }
            let mut given = self.values(|known| known == *name);
            let Some(text) = given.next() else { continue };
            if given.any(|other| other != text) {
                return None;
            }
            let number = || whole(text);
            let text = match *name {
                "limit" => match number().filter(|limit| *limit > 0)? {
                    limit if limit == default_limit && !beside_cursor => continue,
                    // Above the most, all are answered alike, and with a warning.
                    limit => limit.min(MAX_LIMIT + 1).to_string(),
                },
                "offset" => match number()? {
                    0 => continue,
                    offset => offset.to_string(),
                },
                "page" => match number().filter(|page| *page > 0)? {
                    1 => continue,
                    page => page.to_string(),
                },
                "explain" => match text {
                    "0" | "false" if beside_cursor => "0".to_owned(),
                    "0" | "false" => continue,
                    "1" | "true" => "1".to_owned(),
                    _ => return None,
                },
                _ => text.to_owned(),
            };
            canonical.push((name, text));
        }
        Some(())
    }

    fn fields(&self, canonical: &mut Canonical) -> Option<()> {
        let names = fields::canonical(self.pairs.iter().copied())?;
        if !names.is_empty() {
            canonical.push(("fields", names));
        }
        Some(())
    }
}
