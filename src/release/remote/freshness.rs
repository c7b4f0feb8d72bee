//! Judges what an object store returns as `current`: whether a replica may follow it, and what is wrong with it.
//!
//! The roles are those of The Update Framework: a pointer is its timestamp, signed by an online key and valid for a
//! time. A replica that is not convinced goes on with what it has, and says so once the fault has stayed for
//! [`PATIENCE`] polls: stores may return stale content for a moment.

use std::fmt;

use crate::remote::Pointer;
use crate::remote::delegation::Proof;
use data::vocabulary::{Vocabulary, vocabulary};
use data::{SnapshotVersion, rfc3339};

/// Number of consecutive polls, by default one a second, after which a fault is reported.
const PATIENCE: u32 = 5;

/// Publications of a day. A generation that is higher by more was written to freeze replicas.
const MAX_A_DAY: u64 = 1_000;

const DAY: i64 = 86_400;

vocabulary! {
    /// A fault of a pointer.
    FaultKind, "pointer fault", {
        /// Its release is older than the one that is served, and its epoch does not say that this is intended.
        Older = "older",
        /// A later pointer was read before: the bucket was restored or moved.
        Lower = "lower",
        /// It was followed, and has not been renewed in time.
        Frozen = "frozen",
        /// It is new, and already out of date.
        Expired = "expired",
        /// No honest publisher writes such numbers or times.
        Implausible = "implausible",
        /// It has no signature, though one is required, or a wrong one.
        Untrusted = "untrusted",
        /// The object is gone.
        Missing = "missing",
    }
}

/// Displayed as a sentence with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointerFault {
    pub kind: FaultKind,
    /// A sentence without a period.
    pub detail: String,
}

impl PointerFault {
    /// `rest`: of a sentence about `current`.
    fn new(kind: FaultKind, rest: impl fmt::Display) -> Self {
        Self { kind, detail: format!("`current` in the object store {rest}") }
    }

    /// The remedy, for the operator.
    pub fn remedy(&self) -> &'static str {
        match self.kind {
            FaultKind::Older | FaultKind::Lower | FaultKind::Missing => {
                "if the bucket was restored, moved or emptied, publish with `indexer build --recover`; otherwise find out who \
                 writes to it"
            }
            FaultKind::Frozen | FaultKind::Expired => {
                "run `indexer renew`, and check the job that does; if that is no help, find out who writes to the bucket"
            }
            FaultKind::Implausible => {
                "check the clocks of publishers and replicas, and who writes to the bucket; then publish with `indexer build \
                 --recover`"
            }
            FaultKind::Untrusted => {
                "find out who writes to the bucket; publish with --pointer-key and a key that `indexer delegate` has named"
            }
        }
    }
}

impl fmt::Display for PointerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.detail, self.remedy())
    }
}

/// Pointers that a replica has seen.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    /// The last pointer that was followed.
    pub pointer: Option<&'a Pointer>,
    /// The release that is served.
    pub served: Option<SnapshotVersion>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judgment {
    pub follows: bool,
    pub fault: Option<PointerFault>,
}

impl Judgment {
    fn refuse(kind: FaultKind, rest: impl fmt::Display) -> Self {
        Self { follows: false, fault: Some(PointerFault::new(kind, rest)) }
    }

    /// Judges a store without the object `current`.
    pub(super) fn of_missing(known: Known<'_>) -> Self {
        match known.pointer {
            Some(pointer) => {
                Self::refuse(FaultKind::Missing, format!("is gone; it had generation {}", pointer.generation))
            }
            None => Self { follows: false, fault: None },
        }
    }

