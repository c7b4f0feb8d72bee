//! TLS of outgoing HTTP requests: which certificates of servers are trusted.

use std::sync::Arc;

use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Trusts the certificate authorities of the system, or those in the file that `SSL_CERT_FILE` names, for as long as the result
/// is used. Without any, every connection fails.
pub(crate) fn system_roots() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs().certs;
    roots(found.iter().map(|der| Certificate::from_der(der).to_owned()).collect())
}

/// Trusts these certificates only.
pub(crate) fn roots(certificates: Vec<Certificate<'static>>) -> TlsConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder().unversioned_rustls_crypto_provider(provider);
    tls.root_certs(RootCerts::Specific(Arc::new(certificates))).build()
}

/// Whether a request failed because its connection could not be encrypted, or the server's certificate is not trusted.
pub(crate) fn is_tls_error(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => true,
        // What fails during the handshake.
        ureq::Error::Io(error) => error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()),
        _ => false,
    }
}
