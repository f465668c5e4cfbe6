//! A whole study: people in; a verdict, what it rests on, and a policy out.
//!
//! Policies are learned fold by fold and judged on the people they were not learned from, so that nobody is lost and nobody is judged by a
//! policy that knows them. Nothing here is formatted: `report::study` makes a page of it.
//!
//! | question | file |
//! |---|---|
//! | who is in the data, and who received what? | `data` |
//! | policies that do not know the people they decide for | `cross_fit` |
//! | may one believe the counterfactuals? | `believe` |
//! | policies side by side | `side_by_side` |
//! | a policy from elsewhere among them | [`StudyProgram`] |
//! | what would change? | `changes` |
//! | who is treated, and how far are groups apart? | `treated`, `extremes` |
//! | what does it come to? | [`Verdict`] |

mod believe;
mod changes;
mod cross_fit;
mod data;
mod extremes;
mod number;
mod one_for_all;
mod program;
mod side_by_side;
mod treated;
mod verdict;

pub use number::Number;
pub use program::{PROGRAM, StudyProgram};
pub use verdict::{
    FEWEST_AT_A_LEVEL, HELD, MOST_CHANGED, SD_RATIO, SHAPE_DISTANCE, SUPPORT_OUTSIDE, UNSUPPORTED, Verdict,
};

use believe::Believe;
#[cfg(feature = "report")]
pub(crate) use believe::NoiseTests;
pub(crate) use treated::Treated;
pub(crate) use verdict::{Evidence, decide};

pub use data::{DataSummary, LevelSummary};
pub use number::Bounded;
pub use side_by_side::{PolicyRow, SideBySide};

use super::audit::FEW_PEOPLE;
use super::recorded_steps::Values;
use super::{
    About, Error, FittedPreprocessing, Learned, Learner, Method, People, Policy, Sample, Sensitivity, preprocess,
    reservation,
};
use crate::audit::PanelDraws;
use crate::audit::recorded::{Dropout, RecordedSettings, StayingModel, recorded_values};
use crate::files::RowConvention;
use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;
use cross_fit::Crossed;
use program::Judged;
use serde::Serialize;

/// How a study is made.
#[derive(Debug, Clone, PartialEq)]
pub struct StudySettings {
    /// How policies are learned; its method is not read, because all three are.
    pub learner: Learner,
    /// Folds of people: each is judged by policies learned from the others.
    pub folds: usize,
    /// How often people are resampled for intervals of values.
    pub replicates: usize,
    /// How often people are resampled for group measures.
    pub group_replicates: usize,
    /// What is made of people who leave early; `None`: they are weighted for if who left depends on what was recorded.
    pub dropout: Option<Dropout>,
    /// How many people for whom it matters most are named.
    pub show_ids: usize,
    /// A program to be judged beside the policies that are learned.
    pub program: Option<StudyProgram>,
    /// What is known about the study and the file does not say; printed with the data.
    pub notes: Vec<String>,
}

impl Default for StudySettings {
    fn default() -> Self {
        Self {
            learner: Learner::new(Method::Ours),
            folds: 5,
            replicates: 400,
            group_replicates: 500,
            dropout: None,
            show_ids: 0,
            program: None,
            notes: vec![],
        }
    }
}

/// The version of a study as JSON.
pub const VERSION: u32 = 1;

/// The confidence of every interval and bound.
pub const CONFIDENCE: f64 = 0.95;

/// The p-value below which leaving is said to depend on what was recorded.
const DEPENDS: f64 = 0.01;

/// A study and what it came to.
#[derive(Debug, Clone, Serialize)]
pub struct Study {
    /// Always `counterfair study`.
    pub format: &'static str,
    /// [`VERSION`].
    pub version: u32,
    /// What it comes to.
    pub verdict: Verdict,
    /// What is accepted by assumption, because a state is kept as observed in every world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
    /// What should be known before the numbers are used, one sentence each.
    pub cautions: Vec<String>,
    /// What is known about the study and the file does not say.
    pub notes: Vec<String>,
    /// The people.
    #[doc(hidden)]
    pub data: DataSummary,
    /// Whether counterfactuals are to be believed; `None` where no mechanism could be fitted.
    pub(crate) believe: Option<Believe>,
    /// Policies side by side; `None` where none could be learned.
    #[doc(hidden)]
    pub policies: Option<SideBySide>,
    /// Who is treated.
    pub(crate) treated: Option<Treated>,
    /// How much must be wrong.
    #[serde(skip)]
    pub sensitivity: Option<Sensitivity>,
    /// How it was done.
    pub(crate) done: Done,
    /// Ours, fitted to everybody; `None` unless learning ended well.
    #[serde(skip)]
    pub policy: Option<Policy>,
    /// The policies that were judged: for each fold the number of people in it, and Ours, Full and Unaware learned from the others.
    #[serde(skip)]
    #[doc(hidden)]
    pub judged: Vec<(usize, Vec<Policy>)>,
}

