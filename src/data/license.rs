//! Licenses under which data may be shown to everybody.

use crate::word_file::entries;

const PUBLIC: &str = include_str!("public_licenses.txt");

/// True if everybody may see data under this license: an SPDX identifier of the list, with spaces or hyphens (`CC BY 4.0`), all
/// of those that `AND` joins, or one of those that `OR` joins. Other texts, and none, are licenses that nobody knows.
pub fn is_public(license: &str) -> bool {
    license.split(" OR ").any(|choice| choice.split(" AND ").all(is_listed))
}

fn is_listed(name: &str) -> bool {
    let name = name.trim().to_lowercase().replace(' ', "-");
    let is_version = |rest: &str| {
        rest.strip_prefix('-').is_some_and(|version| version.starts_with(|char: char| char.is_ascii_digit()))
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
    };
    entries(PUBLIC).any(|public| name.strip_prefix(public).is_some_and(|rest| rest.is_empty() || is_version(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_license_is_public_only_if_all_of_it_is_known_to_be() {
        for license in [
            "CC0-1.0",
            "CC BY 4.0",
            "cc-by-nc-sa-3.0-de",
            "ODbL-1.0",
            "OGL-UK-3.0 AND CC0-1.0",
            "LicenseRef-Own OR CC-BY-4.0",
            "LicenseRef-US-Government-Work",
            "public domain",
        ] {
            assert!(is_public(license), "{license}");
        }
        for license in [
            "",
            "LicenseRef-Own",
            "CC0-1.0 AND LicenseRef-Own",
            "CC-BY-4.0 AND ",
            "CC-BY-X",
            "CC-BY-4.0: for evaluation only",
            "Mixed, the largest part CC BY-NC 4.0: evaluation only",
            "(CC0-1.0)",
            "Proprietary",
        ] {
            assert!(!is_public(license), "{license}");
        }
    }
}
