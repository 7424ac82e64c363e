//! The attachment of a bug report: versions, states, sizes and counts. It cannot contain anything
//! that a person wrote: it is built from facts, from words of this program, and from what the
//! system says about itself.

use std::collections::BTreeMap;
use std::path::Path;

use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::fsx;
use recoup_core::memory;
use recoup_core::store::sqlite;
use serde_json::{Value, json};

use super::check::count_faults_of_last_day;
use super::finding::{DoctorFinding, FindingFact};
use super::{DoctorContext, OUR_VERSION, RepairAttempt};
use crate::app::disk;
use crate::config::show::set_keys;
use crate::config::{FlagOverrides, GatheredConfig, env};
use crate::install::AgentClient;
use crate::mcp::TOKEN_FILE;

/// Version of the bundle's format.
const FORMAT: u32 = 1;

/// Upper limit for reading `/etc/os-release`.
const LARGEST: u64 = 64 << 10;

/// Known names in our directory; everything else counts as `other`.
const PARTS: [&str; 18] = [
    "cache.db", "memory.db", "near.db", "ledger", "claims", "early-exit", "logs", "queue",
    "projects", "breakers", "trusted", "backups", "config.toml", "judge.json", "installed.json",
    "mirrors.json", "trust.json", TOKEN_FILE,
];

/// Renders the bundle; without a context it has only the findings.
pub(crate) fn render_bundle(
    found: &[DoctorFinding],
    repairs: &[RepairAttempt],
    context: Option<&DoctorContext>,
) -> String {
    let home = context.map(|context| &*context.home);
    let is_here = |client: &AgentClient| context.is_some_and(|it| client.is_present(&it.places));
    let bundle_finding = |it: &DoctorFinding| json!({"check": it.check, "code": it.code, "state": it.state, "facts": it.facts});
    let bundle_repair =
        |it: &RepairAttempt| json!({"check": it.check, "worked": it.error.is_none()});
    let mut bytes: BTreeMap<&str, u64> = BTreeMap::new();
    for part in home.map(disk::disk_usage).unwrap_or_default() {
        let name = PARTS.into_iter().find(|known| *known == part.part).unwrap_or("other");
        *bytes.entry(name).or_default() += part.bytes;
    }
    let configuration = GatheredConfig::new(&FlagOverrides::default());
    let bundle = json!({
        "format": FORMAT,
        "day": SystemClock.now().date(),
        "recoup": {
            "version": OUR_VERSION,
            "cache_schema": sqlite::VERSION,
            "memory_schema": memory::db::inspect::VERSION,
        },
        "system": describe_system(),
        "findings": found.iter().map(bundle_finding).collect::<Vec<_>>(),
        "repairs": repairs.iter().map(bundle_repair).collect::<Vec<_>>(),
        "clients": AgentClient::ALL.into_iter().filter(is_here).collect::<Vec<_>>(),
        // Keys that are set, each with its layer, and names of our variables that are set.
        "configuration": configuration.as_ref().map(set_keys).unwrap_or_default(),
        "variables": env::set_variables(),
        "bytes": bytes,
        // Faults in hooks during the last day, by kind.
        "log": home.map(count_faults_of_last_day).unwrap_or_default(),
    });
    format!("{bundle:#}\n")
}

/// What the system says about itself. Kernel builders append text of their own to its number.
fn describe_system() -> Value {
    let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
    let number: String = kernel.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let release = fsx::read_regular(Path::new("/etc/os-release"), LARGEST).ok().flatten();
    let release = String::from_utf8_lossy(release.as_deref().unwrap_or_default()).into_owned();
    let field = |name: &str| {
        let value = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        Some(value.trim_matches('"'))
    };
    let is_word =
        |word: &&str| word.len() <= 20 && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    json!({
        "os": std::env::consts::OS,
        "architecture": std::env::consts::ARCH,
        "kernel": FindingFact::version(&number),
        "distribution": field("ID").filter(is_word),
        "release": field("VERSION_ID").map(FindingFact::version),
    })
}