    /// Judges a pointer at `now`, in Unix seconds.
    pub(super) fn of(known: Known<'_>, found: &Pointer, proof: &Proof, now: i64) -> Self {
        let delegated_until = match proof {
            Proof::Refused(reason) => return Self::refuse(FaultKind::Untrusted, reason),
            Proof::Accepted { until } => *until,
        };
        if let Some(reason) = found.implausibility(now) {
            return Self::refuse(FaultKind::Implausible, reason);
        }
        let expired = found.not_after.into_iter().chain(delegated_until).min().filter(|until| *until < now);
        let expired = expired.map(|until| format!("was valid until {} and is out of date", rfc3339(until)));
        let Some(pointer) = known.pointer else {
            // A replica without memory cannot know of an epoch.
            if let Some(served) = known.served.filter(|served| found.epoch == 0 && found.release < *served) {
                return Self::older(found, served);
            }
            // An old release with a warning is better than none: what a replica without one finds is served.
            return match expired {
                Some(rest) if known.served.is_some() => Self::refuse(FaultKind::Expired, rest),
                expired => {
                    Self { follows: true, fault: expired.map(|rest| PointerFault::new(FaultKind::Expired, rest)) }
                }
            };
        };
        if found.rank() < pointer.rank() {
            return Self::lower(found, pointer);
        }
        if found.is_publication_of(pointer) {
            return Self { follows: true, fault: expired.map(|rest| PointerFault::new(FaultKind::Frozen, rest)) };
        }
        if found.epoch == pointer.epoch {
            let days = u64::try_from(now.saturating_sub(pointer.written_at()) / DAY).unwrap_or(0);
            let allowed = MAX_A_DAY.saturating_mul(days.saturating_add(1));
            if found.generation.saturating_sub(pointer.generation) > allowed {
                let (to, from) = (found.generation, pointer.generation);
                let rest = format!("has generation {to}, too many after {from}, which was read earlier");
                return Self::refuse(FaultKind::Implausible, rest);
            }
            // A release that was named and never served, because it could not be fetched, is no measure.
            if let Some(served) = known.served.map(|served| served.min(pointer.release))
                && found.release < served
            {
                return Self::older(found, served);
            }
        }
        match expired {
            Some(rest) => Self::refuse(FaultKind::Expired, rest),
            None => Self { follows: true, fault: None },
        }
    }

    fn older(found: &Pointer, served: SnapshotVersion) -> Self {
        let release = found.release;
        let rest = format!("names release {release}, older than {served}, without a new epoch");
        Self::refuse(FaultKind::Older, rest)
    }

    fn lower(found: &Pointer, known: &Pointer) -> Self {
        let (from, to) = (known.generation, found.generation);
        let rest = if found.epoch < known.epoch {
            format!("is of an epoch before {}, which was read earlier", rfc3339(known.epoch))
        } else if to < from {
            format!("has generation {to}, below {from}, which was read earlier")
        } else {
            format!("with generation {to} was written before the one that was read earlier")
        };
        Self::refuse(FaultKind::Lower, rest)
    }
}

/// Counts the polls for which there has been a fault.
#[derive(Debug, Default)]
pub(super) struct FaultWatch {
    found: Option<PointerFault>,
    polls: u32,
    /// Polls with a reported fault since the start, by kind.
    counts: [u64; FaultKind::ALL.len()],
}

impl FaultWatch {
    /// Notes the outcome of a poll.
    pub(super) fn note(&mut self, found: Option<PointerFault>) {
        self.polls = if found.is_some() { self.polls.saturating_add(1) } else { 0 };
        self.found = found;
        if let Some(kind) = self.reported().map(|fault| fault.kind) {
            self.counts[kind.index()] += 1;
        }
    }

    pub(super) fn has_fault(&self) -> bool {
        self.found.is_some()
    }

    /// The fault, once it has stayed.
    pub(super) fn reported(&self) -> Option<&PointerFault> {
        self.found.as_ref().filter(|_| self.polls >= PATIENCE)
    }

    pub(super) fn counts(&self) -> [u64; FaultKind::ALL.len()] {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::remote::pointer::CLOCK_TOLERANCE;
    use crate::remote::tests::{current_of, pointer};
    use crate::sample::version;

    const NOW: i64 = 2_000_000_000;
    const SIGNED: Proof = Proof::Accepted { until: None };

    fn release(number: u32) -> SnapshotVersion {
        version(&format!("2026-11-20.{number}"))
    }

    /// A replica that has followed a pointer and serves its release.
    fn follower(pointer: &Pointer) -> Known<'_> {
        Known { pointer: Some(pointer), served: Some(pointer.release) }
    }

    /// True if the pointer is followed, and its fault.
    fn judge(known: Known<'_>, found: &Pointer) -> (bool, Option<FaultKind>) {
        let Judgment { follows, fault } = Judgment::of(known, found, &SIGNED, NOW);
        (follows, fault.map(|fault| fault.kind))
    }

