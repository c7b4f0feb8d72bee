//! Tiers: how many requests a day a key may make, and how many keys an account may hold.

use std::fmt;
use std::str::FromStr;

/// What an account has been granted; set by the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// 100 requests a day for each key, 3 keys.
    Free,
    /// 5,000 requests a day for each key, 10 keys.
    Pro,
    /// No limit of either.
    Enterprise,
}

impl Tier {
    /// All tiers, the smallest first.
    pub const ALL: [Self; 3] = [Self::Free, Self::Pro, Self::Enterprise];

    /// The canonical name, such as `free`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Pro => "pro",
            Self::Enterprise => "enterprise",
        }
    }

    /// Requests a day for each key; `None` where there is no limit.
    #[must_use]
    pub fn daily_limit(self) -> Option<u32> {
        match self {
            Self::Free => Some(100),
            Self::Pro => Some(5_000),
            Self::Enterprise => None,
        }
    }

    /// Active keys of one account; `None` where there is no limit.
    #[must_use]
    pub fn keys(self) -> Option<u32> {
        match self {
            Self::Free => Some(3),
            Self::Pro => Some(10),
            Self::Enterprise => None,
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text is not the name of a tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseTierError;

impl fmt::Display for ParseTierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a tier: use free, pro or enterprise")
    }
}

impl std::error::Error for ParseTierError {}

impl FromStr for Tier {
    type Err = ParseTierError;

    fn from_str(text: &str) -> Result<Self, ParseTierError> {
        Self::ALL.into_iter().find(|tier| tier.name().eq_ignore_ascii_case(text.trim())).ok_or(ParseTierError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_is_read_by_its_name() {
        for tier in Tier::ALL {
            assert_eq!(tier.to_string().parse(), Ok(tier));
        }
        assert_eq!("PRO".parse(), Ok(Tier::Pro));
        assert_eq!("gold".parse::<Tier>(), Err(ParseTierError));
    }
}
