//! What can go wrong with a program is an error that says what, and nothing hangs or is left running.

use super::*;
use counterfair::audit::recorded::RecordedSettings;
use counterfair::fair::{AuditSettings, Error, ProgramError, Request, RequestError};
use std::time::Instant;

pub const TESTS: &[Test] = &[
    ("a_program_that_does_not_start_is_named", a_program_that_does_not_start_is_named),
    ("a_program_that_is_not_ready_is_refused", a_program_that_is_not_ready_is_refused),
    ("wrong_answers_are_refused", wrong_answers_are_refused),
    ("an_audit_with_a_program_that_fails_is_an_error", an_audit_with_a_program_that_fails_is_an_error),
    ("a_program_that_hangs_is_ended_in_time", a_program_that_hangs_is_ended_in_time),
    ("full_pipes_do_not_stop_the_conversation", full_pipes_do_not_stop_the_conversation),
    ("a_program_that_lingers_is_killed", a_program_that_lingers_is_killed),
    ("a_program_is_in_no_file", a_program_is_in_no_file),
    ("preprocessing_without_a_mechanism_shows_no_worlds", preprocessing_without_a_mechanism_shows_no_worlds),
    ("a_program_is_not_served", a_program_is_not_served),
];

fn started(command: &ProgramCommand) -> Result<Policy, ProgramError> {
    match preprocessing().with_program(Method::Ours, command) {
        Ok(policy) => Ok(policy),
        Err(Error::Program(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

fn a_program_that_does_not_start_is_named() {
    let missing = started(&ProgramCommand::new(["no-such-program-here", "x"])).unwrap_err();
    assert!(matches!(&missing, ProgramError::NotStarted { program, .. } if program == "no-such-program-here"));
    assert_eq!(started(&ProgramCommand::new::<String>([])), Err(ProgramError::Empty));
}

fn a_program_that_is_not_ready_is_refused() {
    let error = |part: &str| started(&playing(part)).unwrap_err();
    let ended = error("exits-at-once");
    assert!(matches!(&ended, ProgramError::Ended { status } if status.contains('3')), "{ended}");
    let said = error("says-something-else");
    assert!(matches!(&said, ProgramError::Rubbish { line, .. } if line.starts_with("Loading model")), "{said}");
    assert!(said.to_string().contains("standard error"), "{said}");
    assert_eq!(error("another-version"), ProgramError::Version { found: 2 });
    assert!(matches!(error("endless-line"), ProgramError::TooLong { .. }));
}

fn wrong_answers_are_refused() {
    let views = [0.5, -0.25, 1.0, 2.0, -1.5, 0.125];
    let error = |part: &str| {
        let policy = started(&playing(part)).unwrap();
        let program = policy.program().unwrap().clone();
        let first = program.probabilities(&views).unwrap_err();
        // What went wrong once stays wrong.
        assert_eq!(program.probabilities(&views), Err(first.clone()), "{part}");
        assert_eq!(policy.answered(), Err(first.clone()), "{part}");
        first
    };
    assert_eq!(error("too-few"), ProgramError::Count { batch: 1, asked: 3, found: 2 });
    assert_eq!(error("too-many"), ProgramError::Count { batch: 1, asked: 3, found: 4 });
    assert!(
        matches!(error("unknown-action"), ProgramError::Action { batch: 1, row: 1, action, .. } if action == "\"surgery\"")
    );
    assert_eq!(error("another-batch"), ProgramError::Batch { asked: 1, found: 8 });
    assert!(
        matches!(error("sums-to-less"), ProgramError::Probabilities { problem, .. } if problem == "they sum to 0.75")
    );
    assert!(matches!(error("rubbish"), ProgramError::Rubbish { line, .. } if line == "\"yes\""));
    assert!(matches!(error("is-cut-off"), ProgramError::Ended { .. }));
    // Another answer in each batch: it does not depend on the view alone.
    assert!(matches!(error("in-turns"), ProgramError::Fickle { view, .. } if view == [-1.5, 0.125]));
    let fine = started(&playing("anything")).unwrap();
    assert_eq!(fine.program().unwrap().probabilities(&views), Ok(vec![1.0, 0.0, 1.0, 0.0, 1.0, 0.0]));
    assert_eq!(fine.answered(), Ok(()));
    // A number that JSON cannot hold.
    let error = fine.program().unwrap().probabilities(&[f64::NAN, 1.0]).unwrap_err();
    assert!(matches!(error, ProgramError::View { value } if value.is_nan()));
}

fn an_audit_with_a_program_that_fails_is_an_error() {
    let settings = AuditSettings {
        values: RecordedSettings { replicates: 5, ..Default::default() },
        replicates: 5,
        ..Default::default()
    };
    let (others, ours) = (people(60, 2), learned(Method::Ours));
    for part in ["unknown-action", "dies-later", "dies-much-later"] {
        let policy = started(&playing(part)).unwrap();
        let judged = policy.audit(&others, &[], &settings, &mut |_| {}).unwrap_err();
        assert!(matches!(judged, Error::Program(_)), "{part}: {judged}");
        // Beside another, without a certificate, it is followed along the histories as they were and asked no more.
        if part == "dies-much-later" {
            continue;
        }
        let policy = started(&playing(part)).unwrap();
        let beside = ours.audit(&others, &[("other", &policy)], &settings, &mut |_| {}).unwrap_err();
        assert!(matches!(beside, Error::Program(_)), "{part}: {beside}");
    }
}

fn a_program_that_hangs_is_ended_in_time() {
    let brief = |part: &str| playing(part).with_timeout(Duration::from_secs(1));
    let begun = Instant::now();
    let error = started(&brief("never-ready")).unwrap_err();
    assert!(error.to_string().contains("more than 1 seconds to say that it is ready"), "{error}");
    let policy = started(&brief("falls-silent")).unwrap();
    let program = policy.program().unwrap();
    assert!(program.probabilities(&[0.5, 0.5]).is_ok());
    let error = program.probabilities(&[0.5, 0.5]).unwrap_err();
    assert!(error.to_string().contains("more than 1 seconds to answer"), "{error}");
    // Far from the minute that both would sleep.
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

fn full_pipes_do_not_stop_the_conversation() {
    let policy = started(&playing("talks-before-it-listens")).unwrap();
    // 20 000 views in five batches; each question and each answer is larger than a pipe.
    let views: Vec<f64> = (0..40_000).map(|i| f64::from(i) / 7.0).collect();
    let answers = policy.program().unwrap().probabilities(&views).unwrap();
    assert_eq!(answers.len(), 40_000);
    assert!(answers.chunks_exact(2).all(|row| row == [1.0, 0.0]));
}

fn a_program_that_lingers_is_killed() {
    let folder = folder::Folder::new("program-lingers");
    let sign = folder.0.join("sign");
    let policy = started(&playing_with("lingers", &sign)).unwrap();
    let clone = policy.clone();
    drop(policy);
    assert!(clone.program().unwrap().probabilities(&[0.5, 0.5]).is_ok(), "a clone still holds it");
    drop(clone);
    let at_end = std::fs::read_to_string(&sign).unwrap_or_default();
    assert!(!at_end.is_empty(), "it was given time to end by itself");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(std::fs::read_to_string(&sign).unwrap(), at_end, "it lives on");
}

fn a_program_is_in_no_file() {
    let folder = folder::Folder::new("program-not-saved");
    let policy = started(&playing("anything")).unwrap();
    let error = policy.save(folder.0.join("policy.json")).unwrap_err();
    assert!(matches!(error, Error::Program(ProgramError::NotSaved)), "{error}");
    assert!(folder.names().is_empty());
    // Nor does a file start one.
    let file = folder.0.join("ours.json");
    learned(Method::Ours).save(&file).unwrap();
    let mut text: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    text["q"] = serde_json::json!({ "program": ["touch", "x"] });
    let error = Policy::from_json(text.to_string().as_bytes(), "f").unwrap_err().to_string();
    assert!(error.contains("program"), "{error}");
    // Another command is another policy, for those who keep memories.
    let other = started(&playing("policy-less")).unwrap();
    assert_ne!(policy.fingerprint(), other.fingerprint());
    assert_eq!(policy.fingerprint(), started(&playing("anything")).unwrap().fingerprint());
}

fn preprocessing_without_a_mechanism_shows_no_worlds() {
    let unaware = FittedPreprocessing::of_policy(&learned(Method::Unaware));
    let error = unaware.with_program(Method::Ours, &playing("anything")).unwrap_err().to_string();
    assert!(error.contains("no mechanism"), "{error}");
    let policy = unaware.with_program(Method::Unaware, &playing("anything")).unwrap();
    assert_eq!(policy.program().unwrap().probabilities(&[0.5]), Ok(vec![1.0, 0.0]));
}

fn a_program_is_not_served() {
    let mut desk = started(&playing("anything")).unwrap().deploy();
    assert_eq!(desk.decide(&Request::first("ann", "1", [0.4])), Err(RequestError::Program));
    assert_eq!(desk.memory().people(), Ok(0));
}