    #[test]
    fn each_fault_is_found_and_what_is_in_order_is_followed() {
        let known = pointer(4, 4, NOW - 100);
        let with = |kind| (false, Some(kind));
        assert_eq!(judge(follower(&known), &known), (true, None));
        assert_eq!(judge(follower(&known), &pointer(5, 5, NOW)), (true, None));
        assert_eq!(judge(follower(&known), &pointer(5, 4, NOW)), (true, None), "the same release again");
        assert_eq!(judge(follower(&known), &pointer(1_004, 5, NOW)), (true, None));
        // Generations.
        assert_eq!(judge(follower(&known), &pointer(1, 1, NOW - 900)), with(FaultKind::Lower));
        assert_eq!(judge(follower(&known), &pointer(2, 9, NOW)), with(FaultKind::Lower), "also with a newer release");
        assert_eq!(judge(follower(&known), &pointer(4, 4, NOW - 101)), with(FaultKind::Lower), "before a renewal");
        assert_eq!(judge(follower(&known), &pointer(4, 5, NOW)), (true, None), "of a restored bucket, but later");
        for generation in [1_005, 1 << 53, u64::MAX] {
            assert_eq!(judge(follower(&known), &pointer(generation, 5, NOW)), with(FaultKind::Implausible));
        }
        let month_ago = pointer(4, 4, NOW - 30 * DAY);
        assert_eq!(judge(follower(&month_ago), &pointer(31_004, 5, NOW)), (true, None));
        assert_eq!(judge(follower(&month_ago), &pointer(31_005, 5, NOW)), with(FaultKind::Implausible));
        // Releases.
        assert_eq!(judge(follower(&known), &pointer(99, 1, NOW)), with(FaultKind::Older));
        let unfetched = Known { served: Some(release(2)), ..follower(&known) };
        assert_eq!(judge(unfetched, &pointer(5, 3, NOW)), (true, None), "the known release was never served");
        assert_eq!(judge(unfetched, &pointer(5, 1, NOW)), with(FaultKind::Older));
        let forgetful = Known { pointer: None, served: Some(release(2)) };
        assert_eq!(judge(forgetful, &pointer(5, 1, NOW)), with(FaultKind::Older));
        // Epochs.
        let back = Pointer { epoch: NOW, ..pointer(1, 1, NOW) };
        assert_eq!(judge(follower(&known), &back), (true, None));
        assert_eq!(judge(follower(&back), &pointer(99, 9, NOW)), with(FaultKind::Lower));
        let future = Pointer { epoch: NOW + CLOCK_TOLERANCE + 1, ..pointer(5, 5, NOW) };
        assert_eq!(judge(follower(&known), &future), with(FaultKind::Implausible));
        // Times.
        let ahead = pointer(5, 5, NOW + CLOCK_TOLERANCE + 1);
        assert_eq!(judge(follower(&known), &ahead), with(FaultKind::Implausible));
        let never = Pointer { activate_at: i64::MAX, ..pointer(5, 5, NOW) };
        assert_eq!(judge(follower(&known), &never), with(FaultKind::Implausible));
        let until = |not_after, pointer: Pointer| Pointer { not_after: Some(not_after), ..pointer };
        assert_eq!(judge(follower(&known), &until(NOW, pointer(5, 5, NOW))), (true, None));
        assert_eq!(judge(follower(&known), &until(NOW - 1, pointer(5, 5, NOW - 9))), with(FaultKind::Expired));
        let known = until(NOW - 1, known);
        assert_eq!(judge(follower(&known), &known), (true, Some(FaultKind::Frozen)));
        let renewed = Pointer { not_before: Some(NOW - 5), ..until(NOW + 5, known.clone()) };
        assert_eq!(judge(follower(&known), &renewed), (true, None));
        assert_eq!(judge(follower(&renewed), &known), with(FaultKind::Lower));
        // A replica that has nothing serves what there is.
        let nothing = Known { pointer: None, served: None };
        assert_eq!(judge(nothing, &known), (true, Some(FaultKind::Expired)));
        assert_eq!(judge(nothing, &pointer(5_000, 1, NOW)), (true, None));
        assert_eq!(judge(nothing, &pointer(u64::MAX, 1, NOW)), with(FaultKind::Implausible));
        let delegated =
            |until| Judgment::of(nothing, &pointer(1, 1, NOW), &Proof::Accepted { until: Some(until) }, NOW);
        assert_eq!((delegated(NOW).fault, delegated(NOW - 1).fault.is_some()), (None, true));
        let refused = Judgment::of(nothing, &pointer(1, 1, NOW), &Proof::Refused("is not signed".into()), NOW);
        let fault = refused.fault.unwrap();
        assert_eq!((refused.follows, fault.kind), (false, FaultKind::Untrusted));
        assert!(fault.to_string().starts_with("`current` in the object store is not signed: find out"), "{fault}");
        assert_eq!(Judgment::of_missing(nothing).fault, None);
        assert_eq!(Judgment::of_missing(follower(&known)).fault.unwrap().kind, FaultKind::Missing);
    }

