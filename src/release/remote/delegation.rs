//! The object `delegation`: the key of releases, which can be kept offline, names the keys that may sign pointers.
//!
//! Pointers are signed by a job that runs often, so its key is more at risk than that of releases. Whoever has it can
//! freeze replicas or bring an older release back, but publish nothing of their own.

use serde::{Deserialize, Serialize};

use crate::remote::{Current, FORMAT, PointerSigning, RemoteStore, check_format};
use crate::signature::SignedJson;
use crate::{ReleaseError, ReleaseResult, SigningKey, TrustedKey};
use data::rfc3339;

const DELEGATION: &str = "delegation";

/// Maximum size of a delegation in bytes.
const MAX_BYTES: u64 = 1 << 16;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delegation {
    pub format: u32,
    /// No other document that the key of releases signs has this field.
    pub pointer_keys: Vec<TrustedKey>,
    /// Unix seconds of its signature: a replica that has seen a later delegation ignores this one.
    pub not_before: i64,
    /// In Unix seconds.
    pub not_after: i64,
}

/// Who may sign the pointers that a replica follows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Delegated {
    /// Nobody has to: there is no trusted key, or no delegation was ever seen.
    #[default]
    Nobody,
    /// A delegation exists, but it is not believed. The rest of a sentence about it.
    Refused(String),
    To(Delegation),
}

/// The result of checking the signature of a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// `until`: Unix seconds after which the keys that may sign have to be delegated again.
    Accepted { until: Option<i64> },
    /// The rest of a sentence about `current`.
    Refused(String),
}

impl Delegation {
    /// Parses a delegation, which `trusted` must have signed if there is one. The error is the rest of a sentence about
    /// the object.
    pub(super) fn parse(bytes: &[u8], trusted: Option<&TrustedKey>) -> Result<Self, String> {
        let document: SignedJson = serde_json::from_slice(bytes).map_err(|error| format!("cannot be read: {error}"))?;
        if trusted.is_some() && document.signer() != trusted {
            return Err("is not signed with the trusted key".into());
        }
        let delegation: Self =
            serde_json::from_str(document.content()).map_err(|error| format!("cannot be read: {error}"))?;
        check_format(delegation.format)?;
        Ok(delegation)
    }

    /// The reason why a pointer signed with `key` is not accepted at `now`, as the rest of a sentence about the object.
    pub(super) fn refusal(&self, key: &TrustedKey, now: i64) -> Option<String> {
        if !self.pointer_keys.contains(key) {
            return Some(format!("does not name the pointer key {key}"));
        }
        (self.not_after < now).then(|| format!("was valid until {}", rfc3339(self.not_after)))
    }
}

impl Delegated {
    pub(super) fn delegation(&self) -> Option<&Delegation> {
        match self {
            Self::To(delegation) => Some(delegation),
            Self::Nobody | Self::Refused(_) => None,
        }
    }

    /// Judges who has written a pointer. The caller, who knows the time, checks that the delegation is still valid.
    pub(super) fn prove(&self, read: &Current) -> Proof {
        let delegation = match self {
            Self::Nobody if read.document.is_none() => return Proof::Accepted { until: None },
            Self::Nobody => {
                return Proof::Refused("is signed, but no delegation names the keys that may sign it".into());
            }
            Self::Refused(reason) => {
                return Proof::Refused(format!("is not proven: `{DELEGATION}` next to it {reason}"));
            }
            Self::To(delegation) => delegation,
        };
        match (&read.document, read.signer()) {
            (None, _) => Proof::Refused("is not signed, although a delegation names the keys that sign it".into()),
            (Some(_), None) => Proof::Refused("has a wrong signature".into()),
            (Some(_), Some(key)) if !delegation.pointer_keys.contains(key) => {
                Proof::Refused(format!("is signed with the key {key}, which the delegation does not name"))
            }
            (Some(_), Some(_)) => Proof::Accepted { until: Some(delegation.not_after) },
        }
    }
}

impl RemoteStore {
    /// Lets `keys` sign pointers for `valid_for` seconds, in place of those that were named before. `key` signs
    /// releases.
    pub fn delegate(
        &self,
        keys: Vec<TrustedKey>,
        key: &SigningKey,
        valid_for: i64,
        now: i64,
    ) -> ReleaseResult<Delegation> {
        let earlier = self.delegation()?.and_then(|bytes| Delegation::parse(&bytes, Some(&key.public())).ok());
        // Replicas that have seen the earlier one accept this one though the clock may have gone back.
        let not_before = earlier.map_or(now, |earlier| earlier.not_before.saturating_add(1).max(now));
        let not_after = now.saturating_add(valid_for);
        let delegation = Delegation { format: FORMAT, pointer_keys: keys, not_before, not_after };
        let document = SignedJson::new(&delegation, key);
        self.objects.put(DELEGATION, serde_json::to_vec(&document).expect("texts and numbers serialize"))?;
        Ok(delegation)
    }

    /// The object, if there is one.
    pub(super) fn delegation(&self) -> ReleaseResult<Option<Vec<u8>>> {
        Ok(self.objects.get(DELEGATION, MAX_BYTES)?.map(|found| found.bytes))
    }

    /// The delegation of the store. Fails unless it lets a key sign: replicas would refuse its pointers.
    pub(super) fn check_delegated(&self, signing: &PointerSigning, now: i64) -> ReleaseResult<Delegation> {
        let refused =
            |reason: String| ReleaseError::NotDelegated { place: format!("{}/{DELEGATION}", self.location()), reason };
        let bytes = self.delegation()?.ok_or_else(|| refused("does not exist".into()))?;
        let delegation = Delegation::parse(&bytes, self.trusted.as_ref()).map_err(refused)?;
        match delegation.refusal(&signing.key.public(), now) {
            Some(reason) => Err(refused(reason)),
            None => Ok(delegation),
        }
    }
}
