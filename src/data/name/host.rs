//! Hosts: the part that its owner chose.

use crate::name::words::WordList;

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
            [_, .., second, ending] if ending.len() == 2 && WordList::SecondLevelDomains.contains(second) => 2,
            _ => 1,
        };
        let mut at = labels.len().saturating_sub(ending_labels + 1);
        if at > 0 && WordList::PageHosts.contains(labels[at]) {
            at -= 1;
        }
        let before: usize = labels[..at].iter().map(|label| label.len() + 1).sum();
        Self { domain: &host[before..], label: labels[at] }
    }

    /// True if the paths of the host name firms or people: `linkedin.com/company/acme`.
    pub fn is_of_profiles(&self) -> bool {
        WordList::ProfileHosts.contains(self.label)
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