impl Study {
    /// Whether there are ids in it, which were asked for: then what is written of it is its owner's alone.
    pub fn names_people(&self) -> bool {
        self.treated.as_ref().is_some_and(|treated| !treated.people.is_empty()) || !self.data.repairs.cuts.is_empty()
    }
}

/// How a study was done.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Done {
    /// The program with its version.
    pub program: String,
    /// The version of policy files.
    pub policy_version: u32,
    /// The seed.
    pub seed: u64,
    /// γ.
    pub discount: f64,
    /// Folds of people.
    pub folds: usize,
    /// People in each fold.
    pub fold_sizes: Vec<usize>,
    /// How often people are resampled: for values, for the CF metric, for group measures.
    pub replicates: [usize; 3],
    /// What was made of people who left early.
    pub dropout: Dropout,
    /// The columns: id, time, attribute, action, reward.
    pub columns: [String; 5],
    /// The state columns.
    pub states: Vec<String>,
    /// Where a decision stands in the file.
    pub rows: RowConvention,
    /// How fitted Q iteration ended on everybody, for Ours.
    pub outcome: Option<String>,
    /// Share of decisions that change when Ours is learned from half of the people.
    pub changed: Option<f64>,
    /// Value at stake in those decisions.
    pub at_stake: Option<f64>,
    /// The degree of the differences between actions; 0 treats everybody alike.
    pub contrast_degree: Option<usize>,
}

/// Makes a study; `watch` hears the name of each stage when it begins.
///
/// # Errors
/// [`Error`] about settings. Data that cannot carry a policy are no error: the verdict says so, and what could be computed is there.
pub fn study(people: &People, settings: &StudySettings, watch: &mut dyn FnMut(&str)) -> Result<Study, Error> {
    let panel = people.panel();
    let learner = Learner { method: Method::Ours, ..settings.learner.clone() };
    learner.preprocessing.weights_for(panel)?;
    watch("looking at the data");
    let recorded = RecordedSettings {
        discount: learner.discount,
        replicates: settings.replicates,
        seed: learner.seed,
        ..RecordedSettings::default()
    };
    // The record alone, to see who left and how people were treated.
    let probe = RecordedSettings { replicates: 2, ..recorded.clone() };
    let probed = if panel.decisions() > 0 { Some(recorded_values(panel, &[], &probe)?) } else { None };
    let depends = |staying: &StayingModel| staying.p_value < DEPENDS;
    let left = probed.as_ref().and_then(|values| values.staying.as_ref()).is_some_and(depends);
    let dropout = settings.dropout.unwrap_or(match left {
        true => Dropout::Weighted { horizon: None },
        false => Dropout::AsRecorded,
    });
    let recorded = RecordedSettings { dropout, ..recorded };
    let data = DataSummary::of(people, probed.as_ref());
    let mut study = Study {
        format: "counterfair study",
        version: VERSION,
        verdict: Verdict::CannotSupport { because: vec![] },
        accepted: None,
        cautions: people.sample().map(Sample::to_string).into_iter().collect(),
        notes: settings.notes.clone(),
        data,
        believe: None,
        policies: None,
        treated: None,
        sensitivity: None,
        done: done(people, &learner, settings, dropout),
        policy: None,
        judged: vec![],
    };
    let mut evidence = Evidence::of_data(&study.data);
    study.accepted = reservation::accepted_through(learner.preprocessing.mechanism.keep, &people.output_names());
    if evidence.stops() {
        study.verdict = decide(&evidence);
        return Ok(study);
    }
    match fill(&mut study, &mut evidence, people, &learner, settings, &recorded, watch) {
        Ok(()) => {}
        // What the data say does not depend on a program, and a program that fails is the caller's to repair.
        Err(reason @ (Error::Program(_) | Error::OtherPeople { .. } | Error::NoMechanism)) => {
            return Err(reason);
        }
        // A mechanism or an action value that these people do not determine is what the verdict is there to say.
        Err(reason) => evidence.failed = Some(reason.to_string()),
    }
    study.verdict = decide(&evidence);
    Ok(study)
}

