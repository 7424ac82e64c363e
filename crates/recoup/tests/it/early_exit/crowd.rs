//! Fifty processes, a hundred times.

use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use recoup_core::base::clock::SystemClock;
use recoup_core::base::name::SafeName;
use recoup_core::early_exit::{DirSessions, EarlyExit};

use super::{command, early_exit};
use crate::support::Home;

const PROCESSES: usize = 50;
const ROUNDS: usize = 100;

fn sessions(home: &Home) -> EarlyExit {
    let dir = home.recoup().join("early-exit");
    EarlyExit::new(Arc::new(DirSessions::at(&dir, Arc::new(SystemClock))))
}

/// Looks all the time; whoever has won has a name and a result, and stays.
fn looked_on(sessions: &EarlyExit, session: &SafeName, over: &AtomicBool) {
    let mut seen = None;
    while !over.load(Ordering::SeqCst) {
        let found = sessions.answer(session).unwrap();
        if let Some(answer) = &found {
            let result = answer.result.as_deref().expect("the result comes with the winner");
            assert_eq!(result, answer.agent.as_str().as_bytes());
        }
        assert!(seen.is_none() || seen == found, "{seen:?} became {found:?}");
        seen = found;
    }
}

#[test]
fn fifty_processes_race_a_hundred_times_and_always_exactly_one_wins() {
    let home = Home::new();
    let agents: Vec<String> = (0..PROCESSES).map(|n| format!("agent-{n}")).collect();
    for agent in &agents {
        home.write(agent, agent);
    }
    for round in 0..ROUNDS {
        let session = format!("s{round}");
        let name = SafeName::parse("session", &session).unwrap();
        let (sessions, over) = (sessions(&home), AtomicBool::new(false));
        let winners: Vec<&String> = thread::scope(|scope| {
            let looking = scope.spawn(|| looked_on(&sessions, &name, &over));
            let started: Vec<Child> = agents
                .iter()
                .map(|agent| {
                    let args = ["signal", &session, agent, "--result", agent];
                    command(&home, &args).stderr(Stdio::null()).spawn().unwrap()
                })
                .collect();
            let ended = started.into_iter().map(|mut child| child.wait().unwrap().code());
            let ended: Vec<Option<i32>> = ended.collect();
            over.store(true, Ordering::SeqCst);
            looking.join().unwrap();
            assert!(ended.iter().all(|code| matches!(code, Some(0 | 1))), "{ended:?}");
            let won = ended.iter().zip(&agents).filter(|(code, _)| **code == Some(0));
            won.map(|(_, agent)| agent).collect()
        });
        assert_eq!(winners.len(), 1, "{winners:?}");
        let answer = sessions.answer(&name).unwrap().unwrap();
        assert_eq!(answer.agent.as_str(), winners[0]);
        assert_eq!(answer.result.as_deref(), Some(winners[0].as_bytes()));
    }
    early_exit(&home, &["read-winner", "s0"]).expect(0);
}
