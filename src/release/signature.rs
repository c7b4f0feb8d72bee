//! Signatures of releases: Ed25519 over the bytes of `manifest.json`, which has the checksums of all other files; and
//! JSON documents with their signature inside.
//!
//! Keys are PEM files and signatures 64 bytes, as `openssl` writes them: it can sign and verify releases, too.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use thiserror::Error;

use crate::{ReleaseError, ReleaseResult};
use data::SnapshotVersion;

/// Prefix of a public key in DER (RFC 8410), followed by the 32 bytes of the key.
const PUBLIC_KEY_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

pub struct SigningKey(Ed25519KeyPair);

/// A public key, displayed in Base64: the end of the line in its PEM file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct TrustedKey([u8; 32]);

/// A JSON document and its signature, over the bytes of `signed` exactly as they are in the document.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SignedJson {
    signed: Box<RawValue>,
    /// The key that belongs to the signature.
    key: TrustedKey,
    /// 64 bytes in Base64.
    signature: String,
}

#[derive(Debug, Error)]
pub enum KeyError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: std::io::Error },
    #[error("{}: not an Ed25519 {expected}", path.display())]
    NotAKey { path: PathBuf, expected: &'static str },
}

impl SigningKey {
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let der = der(path, "PRIVATE KEY")?;
        let pair = der.and_then(|der| Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).ok());
        let expected = "private key in PEM; create one with `openssl genpkey -algorithm ed25519 -out FILE`";
        pair.map(Self).ok_or_else(|| KeyError::NotAKey { path: path.to_owned(), expected })
    }

    pub(crate) fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        self.0.sign(bytes).as_ref().to_vec()
    }

    pub fn public(&self) -> TrustedKey {
        TrustedKey(self.0.public_key().as_ref().try_into().expect("an Ed25519 key has 32 bytes"))
    }
}

impl TrustedKey {
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let der = der(path, "PUBLIC KEY")?;
        let key = der.as_deref().and_then(|der| der.strip_prefix(&PUBLIC_KEY_PREFIX)?.try_into().ok());
        let expected = "public key in PEM; write that of a private key with `openssl pkey -in FILE -pubout -out \
                        PUBLIC_FILE`";
        key.map(Self).ok_or_else(|| KeyError::NotAKey { path: path.to_owned(), expected })
    }

    /// Refuses a release if `signature` is not that of `signed`, its manifest or packing.
    pub(crate) fn check(&self, version: SnapshotVersion, signed: &[u8], signature: Option<&[u8]>) -> ReleaseResult<()> {
        let reason = match signature {
            Some(signature) if self.has_signed(signed, signature) => return Ok(()),
            Some(_) => "is not signed with the trusted key, or its manifest was changed",
            None => "is not signed",
        };
        Err(ReleaseError::Untrusted { version, reason })
    }

    fn has_signed(&self, signed: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(signed, signature).is_ok()
    }
}

impl fmt::Display for TrustedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

impl From<TrustedKey> for String {
    fn from(key: TrustedKey) -> Self {
        key.to_string()
    }
}

impl TryFrom<String> for TrustedKey {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let bytes = STANDARD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or("not a key of 32 bytes in Base64")
    }
}

impl SignedJson {
    pub(crate) fn new(content: &impl Serialize, key: &SigningKey) -> Self {
        let signed = to_raw_value(content).expect("texts and numbers serialize");
        let signature = STANDARD.encode(key.sign(signed.get().as_bytes()));
        Self { signed, key: key.public(), signature }
    }

    /// The signed JSON.
    pub(crate) fn content(&self) -> &str {
        self.signed.get()
    }

    /// The key that has signed the content; `None` if the signature is wrong.
    pub(crate) fn signer(&self) -> Option<&TrustedKey> {
        let signature = STANDARD.decode(&self.signature).ok()?;
        self.key.has_signed(self.content().as_bytes(), &signature).then_some(&self.key)
    }
}

