//! The object `current`: its fields, its signature, and the limits that every honest one keeps.
//!
//! Two numbers order pointers. The generation counts publications. The epoch outranks it: a command that goes back on
//! purpose sets it to the time, so that replicas follow a publication whose generation they have seen before, or an
//! older release. Nothing else goes back: a lower pointer comes from a store that was restored, or from a stranger.

use serde::{Deserialize, Serialize};

use crate::checksum::Checksum;
use crate::remote::objects::StoredObject;
use crate::remote::{PushedRelease, check_format};
use crate::signature::SignedJson;
use crate::{SigningKey, TrustedKey};
use data::{SnapshotVersion, rfc3339};

/// The highest generation: JSON readers with floating-point numbers are exact up to here, and no publisher gets there.
const MAX_GENERATION: u64 = 1 << 53;

/// Difference in seconds that the clocks of publishers and replicas may have.
pub(super) const CLOCK_TOLERANCE: i64 = 600;

/// Longest time in seconds from a publication to the switch.
pub const MAX_ACTIVATE_IN: u32 = 30 * 86_400;

/// The object `current`: the release to serve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pointer {
    pub format: u32,
    pub release: SnapshotVersion,
    /// SHA-256 of its packing.
    pub manifest: Checksum,
    /// Unix seconds of the last publication that went back on purpose, to an older release or over a restored bucket; 0
    /// before the first. Outranks the generation.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub epoch: i64,
    /// One more than that of the previous pointer.
    pub generation: u64,
    /// Start of serving in Unix seconds; until then, replicas fetch and test the release.
    pub activate_at: i64,
    /// When the pointer was written or last renewed, in Unix seconds; none in those of earlier programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<i64>,
    /// Unix seconds after which the pointer needs a renewal; none in an unsigned one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<i64>,
    /// Random, so that an indexer recognizes its own pointer if the response to its request was lost.
    pub push: String,
    /// Previously current releases, latest first: a new replica fetches them for cursors of others that serve them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) before: Vec<PushedRelease>,
}

/// `current` as read, to be replaced if it is still the same.
#[derive(Clone, Debug, Default)]
pub struct Current {
    pub pointer: Option<Pointer>,
    /// The document around a signed pointer.
    pub(super) document: Option<SignedJson>,
    pub(super) found: Option<StoredObject>,
}

/// How a publication names its release in `current`.
#[derive(Default)]
pub struct Announcement {
    /// Seconds until servers switch.
    pub activate_in: u32,
    pub signing: Option<PointerSigning>,
    /// Replaces `current` whatever it is, and outranks every pointer that replicas have seen.
    pub is_recovery: bool,
}

/// The key that signs pointers, and for how many seconds a signed one is valid.
pub struct PointerSigning {
    pub key: SigningKey,
    pub valid_for: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}

impl Pointer {
    /// Parses the object, signed or not; the error says why it cannot be.
    pub(super) fn parse(bytes: &[u8]) -> Result<(Self, Option<SignedJson>), String> {
        let document: Option<SignedJson> = serde_json::from_slice(bytes).ok();
        let content = document.as_ref().map_or(bytes, |document| document.content().as_bytes());
        let pointer: Self = serde_json::from_slice(content).map_err(|error| format!("cannot be read: {error}"))?;
        check_format(pointer.format)?;
        Ok((pointer, document))
    }

    /// The object of this pointer.
    pub(super) fn encode(&self, signing: Option<&PointerSigning>) -> Vec<u8> {
        let json = match signing {
            Some(signing) => serde_json::to_vec(&SignedJson::new(self, &signing.key)),
            None => serde_json::to_vec(self),
        };
        json.expect("texts and numbers serialize")
    }

    pub fn pushed(&self) -> PushedRelease {
        PushedRelease { version: self.release, manifest: self.manifest }
    }

    pub(super) fn written_at(&self) -> i64 {
        self.not_before.unwrap_or(self.activate_at)
    }

    /// The place in the order of pointers. The last part tells publications over a restored bucket from those before.
    pub(super) fn rank(&self) -> (i64, u64, i64) {
        (self.epoch, self.generation, self.written_at())
    }

    /// True for the same publication, whether renewed or not.
    pub(super) fn is_publication_of(&self, other: &Self) -> bool {
        let without_times = |pointer: &Self| Self { not_before: None, not_after: None, ..pointer.clone() };
        without_times(self) == without_times(other)
    }

    /// The pointer with another time of validity from `now` on, in Unix seconds; never earlier than before.
    pub(super) fn renewed(&self, signing: Option<&PointerSigning>, now: i64) -> Self {
        let from = self.not_before.map_or(now, |before| before.max(now));
        let until = signing.map(|signing| from.saturating_add(signing.valid_for));
        Self { not_before: Some(from), not_after: until, ..self.clone() }
    }

