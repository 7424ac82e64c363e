//! How well the rules do on the corpus: the share of secrets that is refused,
//! the share of clean texts that is, and which texts they get wrong.

use recoup_core::secrets::detect_secret;

use super::Sample;

/// At least this share of the secrets must be refused.
pub(crate) const LEAST_REFUSED: f64 = 0.99;
/// At most this share of the clean texts may be.
pub(crate) const MOST_REFUSED: f64 = 0.01;

/// One kind of text, and those that were judged wrongly.
#[derive(Debug)]
pub(crate) struct Rate {
    pub(crate) texts: usize,
    pub(crate) refused: usize,
    /// The names of the wrong ones, with the rule that refused a clean text.
    pub(crate) wrong: Vec<String>,
}

impl Rate {
    pub(crate) fn share(&self) -> f64 {
        let parts = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        parts(self.refused) / parts(self.texts)
    }
}

/// The secrets: what is not refused is wrong.
pub(crate) fn of_secrets(samples: &[Sample]) -> Rate {
    let missed = samples.iter().filter(|sample| detect_secret(sample.text.as_bytes()).is_none());
    let wrong: Vec<String> = missed.map(|sample| sample.name.clone()).collect();
    Rate { texts: samples.len(), refused: samples.len() - wrong.len(), wrong }
}

/// The clean texts: what is refused is wrong.
pub(crate) fn of_clean(samples: &[Sample]) -> Rate {
    let alarm = |sample: &Sample| {
        let rule = detect_secret(sample.text.as_bytes())?;
        Some(format!("{} ({rule})", sample.name))
    };
    let wrong: Vec<String> = samples.iter().filter_map(alarm).collect();
    Rate { texts: samples.len(), refused: wrong.len(), wrong }
}
