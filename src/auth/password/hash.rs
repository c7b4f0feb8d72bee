//! Password hashes: argon2id in PHC format, which includes parameters and salt.

use std::fmt;

use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};

use crate::auth::StoreError;
use crate::auth::password::Secret;

/// OWASP's recommendation for argon2id: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Verified if an account has no password, so that it takes as long. No password has this hash.
const DUMMY: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGhhcyB0aGlzIQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// A hash in an unknown format matches no password.
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn dummy() -> Self {
        Self(DUMMY.to_owned())
    }

    /// Takes about 50 ms.
    pub(crate) fn of(secret: &Secret) -> Result<Self, StoreError> {
        let mut salt = [0; 16];
        getrandom::fill(&mut salt)?;
        Self::with(&argon2(), secret, &salt).map_err(|error| StoreError::Hashing(error.to_string()))
    }

    fn with(argon2: &Argon2<'_>, secret: &Secret, salt: &[u8]) -> Result<Self, argon2::password_hash::Error> {
        let hash: argon2::PasswordHash = argon2.hash_password_with_salt(secret.bytes(), salt)?;
        Ok(Self(hash.to_string()))
    }

    /// A hash with weaker parameters.
    #[cfg(test)]
    pub(crate) fn outdated(secret: &Secret) -> Self {
        let params = Params::new(8_192, 1, 1, None).unwrap();
        Self::with(&Argon2::new(Algorithm::Argon2id, Version::V0x13, params), secret, &[7; 16]).unwrap()
    }

    /// Takes about 50 ms.
    pub(crate) fn matches(&self, secret: &Secret) -> bool {
        PasswordVerifier::<str>::verify_password(&argon2(), secret.bytes(), &self.0).is_ok()
    }

    /// True if it was created with other parameters than the current ones.
    pub(crate) fn is_outdated(&self) -> bool {
        let current = || {
            let hash = argon2::PasswordHash::new(&self.0).ok()?;
            let params = Params::try_from(&hash).ok()?;
            let same = hash.algorithm == argon2::ARGON2ID_IDENT
                && hash.version == Some(Version::V0x13.into())
                && (params.m_cost(), params.t_cost(), params.p_cost()) == (MEMORY_KIB, PASSES, LANES);
            same.then_some(())
        };
        current().is_none()
    }
}

fn argon2() -> Argon2<'static> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).expect("the parameters are within argon2's bounds");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::password::Password;

    fn password() -> Password {
        Password::new("glacier violin lantern", &"ada@example.com".parse().unwrap()).unwrap()
    }

    #[test]
    fn a_hash_matches_its_password_only_and_debug_hides_it() {
        let hash = PasswordHash::of(password().secret()).unwrap();
        assert!(hash.as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.as_str());
        assert!(hash.matches(password().secret()));
        assert!(PasswordHash::from_stored(hash.as_str().to_owned()).matches(password().secret()));
        for wrong in ["glacier violin lanterx", "Glacier violin lantern", "glacier violin lantern ", ""] {
            assert!(!hash.matches(&Secret::new(wrong)), "{wrong}");
        }
        assert_ne!(PasswordHash::of(password().secret()).unwrap(), hash);
        assert_eq!(format!("{hash:?}"), "PasswordHash(…)");
        assert!(!PasswordHash::from_stored("nonsense".to_owned()).matches(password().secret()));
    }

    #[test]
    fn the_dummy_has_current_parameters_and_never_matches() {
        let dummy = PasswordHash::dummy();
        assert!(!dummy.is_outdated(), "otherwise it would take another time to verify");
        let output =
            |hash: &PasswordHash| argon2::PasswordHash::new(hash.as_str()).unwrap().hash.map(|hash| hash.len());
        assert_eq!(output(&dummy), output(&PasswordHash::of(password().secret()).unwrap()));
        assert!(!dummy.matches(password().secret()));
        assert!(!dummy.matches(&Secret::new("")));
    }

    #[test]
    fn hashes_with_other_parameters_are_outdated_and_still_match() {
        let old = PasswordHash::outdated(password().secret());
        assert!(old.is_outdated() && old.matches(password().secret()));
        let other = Argon2::new(Algorithm::Argon2i, Version::V0x13, Params::new(MEMORY_KIB, 2, 1, None).unwrap());
        assert!(PasswordHash::with(&other, password().secret(), &[7; 16]).unwrap().is_outdated());
        assert!(PasswordHash::from_stored("nonsense".to_owned()).is_outdated());
        assert!(!PasswordHash::of(password().secret()).unwrap().is_outdated());
    }
}
