//! Identifiers in registers and on the web: the known schemes, their syntax, and the evidence of a shared value.

use crate::import::website;
use crate::vocabulary::{Vocabulary, vocabulary};

vocabulary! {
    /// Evidence of a shared value that two records are the same.
    Strength, "strength", {
        /// A register gives a value to one entity only, and an entity has one value.
        Strong = "strong",
        /// Usually one entity, but brands, funds and subsidiaries may share a value, or an entity may have several.
        Medium = "medium",
        Weak = "weak",
    }
}

#[derive(Debug)]
pub struct IdentifierScheme {
    /// Its name in files and filters, such as `lei`.
    pub name: &'static str,
    pub title: &'static str,
    pub strength: Strength,
    pub example: &'static str,
    /// The address of an identifier's page, with `{}` for the value.
    pub page: Option<&'static str>,
    syntax: IdentifierSyntax,
}

/// Syntax of a scheme's values. Formats and check digits: ISO 17442 (LEI), the SEC's EDGAR (CIK) and IAPD (CRD), GSA's
/// SAM.gov (UEI), Companies House (company number), Wikidata (QID).
#[derive(Clone, Copy, Debug)]
enum IdentifierSyntax {
    /// A host without `www.`, in lowercase.
    Domain,
    /// 18 letters and digits, and two check digits (ISO 7064, MOD 97-10).
    Lei,
    /// A number without leading zeros, of at most this many digits.
    Number(usize),
    Wikidata,
    /// Exactly this many letters and digits, in capitals.
    Code(usize),
    /// Letters, digits, `-`, `_`, `.` and `%`, in lowercase.
    Name,
    /// Anything without white space.
    Any,
}

/// The known schemes. A dataset may use others: their strength is [`Strength::Weak`].
pub const SCHEMES: &[IdentifierScheme] = {
    use IdentifierSyntax::*;
    use Strength::*;

    &[
        scheme_of("domain", "Web domain", Medium, "example.com", Domain).at("https://{}"),
        scheme_of("lei", "Legal Entity Identifier", Strong, "529900T8BM49AURSDO55", Lei)
            .at("https://search.gleif.org/#/record/{}"),
        scheme_of("cik", "SEC Central Index Key", Strong, "320193", Number(10))
            .at("https://www.sec.gov/cgi-bin/browse-edgar?action=getcompany&CIK={}"),
        scheme_of("crd", "FINRA/IARD number", Strong, "105958", Number(10))
            .at("https://adviserinfo.sec.gov/firm/summary/{}"),
        scheme_of("uei", "SAM.gov Unique Entity ID", Strong, "ZQGGHJH74DW7", Code(12)),
        scheme_of("wikidata", "Wikidata item", Strong, "Q312", Wikidata).at("https://www.wikidata.org/wiki/{}"),
        scheme_of("crunchbase", "Crunchbase permalink", Strong, "alder-ventures", Name)
            .at("https://www.crunchbase.com/organization/{}"),
        scheme_of("crunchbase-uuid", "Crunchbase UUID", Strong, "4bd7e356-0c5f-4d6a-9d1f-0d9f3f0a1b2c", Name),
        scheme_of("companies-house", "UK company number", Strong, "00445790", Code(8))
            .at("https://find-and-update.company-information.service.gov.uk/company/{}"),
        scheme_of("sec-file", "SEC file number", Medium, "021-123456", Name),
        scheme_of("linkedin", "LinkedIn name", Medium, "alder-ventures", Name)
            .at("https://www.linkedin.com/company/{}"),
        scheme_of("yc", "Y Combinator name", Strong, "alder", Name).at("https://www.ycombinator.com/companies/{}"),
    ]
};

const fn scheme_of(
    name: &'static str,
    title: &'static str,
    strength: Strength,
    example: &'static str,
    syntax: IdentifierSyntax,
) -> IdentifierScheme {
    IdentifierScheme { name, title, strength, example, page: None, syntax }
}

impl IdentifierScheme {
    const fn at(self, page: &'static str) -> Self {
        Self { page: Some(page), ..self }
    }
}

pub fn scheme(name: &str) -> Option<&'static IdentifierScheme> {
    SCHEMES.iter().find(|scheme| scheme.name == name)
}

pub fn strength(name: &str) -> Strength {
    scheme(name).map_or(Strength::Weak, |scheme| scheme.strength)
}

/// Normalizes a value, so that values can be compared. The error describes the values of the scheme.
pub fn normalize(scheme_name: &str, value: &str) -> Result<String, String> {
    let scheme = scheme(scheme_name);
    let normal = scheme.map_or(IdentifierSyntax::Any, |scheme| scheme.syntax).normalize(value.trim());
    normal.ok_or_else(|| match scheme {
        Some(scheme) => format!("is not {}, such as `{}`", scheme.syntax.description(), scheme.example),
        None => "contains white space; an identifier has none".to_owned(),
    })
}

/// Prefix of the fields of statements that are identifiers; the scheme follows.
pub const FIELD: &str = "id:";

