//! Servers behind TLS, with a certificate authority of the tests' own.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use recoup_core::ErrorKind;
use recoup_core::store::{RedisStore, Store};
use rustix::process::Signal;
use tempfile::TempDir;

use super::{at_port, eventually, hits, miss, soon, stored, unavailable};
use crate::redis_server::{Server, free_port, target};
use crate::support::{id, record};

/// Who signs, and a certificate for some names.
struct Authority {
    dir: TempDir,
}

impl Authority {
    fn signing(names: &[&str]) -> Self {
        let (dir, key) = (tempfile::tempdir().unwrap(), KeyPair::generate().unwrap());
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.distinguished_name.push(DnType::CommonName, "authority of a test");
        let certificate = authority.self_signed(&key).unwrap();
        fs::write(dir.path().join("ca.pem"), certificate.pem()).unwrap();
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let leaf_key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new(names).unwrap();
        let leaf = leaf.signed_by(&leaf_key, &Issuer::new(authority, key)).unwrap();
        fs::write(dir.path().join("leaf.pem"), leaf.pem()).unwrap();
        fs::write(dir.path().join("key.pem"), leaf_key.serialize_pem()).unwrap();
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A server with that certificate, and its port for TLS.
    fn serve(&self, options: &[&str]) -> (Server, u16) {
        let port = free_port();
        let path = |name: &str| self.path(name).to_str().unwrap().to_owned();
        let (leaf, key, ca) = (path("leaf.pem"), path("key.pem"), path("ca.pem"));
        let port_text = port.to_string();
        let tls = ["--tls-port", &port_text, "--tls-cert-file", &leaf, "--tls-key-file", &key];
        let trust = ["--tls-ca-cert-file", &ca, "--tls-auth-clients", "no"];
        (Server::start_with(&[&tls[..], &trust[..], options].concat()), port)
    }

    fn store(&self, scheme: &str, host: &str, port: u16) -> Arc<dyn Store> {
        let ca = self.path("ca.pem");
        let url = format!("{scheme}://{host}:{port}/?ca={}&timeout=30s", ca.display());
        Arc::new(RedisStore::at(target(&url)))
    }
}

#[test]
fn a_server_whose_certificate_is_signed_by_the_given_authority_is_trusted() {
    let authority = Authority::signing(&["localhost", "127.0.0.1"]);
    let (_server, port) = authority.serve(&[]);
    for host in ["localhost", "127.0.0.1"] {
        let store = authority.store("rediss", host, port);
        store.put(&id("a"), &record("a")).unwrap();
        assert!(hits(&store, "a"), "{host}");
    }
}

/// The variable names the system's own; if they are read, they are missed.
#[test]
fn where_an_authority_is_named_the_systems_are_not_read() {
    let test = "redis::tls::a_server_whose_certificate_is_signed_by_the_given_authority_is_trusted";
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env("SSL_CERT_FILE", "/missing/certificates.pem")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(said.contains("1 passed"), "{said}");
}

#[test]
fn an_unknown_authority_and_another_name_are_refused() {
    let authority = Authority::signing(&["other.example"]);
    let (_server, port) = authority.serve(&[]);
    let stranger: Arc<dyn Store> =
        Arc::new(RedisStore::at(target(&format!("rediss://localhost:{port}/?timeout=10s"))));
    let error = stranger.get(&id("a")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("certificate"), "{error}");
    let other = Authority::signing(&["localhost"]);
    let error = other.store("rediss", "localhost", port).get(&id("a")).unwrap_err().to_string();
    assert!(error.contains("invalid peer certificate"), "{error}");
    let error = authority.store("rediss", "localhost", port).get(&id("a")).unwrap_err();
    assert!(error.to_string().contains("not valid for name"), "{error}");
}

#[test]
fn plain_text_to_tls_and_tls_to_plain_text_are_misses() {
    let authority = Authority::signing(&["127.0.0.1"]);
    let (server, port) = authority.serve(&[]);
    unavailable(&at_port(port), "a");
    let ca = authority.path("ca.pem");
    let url = format!("rediss://127.0.0.1:{}/?ca={}", server.port, ca.display());
    let store: Arc<dyn Store> = Arc::new(RedisStore::at(target(&url)));
    unavailable(&store, "a");
    let error = soon(|| store.put(&id("a"), &record("a"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
}

/// Also in the middle of shaking hands.
#[test]
fn a_server_that_stands_still_behind_tls_is_a_miss() {
    let authority = Authority::signing(&["127.0.0.1"]);
    let (server, port) = authority.serve(&[]);
    let url = format!("rediss://127.0.0.1:{port}/?ca={}", authority.path("ca.pem").display());
    let open = || Arc::new(RedisStore::at(target(&url))) as Arc<dyn Store>;
    let (idle, fresh) = (open(), open());
    stored(&idle, "a", b"a".to_vec());
    let pid = server.pid();
    Server::signal(pid, Signal::STOP);
    for store in [&idle, &fresh, &idle] {
        let said = unavailable(store, "a");
        assert!(said.contains("no answer within 250 ms"), "{said}");
    }
    Server::signal(pid, Signal::CONT);
    eventually("it goes on", || hits(&idle, "a") && hits(&fresh, "a"));
}

#[test]
fn a_wrong_file_for_the_authority_is_named() {
    let authority = Authority::signing(&["127.0.0.1"]);
    let (_server, port) = authority.serve(&[]);
    fs::write(authority.path("garbage.pem"), "no certificate").unwrap();
    fs::create_dir(authority.path("directory.pem")).unwrap();
    for name in ["missing.pem", "garbage.pem", "directory.pem", "key.pem"] {
        let path = authority.path(name);
        let url = format!("rediss://127.0.0.1:{port}/?ca={}", path.display());
        let store: Arc<dyn Store> = Arc::new(RedisStore::at(target(&url)));
        let error = soon(|| store.get(&id("a"))).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("certificate"), "{error}");
        miss(&store, "a");
    }
}

#[test]
fn a_cluster_may_be_behind_tls_and_a_password() {
    let authority = Authority::signing(&["127.0.0.1"]);
    let (server, port) = authority.serve(&["--cluster-enabled", "yes", "--tls-cluster", "yes"]);
    let mut slots = redis::cmd("CLUSTER");
    slots.arg("ADDSLOTSRANGE").arg(0).arg(16_383).exec(&mut server.connect()).unwrap();
    let up = || crate::redis_server::info(&server, "cluster_state") == "ok";
    eventually("the cluster is up", up);
    let mut set = redis::cmd("CONFIG");
    set.arg(&["SET", "requirepass", "s3cret"]).exec(&mut server.connect()).unwrap();
    let error = authority.store("rediss+cluster", "127.0.0.1", port).get(&id("a")).unwrap_err();
    assert!(error.to_string().contains("Authentication required"), "{error}");
    let store = authority.store("rediss+cluster", ":s3cret@127.0.0.1", port);
    for n in 0..20 {
        store.put(&id(&n.to_string()), &record("a")).unwrap();
    }
    assert!((0..20).all(|n| hits(&store, &n.to_string())));
}
