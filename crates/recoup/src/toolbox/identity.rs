//! Identity of an MCP server: its name, its command or URL, its working directory and the credentials
//! that it runs with. Credentials count as keyed fingerprints, so that nothing stored can be tried against
//! guesses.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
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
    /// Words of its command; none for a URL.
    command: Vec<OsString>,
    /// Working directory of a command.
    directory: Option<ServerDirectory>,
    /// A URL with credentials in it, until they are fingerprinted.
    secret_url: Option<String>,
    /// For people.
    shown: String,
    /// Keyed fingerprints by name; none for a credential that is not set.
    credentials: BTreeMap<String, Option<String>>,
}

#[derive(Clone, PartialEq, Eq)]
struct ServerDirectory {
    absolute: PathBuf,
    /// Relative to the project's root, if it is below that.
    in_project: PathBuf,
}

/// How far the working directory counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DirectoryView {
    /// As it is: a worktree has files of its own.
    Absolute,
    /// Relative to the project's root, so that all checkouts share: for results that are checked
    /// against the caller's own files.
    InProject,
}

impl ServerIdentity {
    /// A server that is started by a command in the directory `cwd`, in the project at `root`.
    pub(crate) fn of_command(command: &[OsString], cwd: &Path, root: &Path) -> Self {
        let words: Vec<Value> = command.iter().map(|word| lossless(word)).collect();
        let shown: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
        let in_project = cwd.strip_prefix(root).unwrap_or(cwd).to_owned();
        Self {
            address: json!({ "command": words }),
            command: command.to_vec(),
            directory: Some(ServerDirectory { absolute: cwd.to_owned(), in_project }),
            secret_url: None,
            shown: shown.join(" "),
            credentials: BTreeMap::new(),
        }
    }

    /// A server at a URL. Credentials in it count once [`Self::with_credentials`] has a key.
    pub(crate) fn of_url(url: &str) -> Self {
        let public = without_credentials(url);
        // Paths and queries may hold keys.
        let (scheme, rest) = public.split_once("://").unwrap_or(("", &public));
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        Self {
            address: json!({ "url": public }),
            command: Vec::new(),
            directory: None,
            secret_url: (public != url).then(|| url.to_owned()),
            shown: format!("{scheme}://{host}"),
            credentials: BTreeMap::new(),
        }
    }

    /// A REST endpoint: `url` with the places of arguments as they are written.
    pub(crate) fn of_rest(method: &str, url: &str) -> Self {
        let mut identity = Self::of_url(url);
        identity.address["method"] = method.into();
        identity
    }

    /// Words of the command that starts it; none for a URL.
    pub(super) fn command(&self) -> &[OsString] {
        &self.command
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

    /// Fingerprint under the name that the user gave the server, with the client's roots, as far as
    /// the server asked for them.
    pub(super) fn fingerprint(
        &self,
        name: &str,
        roots: Option<&[String]>,
        view: DirectoryView,
    ) -> ServerFingerprint {
        let Self { address, command: _, directory, secret_url: _, shown, credentials } = self;
        let directory = directory.as_ref().map(|directory| match view {
            DirectoryView::Absolute => directory.absolute.as_path(),
            DirectoryView::InProject => directory.in_project.as_path(),
        });
        let inputs = json!({
            "name": name,
            "server": address,
            "directory": directory.map(|directory| lossless(directory.as_os_str())),
            "credentials": credentials,
            "roots": roots,
        });
        let mut words = vec![shown.clone()];
        let directory = directory.filter(|directory| !directory.as_os_str().is_empty());
        words.extend(directory.map(|directory| format!("(in {})", directory.display())));
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
        f.write_str(&self.shown)
    }
}

fn lossless(word: &OsStr) -> Value {
    match word.to_str() {
        Some(text) => json!(text),
        None => json!({ "hex": encode_hex(word.as_bytes()) }),
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
        let digest =
            |server: &ServerIdentity| server.fingerprint("s", None, DirectoryView::Absolute).digest;
        assert_eq!(digest(&token), digest(&of("TOKEN", Some("hunter2"))));
        let other_user = ServerIdentity::of_url("https://other@example.com/mcp");
        let other_user = other_user.with_credentials(&key, [("TOKEN".to_owned(), Some("hunter2"))]);
        assert_ne!(digest(&token), digest(&other_user));
        for other in [of("TOKEN", Some("hunter3")), of("TOKEN", None), of("OTHER", Some("hunter2"))]
        {
            assert_ne!(digest(&token), digest(&other));
        }
        let roots = ["file:///a".to_owned()];
        let shown = token.fingerprint("s", Some(&roots), DirectoryView::Absolute).shown;
        assert!(
            shown.starts_with("https://example.com ") && shown.contains("roots: file:///a"),
            "{shown}"
        );
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(
            !format!("{:?}", ServerIdentity::of_url("redis://u:hunter2@h")).contains("hunter2")
        );
    }

    #[test]
    fn checkouts_share_only_what_is_checked_against_their_own_files() {
        let command = [OsString::from("s")];
        let of = |cwd: &str, root: &str, view| {
            let server = ServerIdentity::of_command(&command, Path::new(cwd), Path::new(root));
            server.fingerprint("s", None, view).digest
        };
        let shared = |cwd, root| of(cwd, root, DirectoryView::InProject);
        assert_eq!(shared("/one/sub", "/one"), shared("/two/sub", "/two"));
        assert_ne!(shared("/one/sub", "/one"), shared("/one", "/one"));
        assert_ne!(shared("/elsewhere", "/one"), shared("/one", "/one"));
        let own = |cwd, root| of(cwd, root, DirectoryView::Absolute);
        assert_ne!(own("/one/sub", "/one"), own("/two/sub", "/two"));
    }

    #[test]
    fn the_name_counts_and_no_path_of_a_url_is_shown() {
        let server = ServerIdentity::of_url("https://example.com:8443/k/se-cret?key=se-cret#f");
        let of = |name: &str| server.fingerprint(name, None, DirectoryView::Absolute);
        assert_ne!(of("one").digest, of("two").digest);
        assert_eq!(of("one").shown, "https://example.com:8443");
        assert_eq!(
            of("one").digest,
            server.fingerprint("one", None, DirectoryView::InProject).digest
        );
        assert!(!format!("{server:?}").contains("se-cret"));
    }
}
