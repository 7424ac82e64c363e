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
    let mut by_the_letter = Figures::default();
    let mut unasked = Unasked::default();
    for question in &questions {
        unasked.add(&engine, &notes, question);
        if !question.answers.is_empty() {
            let found = rank(&engine, &notes, question);
            ours.add(found);
            if ["exact", "identifier", "partial"].contains(&&*question.sort) {
                by_the_letter.add(found);
            }
            plain.add(rank(&baseline, &notes, question));
        }
    }
    let [first, five, ten] = ours.recall();
    assert!(first >= 0.81 && five >= 0.885 && ten >= 0.90 && ours.mrr() >= 0.845, "{ours:?}");
    assert!(by_the_letter.recall()[0] >= 0.99, "{by_the_letter:?}");
    assert!(ours.mrr() >= plain.mrr() + 0.2, "{ours:?} {plain:?}");
    assert!(share(unasked.silent, unasked.strangers) >= 0.93, "{unasked:?}");
    assert!(share(unasked.served, unasked.prompts) >= 0.36, "{unasked:?}");
}
