//! The register of all places and our files there: `~/.recoup/mirrors.json`. It has digests and
//! IDs, but no text.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use recoup_core::base::clock::{Deadline, SystemClock};
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx::{self, FileLock};
use recoup_core::base::name::fresh_id;
use recoup_core::base::project::{Project, ProjectId, ProjectRegistry};
use recoup_core::memory::{NoteScope, PauseReason};
use recoup_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

const FILE: &str = "mirrors.json";
const LOCK: &str = "mirrors.lock";
/// Marker file: exists while places may have content that must be removed.
const DUE: &str = "mirrors.due";
/// Lock holders write only a few small files.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const LARGEST: u64 = 16 << 20;
const VERSION: u32 = 1;

/// Kind of content in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PlaceKind {
    Rules,
    Skills,
}

/// A directory that we put files into.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct MirrorPlace {
    pub(super) sort: PlaceKind,
    pub(super) dir: PathBuf,
    /// The project whose notes go there; without one only universal notes.
    pub(super) project: Option<String>,
    /// Last known root of that project.
    pub(super) root: Option<PathBuf>,
    /// Our files, relative to the directory, with the digests that they may have: two while one
    /// version replaces another.
    #[serde(default)]
    pub(super) files: BTreeMap<String, Vec<Sha256Digest>>,
    /// Directories that we created, outermost first.
    #[serde(default)]
    pub(super) made: Vec<PathBuf>,
    /// Shared files that have lines of ours; true if we created the file.
    #[serde(default)]
    pub(super) spliced: BTreeMap<PathBuf, bool>,
    /// Digests of our lines in an index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) lines: Vec<Sha256Digest>,
    /// Roots of other projects with the same place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    others: Vec<PathBuf>,
}

impl MirrorPlace {
    pub(super) fn new(sort: PlaceKind, dir: PathBuf, project: Option<&Project>) -> Self {
        Self {
            sort,
            dir,
            project: project.map(|it| it.id().to_string()),
            root: project.map(|it| it.root().to_owned()),
            files: BTreeMap::new(),
            made: Vec::new(),
            spliced: BTreeMap::new(),
            lines: Vec::new(),
            others: Vec::new(),
        }
    }

    pub(super) fn project(&self) -> Option<ProjectId> {
        ProjectId::parse(self.project.as_deref()?).ok()
    }

    /// Scope of its notes.
    pub(super) fn scope(&self) -> NoteScope {
        self.project().map_or(NoteScope::Universal, NoteScope::Project)
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.spliced.is_empty() && self.made.is_empty()
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.sort, &self.dir) == (other.sort, &other.dir)
    }
}

#[derive(Serialize, Deserialize)]
struct RegisterFile {
    version: u32,
    places: Vec<MirrorPlace>,
}

/// All places, under an exclusive lock; without the lock, a snapshot.
#[derive(Debug)]
pub(super) struct MirrorRegister {
    path: PathBuf,
    places: Vec<MirrorPlace>,
    state: RegisterState,
    lock: Option<FileLock>,
}

/// State of the file on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RegisterState {
    Missing,
    Sound,
    /// Renamed before a new file is written.
    Damaged,
}

impl MirrorRegister {
    /// True if there is a register.
    pub(super) fn exists_in(home: &Path) -> bool {
        home.join(FILE).exists()
    }

    /// Opens the register. `dry`: read-only, without the lock, and nothing is created.
    pub(super) fn of(home: &Path, dry: bool) -> Result<Self> {
        if dry {
            return Self::read(home, None);
        }
        fsx::ensure_private_dir(home)?;
        let lock = FileLock::acquire(&home.join(LOCK), Deadline::after(LOCK_TIMEOUT))?;
        Self::read(home, Some(lock))
    }

    fn read(home: &Path, lock: Option<FileLock>) -> Result<Self> {
        let path = home.join(FILE);
        let (state, places) = match fsx::read_regular(&path, LARGEST) {
            Ok(None) => (RegisterState::Missing, Vec::new()),
            Ok(Some(json)) => match parse_register(&json) {
                ParsedRegister::Places(places) => (RegisterState::Sound, places),
                ParsedRegister::Damaged => (RegisterState::Damaged, Vec::new()),
                ParsedRegister::Newer => {
                    let path = path.display();
                    let message =
                        format!("{path} was written by a newer version of recoup: upgrade recoup");
                    return Err(Error::new(ErrorKind::Invalid, message));
                }
            },
            Err(error) if error.kind() == ErrorKind::Invalid => {
                (RegisterState::Damaged, Vec::new())
            }
            Err(error) => return Err(error),
        };
        Ok(Self { path, places, state, lock })
    }

    /// Reads the places without the lock.
    pub(super) fn read_unlocked(home: &Path) -> Vec<MirrorPlace> {
        match fsx::read_regular(&home.join(FILE), LARGEST)
            .ok()
            .flatten()
            .map(|it| parse_register(&it))
        {
            Some(ParsedRegister::Places(places)) => places,
            _ => Vec::new(),
        }
    }

    /// True if the register cannot be parsed.
    pub(super) fn is_damaged(&self) -> bool {
        self.state == RegisterState::Damaged
    }

    /// Adds places that were found by a scan.
    pub(super) fn add(&mut self, found: Vec<MirrorPlace>) {
        for place in found {
            if !self.knows(&place) {
                self.places.push(place);
            }
        }
    }

