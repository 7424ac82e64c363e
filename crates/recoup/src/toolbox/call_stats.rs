//! Statistics of tool calls, from the call log: calls, hits, errors and savings of each tool, and
//! which tools would be worth caching. The advice is evidence: calls that were repeated with the same
//! arguments, and whether the server gave the same result.

use std::collections::{BTreeMap, HashMap};

use recoup_core::base::clock::Timestamp;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::cache::Ttl;
use serde::Serialize;
use serde_json::json;

use super::call_log::{CallLogLine, LoggedOutcome};
use super::policy::NamePattern;
use super::read_only;

/// TTLs that are proposed, the shortest first.
const PROPOSED_TTLS: [Ttl; 5] =
    [Ttl::seconds(60), Ttl::seconds(300), Ttl::seconds(900), Ttl::seconds(3_600), Ttl::days(1)];
/// Fewest repeated calls that count as evidence.
const MIN_REPEATS: u64 = 2;

/// Statistics of one tool, or of one method.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ToolStats {
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) calls: u64,
    pub(crate) hits: u64,
    pub(crate) errors: u64,
    /// Mean duration of a call that the server answered.
    pub(crate) mean_millis: Option<u64>,
    /// The hits, each at the mean duration.
    pub(crate) saved_millis: u64,
    pub(crate) saved_bytes: u64,
    /// Calls that the server answered though it had answered the same arguments before.
    pub(crate) repeats: u64,
    /// Repeated calls with another result than before.
    pub(crate) changed: u64,
    /// Why the latest call was not cached, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_cached: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) advice: Option<CachingAdvice>,
}

/// A proposal to cache a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CachingAdvice {
    /// The section of the configuration, such as `[mcpServers.github]`.
    pub(crate) section: String,
    /// The line to add there.
    pub(crate) line: String,
    /// Repeated calls that would have been hits.
    pub(crate) would_hit: u64,
    /// The time that they took.
    pub(crate) would_save_millis: u64,
    /// True if the tool reads files: the user checks the sources in the line.
    pub(crate) needs_sources: bool,
    /// True if the line has no sources yet.
    pub(crate) lacks_sources: bool,
    /// True if the tool has not declared itself read-only.
    pub(crate) is_undeclared: bool,
}

/// Collects the statistics of a log, line by line, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct CallStatsCollector {
    tools: BTreeMap<(String, String), CollectedTool>,
}

#[derive(Debug, Default)]
struct CollectedTool {
    calls: u64,
    hits: u64,
    errors: u64,
    answered: u64,
    answered_millis: u64,
    saved_bytes: u64,
    not_cached: Option<String>,
    /// True once a call was passed for want of a TTL.
    lacks_ttl: bool,
    read_only: Option<bool>,
    file_arguments: Vec<String>,
    /// The latest answer to each arguments.
    latest: HashMap<Sha256Digest, (Timestamp, Sha256Digest)>,
    repeats: Vec<RepeatedCall>,
}

/// A repeated call, and the time since the one before.
#[derive(Debug, Clone, Copy)]
struct RepeatedCall {
    gap_millis: u64,
    millis: u64,
    is_same: bool,
}

impl CallStatsCollector {
    pub(crate) fn add(&mut self, line: CallLogLine) {
        let CallLogLine { at, server, tool, outcome, why, error, millis, bytes, .. } = line;
        let tool = self.tools.entry((server, tool)).or_default();
        tool.calls += 1;
        tool.errors += u64::from(error);
        tool.read_only = line.read_only.or(tool.read_only);
        if !line.file_arguments.is_empty() {
            tool.file_arguments = line.file_arguments;
        }
        match outcome {
            LoggedOutcome::Hit => {
                tool.hits += 1;
                tool.saved_bytes += bytes;
                tool.not_cached = None;
            }
            LoggedOutcome::Cancelled => {}
            LoggedOutcome::Miss | LoggedOutcome::Pass => {
                tool.answered += 1;
                tool.answered_millis += millis;
                tool.lacks_ttl = line.lacks_ttl;
                tool.not_cached = why;
                if let (false, Some(arguments), Some(result)) = (error, line.arguments, line.result)
                    && let Some((before, earlier)) = tool.latest.insert(arguments, (at, result))
                {
                    let gap_millis = at.millis_since(before);
                    let is_same = earlier == result;
                    tool.repeats.push(RepeatedCall { gap_millis, millis, is_same });
                }
            }
        }
    }

