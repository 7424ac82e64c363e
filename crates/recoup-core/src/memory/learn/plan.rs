//! Where work stands, as an agent's own list of what is to be done shows it.

use crate::memory::Checkpoint;
use crate::memory::transcript::{Action, Ended, Entry, Plan, Step, steps};

/// One thing that is to be done.
struct Task {
    id: String,
    text: String,
    done: bool,
}

/// What is done and what remains; none where there is no list. Sub-agents have lists of
/// their own, which are nobody's plan.
pub fn progress(entries: &[Entry]) -> Option<Checkpoint> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut known = false;
    for step in steps(entries).iter().filter(|step| step.agent.is_none() && worked(step)) {
        let Action::Plan(plan) = &step.call.action else { continue };
        known = true;
        apply(plan, step, &mut tasks);
    }
    let texts = |done: bool| {
        let these = tasks.iter().filter(|task| task.done == done);
        these.map(|task| task.text.clone()).collect::<Vec<_>>()
    };
    known.then(|| Checkpoint {
        completed: texts(true),
        remaining: texts(false),
        ..Checkpoint::default()
    })
}

fn worked(step: &Step<'_>) -> bool {
    step.outcome.is_none_or(|outcome| outcome.ended == Ended::Succeeded)
}

fn apply(plan: &Plan, step: &Step<'_>, tasks: &mut Vec<Task>) {
    match plan {
        Plan::Whole(all) => {
            tasks.clear();
            tasks.extend(all.iter().map(|(text, done)| Task {
                id: String::new(),
                text: text.clone(),
                done: *done,
            }));
        }
        Plan::Add(text) => {
            let id = step.outcome.and_then(|outcome| number(&outcome.output));
            let id = id.unwrap_or_else(|| (tasks.len() + 1).to_string());
            tasks.push(Task { id, text: text.clone(), done: false });
        }
        Plan::Mark { id, done: Some(done) } => {
            for task in tasks.iter_mut().filter(|task| task.id == *id) {
                task.done = *done;
            }
        }
        Plan::Mark { id, done: None } => tasks.retain(|task| task.id != *id),
    }
}

/// The first number of a text: `Task #3 created`.
fn number(text: &str) -> Option<String> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    Some(text[start..].chars().take_while(char::is_ascii_digit).collect())
}
