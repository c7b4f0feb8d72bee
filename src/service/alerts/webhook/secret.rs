use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use auth::hide_debug;

/// 32 random bytes that sign the messages to one receiver. `Debug` hides them; their memory is cleared on drop.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(Zeroizing<[u8; 32]>);

impl WebhookSecret {
    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// `whsec_` and the bytes in Base64, as Standard Webhooks libraries expect them; for the receiver's owner.
    pub fn reveal(&self) -> String {
        format!("whsec_{}", STANDARD.encode(*self.0))
    }

    /// Signs a message: `v1,` and an HMAC-SHA-256 in Base64. `timestamp` is in Unix seconds.
    pub(crate) fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        signature(&*self.0, id, timestamp, body)
    }
}

hide_debug!(WebhookSecret);

fn signature(key: &[u8], id: &str, timestamp: i64, body: &[u8]) -> String {
    let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key).expect("HMAC accepts keys of any length");
    let tag = mac.chain_update(format!("{id}.{timestamp}.")).chain_update(body).finalize().into_bytes();
    format!("v1,{}", STANDARD.encode(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the reference libraries; its key has 24 bytes.
    #[test]
    fn a_signature_is_that_of_the_reference_libraries() {
        let key = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signed = signature(&key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    /// Expected values come from the Python library `standardwebhooks` 1.1.
    #[test]
    fn a_secret_is_shown_and_signs_as_the_libraries_read_it() {
        let secret = WebhookSecret::from_bytes(std::array::from_fn(|index| index as u8));
        assert_eq!(secret.reveal(), "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
        let signed = secret.sign("msg_1", 1_751_328_000, r#"{"name":"Zoë"}"#.as_bytes());
        assert_eq!(signed, "v1,GimUs4BX36mCLlsRsW5pR/T07tmmUYLaSSv78uuFFDo=");
        assert_eq!(format!("{secret:?}"), "WebhookSecret(…)");
    }
}
