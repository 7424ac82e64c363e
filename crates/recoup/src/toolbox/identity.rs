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
use recoup_core::base::digest::{Sha256Digest, encode_hex};
use recoup_core::base::fsx::{self, FileLock};
use recoup_core::key::tool::ServerFingerprint;
use recoup_core::store::without_credentials;
use recoup_core::{Error, ErrorKind, Result};
use ring::hmac::{self, HMAC_SHA256};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Value, json};

/// File of the key below our own directory.
const KEY_FILE: &str = "credential-fingerprints.key";
const KEY_LEN: usize = 32;
/// Long enough for any other process to write its key.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// Digits of a fingerprint that people see.
const SHOWN_DIGITS: usize = 8;

/// Identity of a server, without the client's roots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerIdentity {
    address: Value,
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
        let shown: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
        let mut shown = shown.join(" ");
        if !directory.as_os_str().is_empty() {
            shown.push_str(&format!(" (in {})", directory.display()));
        }
        let address = json!({ "command": words, "directory": lossless(directory.as_os_str()) });
        Self { address, shown, credentials: BTreeMap::new() }
    }

    /// A server at a URL.
    pub(crate) fn of_url(url: &str) -> Self {
        let shown = without_credentials(url).into_owned();
        Self { address: json!({ "url": url }), shown, credentials: BTreeMap::new() }
    }

    /// Adds credentials by name: variables, headers; none for one that is not set.
    #[must_use]
    pub(crate) fn with_credentials<V: AsRef<[u8]>>(
        mut self,
        key: &FingerprintKey,
        named: impl IntoIterator<Item = (String, Option<V>)>,
    ) -> Self {
        for (name, value) in named {
            let print = value.map(|value| key.fingerprint(&name, value.as_ref()));
            self.credentials.insert(name, print);
        }
        self
    }

    /// Fingerprint with the client's roots, as far as the server asked for them.
    pub(super) fn fingerprint(&self, roots: Option<&[String]>) -> ServerFingerprint {
        let Self { address, shown, credentials } = self;
        let inputs = json!({ "server": address, "credentials": credentials, "roots": roots });
        let mut shown = shown.clone();
        for (name, print) in credentials {
            let print = print.as_ref().map_or("not set", |print| &print[..SHOWN_DIGITS]);
            shown.push_str(&format!(" {name}:{print}"));
        }
        if let Some(roots) = roots {
            shown.push_str(&format!(" roots: {}", roots.join(" ")));
        }
        // `Value` keeps its members sorted, so that equal identities have equal texts.
        ServerFingerprint { digest: Sha256Digest::of(inputs.to_string().as_bytes()), shown }
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
        fsx::write_atomic(&path, &bytes)?;
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
    let Some(bytes) = fsx::read_regular(path, KEY_LEN as u64 + 1)? else { return Ok(None) };
    if bytes.len() != KEY_LEN {
        let message = format!("{} is damaged; remove it to make a new one", path.display());
        return Err(Error::new(ErrorKind::Corrupt, message));
    }
    Ok(Some(FingerprintKey(hmac::Key::new(HMAC_SHA256, &bytes))))
}
