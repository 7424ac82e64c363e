//! Trust anchors of a connection: the CA that the URL names, or else those of the system. The
//! library would always load the system's, which takes longer than the rest of a look-up, so only
//! clusters leave TLS to it.

use std::{fmt, fs};

use redis::{RedisError, RedisResult};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use super::target::RedisTarget;

/// The TLS client for the first node.
pub(super) fn tls_client(target: &RedisTarget) -> RedisResult<ClientConnection> {
    let (host, _) = &target.nodes[0];
    let name = ServerName::try_from(host.clone())
        .map_err(|error| invalid("the host's name is none for TLS", &error))?;
    let config = ClientConfig::builder().with_root_certificates(roots(target)?);
    ClientConnection::new(config.with_no_client_auth().into(), name)
        .map_err(|error| invalid("TLS can't be used", &error))
}

fn roots(target: &RedisTarget) -> RedisResult<RootCertStore> {
    let mut roots = RootCertStore::empty();
    match load_ca_certificates(target)? {
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(&pem).flatten() {
                roots.add(certificate).map_err(|error| invalid(UNREADABLE, &error))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        let remedy = "name one with ?ca=FILE";
        return Err(invalid("this system has no certificate authorities", &remedy));
    }
    Ok(roots)
}

const UNREADABLE: &str = "the certificate can't be read";

/// The CA certificates that the URL names, as PEM; `None` for the system's.
pub(super) fn load_ca_certificates(target: &RedisTarget) -> RedisResult<Option<Vec<u8>>> {
    let Some(path) = &target.ca else { return Ok(None) };
    let shown = path.display();
    let unreadable =
        |error: &dyn fmt::Display| invalid(UNREADABLE, &format_args!("{shown}: {error}"));
    let pem = fs::read(path).map_err(|error| unreadable(&error))?;
    match CertificateDer::pem_slice_iter(&pem).find_map(Result::err) {
        Some(error) => Err(unreadable(&error)),
        None if CertificateDer::pem_slice_iter(&pem).next().is_none() => {
            Err(invalid("there is no certificate", &format_args!("{shown}: expected PEM")))
        }
        None => Ok(Some(pem)),
    }
}

fn invalid(what: &'static str, detail: &dyn fmt::Display) -> RedisError {
    RedisError::from((redis::ErrorKind::InvalidClientConfig, what, detail.to_string()))
}
