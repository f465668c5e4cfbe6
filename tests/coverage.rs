//! Intervals hold the truth as often as they say.

use counterfair::kernel::evaluate::recorded::Dropout;
use counterfair::kernel::numeric::Stream;
use counterfair::theory::coverage::{Bed, HEADER, Trial, Which};

/// What the environment asks for, or the default.
fn from_environment(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
#[ignore = "minutes; prints one trial"]
fn one_trial_as_the_environment_says() {
    let bed = match std::env::var("BED").as_deref() {
        Ok("nonlinear") => Bed::nonlinear(),
        Ok("three-levels") => Bed::three_levels(),
        Ok("spread") => Bed::spread(),
        Ok("dropout") => Bed::dropout(),
        Ok("finite") => Bed::finite(),
        Ok("withheld") => Bed::withheld(),
        Ok("drifting") => Bed::drifting(),
        _ => Bed::linear(),
    };
    let weighted = std::env::var("WEIGHTED").is_ok();
    let trial = Trial {
        people: from_environment("N", 400),
        horizon: from_environment("T", 8),
        repeats: from_environment("R", 100),
        replicates: from_environment("B", 100),
        which: match std::env::var("WHICH").as_deref() {
            Ok("rule") => Which::Rule,
            Ok("always") => Which::Always,
            _ => Which::All,
        },
        dropout: if weighted { Dropout::Weighted { horizon: None } } else { Dropout::AsRecorded },
        truth_people: 200_000,
        bed,
    };
    println!("{HEADER}");
    for row in trial.csv_rows(&trial.run(Stream::new(71).named(trial.bed.name))) {
        println!("{row}");
    }
}
