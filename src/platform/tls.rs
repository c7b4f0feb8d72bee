//! TLS of outgoing HTTP requests and of connections to PostgreSQL: which certificates of servers are trusted.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Trusts the certificate authorities of the system, or those in the file that `SSL_CERT_FILE` names, for as long as the result
/// is used. Without any, every connection fails.
pub fn system_roots() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs().certs;
    roots(found.iter().map(|der| Certificate::from_der(der).to_owned()).collect())
}

/// Trusts these certificates only.
pub fn roots(certificates: Vec<Certificate<'static>>) -> TlsConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder().unversioned_rustls_crypto_provider(provider);
    tls.root_certs(RootCerts::Specific(Arc::new(certificates))).build()
}

/// Whether a request failed because its connection could not be encrypted, or the server's certificate is not trusted.
pub fn is_tls_error(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => true,
        // What fails during the handshake.
        ureq::Error::Io(error) => error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()),
        _ => false,
    }
}

/// For connections that are not HTTP. Trusts the certificates in the file `roots` (PEM) only, or the authorities of the system.
///
/// # Errors
/// What is wrong with the file.
pub fn client_config(roots: Option<&Path>) -> Result<ClientConfig, String> {
    let mut trusted = RootCertStore::empty();
    match roots {
        None => drop(trusted.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
        Some(file) => {
            let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            let certificates = read.map_err(|error| format!("{}: {error}", file.display()))?;
            if trusted.add_parsable_certificates(certificates).0 == 0 {
                return Err(format!("{}: no certificate in PEM form", file.display()));
            }
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = versions.map_err(|error| error.to_string())?;
    Ok(builder.with_root_certificates(trusted).with_no_client_auth())
}
