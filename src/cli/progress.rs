//! What a long command is at: which stage of how many, since when, and about how long it will still take.

use super::output::note;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// A stage by the name that the library gives it, and the share of the whole time that it took in a trial of 300 people over 12 weeks: for estimates of the
/// time that is left, and nothing else.
pub type Share = (&'static str, f64);

pub const STUDY: [Share; 10] = [
    ("reading", 0.004),
    ("looking at the data", 0.004),
    ("fitting counterfactuals", 0.012),
    ("learning from everybody", 0.09),
    ("learning without each fold of people", 0.275),
    ("estimating values", 0.135),
    ("following people in all worlds", 0.065),
    ("following people under each policy", 0.31),
    ("comparing groups", 0.005),
    ("asking how much must be wrong", 0.1),
];

pub const LEARN: [Share; 7] = [
    ("reading", 0.01),
    ("fitting the mechanism", 0.12),
    ("reconstructing counterfactual states", 0.02),
    ("diagnosing", 0.03),
    ("fitted Q iteration", 0.02),
    ("learning from halves of the people", 0.4),
    ("refitting with resampled people", 0.4),
];

pub const EVALUATE: [Share; 4] = [
    ("reading", 0.02),
    ("following the policy", 0.03),
    ("estimating values", 0.55),
    ("following people in all worlds", 0.4),
];

pub const PREPROCESS: [Share; 5] = [
    ("reading", 0.05),
    ("fitting the mechanism", 0.7),
    ("reconstructing counterfactual states", 0.05),
    ("diagnosing", 0.15),
    ("writing", 0.05),
];

/// Where a command is in its plan.
struct Clock {
    plan: &'static [Share],
    start: Instant,
    /// The present stage in the plan; none before the first, and in a plan without stages.
    stage: Option<usize>,
    /// When it began, counted from the start.
    since: Duration,
    /// What is being done: the stage, or a step of it that the plan does not have.
    name: String,
}

impl Clock {
    fn new(plan: &'static [Share]) -> Self {
        Self { plan, start: Instant::now(), stage: None, since: Duration::ZERO, name: String::new() }
    }

    /// Something begins. Stages come in the order of the plan, and some may be left out.
    fn enter(&mut self, name: &str, elapsed: Duration) {
        let from = self.stage.map_or(0, |stage| stage + 1);
        if let Some(k) = self.plan[from..].iter().position(|(stage, _)| *stage == name) {
            (self.stage, self.since) = (Some(from + k), elapsed);
        }
        self.name = name.into();
    }

    /// `stage 3 of 7: fitting the mechanism`.
    fn words(&self) -> String {
        match self.stage {
            Some(stage) => format!("stage {} of {}: {}", stage + 1, self.plan.len(), self.name),
            None => self.name.clone(),
        }
    }

    /// The time that is left if stages take the shares of the plan: what was done so far says how fast this machine is with these people.
    fn left(&self, elapsed: Duration) -> Option<Duration> {
        let total: f64 = self.plan.iter().map(|(_, share)| share).sum();
        let done: f64 = self.plan[..self.stage?].iter().map(|(_, share)| share).sum();
        if done < LEAST_DONE * total {
            return None;
        }
        let all = self.since.as_secs_f64() * total / done;
        let left = all - elapsed.as_secs_f64();
        (left > 0.0).then(|| Duration::from_secs_f64(left))
    }
}

/// The share of the work that must be done before it says something about the rest.
const LEAST_DONE: f64 = 0.03;

/// About how long, in few words.
fn about(left: Duration) -> String {
    match left.as_secs() {
        0..10 => "a few seconds left".into(),
        s @ 10..90 => format!("about {} s left", s.div_ceil(10) * 10),
        s => format!("about {} min left", s.div_ceil(60)),
    }
}

/// Runs work in stages, with a line that says at which it is. Where standard error is not a terminal, a stage that is under way when two
/// seconds, or two more, have passed is named on a line of its own: a log shows what a long run is at.
pub fn stages<R>(plan: &'static [Share], work: impl FnOnce(&mut dyn FnMut(&str)) -> R) -> R {
    let clock = Arc::new(Mutex::new(Clock::new(plan)));
    if !io::stderr().is_terminal() {
        return stages_by_line(&clock, work);
    }
    let shown = Arc::clone(&clock);
    let left = move |state: &ProgressState, out: &mut dyn Write| {
        if let Some(left) = locked(&shown).left(state.elapsed()) {
            let _ = write!(out, ", {}", about(left));
        }
    };
    let style = ProgressStyle::with_template("{spinner} {msg} · {elapsed}{left}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
        .with_key("left", left);
    let spinner = ProgressBar::new_spinner().with_style(style);
    spinner.enable_steady_tick(Duration::from_millis(120));
    let result = work(&mut |name| {
        let words = {
            let mut clock = locked(&clock);
            let elapsed = clock.start.elapsed();
            clock.enter(name, elapsed);
            clock.words()
        };
        spinner.set_message(words);
    });
    spinner.finish_and_clear();
    result
}

fn locked(clock: &Mutex<Clock>) -> MutexGuard<'_, Clock> {
    clock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Time between two looks at the present stage.
const LOOK: Duration = Duration::from_secs(2);

fn stages_by_line<R>(clock: &Mutex<Clock>, work: impl FnOnce(&mut dyn FnMut(&str)) -> R) -> R {
    let (done, waiting) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut said = String::new();
            // The other end is dropped when the work is over, also by a panic.
            while let Err(mpsc::RecvTimeoutError::Timeout) = waiting.recv_timeout(LOOK) {
                let (now, elapsed, left) = {
                    let clock = locked(clock);
                    let elapsed = clock.start.elapsed();
                    (clock.words(), elapsed, clock.left(elapsed))
                };
                if !now.is_empty() && now != said {
                    let left = left.map_or(String::new(), |left| format!(", {}", about(left)));
                    note(format_args!("{now} … ({} s{left})", elapsed.as_secs()));
                    said = now;
                }
            }
        });
        let _done = done;
        work(&mut |name| {
            let mut clock = locked(clock);
            let elapsed = clock.start.elapsed();
            clock.enter(name, elapsed);
        })
    })
}

