//! The questions of `recoup init`, each with its consequences in one sentence.

use recoup_core::{Error, Result};

use super::{InitAnswerArgs, SkillsChoice, YesOrNo};
use crate::cli::ui;
use crate::config::{self, FlagOverrides, RecordingClients, ResolvedSettings};
use crate::install::AgentClient;
use crate::install::answers::{self, ConfigAnswer};

/// Decision about other memory tools that were found.
#[derive(Default)]
pub(super) struct PeerDecision {
    /// Removed from the clients.
    pub(super) replaced: Vec<&'static str>,
    /// Left in place, as the user decided now or before.
    pub(super) kept: Vec<&'static str>,
    /// True if the stored decision changes.
    is_news: bool,
}

impl PeerDecision {
    /// The decision as a configuration value, if it changes.
    pub(super) fn answer(&self) -> Option<ConfigAnswer> {
        let value = answers::AnswerValue::Word(config::peers_in_words(&self.kept));
        self.is_news.then_some(ConfigAnswer { key: answers::PEERS_KEEP, value })
    }
}

/// Decides which tools are removed: all with the flag; else asks about those that the user has not
/// decided to keep.
pub(super) fn decide_peers(found: &[&'static str], all: bool, may_ask: bool) -> PeerDecision {
    if found.is_empty() {
        return PeerDecision::default();
    }
    // An unreadable configuration is reported elsewhere.
    let settings = ResolvedSettings::load(&FlagOverrides::default());
    let kept = settings.map(|settings| settings.kept_peers).unwrap_or_default();
    let without = |names: &[&'static str], others: &[&'static str]| {
        names.iter().copied().filter(|name| !others.contains(name)).collect::<Vec<_>>()
    };
    let open = without(found, &kept);
    if all {
        let left = without(&kept, found);
        return PeerDecision { is_news: left != kept, replaced: found.to_vec(), kept: left };
    }
    if open.is_empty() || !may_ask {
        return PeerDecision { kept, ..PeerDecision::default() };
    }
    let (verb, whose, it) = match open.len() {
        1 => ("is", "its", "it"),
        _ => ("are", "their", "them"),
    };
    let names = open.join(" and ");
    ui::say(format_args!(
        "{names} {verb} installed, too: together with recoup, everything is remembered and given to \
         agents twice. The data of {names} is not deleted. `recoup uninstall` restores {it}, \
         unless the file has changed in between: then use the copy in `backups`."
    ));
    if ui::confirm(format_args!("Remove {names} ({whose} hooks, servers and plug-ins)?")) {
        return PeerDecision { replaced: open, kept, is_news: false };
    }
    PeerDecision { kept: [kept, open].concat(), is_news: true, ..PeerDecision::default() }
}

/// Decides whose agents may record rules: by the flag, or else by asking about each client that has
/// no answer yet.
pub(super) fn decide_recording(
    clients: &[AgentClient],
    said: Option<YesOrNo>,
    may_ask: bool,
) -> Vec<ConfigAnswer> {
    // An unreadable configuration is reported elsewhere.
    let before = ResolvedSettings::load(&FlagOverrides::default())
        .map(|it| it.recording)
        .unwrap_or_default();
    let RecordingClients { mut allowed, mut denied } = before.clone();
    for client in clients {
        let is_open = may_ask && !allowed.contains(client) && !denied.contains(client);
        let answer = match said {
            Some(said) => Some(said == YesOrNo::Yes),
            None => is_open.then(|| {
                ui::confirm(format_args!(
                    "May agents in {} record rules on your behalf? If yes, what they record as \
                     your words applies at once, in that project, for every client that works \
                     there, even if a web page or a file made them record it, unless it may \
                     contradict what you or your team said. If no, it is kept as a candidate \
                     until you confirm it.",
                    client.title()
                ))
            }),
        };
        let Some(may_record) = answer else { continue };
        for (list, is_on) in [(&mut allowed, may_record), (&mut denied, !may_record)] {
            list.retain(|it| it != client);
            list.extend(is_on.then_some(*client));
        }
    }
    let changed = |key, before: &[AgentClient], after: &[AgentClient]| {
        let value = answers::AnswerValue::Word(config::clients_in_words(after));
        (before != after).then_some(ConfigAnswer { key, value })
    };
    let allow = changed(answers::RECORD_ALLOW, &before.allowed, &allowed);
    allow.into_iter().chain(changed(answers::RECORD_DENY, &before.denied, &denied)).collect()
}

/// Takes answers from flags, and asks about keys that have none yet.
pub(super) fn collect_answers(
    said: InitAnswerArgs,
    given: &[&'static str],
    may_ask: bool,
) -> Result<Vec<ConfigAnswer>> {
    let open = |key: &'static str| may_ask && !given.contains(&key) && config::is_known_key(key);
    let truth = |key, value| ConfigAnswer { key, value: answers::AnswerValue::Truth(value) };
    let ask = |key: &'static str, flag: Option<YesOrNo>, question: &str| match flag {
        Some(flag) => Some(truth(key, flag == YesOrNo::Yes)),
        None => open(key).then(|| truth(key, ui::confirm(question))),
    };
    let judge = ask(answers::JUDGE, said.judge, JUDGE);
    let sync = ask(answers::SYNC, said.sync_rules, SYNC);
    let skills = said.skills.or_else(|| {
        open(answers::SKILLS).then(|| {
            if !ui::confirm(SKILLS) {
                SkillsChoice::Off
            } else if ui::confirm(SKILLS_PLACE) {
                SkillsChoice::User
            } else {
                SkillsChoice::Project
            }
        })
    });
    let place = match skills {
        Some(SkillsChoice::User) => Some("user"),
        Some(SkillsChoice::Project) => Some("project"),
        Some(SkillsChoice::Off) | None => None,
    };
    let place = place.map(|word| answers::AnswerValue::Word(word.to_owned()));
    let place = place.map(|value| ConfigAnswer { key: answers::SKILLS_PLACE, value });
    let skills = skills.map(|skills| truth(answers::SKILLS, skills != SkillsChoice::Off));
    let all: Vec<ConfigAnswer> = [judge, sync, skills, place].into_iter().flatten().collect();
    // An unknown key would make the configuration invalid.
    match all.iter().find(|answer| !config::is_known_key(answer.key)) {
        Some(unknown) => {
            Err(Error::usage(format!("this version of recoup has no setting `{}`", unknown.key)))
        }
        None => Ok(all),
    }
}

const JUDGE: &str = "May a model help to recognize rules? Sentences of yours that may be rules, \
    and the last turns of a session, are then sent to the provider whose API key is in your \
    environment, without secrets and private parts.";
const SYNC: &str = "Write rules into Claude Code's own memory, too? Then sessions without \
    recoup's hooks also know them; the rules are stored in files under ~/.claude.";
const SKILLS: &str = "Turn three or more memories on one topic into a skill? Claude Code then reads \
    it when the topic comes up; recoup rewrites the file when the memories change.";
const SKILLS_PLACE: &str = "Write skills to your own folder, ~/.claude/skills? Otherwise they go into \
    each project's .claude/skills, hidden from git.";
