//! Continues without faulty configuration. A repository's file with a problem is ignored whole,
//! with a warning: a change in a repository must not stop the user's commands. Commands that
//! protect the user continue without the user's own file as well.

use super::configured_value::{ConfiguredValue, ValueStanding};
use super::gather::GatheredConfig;
use super::keys::KEYS;
use super::origin::{ConfigFile, ConfigLayer, ValueOrigin};
use super::problem::ConfigProblem;

impl GatheredConfig {
    /// Drops those of these files that have a problem.
    pub(super) fn leave_out_faulty(&mut self, files: &[ConfigFile]) {
        for file in files {
            let is_from = |origin: &ValueOrigin| matches!(origin, ValueOrigin::File { file: it, .. } if it == file);
            let is_in = |given: &ConfiguredValue| is_from(&given.origin);
            let is_about = |problem: &ConfigProblem| problem.order.1 == Some(*file);
            let faults: Vec<ConfigProblem> = self
                .givens
                .iter()
                .filter(|it| is_in(it))
                .filter_map(|it| self.fault_of(it))
                .collect();
            if faults.is_empty() && !self.problems.iter().any(is_about) {
                continue;
            }
            self.left_out.extend(self.problems.extract_if(.., |it| is_about(it)));
            self.left_out.extend(faults);
            self.givens.retain(|given| !is_in(given));
            self.tools.retain(|setting| !is_from(&setting.origin));
            self.delicate.retain(|delicate| delicate.name != file.name());
            if *file == ConfigFile::User {
                self.prices.clear();
            }
        }
    }

    /// Drops everything that has a problem, except flags.
    pub(super) fn leave_out_all_faulty(&mut self) {
        self.leave_out_faulty(&[ConfigFile::User]);
        let is_variable =
            |layer: ConfigLayer| matches!(layer, ConfigLayer::PeerVariable | ConfigLayer::Variable);
        self.left_out.extend(self.problems.extract_if(.., |it| is_variable(it.order.0)));
        for at in (0..self.givens.len()).rev() {
            let given = &self.givens[at];
            if is_variable(given.origin.layer())
                && let Some(fault) = self.fault_of(given)
            {
                self.left_out.push(fault);
                self.givens.remove(at);
            }
        }
    }

    /// One warning for each file or variable that was dropped.
    pub(crate) fn left_out_warnings(&self) -> Vec<String> {
        let mut problems: Vec<&ConfigProblem> = self.left_out.iter().collect();
        problems.sort_by_key(|problem| problem.order);
        let same_file =
            |a: &&ConfigProblem, b: &&ConfigProblem| a.order.1.is_some() && a.order.1 == b.order.1;
        let of_one = problems.chunk_by(same_file);
        of_one
            .map(|problems| {
                let warning = ignored_warning(problems[0]);
                match problems.len() - 1 {
                    0 => warning,
                    more => format!("{warning} ({more} more: `recoup config check`)"),
                }
            })
            .collect()
    }

    /// The problem with a value that counts, if it has one.
    fn fault_of(&self, given: &ConfiguredValue) -> Option<ConfigProblem> {
        let key = KEYS.iter().find(|key| key.info().name == given.key.name)?;
        let counts = given.standing == ValueStanding::Counts;
        counts.then(|| {
            self.parse_value(|raw, context| key.read_for_display(raw, context), given).err()
        })?
    }
}

/// The warning that a file or variable is ignored because of this problem.
fn ignored_warning(problem: &ConfigProblem) -> String {
    let ConfigProblem { place, message, order: (_, file, _) } = problem;
    if file.is_none() {
        return format!("ignoring {problem}");
    }
    // `FILE`, `FILE:LINE` or `FILE:LINE:COLUMN`, and a key behind it or none.
    let (mut file, key) = place.split_once(": ").unwrap_or((place, ""));
    let mut numbers = Vec::new();
    while let Some((before, number)) = file.rsplit_once(':')
        && let Ok(number) = number.parse::<u64>()
    {
        file = before;
        numbers.insert(0, number);
    }
    let spot = match &numbers[..] {
        [] => String::new(),
        [line] => format!("line {line}: "),
        [line, column, ..] => format!("line {line}, column {column}: "),
    };
    let key = if key.is_empty() { String::new() } else { format!("{key}: ") };
    format!("ignoring {file} as a whole: {spot}{key}{message}")
}
