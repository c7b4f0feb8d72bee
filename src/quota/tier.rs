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
    /// All tiers, the smallest first.
    pub const ALL: [Self; 3] = [Self::Free, Self::Pro, Self::Enterprise];

    pub fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Pro => "pro",
            Self::Enterprise => "enterprise",
        }
    }

    /// Requests per day and key; `None` if unlimited.
    pub fn daily_limit(self) -> Option<u32> {
        match self {
            Self::Free => Some(100),
            Self::Pro => Some(5_000),
            Self::Enterprise => None,
        }
    }

    /// Active keys per account; `None` if unlimited.
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
