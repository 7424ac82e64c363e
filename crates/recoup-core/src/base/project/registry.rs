//! The checkouts that belong to each project: one small file for each, by the project's id.
//!
//! The name of a remote is only a claim, which any archive can make. A checkout gets the
//! id that it claims if it is noted here, if nobody else has claimed it, or if it is proven
//! to be a clone. Otherwise it stays apart, with an id made from its own path, until the
//! user confirms it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Project, ProjectId, ProjectOrigin, proof};
use crate::base::fsx;
use crate::error::{Error, ErrorKind, Result};

/// Room for hundreds of checkouts.
const MAX_LEN: u64 = 256 << 10;

/// Beyond so many checkouts, those that are gone are dropped from a record; beyond so many that
/// stay apart, the user is told again.
const MOST_CHECKOUTS: usize = 100;

/// As many commits as are compared.
const MOST_COMMITS: usize = 8;

/// How a checkout stands to the project that it claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectStanding {
    /// Claims nothing: its id is made from its own place.
    Own,
    /// Recorded as one of the project's.
    Member,
    /// First to claim the project; not recorded yet.
    First,
    /// Proven to be a clone, or moved; not recorded yet.
    Proven,
    /// The project is known by others, and this one is not proven to be a clone.
    Apart {
        /// The user has been told.
        is_told: bool,
    },
}

/// Registry of projects: a directory with one record for each.
#[derive(Debug, Clone)]
pub struct ProjectRegistry {
    dir: PathBuf,
}

/// The registry's record of one project.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ProjectRecord {
    /// A root that people know the project by.
    pub root: String,
    /// Commits that clones contain.
    #[serde(default)]
    commits: Vec<String>,
    /// The checkouts that belong to it, by the ids of their own places.
    #[serde(default)]
    checkouts: BTreeMap<String, KnownCheckout>,
    /// Checkouts that stay apart, and the user knows.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    apart: BTreeSet<String>,
}

/// A checkout that belongs to a project.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct KnownCheckout {
    root: String,
    basis: MembershipBasis,
    /// The inode and birth of its git directory, which move along with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    git_dir_identity: Option<String>,
}

/// A checkout that the user has confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmedCheckout {
    /// Its root.
    pub root: String,
    /// The remote, or the repository, that it is a clone of.
    pub claims: String,
}

/// Why a checkout belongs to its project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum MembershipBasis {
    /// First to claim the project, so it may be anything.
    First,
    /// Git made it here, or it was noted before proofs were asked for.
    Proven,
    /// The user has said so.
    Confirmed,
}

impl ProjectRegistry {
    /// The registry in Recoup's own directory.
    pub fn below(home: &Path) -> Self {
        Self { dir: home.join("projects") }
    }

    /// The project that the absolute directory `start` belongs to, with the id that counts.
    /// `is_remembered` returns true if data exists under an id that has no record.
    pub fn find(
        &self,
        start: &Path,
        is_remembered: impl Fn(&ProjectId) -> bool,
    ) -> Result<Project> {
        Project::find(start).map(|found| self.resolve_standing(found, is_remembered))
    }

    /// Like [`Self::find`], for a project that was found already. Only reads; [`Self::record`]
    /// writes.
    pub(crate) fn resolve_standing(
        &self,
        mut project: Project,
        is_remembered: impl Fn(&ProjectId) -> bool,
    ) -> Project {
        if !project.is_claim() {
            return project;
        }
        let claimed = project.claimed_id();
        let record = self.read(&claimed).unwrap_or_default();
        project.standing = if record.checkouts.is_empty() {
            record.first_standing(&project, || is_remembered(&claimed))
        } else {
            record.standing_of(&project)
        };
        if !matches!(project.standing, ProjectStanding::Apart { .. }) {
            project.id = claimed;
        }
        project
    }

    /// Records a checkout with its project, if that is news. After a failure it is examined again
    /// the next time.
    pub fn record(&self, project: &Project) -> Result<()> {
        let basis = match project.standing {
            ProjectStanding::Apart { .. } => return Ok(()),
            ProjectStanding::First if !project.is_made_here() => MembershipBasis::First,
            _ => MembershipBasis::Proven,
        };
        let record = self.read(&project.id).unwrap_or_default();
        let is_member = record.is_member(project);
        if is_member && Path::new(&record.root).is_dir() {
            return Ok(());
        }
        self.add(project, record, basis)
    }

