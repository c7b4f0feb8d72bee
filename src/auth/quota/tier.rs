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

    fn definition(self) -> (&'static str, Option<u32>, u32) {
        match self {
            Self::Free => ("free", Some(30), 20),
            Self::Pro => ("pro", Some(30), 200),
            Self::Enterprise => ("enterprise", None, 100_000),
        }
    }

    pub fn name(self) -> &'static str {
        self.definition().0
    }

    /// Keys that an account may create per UTC day, ended ones included, as all stay in memory; `None` if unlimited.
    pub fn new_keys_per_day(self) -> Option<u32> {
        self.definition().1
    }

    /// Saved searches and lists per account: each is evaluated with every release.
    pub fn watches(self) -> u32 {
        self.definition().2
    }
}

/// The limits of a tier, which the operator may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierLimits {
    /// Requests per day and key; `None` if unlimited.
    pub requests: Option<u32>,
    /// Active keys per account; `None` if unlimited.
    pub keys: Option<u32>,
}

/// The limits of a day for an address without a key; its network has [`NETWORK_MULTIPLE`] times as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnonymousLimits {
    /// Requests of programs: twins, feeds, look-ups, tool calls, each worth as much as one with a key.
    pub requests: u32,
    /// Rows that pages show.
    pub rows: u32,
}

/// Limit of an IPv4 /24 or IPv6 /48 without keys, as a multiple of that of an address.
pub const NETWORK_MULTIPLE: u32 = 2;

/// Parts of a request that are counted for clients without a key.
pub const HUNDREDTHS: u32 = 100;

/// Rows that one request reads at most in the densest format, a list as a file.
pub const ROWS_OF_REQUEST: u32 = 1_000;

/// The limits of all callers. Each gets more than the one before: anonymous ones, then the tiers in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiers {
    pub anonymous: AnonymousLimits,
    /// In the order of [`Tier::ALL`].
    limits: [TierLimits; Tier::ALL.len()],
}

impl Default for Tiers {
    fn default() -> Self {
        Self::new([(); 3].map(|()| LimitChoice::default()), (None, None)).expect("the defaults are in order")
    }
}

/// What an operator chose for a tier; `None` is the default. The inner value is `None` if it is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitChoice {
    pub requests: Option<Option<u32>>,
    pub keys: Option<Option<u32>>,
}

/// A limit that would give a caller more than one of a higher tier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{tier}: {chosen} {limit} are {}; {}", if *.is_most { "too many" } else { "too few" }, .expected)]
pub struct TierOrderError {
    /// `anonymous` or the name of a tier.
    pub tier: &'static str,
    pub limit: &'static str,
    pub chosen: u32,
    is_most: bool,
    expected: String,
}

impl Tiers {
    /// What is not chosen has its default, or the nearest value that keeps the order. `anonymous` are requests and rows.
    pub fn new(
        chosen: [LimitChoice; Tier::ALL.len()],
        anonymous: (Option<u32>, Option<u32>),
    ) -> Result<Self, TierOrderError> {
        let mut limits = [TierLimits { requests: None, keys: None }; Tier::ALL.len()];
        let defaults = [(Some(100), Some(3)), (Some(5_000), Some(10)), (None, None)];
        let mut below = TierLimits { requests: Some(0), keys: Some(0) };
        for ((tier, chosen), default) in Tier::ALL.into_iter().zip(chosen).zip(defaults) {
            let requests = at_least(tier, "requests", chosen.requests, default.0, below.requests)?;
            below = TierLimits { requests, keys: at_least(tier, "keys", chosen.keys, default.1, below.keys)? };
            limits[tier as usize] = below;
        }
        let free = limits[Tier::Free as usize].requests;
        let most_requests = free.map_or(u32::MAX, |free| free.saturating_sub(1) / NETWORK_MULTIPLE);
        let most_rows = most_requests.saturating_mul(ROWS_OF_REQUEST);
        let at_most = |limit, chosen: Option<u32>, default: u32, most: u32| match chosen {
            Some(chosen) if chosen > most => Err(TierOrderError {
                tier: "anonymous",
                limit,
                chosen,
                is_most: true,
                expected: format!(
                    "at most {most} are less than what one key of the tier free gets, also for the {NETWORK_MULTIPLE} times as much \
                     of a network"
                ),
            }),
            chosen => Ok(chosen.unwrap_or(default.min(most))),
        };
        let anonymous = AnonymousLimits {
            requests: at_most("requests", anonymous.0, 40, most_requests)?,
            rows: at_most("rows", anonymous.1, 40_000, most_rows)?,
        };
        Ok(Self { anonymous, limits })
    }

