//! How good search is on the corpus, so that it can't rot. `cargo xtask eval
//! retrieval` has the figures; these floors are a little below them.

use super::corpus::engines::{Ours, Plain};
use super::corpus::figures::{Figures, Unasked, rank, share};
use super::corpus::{notes, questions};

#[test]
fn search_is_as_good_as_it_was_and_better_than_plain_bm25() {
    let (notes, questions) = (notes(), questions());
    let (engine, baseline) = (Ours::over(&notes), Plain::over(&notes));
    let (mut ours, mut plain) = (Figures::default(), Figures::default());
    let mut unasked = Unasked::default();
    for question in &questions {
        unasked.add(&engine, &notes, question);
        if !question.answers.is_empty() {
            ours.add(rank(&engine, &notes, question));
            plain.add(rank(&baseline, &notes, question));
        }
    }
    let [first, five, ten] = ours.recall();
    assert!(first >= 0.80 && five >= 0.88 && ten >= 0.90 && ours.mrr() >= 0.84, "{ours:?}");
    assert!(ours.mrr() >= plain.mrr() + 0.15, "{ours:?} {plain:?}");
    assert!(share(unasked.silent, unasked.strangers) >= 0.93, "{unasked:?}");
    assert!(share(unasked.served, unasked.prompts) >= 0.36, "{unasked:?}");
}
