//! Collects values from all layers, not yet resolved: defaults, files, variables, flags. No side
//! effects, no other process, nothing read twice.

use std::path::Path;

use recoup_core::Result;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::project::Project;
use recoup_core::key::Scope;
use recoup_core::store::StoreUrl;

use super::configured_value::{ConfiguredValue, RawSetting, ValueStanding};
use super::gateway::GatewaySettings;
use super::keys::{self, KEYS, KeyInfo, RepositoryPermission};
use super::origin::{ConfigFile, ValueOrigin};
use super::places::BaseDirs;
use super::prices::TokenPrice;
use super::problem::ConfigProblem;
use super::tools::ToolSetting;
use super::trust::{TrustStore, TrustVerdict};
use super::{FlagOverrides, env, files};

/// All configured values and their problems.
#[derive(Debug)]
pub(crate) struct GatheredConfig {
    pub(crate) places: BaseDirs,
    pub(crate) project: Project,
    /// Weakest first.
    pub(super) givens: Vec<ConfiguredValue>,
    pub(crate) problems: Vec<ConfigProblem>,
    /// Problems of values that were dropped because of them.
    pub(crate) left_out: Vec<ConfigProblem>,
    /// The user's own prices.
    pub(super) prices: Vec<(String, TokenPrice)>,
    /// Settings of tool calls, weakest first.
    pub(super) tools: Vec<ToolSetting>,
    /// Settings of the gateway, if the user's file has some.
    pub(super) gateway: Option<GatewaySettings>,
    /// Files of the repository with values that need trust.
    pub(crate) delicate: Vec<SensitiveFile>,
    /// Why the trust store cannot be read, if so.
    pub(super) no_ledger: Option<String>,
}

/// A file of the repository with values that need trust.
#[derive(Debug)]
pub(crate) struct SensitiveFile {
    /// Path below the project's root.
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) verdict: TrustVerdict,
    /// Values that need trust: names and values, as written.
    pub(crate) says: Vec<(String, String)>,
}

impl GatheredConfig {
    pub(crate) fn new(overrides: &FlagOverrides) -> Result<Self> {
        let places = BaseDirs::find()?;
        let project = super::find_project(&places.home, &places.cwd)?;
        let defaults = KEYS.iter().map(|key| key.info()).filter_map(|key| {
            let raw = RawSetting::Word(key.default?.to_owned());
            Some(counting_value(key, raw, ValueOrigin::BuiltIn))
        });
        let mut gathered = Self {
            places,
            project,
            givens: defaults.collect(),
            problems: Vec::new(),
            left_out: Vec::new(),
            prices: Vec::new(),
            tools: Vec::new(),
            gateway: None,
            delicate: Vec::new(),
            no_ledger: None,
        };
        gathered.read_files();
        gathered.read_variables();
        let FlagOverrides { store, scope } = overrides;
        let flags = [(&keys::STORE.info, "--store", store), (&keys::SCOPE.info, "--scope", scope)];
        gathered.givens.extend(flags.into_iter().filter_map(|(key, flag, text)| {
            Some(counting_value(key, RawSetting::Word(text.clone()?), ValueOrigin::Flag(flag)))
        }));
        gathered.givens.sort_by_key(|given| given.origin.layer());
        gathered.tools.sort_by_key(|setting| setting.origin.layer());
        gathered.leave_out_faulty(&ConfigFile::OF_REPOSITORY);
        Ok(gathered)
    }

    fn read_files(&mut self) {
        let path = self.places.user_file();
        if let Some(contents) = files::read(ConfigFile::User, &path, &path.to_string_lossy()) {
            self.prices = contents.prices;
            self.tools = contents.tools;
            self.gateway = contents.gateway;
            self.add_values(contents.givens, contents.problems);
        }
        let mut ledger = None;
        for file in ConfigFile::OF_REPOSITORY {
            let path = self.project.root().join(file.name());
            let Some(contents) = files::read(file, &path, file.name()) else { continue };
            let files::ConfigFileContents { text, mut givens, problems, mut tools, .. } = contents;
            if givens.iter().any(|given| given.needs_trust(&self.project))
                || tools.iter().any(ToolSetting::needs_trust)
            {
                let ledger = ledger.get_or_insert_with(|| TrustStore::read(&self.places.home));
                let delicate =
                    judge_trust(file, text, &mut givens, &mut tools, ledger, &self.project);
                self.delicate.push(delicate);
            }
            self.tools.extend(tools);
            self.add_values(givens, problems);
        }
        self.no_ledger = ledger.and_then(Result::err).map(|error| error.to_string());
    }

