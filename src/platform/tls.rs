//! TLS trust for outgoing HTTP requests and for connections to PostgreSQL.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Trusts the certificate authorities of the system, or those in the file named by `SSL_CERT_FILE`. They are read once,
/// for the lifetime of the result. If there are none, every connection fails.
pub fn system_roots() -> TlsConfig {
    let found = rustls_native_certs::load_native_certs().certs;
    roots(found.iter().map(|der| Certificate::from_der(der).to_owned()).collect())
}

pub fn roots(certificates: Vec<Certificate<'static>>) -> TlsConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder().unversioned_rustls_crypto_provider(provider);
    tls.root_certs(RootCerts::Specific(Arc::new(certificates))).build()
}

/// True if a request failed because TLS could not be established or the server's certificate is not trusted.
pub fn is_tls_error(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => true,
        // An error during the handshake.
        ureq::Error::Io(error) => error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()),
        _ => false,
    }
}

/// TLS for connections other than HTTP. Trusts only the certificates in the file `roots` (PEM), or the authorities of
/// the system. The error describes the problem with the file.
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
