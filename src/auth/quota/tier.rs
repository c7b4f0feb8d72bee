use std::fmt;
use std::str::FromStr;

/// The plan of an account; set by the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    Free,
    Pro,
    Enterprise,
}

impl Tier {
    pub const ALL: [Self; 3] = [Self::Free, Self::Pro, Self::Enterprise];

    fn definition(self) -> (&'static str, Option<u32>, Option<u32>, Option<u32>, u32) {
        match self {
            Self::Free => ("free", Some(100), Some(3), Some(30), 20),
            Self::Pro => ("pro", Some(5_000), Some(10), Some(30), 200),
            Self::Enterprise => ("enterprise", None, None, None, 100_000),
        }
    }

    pub fn name(self) -> &'static str {
        self.definition().0
    }

    /// Requests per day and key; `None` if unlimited.
    pub fn daily_limit(self) -> Option<u32> {
        self.definition().1
    }

    /// Active keys per account; `None` if unlimited.
    pub fn keys(self) -> Option<u32> {
        self.definition().2
    }

    /// Keys that an account may create per UTC day, ended ones included, as all stay in memory; `None` if unlimited.
    pub fn new_keys_per_day(self) -> Option<u32> {
        self.definition().3
    }

    /// Saved searches and lists per account: each is evaluated with every release.
    pub fn watches(self) -> u32 {
        self.definition().4
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown tier: use free, pro or enterprise")]
pub struct ParseTierError;

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
    fn a_tier_is_parsed_from_its_name() {
        for tier in Tier::ALL {
            assert_eq!(tier.to_string().parse(), Ok(tier));
        }
        assert_eq!("PRO".parse(), Ok(Tier::Pro));
        assert_eq!("gold".parse::<Tier>(), Err(ParseTierError));
    }
}