    fn add_values(&mut self, givens: Vec<ConfiguredValue>, problems: Vec<ConfigProblem>) {
        self.givens.extend(givens);
        self.problems.extend(problems);
    }

    fn read_variables(&mut self) {
        for key in KEYS.iter().map(|key| key.info()) {
            let own = (
                key.variable,
                ValueOrigin::Variable(key.variable),
                RawSetting::Word as VariableReader,
            );
            let peer = key.peer_variable.map(|var| {
                // One variable of another program has another unit than ours.
                let is_days = var == env::LOA_TTL_DAYS;
                let reader = if is_days { RawSetting::Days } else { RawSetting::Word };
                (var, ValueOrigin::PeerVariable(var), reader as VariableReader)
            });
            for (variable, origin, raw) in [own].into_iter().chain(peer) {
                match env::text(&variable) {
                    Ok(None) => {}
                    Ok(Some(text)) => self.givens.push(counting_value(key, raw(text), origin)),
                    Err(error) => self.problems.push(ConfigProblem::from_error(&origin, &error)),
                }
            }
        }
    }

    /// Restricts a repository's limits to its own entries: those in its scope, and those in a store
    /// inside it that is a scope of its own.
    pub(super) fn set_scope(&mut self, scope: &Scope, store: Option<&StoreUrl>) {
        let inside = |path: &Path| path.starts_with(self.project.root());
        let own_store =
            store.is_some_and(|store| store.is_own_scope() && store.path().is_some_and(inside));
        if own_store || *scope == Scope::project(self.project.id()) {
            return;
        }
        let foreign = |given: &&mut ConfiguredValue| {
            given.key.repository == RepositoryPermission::MayForItself
                && given.origin.is_from_repository()
                && given.standing == ValueStanding::Counts
        };
        for given in self.givens.iter_mut().filter(foreign) {
            given.standing = ValueStanding::OtherScope;
        }
    }

    /// Changes the default of a key.
    pub(super) fn set_built_in(&mut self, name: &str, value: &str) {
        let is_meant = |given: &&mut ConfiguredValue| given.key.name == name && given.is_built_in();
        if let Some(given) = self.givens.iter_mut().find(is_meant) {
            given.raw = RawSetting::Word(value.to_owned());
        }
    }

    /// The base of relative paths from that origin: a file's own directory, or the working
    /// directory.
    pub(super) fn base_dir(&self, origin: &ValueOrigin) -> &Path {
        match origin {
            ValueOrigin::BuiltIn | ValueOrigin::File { file: ConfigFile::User, .. } => {
                &self.places.home
            }
            ValueOrigin::File { .. } => self.project.root(),
            ValueOrigin::PeerVariable(_) | ValueOrigin::Variable(_) | ValueOrigin::Flag(_) => {
                &self.places.cwd
            }
        }
    }
}

/// Decides which values of a file count, and records those that need trust.
fn judge_trust(
    file: ConfigFile,
    text: String,
    givens: &mut [ConfiguredValue],
    tools: &mut [ToolSetting],
    ledger: &Result<TrustStore>,
    project: &Project,
) -> SensitiveFile {
    let (root, digest) = (project.root(), Sha256Digest::of(text.as_bytes()));
    let verdict = ledger
        .as_ref()
        .map_or(TrustVerdict::Unknown, |ledger| ledger.verdict(root, file.name(), digest));
    let mut says = Vec::new();
    for given in givens.iter_mut().filter(|given| given.needs_trust(project)) {
        if let ValueOrigin::File { key, .. } = &given.origin {
            says.push((key.clone(), given.raw.display_text()));
        }
        if verdict != TrustVerdict::Trusted {
            given.standing = ValueStanding::Untrusted;
        }
    }
    for setting in tools.iter_mut().filter(|setting| setting.needs_trust()) {
        says.push((setting.key().to_owned(), setting.to_string()));
        if verdict != TrustVerdict::Trusted {
            setting.standing = ValueStanding::Untrusted;
        }
    }
    SensitiveFile { name: file.name().to_owned(), text, verdict, says }
}

fn counting_value(key: &'static KeyInfo, raw: RawSetting, origin: ValueOrigin) -> ConfiguredValue {
    ConfiguredValue { key, raw, origin, standing: ValueStanding::Counts }
}

/// Converts a variable's text to a raw value.
type VariableReader = fn(String) -> RawSetting;
