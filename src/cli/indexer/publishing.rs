//! Options of the commands that name a release in an object store.

use std::path::PathBuf;

use clap::Args;

use release::remote::{Announcement, MAX_ACTIVATE_IN, PointerSigning};
use release::{KeyError, SigningKey};

/// The longest time that an option takes, in days.
const MAX_DAYS: i64 = 3_650;

/// How an object store names the release.
#[derive(Args)]
pub(super) struct Publishing {
    /// Seconds until servers switch to the release, for all to fetch it before; only with an object store
    #[arg(long, value_name = "SECONDS", env = "VENTUREDEX_ACTIVATE_IN", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_ACTIVATE_IN)))]
    activate_in: u32,
    /// File with the private key (Ed25519, PEM) to sign the object `current` of an object store with, one that `indexer
    /// delegate` has named
    #[arg(long, value_name = "FILE", env = "VENTUREDEX_POINTER_KEY")]
    pointer_key: Option<PathBuf>,
    #[command(flatten)]
    validity: Validity,
    /// Replace `current` of an object store whatever it is, after the bucket was restored, moved or emptied: servers follow it
    /// though they have seen later ones
    #[arg(long)]
    pub(super) recover: bool,
}

#[derive(Args)]
pub(super) struct Validity {
    /// Time until a signed `current` needs `indexer renew`, such as 7d, 12h or 90m
    #[arg(long, value_name = "TIME", env = "VENTUREDEX_VALID_FOR", default_value = "7d", value_parser = parse_time)]
    valid_for: i64,
}

impl Publishing {
    pub(super) fn announcement(&self) -> Result<Announcement, KeyError> {
        let key = self.pointer_key.as_deref().map(SigningKey::read).transpose()?;
        let signing = key.map(|key| self.validity.signing(key));
        Ok(Announcement { activate_in: self.activate_in, signing, is_recovery: self.recover })
    }
}

impl Validity {
    pub(super) fn signing(&self, key: SigningKey) -> PointerSigning {
        PointerSigning { key, valid_for: self.valid_for }
    }
}

/// Parses a number with its unit into seconds.
pub(super) fn parse_time(text: &str) -> Result<i64, String> {
    let text = text.trim();
    let seconds = text.char_indices().next_back().and_then(|(at, unit)| {
        let unit = match unit {
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            _ => return None,
        };
        let number: u32 = text[..at].parse().ok()?;
        i64::from(number).checked_mul(unit)
    });
    let seconds = seconds.filter(|seconds| (1..=MAX_DAYS * 86_400).contains(seconds));
    seconds.ok_or_else(|| format!("not a time from 1s to {MAX_DAYS}d; examples: 7d, 12h, 90m, 30s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_whole_number_with_its_unit() {
        for (text, seconds) in [("1s", 1), ("90m", 5_400), ("12h", 43_200), (" 7d ", 604_800), ("3650d", 315_360_000)] {
            assert_eq!(parse_time(text), Ok(seconds), "{text}");
        }
        for text in ["", "d", "7", "0d", "-1d", "1.5d", "3651d", "4294967295d", "99999999999d", "7 d", "7w", "7é"] {
            assert!(parse_time(text).is_err_and(|error| error.contains("examples: 7d")), "{text}");
        }
    }
}