/// A value of more unlike names is a placeholder, such as `999999999` or the host of a platform.
pub const MAX_UNLIKE_NAMES: usize = 3;

/// An example in the form that filters take.
pub const EXAMPLE: &str = "lei:529900T8BM49AURSDO55";

/// Normalizes `scheme:value`. The error says how to write it.
pub fn normalize_pair(text: &str) -> Result<String, String> {
    let Some((scheme, value)) = text.trim().split_once(':') else {
        let names: Vec<&str> = SCHEMES.iter().map(|scheme| scheme.name).collect();
        return Err(format!("has no scheme; write it as `{EXAMPLE}`, with one of {}", names.join(", ")));
    };
    let scheme = scheme.trim().to_ascii_lowercase();
    Ok(format!("{scheme}:{}", normalize(&scheme, value)?))
}

impl IdentifierSyntax {
    fn normalize(self, value: &str) -> Option<String> {
        let is_code = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match self {
            Self::Domain => {
                let host = website::host(value);
                let is_host = host.contains('.')
                    && host.split('.').all(|label| !label.is_empty())
                    && host.chars().all(|char| char.is_alphanumeric() || "-._".contains(char));
                is_host.then_some(host)
            }
            Self::Lei => {
                let lei = value.to_ascii_uppercase();
                (lei.len() == 20 && is_code(&lei) && mod_97(&lei) == 1).then_some(lei)
            }
            Self::Number(digits) => {
                let number = value.trim_start_matches('0');
                (number.len() <= digits && is_number(number)).then(|| number.to_owned())
            }
            Self::Wikidata => {
                // The address of the item is accepted, too.
                let item = value.rsplit('/').next().unwrap_or_default().to_ascii_uppercase();
                let number = item.strip_prefix('Q')?;
                (is_number(number) && !number.starts_with('0')).then_some(item)
            }
            Self::Code(length) => {
                let code = value.to_ascii_uppercase();
                (code.len() == length && is_code(&code)).then_some(code)
            }
            Self::Name => {
                let name = value.to_lowercase();
                let is_name = name.chars().all(|char| char.is_alphanumeric() || "-_.%".contains(char));
                (is_name && !name.is_empty()).then_some(name)
            }
            Self::Any => (!value.is_empty() && !value.chars().any(char::is_whitespace)).then(|| value.to_owned()),
        }
    }

    fn description(self) -> String {
        match self {
            Self::Domain => "a domain".to_owned(),
            Self::Lei => "an LEI: 20 letters and digits, the last two of which are check digits".to_owned(),
            Self::Number(digits) => format!("a number of 1 to {digits} digits"),
            Self::Wikidata => "a Wikidata item: `Q` and a number".to_owned(),
            Self::Code(length) => format!("a code of {length} letters and digits"),
            Self::Name => "a name of letters, digits, `-`, `_`, `.` and `%`".to_owned(),
            Self::Any => "an identifier without white space".to_owned(),
        }
    }
}

/// The remainder modulo 97 of letters and digits, with letters as numbers from 10 (ISO 7064).
fn mod_97(text: &str) -> u32 {
    text.chars().filter_map(|char| char.to_digit(36)).fold(0, |rest, digit| {
        let shift = if digit < 10 { 10 } else { 100 };
        (rest * shift + digit) % 97
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_each_scheme_is_its_normal_form() {
        for scheme in SCHEMES {
            assert_eq!(normalize(scheme.name, scheme.example).as_deref(), Ok(scheme.example), "{}", scheme.name);
        }
    }

    #[test]
    fn spellings_of_one_identifier_are_equal() {
        for (scheme, value, expected) in [
            ("domain", "https://www.Alder.example/team", "alder.example"),
            ("lei", "529900t8bm49aursdo55", "529900T8BM49AURSDO55"),
            ("cik", "0000320193", "320193"),
            ("wikidata", "http://www.wikidata.org/entity/Q312", "Q312"),
            ("companies-house", "sc123456", "SC123456"),
            ("our-crm", "A 17", "contains white space; an identifier has none"),
            ("our-crm", "a17", "a17"),
        ] {
            let result = normalize(scheme, value);
            assert_eq!(result.as_ref().unwrap_or_else(|problem| problem), expected, "{scheme} {value}");
        }
    }

    #[test]
    fn what_cannot_be_an_identifier_is_refused() {
        for (scheme, value) in [
            ("lei", "529900T8BM49AURSDO56"),
            ("lei", "529900T8BM49AURSDO5"),
            ("cik", "0"),
            ("cik", "12345678901"),
            ("cik", "N/A"),
            ("wikidata", "P31"),
            ("wikidata", "Q0"),
            ("domain", "localhost"),
            ("domain", "a..b"),
            ("uei", "ABC"),
            ("crunchbase", ""),
        ] {
            let problem = normalize(scheme, value).unwrap_err();
            assert!(problem.contains("such as `"), "{scheme} {value}: {problem}");
        }
    }
}
