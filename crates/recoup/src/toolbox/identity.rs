//! Identity of an MCP server: its command or URL, its working directory and the credentials that it
//! runs with. Credentials count as keyed fingerprints, so that nothing stored can be tried against
//! guesses.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

use recoup_core::base::clock::Deadline;
use recoup_core::base::digest::{Sha256Digest, decode_hex, encode_hex};
use recoup_core::base::fsx::{self, FileLock};
use recoup_core::key::tool::ServerFingerprint;
use recoup_core::store::without_credentials;
use recoup_core::{Error, ErrorKind, Result};
use ring::hmac::{self, HMAC_SHA256};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Value, json};

/// File of the key below our own directory.
pub(crate) const KEY_FILE: &str = "credential-fingerprints.key";
const KEY_LEN: usize = 32;
/// Longer than any key in hex digits.
const MAX_KEY_FILE: u64 = 1 << 10;
/// Long enough for any other process to write its key.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// Digits of a fingerprint that people see.
const SHOWN_DIGITS: usize = 8;

/// Name of the credentials in a URL.
const URL_CREDENTIALS: &str = "URL";

/// Identity of a server, without the client's roots.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ServerIdentity {
    /// Without credentials.
    address: Value,
    /// A URL with credentials in it, until they are fingerprinted.
    secret_url: Option<String>,
    /// For people.
    shown: String,
    /// Keyed fingerprints by name; none for a credential that is not set.
    credentials: BTreeMap<String, Option<String>>,
}

impl ServerIdentity {
    /// A server that is started by a command in the directory `cwd`. A directory below `root`, the
    /// project's, counts relative to it, so that all checkouts share results.
    pub(crate) fn of_command(command: &[OsString], cwd: &Path, root: &Path) -> Self {
        let directory = cwd.strip_prefix(root).unwrap_or(cwd);
        let lossless = |word: &std::ffi::OsStr| match word.to_str() {
            Some(text) => json!(text),
            None => json!({ "hex": encode_hex(word.as_bytes()) }),
        };
        let words: Vec<Value> = command.iter().map(|word| lossless(word)).collect();
        let mut shown: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
        if !directory.as_os_str().is_empty() {
            shown.push(format!("(in {})", directory.display()).into());
        }
        let shown = shown.join(" ");
        let address = json!({ "command": words, "directory": lossless(directory.as_os_str()) });
        Self { address, secret_url: None, shown, credentials: BTreeMap::new() }
    }

    /// A server at a URL. Credentials in it count once [`Self::with_credentials`] has a key.
    pub(crate) fn of_url(url: &str) -> Self {
        let shown = without_credentials(url).into_owned();
        let secret_url = (shown != url).then(|| url.to_owned());
        let address = json!({ "url": shown });
        Self { address, secret_url, shown, credentials: BTreeMap::new() }
    }

    /// True if its URL has credentials.
    pub(crate) fn has_secret_url(&self) -> bool {
        self.secret_url.is_some()
    }

    /// Adds credentials by name: variables, headers; none for one that is not set.
    #[must_use]
    pub(crate) fn with_credentials<V: AsRef<[u8]>>(
        mut self,
        key: &FingerprintKey,
        named: impl IntoIterator<Item = (String, Option<V>)>,
    ) -> Self {
        if let Some(url) = self.secret_url.take() {
            let print = key.fingerprint(URL_CREDENTIALS, url.as_bytes());
            self.credentials.insert(URL_CREDENTIALS.to_owned(), Some(print));
        }
        for (name, value) in named {
            let print = value.map(|value| key.fingerprint(&name, value.as_ref()));
            self.credentials.insert(name, print);
        }
        self
    }

    /// Fingerprint with the client's roots, as far as the server asked for them.
    pub(super) fn fingerprint(&self, roots: Option<&[String]>) -> ServerFingerprint {
        let Self { address, secret_url: _, shown, credentials } = self;
        let inputs = json!({ "server": address, "credentials": credentials, "roots": roots });
        let mut words = vec![shown.clone()];
        words.extend(credentials.iter().map(|(name, print)| {
            let print = print.as_ref().map_or("not set", |print| &print[..SHOWN_DIGITS]);
            format!("{name}:{print}")
        }));
        words.extend(roots.map(|roots| format!("roots: {}", roots.join(" "))));
        let shown = words.join(" ");
        // `Value` keeps its members sorted, so that equal identities have equal texts.
        ServerFingerprint { digest: Sha256Digest::of(inputs.to_string().as_bytes()), shown }
    }
}