    pub(super) fn knows(&self, place: &MirrorPlace) -> bool {
        self.places.iter().any(|it| it.is_same(place))
    }

    /// The registered state of a place, with its current project. A place that two projects share
    /// belongs to none.
    pub(super) fn merge_known(&self, place: MirrorPlace) -> MirrorPlace {
        let Some(known) = self.places.iter().find(|it| it.is_same(&place)) else { return place };
        if place.project.is_none() {
            return known.clone();
        }
        let registry = ProjectRegistry::below(fsx::parent(&self.path));
        let is_other = |root: &&PathBuf| {
            place.root.as_ref() != Some(*root)
                && registry
                    .find(root, |_| false)
                    .is_ok_and(|it| place.project.as_deref() != Some(it.id().as_str()))
        };
        // The client maps the paths of several projects to one name.
        let roots =
            known.others.iter().chain(&known.root).filter(|_| known.sort == PlaceKind::Rules);
        let others: Vec<PathBuf> = roots.filter(is_other).cloned().collect();
        let project = place.project.filter(|_| others.is_empty());
        MirrorPlace { project, root: place.root, others, ..known.clone() }
    }

    /// Records a place, or drops it if it is empty. On an error the register is unchanged.
    pub(super) fn record(&mut self, place: &MirrorPlace) -> Result<()> {
        if self.lock.is_none() {
            let message = format!("{} was opened read-only", self.path.display());
            return Err(Error::new(ErrorKind::Locked, message));
        }
        let others = self.places.iter().filter(|it| !it.is_same(place));
        let mut places: Vec<MirrorPlace> = others.cloned().collect();
        if !place.is_empty() {
            places.push(place.clone());
        }
        places.sort_by(|a, b| a.dir.cmp(&b.dir));
        let json =
            serde_json::to_vec_pretty(&RegisterFile { version: VERSION, places: places.clone() });
        let json = json.map_err(|error| {
            let root = place.root.as_deref().filter(|root| root.to_str().is_none());
            let path = root.unwrap_or(&place.dir).display();
            let message = format!("can't record {path}: its name is not UTF-8");
            Error::new(ErrorKind::Invalid, message).with_source(error)
        })?;
        if self.state == RegisterState::Damaged {
            let aside = format!(".damaged-{}", fresh_id(&SystemClock));
            fsx::rename(&self.path, &fsx::with_suffix(&self.path, &aside))?;
            self.state = RegisterState::Missing;
        }
        if places.is_empty() {
            fsx::remove(&self.path)?;
        } else {
            fsx::write_atomic(&self.path, &json)?;
        }
        self.places = places;
        Ok(())
    }

    /// Places that may have notes of these scopes.
    pub(super) fn places_concerned(&self, changed: &[NoteScope]) -> Vec<MirrorPlace> {
        self.places.iter().filter(|place| concerns(place, changed)).cloned().collect()
    }

    pub(super) fn all(&self) -> Vec<MirrorPlace> {
        self.places.clone()
    }

    /// True if another place has lines of ours in that file.
    pub(super) fn is_shared(&self, place: &MirrorPlace, file: &Path) -> bool {
        let others = self.places.iter().filter(|it| !it.is_same(place));
        others.into_iter().any(|it| it.spliced.contains_key(file) && !it.files.is_empty())
    }
}

/// True if notes of these scopes may be in a place; always for a place of an unknown project.
pub(super) fn concerns(place: &MirrorPlace, changed: &[NoteScope]) -> bool {
    let is_known =
        place.project.is_some() || place.sort == PlaceKind::Skills || place.root.is_some();
    !is_known || changed.contains(&NoteScope::Universal) || changed.contains(&place.scope())
}

/// Path of the register.
pub(super) fn register_path(home: &Path) -> PathBuf {
    home.join(FILE)
}

enum ParsedRegister {
    Places(Vec<MirrorPlace>),
    Damaged,
    Newer,
}

fn parse_register(json: &[u8]) -> ParsedRegister {
    #[derive(Deserialize)]
    struct RegisterVersion {
        version: u32,
    }
    match serde_json::from_slice(json) {
        Ok(RegisterVersion { version }) if version > VERSION => ParsedRegister::Newer,
        _ => serde_json::from_slice(json)
            .map_or(ParsedRegister::Damaged, |written: RegisterFile| {
                ParsedRegister::Places(written.places)
            }),
    }
}

/// Makes every sync check all places, until one has succeeded.
pub(super) fn mark_due(home: &Path) -> Result<()> {
    fsx::ensure_private_dir(home)?;
    fsx::create_private(&home.join(DUE)).map(drop)
}

pub(super) fn is_due(home: &Path) -> bool {
    home.join(DUE).exists()
}

/// Ends that, once all places are in sync.
pub(super) fn clear_due(home: &Path) -> Result<()> {
    fsx::remove(&home.join(DUE)).map(drop)
}

/// Message that memory is paused and nothing is synced.
pub(super) fn paused_message(silence: PauseReason) -> String {
    match silence {
        PauseReason::Paused(_) => {
            "nothing is synced: memory is paused; `recoup resume` turns it on again"
        }
        PauseReason::Ignored => {
            "nothing is synced: memory is disabled in this project; `recoup resume --project` \
             turns it on again"
        }
    }
    .to_owned()
}
