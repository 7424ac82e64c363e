//! The attachment of a bug report: versions, states, sizes and counts. It cannot contain anything
//! that a person wrote: it is built from facts, from words of this program, and from what the
//! system says about itself.

use std::collections::BTreeMap;
use std::path::Path;

use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::fsx;
use recoup_core::memory;
use recoup_core::store::sqlite;
use serde::Serialize;

use super::check::count_faults_of_last_day;
use super::finding::{DoctorFinding, FindingFact, FindingState};
use super::{DoctorContext, OUR_VERSION, RepairAttempt};
use crate::app::disk;
use crate::config::env;
use crate::config::show::ConfigLayer;
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

/// The bundle as it is serialized.
#[derive(Debug, Serialize)]
struct BugReportBundle<'a> {
    format: u32,
    day: String,
    recoup: ProgramVersions,
    system: SystemInfo,
    findings: Vec<BundledFinding<'a>>,
    repairs: Vec<BundledRepair>,
    clients: Vec<&'static str>,
    /// Keys that are set, each with its layer.
    configuration: Vec<(&'static str, ConfigLayer)>,
    /// Names of our environment variables that are set.
    variables: Vec<&'static str>,
    bytes: BTreeMap<&'static str, u64>,
    /// Faults in hooks during the last day, by kind.
    log: BTreeMap<&'static str, u64>,
}

#[derive(Debug, Serialize)]
struct ProgramVersions {
    version: &'static str,
    cache_schema: i64,
    memory_schema: i64,
}

#[derive(Debug, Serialize)]
struct SystemInfo {
    os: &'static str,
    architecture: &'static str,
    kernel: FindingFact,
    distribution: Option<String>,
    release: Option<FindingFact>,
}

#[derive(Debug, Serialize)]
struct BundledFinding<'a> {
    check: &'static str,
    code: &'static str,
    state: FindingState,
    facts: BTreeMap<&'static str, &'a FindingFact>,
}

#[derive(Debug, Serialize)]
struct BundledRepair {
    check: &'static str,
    worked: bool,
}

/// Renders the bundle; without a context it has only the findings.
pub(crate) fn render_bundle<'a>(
    found: &'a [DoctorFinding],
    repairs: &[RepairAttempt],
    context: Option<&DoctorContext>,
) -> String {
    let home = context.map(|context| &*context.home);
    let is_here = |client: &AgentClient| context.is_some_and(|it| client.is_present(&it.places));
    let bundle_finding = |finding: &'a DoctorFinding| BundledFinding {
        check: finding.check,
        code: finding.code,
        state: finding.state,
        facts: finding.facts.iter().map(|(name, fact)| (*name, fact)).collect(),
    };
    let bundle_repair = |repair: &RepairAttempt| BundledRepair {
        check: repair.check,
        worked: repair.error.is_none(),
    };
    let mut bytes = BTreeMap::new();
    for part in home.map(disk::disk_usage).unwrap_or_default() {
        let name = PARTS.into_iter().find(|known| *known == part.part).unwrap_or("other");
        *bytes.entry(name).or_default() += part.bytes;
    }
    let bundle = BugReportBundle {
        format: FORMAT,
        day: SystemClock.now().date(),
        recoup: ProgramVersions {
            version: OUR_VERSION,
            cache_schema: sqlite::VERSION,
            memory_schema: memory::db::inspect::VERSION,
        },
        system: SystemInfo::detect(),
        findings: found.iter().map(bundle_finding).collect(),
        repairs: repairs.iter().map(bundle_repair).collect(),
        clients: AgentClient::ALL.into_iter().filter(is_here).map(AgentClient::as_str).collect(),
        configuration: context.map(|it| it.configuration.said.clone()).unwrap_or_default(),
        variables: env::set_variables(),
        bytes,
        log: home.map(count_faults_of_last_day).unwrap_or_default(),
    };
    let mut text = serde_json::to_string_pretty(&bundle).expect("our own reports always serialize");
    text.push('\n');
    text
}

impl SystemInfo {
    fn detect() -> Self {
        let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
        // Kernel builders append text of their own to the number.
        let number: String =
            kernel.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let release = fsx::read_regular(Path::new("/etc/os-release"), LARGEST).ok().flatten();
        let release = String::from_utf8_lossy(release.as_deref().unwrap_or_default()).into_owned();
        let field = |name: &str| {
            let value =
                release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
            Some(value.trim_matches('"').to_owned())
        };
        let is_word = |word: &String| {
            word.len() <= 20 && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        Self {
            os: std::env::consts::OS,
            architecture: std::env::consts::ARCH,
            kernel: FindingFact::version(&number),
            distribution: field("ID").filter(is_word),
            release: field("VERSION_ID").map(|version| FindingFact::version(&version)),
        }
    }
}
