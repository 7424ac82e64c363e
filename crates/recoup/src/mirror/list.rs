//! The list of everything that we wrote, by place: `~/.recoup/mirrors.json`. It has paths and digests,
//! but no text. Whoever changes it holds `mirrors.lock`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use recoup_core::base::clock::{Deadline, SystemClock};
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx::{self, FileLock};
use recoup_core::base::name::fresh_id;
use recoup_core::base::project::{Project, ProjectId, ProjectRegistry};
use recoup_core::memory::NoteScope;
use recoup_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

const FILE: &str = "mirrors.json";
const LOCK: &str = "mirrors.lock";
/// Marker file: exists while places may have content that must be removed.
const DUE: &str = "mirrors.due";
/// Lock holders write only a few small files.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const LARGEST_LIST: u64 = 16 << 20;
const VERSION: u64 = 1;

/// Kind of content in a place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PlaceKind {
    #[default]
    Rules,
    Skills,
}

/// A directory that we put files into, and what we wrote there.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
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
    /// Files of others that have lines of ours; true if we created the file.
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
        let (id, root) = (project.map(Project::id), project.map(Project::root));
        let (project, root) = (id.map(ToString::to_string), root.map(Path::to_owned));
        Self { sort, dir, project, root, ..Self::default() }
    }

    pub(super) fn project(&self) -> Option<ProjectId> {
        ProjectId::parse(self.project.as_deref()?).ok()
    }

    /// Scope of its notes.
    pub(super) fn scope(&self) -> NoteScope {
        self.project().map_or(NoteScope::Universal, NoteScope::Project)
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.sort, &self.dir) == (other.sort, &other.dir)
    }

    /// True if we wrote these bytes to that file.
    pub(super) fn has_written(&self, name: &str, bytes: &[u8]) -> bool {
        self.files.get(name).is_some_and(|known| known.contains(&Sha256Digest::of(bytes)))
    }

    /// True if we wrote this line to the index.
    pub(super) fn has_line(&self, line: &str) -> bool {
        self.lines.contains(&Sha256Digest::of(line.as_bytes()))
    }

    /// True if notes of these scopes may be there; always if its project is unknown.
    pub(super) fn concerns(&self, changed: &[NoteScope]) -> bool {
        let is_known =
            self.project.is_some() || self.sort == PlaceKind::Skills || self.root.is_some();
        !is_known || changed.contains(&NoteScope::Universal) || changed.contains(&self.scope())
    }

    /// Git's exclude file that hides its skills; none without a repository.
    pub(super) fn exclude_file(&self) -> Option<PathBuf> {
        if self.sort != PlaceKind::Skills {
            return None;
        }
        let known = self.spliced.keys().next().cloned();
        known.or_else(|| Project::find(self.root.as_deref()?).ok()?.git_exclude())
    }
}

#[derive(Serialize)]
struct ListFile<'a> {
    version: u64,
    places: &'a [MirrorPlace],
}

/// All places, under an exclusive lock; without the lock, a snapshot.
#[derive(Debug)]
pub(super) struct MirrorList {
    path: PathBuf,
    pub(super) places: Vec<MirrorPlace>,
    /// The file cannot be parsed. It is renamed before a new one is written.
    pub(super) is_damaged: bool,
    _lock: Option<FileLock>,
}

impl MirrorList {
    /// True if there is a list.
    pub(super) fn exists_in(home: &Path) -> bool {
        home.join(FILE).exists()
    }

    /// Opens the list. `dry`: only to read, without the lock, and nothing is created.
    pub(super) fn open(home: &Path, dry: bool) -> Result<Self> {
        let path = list_path(home);
        let mut lock = None;
        if !dry {
            fsx::ensure_private_dir(home)?;
            lock = Some(FileLock::acquire(&home.join(LOCK), Deadline::after(LOCK_TIMEOUT))?);
        }
        let json = match fsx::read_regular(&path, LARGEST_LIST) {
            Err(error) if error.kind() != ErrorKind::Invalid => return Err(error),
            Ok(None) => {
                return Ok(Self { path, places: Vec::new(), is_damaged: false, _lock: lock });
            }
            read => read.ok().flatten().unwrap_or_default(),
        };
        let mut list: Value = serde_json::from_slice(&json).unwrap_or_default();
        let version = list.get("version").and_then(Value::as_u64);
        if version.is_some_and(|version| version > VERSION) {
            let message = format!(
                "{} was written by a newer version of recoup: upgrade recoup",
                path.display()
            );
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        let places = version.and_then(|_| list.get_mut("places")).map(Value::take);
        let places = places.and_then(|places| serde_json::from_value(places).ok());
        let is_damaged = places.is_none();
        Ok(Self { path, places: places.unwrap_or_default(), is_damaged, _lock: lock })
    }

    /// Adds places that are not listed.
    pub(super) fn add(&mut self, found: Vec<MirrorPlace>) {
        for place in found {
            if !self.has_place(&place) {
                self.places.push(place);
            }
        }
    }

    pub(super) fn has_place(&self, place: &MirrorPlace) -> bool {
        self.places.iter().any(|it| it.is_same(place))
    }

    /// A place as it is listed, with its current project. A place that two projects share belongs
    /// to none.
    pub(super) fn with_listed(&self, place: MirrorPlace) -> MirrorPlace {
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

    /// Writes the list with this place, or without it if nothing of ours is there. On an error the
    /// list is unchanged.
    pub(super) fn record(&mut self, place: &MirrorPlace) -> Result<()> {
        let is_empty = place.files.is_empty() && place.spliced.is_empty() && place.made.is_empty();
        let others = self.places.iter().filter(|it| !it.is_same(place));
        let mut places: Vec<MirrorPlace> =
            others.chain((!is_empty).then_some(place)).cloned().collect();
        places.sort_by(|a, b| a.dir.cmp(&b.dir));
        let json = serde_json::to_vec_pretty(&ListFile { version: VERSION, places: &places });
        let json = json.map_err(|error| {
            let root = place.root.as_deref().filter(|root| root.to_str().is_none());
            let path = root.unwrap_or(&place.dir).display();
            let message = format!("can't record {path}: its name is not UTF-8");
            Error::new(ErrorKind::Invalid, message).with_source(error)
        })?;
        if self.is_damaged {
            let aside = format!(".damaged-{}", fresh_id(&SystemClock));
            fsx::rename(&self.path, &fsx::with_suffix(&self.path, &aside))?;
            self.is_damaged = false;
        }
        if places.is_empty() {
            fsx::remove(&self.path)?;
        } else {
            fsx::write_atomic(&self.path, &json)?;
        }
        self.places = places;
        Ok(())
    }

    /// True if another place with files has lines of ours in that file.
    pub(super) fn is_shared(&self, place: &MirrorPlace, file: &Path) -> bool {
        let mut others = self.places.iter().filter(|it| !it.is_same(place));
        others.any(|it| it.spliced.contains_key(file) && !it.files.is_empty())
    }
}

/// Path of the list.
pub(super) fn list_path(home: &Path) -> PathBuf {
    home.join(FILE)
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
