//! Collects values from all layers, not yet resolved: defaults, files, variables, flags. No side
//! effects, no other process, nothing read twice.

use std::path::Path;

use recoup_core::Result;
use recoup_core::base::digest::Digest;
use recoup_core::base::project::Project;
use recoup_core::key::Scope;
use recoup_core::store::StoreUrl;

use super::env::EnvVar;
use super::given::{Given, Raw, Standing};
use super::keys::{self, Info, KEYS, Repository};
use super::origin::{File, Origin};
use super::places::Places;
use super::prices::Price;
use super::problem::Problem;
use super::trust::{Ledger, Verdict};
use super::{Overrides, env, files};

/// All configured values and their problems.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) places: Places,
    pub(crate) project: Project,
    /// Weakest first.
    pub(super) givens: Vec<Given>,
    pub(crate) problems: Vec<Problem>,
    /// Problems of values that were dropped because of them.
    pub(crate) left_out: Vec<Problem>,
    /// The user's own prices.
    pub(super) prices: Vec<(String, Price)>,
    /// Files of the repository with values that need trust.
    pub(crate) delicate: Vec<Delicate>,
    /// Why the trust store cannot be read, if so.
    pub(super) no_ledger: Option<String>,
}

/// A file of the repository with values that need trust.
#[derive(Debug)]
pub(crate) struct Delicate {
    pub(crate) file: File,
    pub(crate) text: String,
    pub(crate) verdict: Verdict,
    /// Values that need trust: names and values, as written.
    pub(crate) says: Vec<(String, String)>,
}

impl Gathered {
    pub(crate) fn new(overrides: &Overrides) -> Result<Self> {
        let places = Places::find()?;
        let project = super::find_project(&places.home, &places.cwd)?;
        let mut gathered = Self {
            places,
            project,
            givens: built_in().collect(),
            problems: Vec::new(),
            left_out: Vec::new(),
            prices: Vec::new(),
            delicate: Vec::new(),
            no_ledger: None,
        };
        gathered.read_files();
        gathered.read_variables();
        gathered.givens.extend(flags(overrides));
        gathered.givens.sort_by_key(|given| given.origin.layer());
        gathered.leave_out_faulty(&File::OF_REPOSITORY);
        Ok(gathered)
    }

    fn read_files(&mut self) {
        let path = self.places.user_file();
        if let Some(contents) = files::read(File::User, &path, &path.to_string_lossy()) {
            self.prices = contents.prices;
            self.take(contents.givens, contents.problems);
        }
        let mut ledger = None;
        for file in File::OF_REPOSITORY {
            let path = self.project.root().join(file.name());
            let Some(contents) = files::read(file, &path, file.name()) else { continue };
            let files::Contents { text, mut givens, problems, prices: _ } = contents;
            if givens.iter().any(|given| given.needs_trust(&self.project)) {
                let ledger = ledger.get_or_insert_with(|| Ledger::read(&self.places.home));
                let delicate = judged(file, text, &mut givens, ledger, &self.project);
                self.delicate.push(delicate);
            }
            self.take(givens, problems);
        }
        self.no_ledger = ledger.and_then(Result::err).map(|error| error.to_string());
    }

    fn take(&mut self, givens: Vec<Given>, problems: Vec<Problem>) {
        self.givens.extend(givens);
        self.problems.extend(problems);
    }

    fn read_variables(&mut self) {
        for key in KEYS.iter().map(|key| key.info()) {
            let own = (key.variable, Origin::Variable(key.variable), Raw::Word as Reading);
            let peer = key.peer_variable.map(|var| (var, Origin::PeerVariable(var), reading(var)));
            for (variable, origin, raw) in [own].into_iter().chain(peer) {
                match env::text(&variable) {
                    Ok(None) => {}
                    Ok(Some(text)) => self.givens.push(counts(key, raw(text), origin)),
                    Err(error) => self.problems.push(Problem::from_error(&origin, &error)),
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
        let foreign = |given: &&mut Given| {
            given.key.repository == Repository::MayForItself
                && given.origin.of_repository()
                && given.standing == Standing::Counts
        };
        for given in self.givens.iter_mut().filter(foreign) {
            given.standing = Standing::OtherScope;
        }
    }

    /// Changes the default of a key.
    pub(super) fn set_built_in(&mut self, name: &str, value: &str) {
        let is_meant = |given: &&mut Given| given.key.name == name && given.is_built_in();
        if let Some(given) = self.givens.iter_mut().find(is_meant) {
            given.raw = Raw::Word(value.to_owned());
        }
    }

    /// The base of relative paths from that origin: a file's own directory, or the working
    /// directory.
    pub(super) fn base(&self, origin: &Origin) -> &Path {
        match origin {
            Origin::BuiltIn | Origin::File { file: File::User, .. } => &self.places.home,
            Origin::File { .. } => self.project.root(),
            Origin::PeerVariable(_) | Origin::Variable(_) | Origin::Flag(_) => &self.places.cwd,
        }
    }
}

/// Decides which values of a file count, and records those that need trust.
fn judged(
    file: File,
    text: String,
    givens: &mut [Given],
    ledger: &Result<Ledger>,
    project: &Project,
) -> Delicate {
    let (root, digest) = (project.root(), Digest::of(text.as_bytes()));
    let verdict =
        ledger.as_ref().map_or(Verdict::Unknown, |ledger| ledger.verdict(root, file, digest));
    let mut says = Vec::new();
    for given in givens.iter_mut().filter(|given| given.needs_trust(project)) {
        if let Origin::File { key, .. } = &given.origin {
            says.push((key.clone(), given.raw.shown()));
        }
        if verdict != Verdict::Trusted {
            given.standing = Standing::Untrusted;
        }
    }
    Delicate { file, text, verdict, says }
}

fn built_in() -> impl Iterator<Item = Given> {
    KEYS.iter()
        .map(|key| key.info())
        .filter_map(|key| Some(counts(key, Raw::Word(key.default?.to_owned()), Origin::BuiltIn)))
}

fn flags(overrides: &Overrides) -> impl Iterator<Item = Given> {
    let Overrides { store, scope } = overrides;
    let given = [(&keys::STORE.info, "--store", store), (&keys::SCOPE.info, "--scope", scope)];
    given.into_iter().filter_map(|(key, flag, text)| {
        Some(counts(key, Raw::Word(text.clone()?), Origin::Flag(flag)))
    })
}

fn counts(key: &'static Info, raw: Raw, origin: Origin) -> Given {
    Given { key, raw, origin, standing: Standing::Counts }
}

/// Converts a variable's text to a raw value.
type Reading = fn(String) -> Raw;

/// One variable of another program has another unit than ours.
fn reading(variable: EnvVar) -> Reading {
    if variable == env::LOA_TTL_DAYS { Raw::Days } else { Raw::Word }
}