/// Content of a PEM file with this label; `None` if the file is not one.
fn der(path: &Path, label: &str) -> Result<Option<Vec<u8>>, KeyError> {
    let text = fs::read(path).map_err(|error| KeyError::Io { path: path.to_owned(), error })?;
    let text = String::from_utf8_lossy(&text);
    let begun = text.split_once(&format!("-----BEGIN {label}-----"));
    let content = begun.and_then(|(_, rest)| rest.split_once(&format!("-----END {label}-----")));
    Ok(content.and_then(|(content, _)| STANDARD.decode(content.split_whitespace().collect::<String>()).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{PRIVATE_KEY, PUBLIC_KEY};

    /// Signature of `venturedex` by `openssl pkeyutl -sign -rawin`, in Base64.
    const SIGNATURE: &str = "kxsmXwUSpahZBsAEV8HzL0nO3GPTLxWe+XQp+ZUnRMV1lw4pgE5Mib5EQ/tk3m1FWxxKvKhbrKx+KvBqQ7TTCA==";

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn keys_and_signatures_are_those_of_openssl() {
        let signing = SigningKey::read(file(PRIVATE_KEY).path()).unwrap();
        let trusted = TrustedKey::read(file(&PUBLIC_KEY.replace('\n', "\r\n")).path()).unwrap();
        let signature = STANDARD.decode(SIGNATURE).unwrap();
        assert_eq!(signing.sign(b"venturedex"), signature);
        let version = "2026-11-20.1".parse().unwrap();
        let has_signed = |bytes: &[u8], signature: &[u8]| trusted.check(version, bytes, Some(signature)).is_ok();
        assert!(has_signed(b"venturedex", &signature));
        assert!(!has_signed(b"Venturedex", &signature));
        assert!(!has_signed(b"venturedex", &signature[1..]));
        assert!(!has_signed(b"venturedex", b""));
    }

    #[test]
    fn a_signed_document_has_the_signer_of_its_exact_bytes() {
        let key = SigningKey::read(file(PRIVATE_KEY).path()).unwrap();
        let json = serde_json::to_string(&SignedJson::new(&["a", "b"], &key)).unwrap();
        let signer = |json: &str| {
            let document: SignedJson = serde_json::from_str(json).unwrap();
            document.signer().cloned()
        };
        assert_eq!(signer(&json), Some(key.public()));
        assert_eq!(signer(&json.replacen(r#"["a","b"]"#, r#"  ["a","b"] "#, 1)), Some(key.public()));
        assert_eq!(signer(&json.replacen(r#"["a","b"]"#, r#"["a", "b"]"#, 1)), None, "the same values, other bytes");
        assert_eq!(signer(&json.replacen(r#"["a","b"]"#, r#"["a","c"]"#, 1)), None);
        let pem = PUBLIC_KEY.lines().nth(1).unwrap();
        assert!(pem.ends_with(&key.public().to_string()), "{}", key.public());
        assert!(serde_json::from_str::<SignedJson>(&json.replace(&key.public().to_string(), "AAAA")).is_err());
    }

    #[test]
    fn what_is_not_such_a_key_is_refused_with_the_command_that_makes_one() {
        for text in ["", "key", PUBLIC_KEY, "-----BEGIN PRIVATE KEY-----\nMC4C\n-----END PRIVATE KEY-----\n"] {
            let refused = SigningKey::read(file(text).path()).err().unwrap().to_string();
            assert!(refused.ends_with("`openssl genpkey -algorithm ed25519 -out FILE`"), "{refused}");
        }
        for text in ["", PRIVATE_KEY, "-----BEGIN PUBLIC KEY-----\nMC4C\n-----END PUBLIC KEY-----\n"] {
            let refused = TrustedKey::read(file(text).path()).err().unwrap().to_string();
            assert!(refused.contains("openssl pkey -in FILE -pubout"), "{refused}");
        }
        assert!(matches!(TrustedKey::read(Path::new("/no/such/key")), Err(KeyError::Io { .. })));
    }
}