    /// A value that no honest publisher writes, as the rest of a sentence about `current`.
    pub(super) fn implausibility(&self, now: i64) -> Option<String> {
        let latest = now.saturating_add(CLOCK_TOLERANCE);
        let future = |name: &str, time: i64| Some(format!("has {name} {}, which is in the future", rfc3339(time)));
        if self.generation > MAX_GENERATION {
            return Some(format!("has generation {}, which is above {MAX_GENERATION}", self.generation));
        }
        if self.epoch > latest {
            return future("epoch", self.epoch);
        }
        if let Some(from) = self.not_before.filter(|from| *from > latest) {
            return future("not_before", from);
        }
        if self.activate_at > latest.saturating_add(MAX_ACTIVATE_IN.into()) {
            let at = rfc3339(self.activate_at);
            return Some(format!("has activate_at {at}, which is more than 30 days in the future"));
        }
        None
    }
}

impl Current {
    /// The key that has signed the pointer; `None` if it is not signed or its signature is wrong.
    pub(super) fn signer(&self) -> Option<&TrustedKey> {
        self.document.as_ref()?.signer()
    }

    /// Epoch and generation of the next pointer, which names `release`. The error is the rest of a sentence about
    /// `current`. A recovery succeeds whatever was read.
    pub(super) fn next_rank(
        &self,
        release: SnapshotVersion,
        is_recovery: bool,
        now: i64,
    ) -> Result<(i64, u64), String> {
        let read = match self.pointer.as_ref().map(|pointer| (pointer, pointer.implausibility(now))) {
            Some((_, Some(reason))) if !is_recovery => return Err(reason),
            Some((pointer, None)) => Some(pointer),
            _ => None,
        };
        let epoch = read.map_or(0, |pointer| pointer.epoch);
        let goes_back = is_recovery || read.is_some_and(|pointer| release < pointer.release);
        let epoch = if goes_back { epoch.saturating_add(1).max(now) } else { epoch };
        let Some(read) = read else { return Ok((epoch, 1)) };
        match read.generation.checked_add(1).filter(|next| *next <= MAX_GENERATION) {
            Some(next) => Ok((epoch, next)),
            None if is_recovery => Ok((epoch, 1)),
            None => Err(format!("has generation {}, after which there is none", read.generation)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::tests::{current_of, pointer};
    use crate::sample::version;

    #[test]
    fn the_next_generation_is_one_more_and_an_overflow_is_an_error_that_a_recovery_passes() {
        let next = |read: Option<Pointer>, release: u32, is_recovery: bool| {
            current_of(read).next_rank(version(&format!("2026-11-20.{release}")), is_recovery, 1_000)
        };
        assert_eq!(next(None, 1, false), Ok((0, 1)));
        assert_eq!(next(Some(pointer(4, 2, 900)), 3, false), Ok((0, 5)));
        assert_eq!(next(Some(pointer(4, 2, 900)), 2, false), Ok((0, 5)), "the same release again");
        assert_eq!(next(Some(pointer(4, 2, 900)), 1, false), Ok((1_000, 5)), "an older release");
        let later = Pointer { epoch: 1_005, ..pointer(4, 2, 900) };
        assert_eq!(next(Some(later.clone()), 3, false), Ok((1_005, 5)));
        assert_eq!(next(Some(later.clone()), 1, false), Ok((1_006, 5)));
        assert_eq!(next(Some(later), 3, true), Ok((1_006, 5)));
        for generation in [u64::MAX, u64::MAX - 1, MAX_GENERATION + 1] {
            let error = next(Some(pointer(generation, 2, 900)), 3, false).unwrap_err();
            assert_eq!(error, format!("has generation {generation}, which is above 9007199254740992"));
            assert_eq!(next(Some(pointer(generation, 2, 900)), 3, true), Ok((1_000, 1)));
        }
        let error = next(Some(pointer(MAX_GENERATION, 2, 900)), 3, false).unwrap_err();
        assert_eq!(error, "has generation 9007199254740992, after which there is none");
        assert_eq!(next(Some(pointer(MAX_GENERATION, 2, 900)), 3, true), Ok((1_000, 1)));
        let forged = Pointer { epoch: i64::MAX, ..pointer(4, 2, 900) };
        assert!(next(Some(forged.clone()), 3, false).is_err_and(|error| error.contains("epoch")));
        assert_eq!(next(Some(forged), 3, true), Ok((1_000, 1)));
    }

    #[test]
    fn a_pointer_of_an_earlier_program_is_read_and_an_unsigned_one_has_only_fields_that_it_knows_or_ignores() {
        let checksum = Checksum::of(b"");
        let old = format!(
            r#"{{"format":1,"release":"2026-11-20.1","manifest":"{checksum}","generation":3,"activate_at":9,"push":"0a"}}"#
        );
        let (pointer, document) = Pointer::parse(old.as_bytes()).unwrap();
        assert!(document.is_none());
        assert_eq!((pointer.rank(), pointer.not_after), ((0, 3, 9), None));
        assert_eq!(pointer.encode(None), old.as_bytes(), "fields without a value are not written");
        for bad in ["", "{", "{}", "[]", "null", &old.replace(":1,", ":2,")] {
            assert!(Pointer::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
