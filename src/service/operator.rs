use http::Uri;

use crate::{Access, Brand, ReviewAccess, SignUp, VersionEnd};

const SLUG: &str = "{slug}";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operator {
    pub brand: Brand,
    pub access: Access,
    pub sign_up: SignUp,
    pub reviews: ReviewAccess,
    /// Contact for reports of vulnerabilities and for privacy questions, as a `mailto:` or `https:` URL.
    pub contact: Option<String>,
    /// Legal notice of the pages, an `https:` URL.
    pub imprint_url: Option<String>,
    pub privacy_url: Option<String>,
    pub terms_url: Option<String>,
    /// Review form for founders: an `http:` or `https:` URL with `{slug}` in place of the firm's slug.
    pub review_url: Option<String>,
    /// Announced ends of versions of the API.
    pub version_ends: Vec<VersionEnd>,
}

impl Operator {
    /// Where a firm is reviewed: here, or at the operator's own address.
    pub fn review_url(&self, slug: &str) -> Option<String> {
        if self.takes_reviews() {
            return Some(format!("/vcs/{slug}/review"));
        }
        self.review_url.as_ref().map(|url| url.replace(SLUG, slug))
    }

    pub fn takes_reviews(&self) -> bool {
        self.reviews != ReviewAccess::Off
    }

    pub fn version_end(&self, version: &str) -> Option<&VersionEnd> {
        self.version_ends.iter().find(|end| end.version == version)
    }

    /// The links in the footer of a page: URL and name.
    pub fn links(&self) -> Vec<(String, &'static str)> {
        let links = [
            (&self.imprint_url, "Imprint"),
            (&self.privacy_url, "Privacy policy"),
            (&self.terms_url, "Terms"),
            (&self.contact, "Contact"),
        ];
        links.into_iter().filter_map(|(url, name)| Some((url.clone()?, name))).collect()
    }
}

/// Parses the template of [`Operator::review_url`].
pub fn review_url(text: &str) -> Result<String, String> {
    let text = text.trim();
    let url_of = |slug: &str| text.replace(SLUG, slug).parse::<Uri>().ok();
    let is_web = |url: &Uri| {
        matches!(url.scheme_str(), Some("http" | "https"))
            && url.authority().is_some_and(|host| !host.host().is_empty() && !host.as_str().contains('@'))
    };
    // The slug must be in the path, the query or the fragment, not in the host.
    let authority = |slug: &str| url_of(slug).filter(is_web).and_then(|url| url.authority().cloned());
    let is_valid = text.contains(SLUG)
        && !text.replace(SLUG, "").contains(['{', '}'])
        && authority("a").is_some_and(|host| authority("b") == Some(host));
    let expected = "not a web address with `{slug}` in place of the firm's slug; example: \
                    https://example.com/review?firm={slug}";
    if is_valid { Ok(text.to_owned()) } else { Err(expected.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slug_of_a_firm_is_put_into_the_address_of_its_review() {
        for text in ["https://example.com/review?firm={slug}", " http://a.example/{slug}#{slug} "] {
            assert_eq!(review_url(text).as_deref(), Ok(text.trim()));
        }
        for text in [
            "",
            "{slug}",
            "https://example.com/review",
            "https://{slug}.example.com/",
            "https://example.com/{name}/{slug}",
            "https://example.com/{slug",
            "https://user@example.com/{slug}",
            "javascript:alert('{slug}')",
            "mailto:{slug}@example.com",
        ] {
            assert!(review_url(text).unwrap_err().contains("example: https://example.com/"), "{text}");
        }
        let operator =
            Operator { review_url: Some("https://a.example/{slug}?of={slug}".to_owned()), ..Operator::default() };
        assert_eq!(operator.review_url("alder").as_deref(), Some("https://a.example/alder?of=alder"));
        assert_eq!(Operator::default().review_url("alder"), None);
        let takes = Operator { reviews: ReviewAccess::Invite, ..operator };
        assert_eq!(takes.review_url("alder").as_deref(), Some("/vcs/alder/review"));
    }
}
