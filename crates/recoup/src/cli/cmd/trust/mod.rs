//! `recoup trust`: the user's consent to a repository's settings and rules. It covers only the text
//! that was shown.

mod review;

use std::path::{Path, PathBuf};

use clap::Args;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::project::ProjectRegistry;
use recoup_core::memory::NoteScope;
use serde::Serialize;

use crate::agents::file::{AgentContext, find_trust_request};
use crate::agents::find_agent_files;
use crate::cli::app::memory_in;
use crate::cli::mirror::refresh_mirrors;
use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::config::trust::{self, TrustStore, TrustVerdict, TrustedFile};
use crate::config::{BaseDirs, FlagOverrides, GatheredConfig, SensitiveFile};
use review::{ClaimedProject, TeamRulesReview, TrustFileReport, confirm_checkout};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag; clap keeps them apart")]
pub(in crate::cli) struct TrustArgs {
    /// Trust only these agent files [default: the configuration, the team's rules and all agent
    /// files of the project]
    #[arg(value_name = "FILE", conflicts_with_all = ["list", "revoke"])]
    files: Vec<PathBuf>,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// List everything that is trusted, in all repositories: files, team rules, checkouts
    #[arg(long, conflicts_with_all = ["yes", "revoke"])]
    list: bool,
    /// Revoke trust in this repository, its files and its checkout; the team's rules are retired
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct TrustReport<'a> {
    root: String,
    /// True if all of it is trusted now.
    trusted: bool,
    /// The project that the checkout claims, where that is not confirmed yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkout: Option<ClaimedProject>,
    files: &'a [TrustFileReport],
    /// The team's rules, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<&'a TeamRulesReview>,
}

#[derive(Serialize)]
struct RevokeReport {
    root: String,
    revoked: Vec<String>,
    /// The ids of memories that were the team's rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    retired: Vec<String>,
}

impl TrustArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        if self.list {
            return list_trusted(&BaseDirs::find()?, self.json);
        }
        let mut gathered = GatheredConfig::new(&FlagOverrides::default())?;
        gathered.left_out_warnings().iter().for_each(ui::warn);
        if self.revoke {
            return self.revoke(&gathered);
        }
        if !self.files.is_empty() {
            gathered.delicate = find_agent_requests(&gathered, &self.files)?;
            return self.trust(&gathered, None);
        }
        let checkout = ClaimedProject::find(&gathered.places.home, &gathered.project);
        if let Some(checkout) = &checkout {
            checkout.print_question();
            if self.ask_consent(gathered.project.root()) {
                confirm_checkout(&gathered.places.home, &gathered.project)?;
                // Files and rules now belong to the confirmed project.
                gathered = GatheredConfig::new(&FlagOverrides::default())?;
            }
        }
        let files = find_agent_files(gathered.project.root(), |notice| ui::warn(notice));
        // A file that cannot be read, or is another project's, is reported by `recoup agents check`.
        let requests = files
            .iter()
            .filter_map(|file| find_agent_requests(&gathered, std::slice::from_ref(file)).ok());
        let requests: Vec<SensitiveFile> = requests.flatten().collect();
        gathered.delicate.extend(requests);
        self.trust(&gathered, checkout)
    }

    fn trust(&self, gathered: &GatheredConfig, checkout: Option<ClaimedProject>) -> CommandResult {
        let (home, root) = (&gathered.places.home, gathered.project.root());
        let apart =
            self.files.is_empty() && ClaimedProject::find(home, &gathered.project).is_some();
        // An unreadable ledger is an error before the question.
        let ledger = TrustStore::read(home)?;
        let changes: Vec<TrustFileReport> =
            gathered.delicate.iter().map(|file| TrustFileReport::new(home, file)).collect();
        let team = if self.files.is_empty() {
            TeamRulesReview::load(home, &gathered.project, &ledger)?
        } else {
            None
        };
        let open = |file: &&SensitiveFile| file.verdict != TrustVerdict::Trusted;
        let asked: Vec<&SensitiveFile> = gathered.delicate.iter().filter(open).collect();
        let rules = team.as_ref().filter(|team| team.needs_decision());
        let nothing = asked.is_empty() && rules.is_none();
        team.iter().for_each(TeamRulesReview::print_problems);
        if !nothing {
            changes.iter().for_each(TrustFileReport::print);
            rules.into_iter().for_each(TeamRulesReview::print_changes);
        }
        let granted = nothing || self.ask_consent(root);
        if granted {
            grant_trust(gathered, &asked, rules)?;
        }
        let sound = team.as_ref().is_none_or(TeamRulesReview::is_acceptable) && !apart;
        if self.json {
            let root = root.display().to_string();
            let trusted = granted && sound;
            ui::json(&TrustReport {
                root,
                trusted,
                checkout,
                files: &changes,
                rules: team.as_ref(),
            })?;
        } else if nothing && sound && checkout.is_none() {
            let what = if self.files.is_empty() { "this repository" } else { "these files" };
            ui::say(format_args!("Nothing in {what} needs your trust."));
        }
        Ok(if granted && sound { CommandAnswer::Yes } else { CommandAnswer::No })
    }

    /// Asks for consent to what was shown; without a terminal only `--yes` counts.
    fn ask_consent(&self, root: &Path) -> bool {
        if self.yes {
            return true;
        }
        if !ui::can_ask() {
            ui::error("not trusted: cannot ask for confirmation without a terminal");
            ui::hint("use `recoup trust --yes` to confirm");
            return false;
        }
        let granted = ui::confirm(format_args!("Trust this in {}?", root.display()));
        if !granted {
            ui::say("Nothing was changed.");
        }
        granted
    }

    fn revoke(&self, gathered: &GatheredConfig) -> CommandResult {
        let (home, project) = (&gathered.places.home, &gathered.project);
        let mut revoked = trust::revoke_trust(home, project)?;
        let scope = NoteScope::Project(project.id().clone());
        let retired = memory_in(home).retire_team_rules(&scope)?;
        refresh_mirrors(home, project, &[scope]);
        let is_withdrawn = ProjectRegistry::below(home).withdraw_confirmation(project)?;
        if is_withdrawn {
            revoked.push(format!("this checkout, as a clone of {}", project.origin()));
        }
        let root = project.root().display().to_string();
        if self.json {
            let retired = retired.iter().map(|note| note.id.to_string()).collect();
            ui::json(&RevokeReport { root, revoked, retired })?;
            return Ok(CommandAnswer::Yes);
        }
        if revoked.is_empty() && retired.is_empty() {
            ui::say(format_args!("Nothing was trusted in {root}"));
        } else if !revoked.is_empty() {
            ui::say(format_args!("No longer trusted: {}", revoked.join(", ")));
        }
        if is_withdrawn {
            ui::say("The memories that were moved from this checkout stay with the project.");
        }
        for note in retired {
            ui::say(format_args!("No longer a rule: {} ({})", note.text, note.id));
        }
        Ok(CommandAnswer::Yes)
    }
}