impl fmt::Debug for ServerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fingerprint(None).shown)
    }
}

/// Secret key of this machine's fingerprints.
pub(crate) struct FingerprintKey(hmac::Key);

impl fmt::Debug for FingerprintKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FingerprintKey")
    }
}

impl FingerprintKey {
    /// The key in our own directory `home`, made on first use.
    pub(crate) fn load_or_create(home: &Path) -> Result<Self> {
        let path = home.join(KEY_FILE);
        if let Some(key) = read_key(&path)? {
            return Ok(key);
        }
        fsx::ensure_private_dir(home)?;
        let lock = fsx::with_suffix(&path, ".lock");
        let _lock = FileLock::acquire(&lock, Deadline::after(LOCK_TIMEOUT))?;
        if let Some(key) = read_key(&path)? {
            return Ok(key);
        }
        let mut bytes = [0; KEY_LEN];
        SystemRandom::new()
            .fill(&mut bytes)
            .map_err(|_| Error::new(ErrorKind::Io, "the system gave no random bytes"))?;
        fsx::write_atomic(&path, encode_hex(&bytes).as_bytes())?;
        Ok(Self(hmac::Key::new(HMAC_SHA256, &bytes)))
    }

    fn fingerprint(&self, name: &str, value: &[u8]) -> String {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(name.as_bytes());
        context.update(b"\0");
        context.update(value);
        encode_hex(context.sign().as_ref())
    }
}

fn read_key(path: &Path) -> Result<Option<FingerprintKey>> {
    let Some(digits) = fsx::read_regular(path, MAX_KEY_FILE)? else { return Ok(None) };
    let bytes = decode_hex(digits.trim_ascii()).filter(|bytes| bytes.len() == KEY_LEN);
    let bytes = bytes.ok_or_else(|| {
        let message = format!("{} is damaged; remove it to make a new one", path.display());
        Error::new(ErrorKind::Corrupt, message)
    })?;
    Ok(Some(FingerprintKey(hmac::Key::new(HMAC_SHA256, &bytes))))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests fail as tests do")]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_key_is_made_once_and_private() {
        let home = tempfile::tempdir().unwrap();
        let print = || FingerprintKey::load_or_create(home.path()).unwrap().fingerprint("A", b"v");
        let first = print();
        assert_eq!(print(), first);
        let path = home.path().join(KEY_FILE);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(&path, "short").unwrap();
        let error = FingerprintKey::load_or_create(home.path()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        fs::remove_file(&path).unwrap();
        assert_ne!(print(), first, "another key");
    }

    #[test]
    fn credentials_count_and_are_nowhere_to_be_seen() {
        let home = tempfile::tempdir().unwrap();
        let key = FingerprintKey::load_or_create(home.path()).unwrap();
        let of = |name: &str, value: Option<&str>| {
            let server = ServerIdentity::of_url("https://user:hunter2@example.com/mcp");
            server.with_credentials(&key, [(name.to_owned(), value)])
        };
        let token = of("TOKEN", Some("hunter2"));
        let digest = |server: &ServerIdentity| server.fingerprint(None).digest;
        assert_eq!(digest(&token), digest(&of("TOKEN", Some("hunter2"))));
        let other_user = ServerIdentity::of_url("https://other@example.com/mcp");
        let other_user = other_user.with_credentials(&key, [("TOKEN".to_owned(), Some("hunter2"))]);
        assert_ne!(digest(&token), digest(&other_user));
        for other in [of("TOKEN", Some("hunter3")), of("TOKEN", None), of("OTHER", Some("hunter2"))]
        {
            assert_ne!(digest(&token), digest(&other));
        }
        let shown = token.fingerprint(Some(&["file:///a".to_owned()])).shown;
        assert!(shown.contains("example.com") && shown.contains("roots: file:///a"), "{shown}");
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(
            !format!("{:?}", ServerIdentity::of_url("redis://u:hunter2@h")).contains("hunter2")
        );
    }

    #[test]
    fn checkouts_of_a_project_share_results() {
        let command = [OsString::from("s")];
        let of = |cwd: &str, root: &str| {
            let server = ServerIdentity::of_command(&command, Path::new(cwd), Path::new(root));
            server.fingerprint(None).digest
        };
        assert_eq!(of("/one/sub", "/one"), of("/two/sub", "/two"));
        assert_ne!(of("/one/sub", "/one"), of("/one", "/one"));
        assert_ne!(of("/elsewhere", "/one"), of("/one", "/one"));
    }
}