    #[test]
    fn a_fault_is_reported_and_counted_once_it_has_stayed() {
        let mut watch = FaultWatch::default();
        let fault = |kind| Some(PointerFault::new(kind, "is wrong"));
        for _ in 1..PATIENCE {
            watch.note(fault(FaultKind::Lower));
            assert_eq!((watch.reported(), watch.has_fault()), (None, true));
        }
        watch.note(None);
        watch.note(fault(FaultKind::Lower));
        assert_eq!(watch.reported(), None);
        for _ in 1..PATIENCE {
            watch.note(fault(FaultKind::Older));
        }
        assert_eq!(watch.reported(), fault(FaultKind::Older).as_ref(), "whatever the kind was before");
        watch.note(fault(FaultKind::Older));
        assert_eq!((watch.counts()[FaultKind::Older.index()], watch.counts().iter().sum::<u64>()), (2, 2));
    }

    /// Pointers of honest publishers, of faults and of strangers, with values at the bounds.
    fn any_pointer() -> impl Strategy<Value = Pointer> {
        let near = prop_oneof![Just(0), -3_000..3_000_i64, Just(-40 * DAY), Just(i64::MAX - NOW), Just(-NOW)];
        let epoch = prop_oneof![3 => Just(0), 2 => near.clone().prop_map(|ahead| NOW + ahead)];
        let generation = prop_oneof![6 => 0..30_u64, 1 => 900..1_100_u64, 1 => Just(1_u64 << 53), 1 => Just(u64::MAX)];
        let not_after = proptest::option::of(near.clone().prop_map(|ahead| NOW + ahead));
        (epoch, generation, 1..9_u32, near, not_after).prop_map(|(epoch, generation, release, ahead, not_after)| {
            Pointer { epoch, not_after, ..pointer(generation, release, NOW + ahead) }
        })
    }

    fn any_proof() -> impl Strategy<Value = Proof> {
        prop_oneof![
            6 => Just(SIGNED),
            1 => Just(Proof::Refused("is not signed".into())),
            1 => (-9..9_i64).prop_map(|ahead| Proof::Accepted { until: Some(NOW + ahead) }),
        ]
    }

    proptest! {
        #[test]
        fn what_is_followed_never_goes_back_and_a_recovery_is_always_followed(
            found in proptest::collection::vec((any_pointer(), any_proof()), 0..12),
            last in proptest::option::of(any_pointer()),
            named in 1..9_u32,
        ) {
            let mut known: Option<Pointer> = None;
            for (found, proof) in &found {
                let served = known.as_ref().map(|known| known.release);
                let Judgment { follows, fault } = Judgment::of(Known { pointer: known.as_ref(), served }, found, proof, NOW);
                prop_assert!(follows || fault.is_some(), "what is refused has a reason");
                if !follows {
                    continue;
                }
                let is_proven = !matches!(proof, Proof::Refused(_));
                prop_assert!(is_proven);
                prop_assert_eq!(found.implausibility(NOW), None);
                if let Some(known) = &known {
                    prop_assert!(found.rank() >= known.rank());
                    prop_assert!(found.epoch > known.epoch || found.release >= known.release);
                }
                known = Some(found.clone());
            }
            // Epochs of strangers may be ahead by as much as clocks may.
            let now = NOW + CLOCK_TOLERANCE + 1;
            let (epoch, generation) = current_of(last).next_rank(release(named), true, now).unwrap();
            let recovered = Pointer { epoch, ..pointer(generation, named, now) };
            let served = known.as_ref().map(|known| known.release);
            // The next poll: an epoch that was at the bound is within it by then.
            let judged = Judgment::of(Known { pointer: known.as_ref(), served }, &recovered, &SIGNED, now + 1);
            prop_assert_eq!(judged, Judgment { follows: true, fault: None });
        }
    }
}