/// Everything beyond the data; what was found before an error stays.
fn fill(
    study: &mut Study,
    evidence: &mut Evidence,
    people: &People,
    learner: &Learner,
    settings: &StudySettings,
    recorded: &RecordedSettings,
    watch: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    let panel = people.panel();
    watch("fitting counterfactuals");
    let preprocessed = preprocess(panel, &learner.preprocessing, &mut |_| {})?;
    let reservations = reservation::of_mechanism(&preprocessed.mechanism, &Values::of(panel)?, people);
    let believe = Believe::of(people, &preprocessed, &reservations);
    evidence.doubts = believe.doubts.clone();
    evidence.accepts = reservations.iter().any(|r| r.about == About::KeptState);
    study.believe = Some(believe);
    let views = settings.program.as_ref().map(|_| FittedPreprocessing::of(people, &preprocessed));
    drop(preprocessed);

    watch("learning from everybody");
    let learned: Learned = learner.learn_watched(people, &mut |_| {})?;
    let alone = |method| Learner { method, replicates: 0, splits: 0, ..learner.clone() };
    let full = alone(Method::Full).learn(people)?;
    let unaware = alone(Method::Unaware).learn(people)?;
    study.done.outcome = Some(learned.outcome.to_string());
    study.done.contrast_degree = learned.contrast_degree;
    study.done.changed = learned.stability.map(|s| s.changed);
    study.done.at_stake = learned.stability.map(|s| s.at_stake);
    evidence.unfit = learned.policy.fitness().err().map(|why| why.to_string());
    evidence.changed = learned.stability.map_or(0.0, |s| s.changed);
    evidence.contrast_degree = learned.contrast_degree;

    let program = match (&settings.program, &views) {
        (Some(program), Some(views)) => {
            watch("starting the program");
            Some(Judged::start(program, views, learned.policy.certificate.as_ref(), panel, learner)?)
        }
        _ => None,
    };
    watch("learning without each fold of people");
    let crossed = Crossed::learn(people, learner, settings.folds, program)?;
    study.done.fold_sizes = crossed.fold_sizes();

    watch("estimating values");
    let unmeasured = reservations.first().map(|r| r.says.as_str());
    let policies = SideBySide::of(people, &crossed, learner, recorded, unmeasured, watch)?;
    evidence.read(&policies, panel, &crossed);
    study.cautions.extend(policies.warnings.iter().cloned());
    study.cautions.extend(crossed.program.as_ref().map(Judged::caution));
    study.cautions.extend(few_to_the_end(panel, recorded.dropout));
    if panel.people() < FEW_PEOPLE {
        study.cautions.push(format!(
            "{} people are few: with fewer than {FEW_PEOPLE}, 95 % intervals of values and of the CF metric covered in 88 to 97 % of trials \
             (tests/coverage)",
            panel.people()
        ));
    }

    watch("comparing groups");
    study.treated = Some(Treated::of(panel, &crossed, &policies, settings));

    watch("asking how much must be wrong");
    if let (Some(certificate), None) = (&learned.policy.certificate, unmeasured) {
        let draws = PanelDraws::draw(panel, Stream::new(learner.seed).named("sensitivity"));
        let ours = policies.row("Ours");
        let along = ours.is_some_and(|row| row.doubly_robust.is_some()).then(|| crossed.probabilities("Ours"));
        let others = [("Full", &full), ("Unaware", &unaware)];
        let along = along.flatten().map(|along| (along, policies.taken.as_slice()));
        study.sensitivity = Some(learned.policy.sensitivity(certificate, panel, &draws, along, &others)?);
    }
    study.policies = Some(policies);
    study.judged = crossed.folds.into_iter().map(|fold| (fold.people.len(), fold.policies)).collect();
    if learned.policy.fitness().is_ok() {
        study.policy = Some(learned.policy);
    }
    Ok(())
}

/// Where values are those of everybody staying to the end, and hardly anybody did.
fn few_to_the_end(panel: &Panel, dropout: Dropout) -> Option<String> {
    let Dropout::Weighted { horizon } = dropout else { return None };
    let last = horizon.unwrap_or(panel.horizon());
    let stayed = panel.iter().filter(|person| person.actions.len() >= last).count();
    (stayed < FEWEST_AT_A_LEVEL).then(|| {
        format!(
            "values are those of everybody staying until decision {last}, and {stayed} of {} people did: they rest on these few (--dropout \
             as-recorded values each person over their own decisions)",
            panel.people()
        )
    })
}

fn done(people: &People, learner: &Learner, settings: &StudySettings, dropout: Dropout) -> Done {
    let columns = people.columns();
    Done {
        program: format!("counterfair {}", env!("CARGO_PKG_VERSION")),
        policy_version: super::VERSION,
        seed: learner.seed,
        discount: learner.discount,
        folds: settings.folds,
        fold_sizes: vec![],
        replicates: [settings.replicates, learner.replicates, settings.group_replicates],
        dropout,
        columns: [columns.id, columns.time, columns.level.join(" × "), columns.action, columns.reward],
        states: people.state_names(),
        rows: people.rows(),
        outcome: None,
        changed: None,
        at_stake: None,
        contrast_degree: None,
    }
}
