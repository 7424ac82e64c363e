//! Timing two things turn by turn.

use std::time::{Duration, Instant};

/// One comparison.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ratio {
    /// The median of what is compared with.
    pub(crate) baseline: Duration,
    /// The median of ours.
    pub(crate) subject: Duration,
    /// The ratio that was set as a goal.
    pub(crate) goal: f64,
}

impl Ratio {
    pub(crate) fn value(&self) -> f64 {
        self.subject.as_secs_f64() / self.baseline.as_secs_f64()
    }

    pub(crate) fn holds(&self) -> bool {
        self.value() <= self.goal
    }
}

/// One time against a goal that is a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figure {
    /// How long it took, at its best: noise only ever adds.
    pub(crate) time: Duration,
    /// How long it may take.
    pub(crate) goal: Duration,
}

impl Figure {
    pub(crate) fn holds(&self) -> bool {
        self.time <= self.goal
    }
}

/// What something takes in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) bytes: u64,
    /// How much it may take.
    pub(crate) goal: u64,
}

impl Size {
    pub(crate) fn holds(&self) -> bool {
        self.bytes <= self.goal
    }
}

/// The best of `rounds`, each on a scene of its own.
pub(crate) fn best<S>(
    goal: Duration,
    rounds: usize,
    scene: impl Fn() -> S,
    mut act: impl FnMut(&S),
) -> Figure {
    let times = (0..rounds).map(|_| {
        let scene = scene();
        timed(1, &mut || act(&scene))
    });
    Figure { time: times.min().unwrap_or_default(), goal }
}

/// Takes `rounds` turns, each with `batch` calls of either side. Which side goes
/// first alternates, so that neither always finds the caches warm.
pub(crate) fn compare(
    goal: f64,
    rounds: usize,
    batch: u32,
    mut baseline: impl FnMut(),
    mut subject: impl FnMut(),
) -> Ratio {
    let (mut base, mut ours) = (Vec::new(), Vec::new());
    for round in 0..rounds + rounds / 10 {
        let (b, s) = if round % 2 == 0 {
            let b = timed(batch, &mut baseline);
            (b, timed(batch, &mut subject))
        } else {
            let s = timed(batch, &mut subject);
            (timed(batch, &mut baseline), s)
        };
        // The first tenth only warms up.
        if round >= rounds / 10 {
            base.push(b);
            ours.push(s);
        }
    }
    Ratio { baseline: median(base), subject: median(ours), goal }
}

/// The median of `rounds` turns for each of them. Who goes first changes from turn to turn.
pub(crate) fn medians(rounds: usize, all: &mut [&mut dyn FnMut()]) -> Vec<Duration> {
    let mut times = vec![Vec::new(); all.len()];
    for round in 0..rounds + rounds / 10 {
        for turn in 0..all.len() {
            let at = (round + turn) % all.len();
            let time = timed(1, &mut all[at]);
            // The first tenth only warms up.
            if round >= rounds / 10 {
                times[at].push(time);
            }
        }
    }
    times.into_iter().map(median).collect()
}

fn timed(batch: u32, act: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..batch {
        act();
    }
    start.elapsed() / batch
}

fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    samples[samples.len() / 2]
}
