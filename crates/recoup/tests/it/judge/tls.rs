//! An encrypted server: one whose certificate is known is asked, any other is told nothing.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use super::server::{Server, anthropic};
use super::{KEY, asking};
use crate::support::{Home, finish};

/// An authority in `ca`, and what a server of that name needs whose certificate it signed.
pub(crate) fn certified(ca: &Path, host: &str) -> ServerConfig {
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.distinguished_name.push(DnType::CommonName, "the tests' authority");
    let own = authority.self_signed(&authority_key).unwrap();
    std::fs::write(ca, own.pem()).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec![host.to_owned()]).unwrap();
    let leaf = leaf.signed_by(&key, &Issuer::new(authority, authority_key)).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![leaf.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap()
}

/// A server that says "none" to everybody who trusts it; its port, and all that it heard.
fn start(config: ServerConfig) -> (u16, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let told = Arc::new(Mutex::new(String::new()));
    let (all, config) = (Arc::clone(&told), Arc::new(config));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let session = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(session, stream.unwrap());
            let mut chunk = [0; 8_192];
            while let Ok(count @ 1..) = stream.read(&mut chunk) {
                let mut all = all.lock().unwrap();
                all.push_str(&String::from_utf8_lossy(&chunk[..count]));
                if all.contains("<candidates>") {
                    let body = anthropic(&json!({"verdicts": [{"id": 1, "label": "none"}]}), 1, 1);
                    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
                    let _ = stream.write_all(format!("{head}{body}").as_bytes());
                    break;
                }
            }
        }
    });
    (port, told)
}

#[test]
fn who_is_certified_is_asked_and_who_is_not_hears_nothing() {
    let home = Home::new();
    let (ca, other) = (home.path("ca.pem"), home.path("other.pem"));
    let (port, told) = start(certified(&ca, "localhost"));
    certified(&other, "localhost");
    let none = Server::saying("500 Oops", "", String::new());
    let ask = |host: &str, authority: &Path| {
        let mut command = asking(&home, &none, "anthropic", "use tabs");
        command.env("RECOUP_JUDGE_URL", format!("https://{host}:{port}"));
        finish(command.env("SSL_CERT_FILE", authority))
    };
    for (host, authority) in [("localhost", &other), ("127.0.0.1", &ca)] {
        let output = ask(host, authority).expect(1);
        assert!(output.stderr.contains("certificate"), "{host}: {}", output.stderr);
    }
    assert_eq!(*told.lock().unwrap(), "", "not even a byte of the question");
    ask("localhost", &ca).expect(0);
    assert!(told.lock().unwrap().contains(KEY));
}
