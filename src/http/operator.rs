//! Who runs the service: its name, how to reach them, and their terms.

use crate::http::Brand;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operator {
    pub brand: Brand,
    /// Whom to tell about a vulnerability or a question of privacy, as a `mailto:` or `https:` URL.
    pub contact: Option<String>,
    /// Who is responsible for the pages, an `https:` URL.
    pub imprint_url: Option<String>,
    /// The operator's privacy policy, an `https:` URL.
    pub privacy_url: Option<String>,
    /// The operator's terms of use, an `https:` URL.
    pub terms_url: Option<String>,
}

impl Operator {
    /// The links for the footer of a page: URL and name.
    pub(crate) fn links(&self) -> Vec<(String, &'static str)> {
        let links = [
            (&self.imprint_url, "Imprint"),
            (&self.privacy_url, "Privacy policy"),
            (&self.terms_url, "Terms"),
            (&self.contact, "Contact"),
        ];
        links.into_iter().filter_map(|(url, name)| Some((url.clone()?, name))).collect()
    }
}
