//! A policy from elsewhere beside those learned: a program, judged on everybody.

use super::CONFIDENCE;
use super::cross_fit::Along;
use crate::audit::{
    Carried, PanelDraws, Refitted, SimulatedValue, Simulation, UnfairnessLaw, Yardstick, probabilities_along,
    simulated_values, unfairness,
};
use crate::estimate::{Certificate, Refitter};
use crate::fair::{Error, FittedPreprocessing, Learner, Method, Policy, ProgramCommand, Reservation};
use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;
use crate::kernel::preprocess::{Sequential, batch};

/// The name of the program's policy in tables.
pub const PROGRAM: &str = "Program";

/// A program to be judged beside the policies of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyProgram {
    /// How it is started.
    pub command: ProgramCommand,
    /// What it is shown.
    pub reads: Method,
    /// What its views are made with; `None`: the mechanism fitted to everybody in the study.
    pub preprocessing: Option<FittedPreprocessing>,
}

/// A program that runs, and what it is judged with.
pub(super) struct Judged {
    policy: Policy,
    /// Whether its views are made with the mechanism of these very people.
    own_views: bool,
    draws: PanelDraws,
    seed: u64,
    replicates: usize,
    refitter: Option<Refitter>,
    certificate: Option<Certificate>,
}

impl Judged {
    /// Starts the program. `own` is the preprocessing of everybody in the study, `certificate` that of everybody.
    pub fn start(
        program: &StudyProgram,
        own: &FittedPreprocessing,
        certificate: Option<&Certificate>,
        panel: &Panel,
        learner: &Learner,
    ) -> Result<Self, Error> {
        let preprocessing = program.preprocessing.as_ref().unwrap_or(own);
        let shape = |p: &FittedPreprocessing| (p.levels.clone(), p.actions.clone(), p.state_dim);
        if shape(preprocessing) != shape(own) {
            return Err(Error::OtherPeople { name: PROGRAM.into() });
        }
        let policy = preprocessing.with_program(program.reads, &program.command)?;
        let own_views = program.reads != Method::Ours || preprocessing.mechanism == own.mechanism;
        Ok(Self {
            policy,
            own_views,
            draws: PanelDraws::draw(panel, Stream::new(learner.seed).named("study").named("program")),
            seed: learner.seed,
            replicates: learner.replicates,
            refitter: if learner.replicates > 0 { learner.refitter(panel).ok() } else { None },
            certificate: certificate.cloned(),
        })
    }

    /// The program along everybody.
    pub fn along(&self, panel: &Panel) -> Result<Along, Error> {
        let probabilities = probabilities_along(panel, &*self.policy.agent(), &self.draws.coins)?;
        self.policy.answered()?;
        let worlds = match (&self.policy.mechanism, self.policy.method) {
            (Some(mechanism), Method::Ours) => {
                let sequential = Sequential::new(mechanism, self.policy.level_weights.clone());
                Some(batch(&sequential, panel)?.views().to_vec())
            }
            _ => None,
        };
        Ok(Along { name: PROGRAM.into(), probabilities, worlds })
    }

    /// Why its unfairness is not measured, if it is not: what must be said of the preprocessing that it came with.
    pub fn unmeasured(&self) -> Option<String> {
        self.policy.reservations().into_iter().find(Reservation::is_about_fairness).map(|r| r.says)
    }

    /// The law of its CF metric.
    pub fn unfairness(&self, panel: &Panel) -> Result<UnfairnessLaw, String> {
        let agent = self.policy.agent();
        let own = self.certificate.as_ref().filter(|_| self.own_views);
        let refitter = self.refitter.as_ref().ok_or("the mechanism cannot be refitted");
        let yardstick = match own.or(self.policy.certificate.as_ref()) {
            Some(certificate) => Yardstick::Certificate(certificate),
            None => {
                let carried = self.policy.mechanism.as_ref().filter(|_| !self.own_views);
                let transitions = self.policy.manifest.transitions;
                let carried = carried.map(|mechanism| Carried { mechanism, transitions });
                Yardstick::Judged { refitter: refitter?, carried, replicates: self.replicates, seed: self.seed }
            }
        };
        unfairness(&*agent, panel, &yardstick, &self.draws, CONFIDENCE).map_err(|error| error.to_string())
    }

    /// J and Ṽ. Views that were made with other people's mechanism carry its error, which refits of these people do not show.
    pub fn simulated(&self, panel: &Panel, settings: &Simulation) -> Result<SimulatedValue, String> {
        let refitter = self.refitter.as_ref().filter(|_| self.own_views);
        let refitter = refitter.ok_or("the program's views are made with the mechanism of other people")?;
        let agent = self.policy.agent();
        let everybody = Refitted { agents: vec![&*agent], panel, draws: &self.draws, refitter, fitted: panel };
        let found = simulated_values(&[everybody], settings).map_err(|error| error.to_string())?;
        found.into_iter().next().ok_or_else(|| "no policy".to_string())
    }

    /// What went wrong with the program, if anything did.
    pub fn failure(&self) -> Result<(), Error> {
        Ok(self.policy.answered()?)
    }

    /// What must be known before its numbers are used.
    pub fn caution(&self) -> String {
        format!(
            "{PROGRAM} ({}) was judged on everybody in the file: if it was trained on any of these people, its value is optimistic",
            self.policy.program().map_or(String::new(), |program| program.command().words.join(" "))
        )
    }
}