    pub fn of(&self, tier: Tier) -> TierLimits {
        self.limits[tier as usize]
    }
}

/// A limit, which must not be below the same one of the tier before.
fn at_least(
    tier: Tier,
    limit: &'static str,
    chosen: Option<Option<u32>>,
    default: Option<u32>,
    below: Option<u32>,
) -> Result<Option<u32>, TierOrderError> {
    let is_less = |number: Option<u32>| number.is_some_and(|number| below.is_none_or(|below| number < below));
    match chosen {
        None if is_less(default) => Ok(below),
        None => Ok(default),
        Some(Some(chosen)) if is_less(Some(chosen)) => {
            let least = below.map_or_else(|| "unlimited".to_owned(), |below| below.to_string());
            let expected = format!("the tier below has {least}, so give {least} or more");
            Err(TierOrderError { tier: tier.name(), limit, chosen, is_most: false, expected })
        }
        Some(chosen) => Ok(chosen),
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
    use proptest::prelude::*;

    use super::*;

    fn choice(requests: Option<u32>, keys: Option<u32>) -> LimitChoice {
        LimitChoice { requests: Some(requests), keys: Some(keys) }
    }

    #[test]
    fn the_defaults_are_those_of_the_contract() {
        let tiers = Tiers::default();
        let limits = Tier::ALL.map(|tier| (tiers.of(tier).requests, tiers.of(tier).keys));
        assert_eq!(limits, [(Some(100), Some(3)), (Some(5_000), Some(10)), (None, None)]);
        assert_eq!(tiers.anonymous, AnonymousLimits { requests: 40, rows: 40_000 });
    }

    #[test]
    fn a_limit_above_one_of_a_higher_tier_names_the_nearest_that_is_not() {
        let none = LimitChoice::default();
        let error = |chosen, anonymous| Tiers::new(chosen, anonymous).unwrap_err().to_string();
        let pro = error([choice(Some(200), Some(3)), choice(Some(150), Some(9)), none], (None, None));
        assert_eq!(pro, "pro: 150 requests are too few; the tier below has 200, so give 200 or more");
        let anonymous = error([none; 3], (Some(50), None));
        assert!(anonymous.starts_with("anonymous: 50 requests are too many; at most 49 are less"), "{anonymous}");
        assert!(error([none; 3], (None, Some(50_000))).contains("at most 49000"));
        let last = error([none, choice(None, None), choice(Some(7), None)], (None, None));
        assert!(last.ends_with("the tier below has unlimited, so give unlimited or more"), "{last}");
    }

    proptest! {
        #[test]
        fn limits_that_nobody_chose_keep_the_order(free in 0_u32..9_000, pro in prop::option::of(0_u32..90_000)) {
            let pro = pro.map_or(LimitChoice::default(), |pro| choice(Some(pro), Some(pro)));
            let Ok(tiers) = Tiers::new([choice(Some(free), Some(free)), pro, LimitChoice::default()], (None, None)) else {
                return Ok(());
            };
            let requests = Tier::ALL.map(|tier| tiers.of(tier).requests.unwrap_or(u32::MAX));
            prop_assert!(requests.is_sorted() && NETWORK_MULTIPLE * tiers.anonymous.requests < free.max(1));
            prop_assert!(NETWORK_MULTIPLE * tiers.anonymous.rows < (free * ROWS_OF_REQUEST).max(1));
        }
    }

    #[test]
    fn a_tier_is_parsed_from_its_name() {
        for tier in Tier::ALL {
            assert_eq!(tier.to_string().parse(), Ok(tier));
        }
        assert_eq!("PRO".parse(), Ok(Tier::Pro));
        assert_eq!("gold".parse::<Tier>(), Err(ParseTierError));
    }
}
