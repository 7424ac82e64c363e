//! Every place that we have put something in, and what: `~/.recoup/mirrors.json`. It has
//! digests and ids, and no words.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use recoup_core::base::clock::Deadline;
use recoup_core::base::digest::Digest;
use recoup_core::base::fsx::{self, FileLock};
use recoup_core::base::project::{Project, ProjectId};
use recoup_core::memory::{NoteScope, Silence};
use recoup_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

const FILE: &str = "mirrors.json";
const LOCK: &str = "mirrors.lock";
/// Whoever has the lock writes some small files.
const PATIENCE: Duration = Duration::from_secs(10);
const LARGEST: u64 = 16 << 20;
const VERSION: u32 = 1;

/// What is in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Sort {
    Rules,
    Skills,
}

/// A directory that we put files into.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) sort: Sort,
    pub(super) dir: PathBuf,
    /// The project whose notes go there; without one only what holds everywhere.
    pub(super) project: Option<String>,
    /// Where that project is, or was last.
    pub(super) root: Option<PathBuf>,
    /// Our files, from the directory, and what they may hold: two versions while one takes
    /// the other's place.
    #[serde(default)]
    pub(super) files: BTreeMap<String, Vec<Digest>>,
    /// Directories that were not there before, the outermost first.
    #[serde(default)]
    pub(super) made: Vec<PathBuf>,
    /// Files of others that have lines of ours, and whether we made them.
    #[serde(default)]
    pub(super) spliced: BTreeMap<PathBuf, bool>,
}

impl Place {
    pub(super) fn new(sort: Sort, dir: PathBuf, project: Option<&Project>) -> Self {
        Self {
            sort,
            dir,
            project: project.map(|it| it.id().to_string()),
            root: project.map(|it| it.root().to_owned()),
            files: BTreeMap::new(),
            made: Vec::new(),
            spliced: BTreeMap::new(),
        }
    }

    pub(super) fn project(&self) -> Option<ProjectId> {
        ProjectId::parse(self.project.as_deref()?).ok()
    }

    /// For whom its notes hold.
    pub(super) fn scope(&self) -> NoteScope {
        self.project().map_or(NoteScope::Universal, NoteScope::Project)
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.spliced.is_empty() && self.made.is_empty()
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.sort, &self.dir) == (other.sort, &other.dir)
    }
}

#[derive(Serialize, Deserialize)]
struct Written {
    version: u32,
    places: Vec<Place>,
}

/// All places, for us alone while this is held.
#[derive(Debug)]
pub(super) struct Register {
    path: PathBuf,
    places: Vec<Place>,
    _lock: FileLock,
}

impl Register {
    /// Whether anything was ever put anywhere.
    pub(super) fn is_at(home: &Path) -> bool {
        home.join(FILE).exists()
    }

    pub(super) fn open(home: &Path) -> Result<Self> {
        fsx::ensure_private_dir(home)?;
        let lock = FileLock::acquire(&home.join(LOCK), Deadline::after(PATIENCE))?;
        let path = home.join(FILE);
        let places = match fsx::read_regular(&path, LARGEST)? {
            None => Vec::new(),
            Some(json) => read(&json).map_err(|why| {
                Error::new(ErrorKind::Invalid, format!("{} {why}", path.display()))
            })?,
        };
        Ok(Self { path, places, _lock: lock })
    }

    pub(super) fn knows(&self, place: &Place) -> bool {
        self.places.iter().any(|it| it.is_same(place))
    }

    /// What is known of a place, with the project as it is now.
    pub(super) fn take(&self, place: Place) -> Place {
        let Some(known) = self.places.iter().find(|it| it.is_same(&place)) else { return place };
        Place { project: place.project, root: place.root, ..known.clone() }
    }

    /// Puts down what a place has; one that has nothing is not kept.
    pub(super) fn put(&mut self, place: &Place) -> Result<()> {
        self.places.retain(|it| !it.is_same(place));
        if !place.is_empty() {
            self.places.push(place.clone());
        }
        self.places.sort_by(|a, b| a.dir.cmp(&b.dir));
        if self.places.is_empty() {
            return fsx::remove(&self.path).map(drop);
        }
        let written = Written { version: VERSION, places: self.places.clone() };
        let json = serde_json::to_vec_pretty(&written).map_err(|error| {
            let message =
                format!("{} can't be put down: its name is no UTF-8", place.dir.display());
            Error::new(ErrorKind::Invalid, message).with_source(error)
        })?;
        fsx::write_atomic(&self.path, &json)
    }

    /// Places in which notes of these scopes may be.
    pub(super) fn concerned(&self, changed: &[NoteScope]) -> Vec<Place> {
        let concerns = |place: &&Place| {
            changed.contains(&NoteScope::Universal) || changed.contains(&place.scope())
        };
        self.places.iter().filter(concerns).cloned().collect()
    }

    pub(super) fn all(&self) -> Vec<Place> {
        self.places.clone()
    }

    /// Whether another place than this has lines of ours in that file.
    pub(super) fn shares(&self, place: &Place, file: &Path) -> bool {
        let others = self.places.iter().filter(|it| !it.is_same(place));
        others.into_iter().any(|it| it.spliced.contains_key(file) && !it.files.is_empty())
    }
}

fn read(json: &[u8]) -> std::result::Result<Vec<Place>, String> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let told = |error: serde_json::Error| {
        format!(
            "can't be read ({error}): remove it, and by hand what begins with `recoup-` in its places"
        )
    };
    let Version { version } = serde_json::from_slice(json).map_err(told)?;
    if version > VERSION {
        return Err("was written by a newer recoup: upgrade this one".to_owned());
    }
    serde_json::from_slice(json).map(|written: Written| written.places).map_err(told)
}

/// Why nothing is synced at the moment.
pub(super) fn paused(silence: Silence) -> String {
    match silence {
        Silence::Paused(_) => "memory is paused, and nothing is synced; `recoup resume` goes on",
        Silence::Ignored => {
            "memory keeps nothing in this project, and nothing is synced; `recoup resume --project` goes on"
        }
    }
    .to_owned()
}
