//! Hosts: the part that its owner chose.

/// Labels that belong to an ending of two letters after them: `co.uk`.
const SECOND_LEVEL: &str = "ac co com edu gob gouv gov govt gv ltd me mil ne net nhs nom or org plc sch";

/// Labels of hosts with other people's pages: `acme.wordpress.com` is acme's.
const PAGES_OF_OTHERS: &str = "appspot azurewebsites bandcamp blogspot carrd firebaseapp framer github gitlab herokuapp medium \
    myshopify netlify notion pages podia squarespace strikingly substack tumblr typepad vercel webflow weebly wixsite \
    wordpress";

/// Labels of hosts with paths that name firms or people.
const PROFILES: &str = "aboutme angel behance bsky crunchbase dealroom dribbble f6s facebook fb github gitlab instagram linkedin \
    medium owler pinterest pitchbook producthunt slideshare t threads tiktok tracxn twitter vimeo wellfound x xing youtube";

/// True if a list of words, separated by spaces, has a word.
pub fn list_contains(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// The part of a host that its owner chose.
#[derive(Debug, PartialEq, Eq)]
pub struct OwnName<'a> {
    /// With the ending, without subdomains.
    pub domain: &'a str,
    pub label: &'a str,
}

impl<'a> OwnName<'a> {
    pub fn parse(host: &'a str) -> Self {
        let labels: Vec<&str> = host.split('.').collect();
        let ending_labels = match labels.as_slice() {
            [_, .., second, ending] if ending.len() == 2 && list_contains(SECOND_LEVEL, second) => 2,
            _ => 1,
        };
        let mut at = labels.len().saturating_sub(ending_labels + 1);
        if at > 0 && list_contains(PAGES_OF_OTHERS, labels[at]) {
            at -= 1;
        }
        let before: usize = labels[..at].iter().map(|label| label.len() + 1).sum();
        Self { domain: &host[before..], label: labels[at] }
    }

    /// True if the paths of the host name firms or people: `linkedin.com/company/acme`.
    pub fn is_of_profiles(&self) -> bool {
        list_contains(PROFILES, self.label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_has_no_subdomains_but_those_that_are_rented_out() {
        for (host, domain, label) in [
            ("alder.example", "alder.example", "alder"),
            ("careers.alder.example", "alder.example", "alder"),
            ("blog.alder.co.uk", "alder.co.uk", "alder"),
            ("alder.wordpress.com", "alder.wordpress.com", "alder"),
            ("co.uk", "co.uk", "co"),
            ("localhost", "localhost", "localhost"),
        ] {
            let own = OwnName::parse(host);
            assert_eq!((own.domain, own.label), (domain, label), "{host}");
        }
        assert!(OwnName::parse("uk.linkedin.com").is_of_profiles());
    }
}
