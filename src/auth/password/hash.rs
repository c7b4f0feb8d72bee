//! Password hashes: argon2id in PHC format, which includes parameters and salt.

use argon2::password_hash::{Error, phc};
use argon2::{Algorithm, Argon2, Block, Params, Version};

use crate::password::Secret;
use crate::service::random;
use crate::{StoreError, StoreResult};

/// OWASP's recommendation for argon2id: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Verified for an account without a password, so that it takes as long. No password has this hash.
const DUMMY: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGhhcyB0aGlzIQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// A hash in an unknown format matches no password.
    pub(crate) fn from_stored(text: String) -> Self {
        Self(text)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn dummy() -> Self {
        Self(DUMMY.to_owned())
    }

    /// Takes about 50 ms.
    pub(crate) fn compute(secret: &Secret, memory: &mut HashMemory) -> StoreResult<Self> {
        let salt: [u8; 16] = random()?;
        let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(Error::from);
        let hash = params.and_then(|params| hash(Algorithm::Argon2id, params, secret, &salt, memory));
        hash.map(|hash| Self(hash.to_string())).map_err(|error| StoreError::Hashing(error.to_string()))
    }

    /// Takes about 50 ms.
    pub(crate) fn matches(&self, secret: &Secret, memory: &mut HashMemory) -> bool {
        let mut own = || {
            let own = phc::PasswordHash::new(&self.0).ok()?;
            let (algorithm, params) = (Algorithm::try_from(own.algorithm.as_str()).ok()?, Params::try_from(&own).ok()?);
            let other = hash(algorithm, params, secret, own.salt.as_deref()?, memory).ok()?;
            // Outputs are compared in constant time.
            Some(own.version == other.version && own.hash? == other.hash?)
        };
        own().unwrap_or(false)
    }

    pub(crate) fn is_outdated(&self) -> bool {
        let Ok(hash) = phc::PasswordHash::new(&self.0) else { return true };
        let Ok(params) = Params::try_from(&hash) else { return true };
        hash.algorithm != argon2::ARGON2ID_IDENT
            || hash.version != Some(Version::V0x13.into())
            || (params.m_cost(), params.t_cost(), params.p_cost()) != (MEMORY_KIB, PASSES, LANES)
    }
}

/// Memory for computing a hash, 19 MiB from the first hash on, used again: allocators do not reuse a freed block of
/// this size for the next thread. Measured with glibc, 500 hashes kept 4 GB (RustCrypto/password-hashes#478).
#[derive(Default)]
pub(crate) struct HashMemory(Vec<Block>);

fn hash(
    algorithm: Algorithm,
    params: Params,
    secret: &Secret,
    salt: &[u8],
    memory: &mut HashMemory,
) -> Result<phc::PasswordHash, Error> {
    let mut output = [0; Params::DEFAULT_OUTPUT_LEN];
    let blocks = params.block_count();
    if memory.0.len() < blocks {
        memory.0.resize(blocks, Block::new());
    }
    let argon2 = Argon2::new(algorithm, Version::V0x13, params.clone());
    argon2.hash_password_into_with_memory(secret.bytes(), salt, &mut output, &mut memory.0[..blocks])?;
    Ok(phc::PasswordHash {
        algorithm: algorithm.ident(),
        version: Some(Version::V0x13.into()),
        params: phc::ParamsString::try_from(&params)?,
        salt: Some(phc::Salt::new(salt)?),
        hash: Some(phc::Output::new(&output)?),
    })
}

hide_debug!(PasswordHash);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::password::Password;

    impl PasswordHash {
        /// A hash with weaker parameters.
        pub(crate) fn outdated(secret: &Secret) -> Self {
            let params = Params::new(8_192, 1, 1, None).unwrap();
            Self(hash(Algorithm::Argon2id, params, secret, &[7; 16], &mut HashMemory::default()).unwrap().to_string())
        }
    }

    fn password() -> Password {
        Password::new("glacier violin lantern", &"ada@example.com".parse().unwrap()).unwrap()
    }

    #[test]
    fn a_hash_matches_its_password_only_and_debug_hides_it() {
        let memory = &mut HashMemory::default();
        let hash = PasswordHash::compute(password().secret(), memory).unwrap();
        assert!(hash.as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.as_str());
        assert!(hash.matches(password().secret(), &mut HashMemory::default()));
        assert!(
            PasswordHash::from_stored(hash.as_str().to_owned())
                .matches(password().secret(), &mut HashMemory::default())
        );
        for wrong in ["glacier violin lanterx", "Glacier violin lantern", "glacier violin lantern ", ""] {
            assert!(!hash.matches(&Secret::new(wrong), &mut HashMemory::default()), "{wrong}");
        }
        assert_ne!(PasswordHash::compute(password().secret(), &mut HashMemory::default()).unwrap(), hash);
        assert_eq!(format!("{hash:?}"), "PasswordHash(…)");
        assert!(
            !PasswordHash::from_stored("nonsense".to_owned()).matches(password().secret(), &mut HashMemory::default())
        );
    }

    #[test]
    fn the_dummy_has_current_parameters_and_never_matches() {
        let dummy = PasswordHash::dummy();
        assert!(!dummy.is_outdated(), "otherwise it would take another time to verify");
        let output = |hash: &PasswordHash| phc::PasswordHash::new(hash.as_str()).unwrap().hash.map(|hash| hash.len());
        assert_eq!(
            output(&dummy),
            output(&PasswordHash::compute(password().secret(), &mut HashMemory::default()).unwrap())
        );
        assert!(!dummy.matches(password().secret(), &mut HashMemory::default()));
        assert!(!dummy.matches(&Secret::new(""), &mut HashMemory::default()));
    }

    #[test]
    fn hashes_with_other_parameters_are_outdated_and_still_match() {
        let old = PasswordHash::outdated(password().secret());
        assert!(old.is_outdated() && old.matches(password().secret(), &mut HashMemory::default()));
        let params = Params::new(MEMORY_KIB, 2, 1, None).unwrap();
        let other = hash(Algorithm::Argon2i, params, password().secret(), &[7; 16], &mut HashMemory::default());
        assert!(PasswordHash(other.unwrap().to_string()).is_outdated());
        assert!(PasswordHash::from_stored("nonsense".to_owned()).is_outdated());
        assert!(!PasswordHash::compute(password().secret(), &mut HashMemory::default()).unwrap().is_outdated());
    }
}
