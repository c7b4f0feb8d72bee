//! The limits of tiers, as `--tiers` sets them: `free=requests:100,keys:3`.

use std::str::FromStr;

use auth::quota::{LimitChoice, Tier, TierOrderError, Tiers};
use search::nearest;

const ANONYMOUS: &str = "anonymous";
const UNLIMITED: &str = "unlimited";

/// The limits of one tier, or of clients without a key, that an operator chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierSetting {
    /// `None` for clients without a key.
    tier: Option<Tier>,
    /// `None` if unlimited.
    limits: Vec<(&'static str, Option<u32>)>,
}

impl FromStr for TierSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form =
            "is not a tier with its limits; examples: free=requests:100,keys:3 and anonymous=requests:40,rows:40000";
        let (name, limits) = text.trim().split_once('=').ok_or(form)?;
        let tiers: Vec<&str> = [ANONYMOUS].into_iter().chain(Tier::ALL.map(Tier::name)).collect();
        let name = known("tier", name, &tiers)?;
        let tier = Tier::ALL.into_iter().find(|tier| tier.name() == name);
        let own: &[&'static str] = if tier.is_some() { &["requests", "keys"] } else { &["requests", "rows"] };
        let mut chosen: Vec<(&'static str, Option<u32>)> = Vec::new();
        for limit in limits.split(',') {
            let (limit, number) = limit.split_once(':').ok_or(form)?;
            let limit = known(&format!("limit of the tier {name}"), limit, own)?;
            if chosen.iter().any(|(known, _)| *known == limit) {
                return Err(format!("sets `{limit}` of the tier {name} twice"));
            }
            chosen.push((limit, parse_limit(limit, number.trim(), tier.is_some())?));
        }
        Ok(Self { tier, limits: chosen })
    }
}

/// One of the `accepted` names.
fn known(what: &str, name: &str, accepted: &[&'static str]) -> Result<&'static str, String> {
    let name = name.trim();
    accepted.iter().copied().find(|known| *known == name).ok_or_else(|| {
        let suggestion = nearest(name, accepted.iter().copied());
        let suggestion = suggestion.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!("`{name}` is no {what}; there are {}{suggestion}", accepted.join(", "))
    })
}

fn parse_limit(limit: &str, number: &str, may_be_unlimited: bool) -> Result<Option<u32>, String> {
    // With as many more, sums of counts would overflow.
    const MOST: u32 = 1_000_000_000;
    match number.parse().ok().filter(|number| *number <= MOST) {
        Some(number) => Ok(Some(number)),
        None if may_be_unlimited && number == UNLIMITED => Ok(None),
        None => {
            let or = if may_be_unlimited { format!(", or `{UNLIMITED}`") } else { String::new() };
            Err(format!("`{number}` {limit} are not a whole number from 0 to {MOST}{or}"))
        }
    }
}

/// The limits of all tiers; of several settings of one limit the last counts.
pub(super) fn tiers(settings: &[TierSetting]) -> Result<Tiers, TierOrderError> {
    let chosen = |tier: Option<Tier>, limit: &str| {
        let mut of_tier = settings.iter().filter(|setting| setting.tier == tier).flat_map(|setting| &setting.limits);
        of_tier.rfind(|(known, _)| *known == limit).map(|(_, number)| *number)
    };
    let of = |tier| LimitChoice { requests: chosen(Some(tier), "requests"), keys: chosen(Some(tier), "keys") };
    Tiers::new(Tier::ALL.map(of), (chosen(None, "requests").flatten(), chosen(None, "rows").flatten()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(texts: &[&str]) -> Result<Tiers, String> {
        let settings = texts.iter().map(|text| text.parse()).collect::<Result<Vec<TierSetting>, String>>()?;
        tiers(&settings).map_err(|error| error.to_string())
    }

    #[test]
    fn tiers_are_set_one_by_one_and_the_others_keep_their_limits() {
        let tiers = parsed(&["free=requests:200,keys:5", " pro=keys:unlimited", "anonymous=rows:9"]).unwrap();
        let limits = Tier::ALL.map(|tier| (tiers.of(tier).requests, tiers.of(tier).keys));
        assert_eq!(limits, [(Some(200), Some(5)), (Some(5_000), None), (None, None)]);
        assert_eq!((tiers.anonymous.requests, tiers.anonymous.rows), (40, 9));
        assert_eq!(parsed(&["free=requests:10"]).unwrap().anonymous.requests, 4, "the most that keeps the order");
        assert_eq!(parsed(&["free=requests:9", "free=requests:30"]).unwrap().of(Tier::Free).requests, Some(30));
    }

    #[test]
    fn a_wrong_setting_names_the_nearest_valid_one() {
        for (text, expected) in [
            ("free", "free=requests:100,keys:3"),
            ("free=100", "free=requests:100,keys:3"),
            ("fre=requests:1", "`fre` is no tier; there are anonymous, free, pro, enterprise; did you mean `free`?"),
            (
                "free=request:1",
                "`request` is no limit of the tier free; there are requests, keys; did you mean `requests`?",
            ),
            ("anonymous=keys:1", "`keys` is no limit of the tier anonymous; there are requests, rows"),
            ("pro=requests:-1", "`-1` requests are not a whole number from 0 to 1000000000, or `unlimited`"),
            ("anonymous=requests:unlimited", "`unlimited` requests are not a whole number from 0 to 1000000000"),
            ("pro=keys:1,keys:2", "sets `keys` of the tier pro twice"),
            ("free=requests:7000", "pro"),
        ] {
            match parsed(&[text]) {
                Err(error) => assert!(error.contains(expected), "{text}: {error}"),
                // The tier above has as many, if nobody chose another number.
                Ok(tiers) => assert_eq!(tiers.of(Tier::Pro).requests, Some(7_000)),
            }
        }
        let error = parsed(&["free=requests:90", "anonymous=requests:45"]).unwrap_err();
        assert!(error.starts_with("anonymous: 45 requests are too many; at most 44 are less"), "{error}");
    }
}