/// One stage.
pub fn stage<R>(name: &str, work: impl FnOnce() -> R) -> R {
    stages(&[], |watch| {
        watch(name);
        work()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: [Share; 4] = [("a", 0.1), ("b", 0.4), ("c", 0.4), ("d", 0.1)];

    fn seconds(s: u64) -> Duration {
        Duration::from_secs(s)
    }

    #[test]
    fn stages_are_counted_steps_between_them_are_not_and_one_may_be_left_out() {
        let mut clock = Clock::new(&PLAN);
        assert_eq!(clock.words(), "");
        clock.enter("a", seconds(0));
        assert_eq!(clock.words(), "stage 1 of 4: a");
        clock.enter("a program is started", seconds(1));
        assert_eq!(clock.words(), "stage 1 of 4: a program is started");
        clock.enter("c", seconds(2));
        assert_eq!(clock.words(), "stage 3 of 4: c");
        clock.enter("a", seconds(3));
        assert_eq!(clock.words(), "stage 3 of 4: a", "never back");
    }

    #[test]
    fn the_time_that_is_left_follows_from_the_shares_of_what_is_done() {
        let mut clock = Clock::new(&PLAN);
        clock.enter("a", seconds(0));
        assert_eq!(clock.left(seconds(5)), None, "nothing is done yet");
        clock.enter("b", seconds(10));
        // A tenth took 10 s, so that all take 100.
        assert_eq!(clock.left(seconds(10)), Some(seconds(90)));
        assert_eq!(clock.left(seconds(30)), Some(seconds(70)));
        clock.enter("c", seconds(110));
        // Half took 110 s: this machine is slower than was thought.
        assert_eq!(clock.left(seconds(120)), Some(seconds(100)));
        assert_eq!(clock.left(seconds(400)), None, "what takes longer than thought is not said to end soon");
    }

    #[test]
    fn times_are_told_roughly() {
        assert_eq!(
            [3, 12, 60, 89, 90, 121].map(|s| about(seconds(s))),
            [
                "a few seconds left",
                "about 20 s left",
                "about 60 s left",
                "about 90 s left",
                "about 2 min left",
                "about 3 min left"
            ]
        );
    }

    #[test]
    fn the_shares_of_every_plan_make_a_whole() {
        for plan in [&STUDY[..], &LEARN, &EVALUATE, &PREPROCESS] {
            let total: f64 = plan.iter().map(|(_, share)| share).sum();
            assert!((total - 1.0).abs() < 1e-9, "{total}");
        }
    }
}
