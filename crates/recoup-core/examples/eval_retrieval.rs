//! `cargo xtask eval retrieval`: our search and plain BM25 on the same notes and
//! queries, by sort of query and by half. With `--verbose` it lists what was missed.
#![allow(clippy::print_stdout, reason = "a report for the terminal")]

#[path = "../tests/corpus/retrieval/mod.rs"]
mod corpus;

use std::collections::BTreeMap;

use corpus::engines::{Engine as _, Ours, Plain};
use corpus::figures::{self, Figures, Unasked, share};
use corpus::{Note, Question};

/// One row of the table: ours, and plain BM25.
type Pair = [Figures; 2];

fn main() {
    let verbose = std::env::args().any(|argument| argument == "--verbose");
    let (notes, questions) = (corpus::notes(), corpus::questions());
    let (ours, plain) = (Ours::over(&notes), Plain::over(&notes));
    let mut rows: BTreeMap<&str, Pair> = BTreeMap::new();
    let mut unasked: BTreeMap<&str, Unasked> = BTreeMap::new();
    for question in &questions {
        let half = if question.is_tuned_on() { "tuned on" } else { "held out" };
        unasked.entry(half).or_default().add(&ours, &notes, question);
        if question.answers.is_empty() {
            continue;
        }
        let ranks =
            [figures::rank(&ours, &notes, question), figures::rank(&plain, &notes, question)];
        for row in [&question.sort, "~ all", half] {
            let pair = rows.entry(row).or_default();
            pair.iter_mut().zip(ranks).for_each(|(figures, rank)| figures.add(rank));
        }
        if verbose && ranks[0] != Some(1) {
            tell_miss(question, ranks[0], &notes);
        }
    }
    for half in ["working", "frozen"] {
        print_small_set(half, verbose && half == "working");
    }
    println!("{} notes, {} queries\n", notes.len(), questions.len());
    print_table(&rows);
    for (half, unasked) in &unasked {
        print_unasked(half, unasked);
    }
}

/// Prints how many queries of a small set are answered first and among the first three, and how many
/// notes are given where none fits.
fn print_small_set(half: &str, verbose: bool) {
    let set = corpus::small_set(half);
    let note = |(at, text): (usize, &String)| Note {
        id: at.to_string(),
        kind: "preference".to_owned(),
        text: text.clone(),
    };
    let notes: Vec<Note> = set.notes.iter().enumerate().map(note).collect();
    let ours = Ours::over(&notes);
    let mut sorts: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for query in &set.queries {
        let found = ours.best(&query.text);
        let place = found.iter().position(|row| query.answers.contains(row));
        let counts = sorts.entry(&query.sort).or_default();
        counts[0] += 1;
        counts[1] += usize::from(place == Some(0));
        counts[2] += usize::from(place.is_some_and(|it| it < 3));
        counts[3] += found.len();
        if verbose && place.is_none_or(|it| it > 0) {
            let best = found.first().map(|row| notes[*row].text.as_str());
            println!("{} {:?} {place:?}: {best:?}", query.sort, query.text);
        }
    }
    println!("{half}: {:>20}{:>8}{:>10}{:>12}", "queries", "first", "in three", "notes given");
    for (sort, [all, first, three, given]) in sorts {
        println!("{sort:16}{all:>8}{first:>8}{three:>10}{given:>12}");
    }
    println!();
}

fn tell_miss(question: &Question, rank: Option<u32>, notes: &[Note]) {
    let rank = rank.map_or_else(|| "not found".into(), |rank| format!("rank {rank}"));
    println!("{} ({}): {}", rank, question.sort, question.text);
    for note in notes.iter().filter(|note| question.answers.contains(&note.id)) {
        println!("    {} {}", note.id, note.text);
    }
}

fn print_table(rows: &BTreeMap<&str, Pair>) {
    let head = ["recall@1", "@5", "@10", "MRR"].map(|name| format!("{name:>8}")).concat();
    println!("{:24}{:<40}plain BM25", "", "ours");
    println!("{:16}{:>7}  {head}        {head}", "", "queries");
    for (name, [ours, plain]) in rows {
        let name = name.trim_start_matches("~ ");
        println!("{name:16}{:>7}  {}        {}", ours.queries, line(ours), line(plain));
    }
}

fn line(figures: &Figures) -> String {
    let [one, five, ten] = figures.recall();
    [one, five, ten, figures.mrr()].map(|figure| format!("{figure:>8.3}")).concat()
}

fn print_unasked(half: &str, unasked: &Unasked) {
    let Unasked { strangers, silent, prompts, served, given, right } = *unasked;
    println!(
        "\n{half}: silent for {silent} of {strangers} queries that nothing answers ({:.1} %); \
         {served} of {prompts} prompts were given an answer ({:.1} %), {given} notes in all, {right} of them answers",
        share(silent, strangers) * 100.0,
        share(served, prompts) * 100.0,
    );
}