    /// Notes that the user has confirmed a checkout, which then belongs to its project.
    pub fn confirm(&self, mut project: Project) -> Result<Project> {
        project.id = project.claimed_id();
        project.standing = ProjectStanding::Member;
        let record = self.read(&project.id).unwrap_or_default();
        self.add(&project, record, MembershipBasis::Confirmed)?;
        Ok(project)
    }

    /// Returns the checkouts that the user has confirmed, in the order of their roots.
    pub fn confirmed_checkouts(&self) -> Vec<ConfirmedCheckout> {
        let mut found = Vec::new();
        for (_, note) in self.all_records() {
            for checkout in note.checkouts.into_values() {
                if checkout.basis != MembershipBasis::Confirmed {
                    continue;
                }
                // A checkout that is gone can't tell its claim any more.
                let claims = Project::find(Path::new(&checkout.root))
                    .map_or_else(|_| note.root.clone(), |project| project.origin.to_string());
                found.push(ConfirmedCheckout { root: checkout.root, claims });
            }
        }
        found.sort_by(|a, b| a.root.cmp(&b.root));
        found
    }

    /// Takes back that the user has confirmed a checkout; false where they have not.
    pub fn withdraw_confirmation(&self, project: &Project) -> Result<bool> {
        let Some(mut record) = self.read(&project.claimed_id()) else { return Ok(false) };
        let own = project.own_id();
        let confirmed = |it: &KnownCheckout| it.basis == MembershipBasis::Confirmed;
        if !record.checkouts.get(own.as_str()).is_some_and(confirmed) {
            return Ok(false);
        }
        record.checkouts.remove(own.as_str());
        record.mark_apart(project);
        self.write(&project.claimed_id(), &record).map(|()| true)
    }

    /// Notes that the user has been told that a checkout stays apart.
    pub fn mark_told(&self, project: &Project) -> Result<()> {
        let mut record = self.read(&project.claimed_id()).unwrap_or_default();
        record.mark_apart(project);
        self.write(&project.claimed_id(), &record)
    }

    /// One-line message for the user about a checkout that stays apart; `None` if it does not.
    pub fn apart_advice(&self, project: &Project) -> Option<String> {
        let ProjectStanding::Apart { .. } = project.standing else { return None };
        let known = self.read(&project.claimed_id()).filter(|note| !note.root.is_empty());
        let known = known.map_or(String::new(), |note| format!(", which you use in {}", note.root));
        Some(format!(
            "this checkout claims to be a clone of {}{known}: its memories and cached results are \
             kept separate until you run `recoup trust`",
            project.origin
        ))
    }

    /// Returns the record of the project with this id.
    pub fn read(&self, id: &ProjectId) -> Option<ProjectRecord> {
        let bytes = fsx::read_regular(&self.dir.join(id.as_str()), MAX_LEN).ok().flatten()?;
        if bytes.first() != Some(&b'/') {
            return serde_json::from_slice(&bytes).ok();
        }
        // Earlier versions noted just a root.
        let root = String::from_utf8(bytes).ok()?;
        let mut record = ProjectRecord { root, ..ProjectRecord::default() };
        if let Ok(found) = Project::find(Path::new(&record.root))
            && found.claimed_id() == *id
        {
            record.add(&found, MembershipBasis::Proven);
        }
        Some(record)
    }

    /// All projects that are noted.
    pub fn all_records(&self) -> Vec<(ProjectId, ProjectRecord)> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let ids = entries.filter_map(|entry| ProjectId::parse(entry.file_name().to_str()?).ok());
        ids.filter_map(|id| self.read(&id).map(|record| (id, record))).collect()
    }

    fn add(
        &self,
        project: &Project,
        mut record: ProjectRecord,
        basis: MembershipBasis,
    ) -> Result<()> {
        if !Path::new(&record.root).is_dir() {
            record.root = project.root.to_string_lossy().into_owned();
        }
        record.add(project, basis);
        self.write(&project.id, &record)
    }

    fn write(&self, id: &ProjectId, record: &ProjectRecord) -> Result<()> {
        let json = serde_json::to_vec_pretty(record).map_err(|error| {
            Error::new(ErrorKind::Invalid, "cannot record the project").with_source(error)
        })?;
        fsx::ensure_dir(&self.dir)?;
        fsx::write_unsynced(&self.dir.join(id.as_str()), &json)
    }
}