    /// Statistics by server and tool.
    pub(crate) fn finish(self) -> Vec<ToolStats> {
        let stats = |((server, tool), it): ((String, String), CollectedTool)| {
            let mean_millis = it.answered_millis.checked_div(it.answered);
            ToolStats {
                calls: it.calls,
                hits: it.hits,
                errors: it.errors,
                mean_millis,
                saved_millis: it.hits * mean_millis.unwrap_or(0),
                saved_bytes: it.saved_bytes,
                repeats: it.repeats.len() as u64,
                changed: it.repeats.iter().filter(|repeat| !repeat.is_same).count() as u64,
                advice: it.advice(&server, &tool),
                not_cached: it.not_cached,
                server,
                tool,
            }
        };
        self.tools.into_iter().map(stats).collect()
    }
}

impl CollectedTool {
    /// Proposes the shortest TTL under which the most repeated calls would have been hits, and none
    /// would have given an old result.
    fn advice(&self, server: &str, tool: &str) -> Option<CachingAdvice> {
        let may_read = self.read_only != Some(false)
            && !read_only::tells_clock_or_chance(tool)
            && NamePattern::is_valid(tool);
        if !self.lacks_ttl || !may_read {
            return None;
        }
        let changed = self.repeats.iter().filter(|repeat| !repeat.is_same);
        // Half of the shortest time in which a result has changed.
        let limit = changed.map(|repeat| repeat.gap_millis / 2).min().unwrap_or(u64::MAX);
        let hits = |ttl: Ttl| {
            let millis = ttl.as_millis().unwrap_or(u64::MAX);
            self.repeats.iter().filter(move |repeat| repeat.is_same && repeat.gap_millis < millis)
        };
        let safe =
            PROPOSED_TTLS.into_iter().filter(|ttl| ttl.as_millis().is_some_and(|it| it <= limit));
        // Of equally good ones, `max_by_key` takes the last, so the shortest comes last.
        let best = safe.rev().max_by_key(|ttl| hits(*ttl).count())?;
        let would_hit = hits(best).count() as u64;
        if would_hit < MIN_REPEATS {
            return None;
        }
        let needs_sources = read_only::reads_files(tool, &self.file_arguments);
        let states = read_only::named_states(tool);
        // The first of several arguments is the directory. What lists one reads no files in it.
        let is_listing = states.iter().any(|state| state.starts_with("dir:"));
        let files = self.file_arguments.iter().skip(usize::from(is_listing));
        let first = self.file_arguments.first();
        let dir = first.map(|name| format!("{{{name}}}/")).unwrap_or_default();
        // Without one, files are those of the working directory.
        let here = (first.is_none() && !is_listing && !states.is_empty()).then(|| ".".to_owned());
        let states = states.iter().map(|state| format!("{dir}{state}"));
        let sources = files.map(|name| format!("{{{name}}}")).chain(here).chain(states);
        let sources: Vec<_> = sources.map(|source| json!(source).to_string()).collect();
        let value = if needs_sources {
            format!("{{ ttl = \"{best}\", sources = [{}] }}", sources.join(", "))
        } else {
            format!("\"{best}\"")
        };
        Some(CachingAdvice {
            section: format!("[mcpServers.{}]", toml_key(server)),
            line: format!("toolsCache.{} = {value}", toml_key(tool)),
            would_hit,
            would_save_millis: hits(best).map(|repeat| repeat.millis).sum(),
            needs_sources,
            lacks_sources: needs_sources && sources.is_empty(),
            is_undeclared: self.read_only.is_none(),
        })
    }
}