/// The agent files among these that need trust.
fn find_agent_requests(
    gathered: &GatheredConfig,
    files: &[PathBuf],
) -> recoup_core::Result<Vec<SensitiveFile>> {
    let settings = gathered.agent_settings();
    let context = AgentContext::of_config(gathered, &settings);
    let request = |file: &PathBuf| find_trust_request(context, gathered.project.root(), file);
    let found: recoup_core::Result<Vec<_>> = files.iter().map(request).collect();
    Ok(found?.into_iter().flatten().collect())
}

fn grant_trust(
    gathered: &GatheredConfig,
    asked: &[&SensitiveFile],
    rules: Option<&TeamRulesReview>,
) -> recoup_core::Result<()> {
    let (home, project) = (&gathered.places.home, &gathered.project);
    // First: rules that can't be stored are not trusted either.
    rules.map_or(Ok(()), |team| team.accept(home, project))?;
    let files = asked.iter().map(|file| {
        let text = file.text.as_bytes();
        TrustedFile { name: &file.name, text, project: None }
    });
    let files: Vec<TrustedFile<'_>> =
        files.chain(rules.and_then(|team| team.grant(project))).collect();
    if files.is_empty() {
        return Ok(());
    }
    ProjectRegistry::below(home).record(project)?;
    trust::grant_trust(home, project.root(), &files, SystemClock.now())?;
    let names: Vec<_> = files.iter().map(|file| file.name).collect();
    ui::say(format_args!("Trusted: {}", names.join(", ")));
    Ok(())
}

/// A file that is trusted, or a checkout that is confirmed.
#[derive(Serialize)]
#[serde(untagged)]
enum TrustedItem<'a> {
    File {
        root: &'a str,
        file: &'a str,
        sha256: Sha256Digest,
        at: String,
    },
    Checkout {
        root: &'a str,
        /// The project that it is a clone of.
        clone_of: &'a str,
    },
}

/// Lists everything that is trusted, in all repositories.
fn list_trusted(places: &BaseDirs, json: bool) -> CommandResult {
    let ledger = TrustStore::read(&places.home)?;
    let checkouts = ProjectRegistry::below(&places.home).confirmed_checkouts();
    let mut listed = Vec::new();
    for (root, files) in &ledger.projects {
        for (file, grant) in files {
            let (sha256, at) = (grant.sha256, grant.at.to_string());
            listed.push(TrustedItem::File { root, file, sha256, at });
        }
    }
    let checkouts = checkouts.iter();
    listed
        .extend(checkouts.map(|it| TrustedItem::Checkout { root: &it.root, clone_of: &it.claims }));
    if json {
        ui::json(&listed)?;
    } else if listed.is_empty() {
        ui::say("Nothing is trusted.");
    } else {
        let row = |item: &TrustedItem<'_>| match *item {
            TrustedItem::File { root, file, ref at, .. } => {
                vec![root.to_owned(), file.to_owned(), at.clone()]
            }
            TrustedItem::Checkout { root, clone_of } => {
                let what = format!("the checkout, as a clone of {clone_of}");
                vec![root.to_owned(), what, "-".to_owned()]
            }
        };
        let rows: Vec<Vec<String>> = listed.iter().map(row).collect();
        ui::table(&["PROJECT", "WHAT", "TRUSTED"], &rows)?;
    }
    Ok(CommandAnswer::Yes)
}
