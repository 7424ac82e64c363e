//! `recoup condense` against the least that can be done with the same input:
//! reading it and writing it again.

use std::time::Duration;

use crate::measure::{Figure, Ratio, best, compare};
use crate::scene::Scene;

const RECOUP: &str = env!("CARGO_BIN_EXE_recoup");
const LENGTH: usize = 10_000_000;
const ROUNDS: usize = 20;

/// A review of 10 MB, in a file that goes with the scene.
struct Review {
    scene: Scene,
    file: String,
}

impl Review {
    fn new() -> Self {
        let scene = Scene::with_entries(0);
        let path = scene.db().with_file_name("review.json");
        std::fs::write(&path, text()).unwrap();
        Self { scene, file: path.into_os_string().into_string().unwrap() }
    }

    fn condense(&self, strategy: &str) {
        self.scene.run(RECOUP, &["condense", "--input", &self.file, "--strategy", strategy]);
    }
}

fn against_jq(strategy: &str) -> Ratio {
    let review = Review::new();
    let jq = || review.scene.run("jq", &["-c", ".", &review.file]);
    compare(1.5, ROUNDS, 1, jq, || review.condense(strategy))
}

pub(crate) fn verdict_against_jq() -> Ratio {
    against_jq("structured_verdict")
}

pub(crate) fn identifiers_against_jq() -> Ratio {
    against_jq("identifiers_only")
}

/// Counts every token of the input, tables included.
pub(crate) fn estimate() -> Figure {
    let goal = Duration::from_secs(2);
    best(goal, 3, Review::new, |review| {
        review.scene.run(RECOUP, &["condense", "estimate", "--input", &review.file]);
    })
}

fn text() -> String {
    let mut findings = Vec::new();
    let mut length = 0;
    for n in 0.. {
        let finding = finding(n);
        length += finding.len() + 1;
        findings.push(finding);
        if length > LENGTH {
            break;
        }
    }
    format!(r#"{{"verdict":"FAIL","findings":[{}]}}"#, findings.join(","))
}

/// As scanners write them: more fields than anyone reads.
fn finding(n: usize) -> String {
    let severity = ["low", "medium", "high", "critical"][n % 4];
    let (module, line) = (n * 7_919 % 1_000, n * 31 % 4_000);
    format!(
        r#"{{"id":"F{n}","severity":"{severity}","file":"src/module_{module}.rs","line":{line},"message":"value {n} is not checked before use in a \"query\"","snippet":"let rows = run(&format!(\"…{{value}}\"))?;\n","tags":["sql","input"],"score":{line}.5}}"#
    )
}