/// A key as TOML writes it: quoted, if need be.
fn toml_key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(is_bare) {
        name.to_owned()
    } else {
        serde_json::Value::from(name).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60_000;

    /// Calls of one tool with the same arguments: minutes, and the result.
    fn stats_of(tool: &str, read_only: Option<bool>, calls: &[(u64, &str)]) -> ToolStats {
        stats_with(tool, read_only, &[], calls)
    }

    fn stats_with(
        tool: &str,
        read_only: Option<bool>,
        files: &[&str],
        calls: &[(u64, &str)],
    ) -> ToolStats {
        let mut collector = CallStatsCollector::default();
        for (minute, result) in calls {
            collector.add(CallLogLine {
                at: Timestamp::from_millis((minute * MINUTE).cast_signed()),
                server: "web search".to_owned(),
                tool: tool.to_owned(),
                outcome: LoggedOutcome::Pass,
                why: Some("no TTL is configured".to_owned()),
                lacks_ttl: true,
                read_only,
                file_arguments: files.iter().map(|name| (*name).to_owned()).collect(),
                error: false,
                millis: 200,
                bytes: 10,
                arguments: Some(Sha256Digest::of(b"{}")),
                result: Some(Sha256Digest::of(result.as_bytes())),
            });
        }
        collector.finish().pop().expect("one tool")
    }

    #[test]
    fn repeated_calls_with_one_result_are_worth_the_shortest_ttl_that_covers_them() {
        let calls = [(0, "a"), (1, "a"), (4, "a"), (5, "a")];
        let stats = stats_of("search", Some(true), &calls);
        let advice = stats.advice.expect("advice");
        assert_eq!(advice.section, "[mcpServers.\"web search\"]");
        assert_eq!(advice.line, "toolsCache.search = \"5m\"");
        assert_eq!((advice.would_hit, advice.would_save_millis), (3, 600));
        assert_eq!((stats.calls, stats.repeats, stats.changed), (4, 3, 0));
        assert!(!advice.is_undeclared && !advice.needs_sources);
    }

    #[test]
    fn a_result_that_changed_limits_the_ttl() {
        let often = [(0, "a"), (1, "b"), (2, "c")];
        assert_eq!(stats_of("search", Some(true), &often).advice, None);
        let seldom = [(0, "a"), (3, "a"), (6, "a"), (36, "b"), (39, "b")];
        let advice = stats_of("search", Some(true), &seldom).advice.expect("advice");
        assert_eq!((advice.line.ends_with("= \"5m\""), advice.would_hit), (true, 3));
    }

    #[test]
    fn writers_clocks_and_single_repeats_are_not_proposed() {
        let calls = [(0, "a"), (1, "a"), (2, "a")];
        assert_eq!(stats_of("create_issue", Some(false), &calls).advice, None);
        assert_eq!(stats_of("get_current_time", Some(true), &calls).advice, None);
        assert_eq!(stats_of("search", Some(true), &calls[..2]).advice, None);
        assert!(stats_of("search", None, &calls).advice.expect("advice").is_undeclared);
        assert_eq!(stats_of("a name", None, &calls).advice, None, "the configuration refuses it");
    }

    #[test]
    fn tools_that_read_files_are_proposed_with_sources() {
        for (tool, files, sources) in [
            ("read_file", &["path"][..], r#"["{path}"]"#),
            (
                "blame",
                &["repo_path", "file"],
                r#"["{repo_path}", "{file}", "{repo_path}/git:HEAD", "{repo_path}/git:index"]"#,
            ),
            ("list_directory", &["path"], r#"["{path}/dir:list"]"#),
            ("search", &["cwd", "file"], r#"["{file}", "{cwd}/dir:tree"]"#),
            ("git_status", &[], r#"[".", "git:HEAD", "git:index"]"#),
            ("read_file", &[], "[]"),
        ] {
            let calls = [(0, "a"), (1, "a"), (2, "a")];
            let advice = stats_with(tool, Some(true), files, &calls).advice.expect("advice");
            assert!(advice.needs_sources && advice.lacks_sources == (sources == "[]"));
            let end = format!("= {{ ttl = \"5m\", sources = {sources} }}");
            assert!(advice.line.ends_with(&end), "{}", advice.line);
        }
    }
}