impl ProjectRecord {
    /// True if this checkout is noted, and is still the one that was: another repository may have
    /// been unpacked in its place.
    fn is_member(&self, project: &Project) -> bool {
        let Some(noted) = self.checkouts.get(project.own_id().as_str()) else { return false };
        let now = project.own_repository().and_then(identify_git_dir);
        noted.git_dir_identity.is_none() || now.is_none() || noted.git_dir_identity == now
    }

    fn standing_of(&self, project: &Project) -> ProjectStanding {
        if self.is_member(project) {
            return ProjectStanding::Member;
        }
        let apart = self.apart(project);
        let Some(common) = project.own_repository() else { return apart };
        let identity = identify_git_dir(common);
        if identity.is_some() && self.checkouts.values().any(|it| it.git_dir_identity == identity) {
            return ProjectStanding::Proven;
        }
        let mut commits = self.commits.clone();
        if let ProjectOrigin::GitDir(source) = &project.origin {
            commits.extend(proof::commits_of(source));
        } else if self.checkouts.values().all(|it| it.basis == MembershipBasis::First) {
            // The first claimant may be a forgery: a true clone does not join it unasked.
            return apart;
        }
        if proof::is_clone(&project.root, common, &commits) {
            ProjectStanding::Proven
        } else {
            apart
        }
    }

    fn mark_apart(&mut self, project: &Project) {
        if self.apart.len() >= MOST_CHECKOUTS {
            self.apart.clear();
        }
        self.apart.insert(project.own_id().to_string());
    }

    /// The standing where no checkout is noted for the project.
    fn first_standing(
        &self,
        project: &Project,
        is_remembered: impl Fn() -> bool,
    ) -> ProjectStanding {
        if let ProjectOrigin::GitDir(source) = &project.origin {
            let is_clone =
                |common| proof::is_clone(&project.root, common, &proof::commits_of(source));
            if project.own_repository().is_some_and(is_clone) {
                return ProjectStanding::Proven;
            }
            if source.ends_with(".git") {
                // The repository of another worktree, which has no need to be noted.
                return self.apart(project);
            }
        } else if project.is_made_here() {
            return ProjectStanding::First;
        }
        if is_remembered() { self.apart(project) } else { ProjectStanding::First }
    }

    fn apart(&self, project: &Project) -> ProjectStanding {
        ProjectStanding::Apart { is_told: self.apart.contains(project.own_id().as_str()) }
    }

    fn add(&mut self, project: &Project, basis: MembershipBasis) {
        let own = project.own_id().to_string();
        let common = project.own_repository();
        let commits = common.map(proof::commits_of).unwrap_or_default();
        self.commits.extend(commits);
        // The oldest are in the most clones.
        let mut seen = BTreeSet::new();
        self.commits.retain(|commit| seen.insert(commit.clone()));
        self.commits.truncate(MOST_COMMITS);
        self.apart.remove(&own);
        if self.checkouts.len() > MOST_CHECKOUTS {
            // Temporary clones. What the user has confirmed stays.
            self.checkouts.retain(|_, it| {
                it.basis == MembershipBasis::Confirmed || Path::new(&it.root).is_dir()
            });
        }
        let root = project.root.to_string_lossy().into_owned();
        let identity = common.and_then(identify_git_dir);
        let is_same = |id: &String, it: &KnownCheckout| {
            *id == own || (identity.is_some() && it.git_dir_identity == identity)
        };
        // Moving or noting it again proves nothing.
        let before = self.checkouts.iter().find(|(id, it)| is_same(id, it));
        let before = before.map(|(_, it)| it.basis);
        let basis = before.filter(|_| basis != MembershipBasis::Confirmed).unwrap_or(basis);
        self.checkouts.retain(|id, it| !is_same(id, it));
        self.checkouts.insert(own, KnownCheckout { root, basis, git_dir_identity: identity });
    }
}

/// Returns the inode and birth time of a git directory. They move along with it, and no other
/// directory gets both: inode numbers alone are reused.
fn identify_git_dir(common: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let found = fs::metadata(common).ok()?;
    let born = found.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(format!("{}-{}", found.ino(), born.as_nanos()))
}
