//! The front door from people to numbers, in worlds where the truth is known: do the printed intervals cover on people nobody learned from?
//!
//! The quick form runs with every `cargo test`. Rows of `tests/coverage/front_door.csv` are printed by
//!
//! ```sh
//! SETTINGS=linear:400:8,dropout:400:8 METHODS=ours,full,unaware REPETITIONS=60 \
//!     cargo test --release --test front_door -- --ignored --nocapture the_table
//! ```

use counterfair::fair::{Audit, AuditSettings, Error, JUDGED};
use counterfair::kernel::data::Panel;
use counterfair::kernel::evaluate::evaluate;
use counterfair::kernel::evaluate::internals::{PanelDraws, audit};
use counterfair::kernel::evaluate::recorded::internals::Differences;
use counterfair::kernel::evaluate::recorded::{Dropout, RecordedValues, Resampled};
use counterfair::kernel::learn::{Agent, Deployed, UniformlyRandom};
use counterfair::kernel::model::fitted::NoiseChoice;
use counterfair::kernel::model::worlds::{World, by_name};
use counterfair::kernel::preprocess::Unaware;
use counterfair::prelude::*;
use counterfair::theory::coverage::Bed;
use rayon::prelude::*;
use std::collections::BTreeMap;

const DISCOUNT: f64 = 0.9;

/// People behind each truth.
const MANY: usize = 10_000;

/// Where people come from: a world that simulates itself, or one with habits, people who leave, and faults.
enum Place {
    World(Box<dyn World>),
    Bed(Bed),
}

impl Place {
    fn of(name: &str) -> Self {
        match name {
            "dropout" | "control: dropout as recorded" => Self::Bed(Bed::dropout()),
            "finite" => Self::Bed(Bed::finite()),
            "control: withheld" => Self::Bed(Bed::withheld()),
            "control: drifting" => Self::Bed(Bed::drifting()),
            "control: additive noise" => Self::World(by_name("spread-by-level", 1.0).expect("a named world")),
            _ => Self::World(by_name(name, 1.0).unwrap_or_else(|| panic!("no world {name}"))),
        }
    }

    fn mechanism(&self) -> &dyn World {
        match self {
            Self::World(world) => &**world,
            Self::Bed(bed) => &*bed.world,
        }
    }

    fn panel(&self, people: usize, horizon: usize, stream: Stream) -> Panel {
        match self {
            Self::World(world) => simulate(&**world, &Exogenous::draw(&**world, people, horizon, stream)),
            Self::Bed(bed) => bed.panel(people, horizon, stream),
        }
    }

    /// The value of an agent and what people receive, over the whole horizon.
    fn truth(&self, agent: &dyn Agent, horizon: usize, stream: Stream) -> (f64, f64) {
        match self {
            Self::World(world) => {
                let many = Exogenous::draw(&**world, MANY, horizon, stream);
                let value = evaluate(&**world, agent, &many, DISCOUNT).value.mean;
                let recorded = simulate(&**world, &many);
                let returns = recorded.iter().map(|who| who.rewards.iter().rev().fold(0.0, |v, r| r + DISCOUNT * v));
                (value, returns.sum::<f64>() / MANY as f64)
            }
            Self::Bed(bed) => {
                let value = bed.truth(agent, MANY, horizon, DISCOUNT, stream).mean;
                (value, bed.received(MANY, horizon, DISCOUNT, stream).mean)
            }
        }
    }
}

/// One study: learned from `people`, judged on as many others.
#[derive(Debug, Clone)]
struct Setting {
    world: String,
    people: usize,
    horizon: usize,
    methods: Vec<Method>,
    /// How differences between worlds enter values; chosen by the number of rows when `None`, as by default.
    differences: Option<Differences>,
}

/// What an estimate says, and the truth.
#[derive(Debug, Clone, Copy)]
struct Found {
    estimate: f64,
    intervals: [(f64, f64); 3],
    upper: f64,
    truth: f64,
    /// Whether words were printed beside it that say why it may be wrong.
    warned: bool,
}

/// The confidence of the three intervals.
const CONFIDENCES: [f64; 3] = [0.5, 0.9, 0.95];

/// (method, number) → what was found.
type Row = BTreeMap<(String, String), Found>;

impl Setting {
    fn run(&self, repetition: u64) -> Result<Row, Error> {
        let place = Place::of(&self.world);
        let stream = Stream::new(repetition).named("front door").named(&self.world).index(self.people as u64);
        let draw = |role: &str| People::from(place.panel(self.people, self.horizon, stream.named(role)));
        let (learned_from, judged) = (draw("learn"), draw("judge"));
        let many = place.panel(MANY, self.horizon, stream.named("truth"));
        let draws = PanelDraws::draw(&many, stream.named("draws"));
        let mut settings = AuditSettings::default();
        if self.world == "dropout" {
            settings.values.dropout = Dropout::Weighted { horizon: None };
        }
        settings.values.differences = self.differences;
        let mut rows = Row::new();
        for &method in &self.methods {
            let mut learner = Learner { splits: 0, ..Learner::new(method) };
            if self.world == "control: additive noise" {
                learner.preprocessing.mechanism.noise = NoiseChoice::Additive;
            }
            let policy = learner.learn(&learned_from)?;
            let found = policy.audit(&judged, &[], &settings, &mut |_| {})?;
            let agent = policy.agent();
            let (value, received) = place.truth(&*agent, self.horizon, stream.named("followed"));
            let world: &dyn World = place.mechanism();
            let metric = audit(&many, &world, &*agent, &draws)?.unfairness.metric.mean;
            let mut keep = |number: &str, found: Found| rows.insert((method.to_string(), number.into()), found);
            for (number, found) in numbers(&found.values, JUDGED, value, received) {
                keep(number, found);
            }
            let warned = warned_of_mechanism(&found);
            let law = found.unfairness.as_ref().expect("a certificate");
            let intervals = CONFIDENCES.map(|c| law.interval(c));
            let upper = law.upper(0.95);
            keep("CF metric", Found { estimate: law.mean(), intervals, upper, truth: metric, warned });
            if method == Method::Ours {
                let state_dim = world.state_dim();
                let random = Deployed::new(Unaware { state_dim }, UniformlyRandom { actions: world.actions() });
                let (value, received) = place.truth(&random, self.horizon, stream.named("followed"));
                for (number, found) in numbers(&found.values, "Random", value, received) {
                    rows.insert(("random".into(), number.into()), found);
                }
            }
        }
        Ok(rows)
    }
}

/// The printed values of a policy beside the truth.
fn numbers(values: &RecordedValues, name: &str, truth: f64, received: f64) -> Vec<(&'static str, Found)> {
    let warned = !values.warnings.is_empty();
    let value = values.policy(name).expect("a policy of this name");
    let of = |r: &Resampled, truth: f64| Found {
        estimate: r.mean,
        intervals: CONFIDENCES.map(|c| r.interval(c)),
        upper: f64::NAN,
        truth,
        warned,
    };
    let minus = value.minus("received").expect("always there");
    let mut all = vec![("value", of(&value.value, truth)), ("minus received", of(minus, truth - received))];
    if let Ok(robust) = &value.doubly_robust {
        let intervals = CONFIDENCES.map(|c| robust.interval(c));
        all.push(("doubly robust", Found { estimate: robust.mean, intervals, upper: f64::NAN, truth, warned }));
    }
    all
}

/// Whether the words beside the CF metric speak of the mechanism: all but those about values and about few people.
fn warned_of_mechanism(found: &Audit) -> bool {
    let of_values = &found.values.warnings;
    found.warnings.iter().any(|line| !of_values.contains(line) && !line.contains("people learned from and"))
}

fn covers(found: &Found, at: usize) -> bool {
    found.intervals[at].0 <= found.truth && found.truth <= found.intervals[at].1
}

/// Twelve studies. Were coverage 0.92, fewer than eight of twelve would cover with probability 0.0008 for each of two numbers.
#[test]
fn what_is_printed_covers_on_people_who_were_not_learned_from() {
    let setting =
        Setting { world: "linear".into(), people: 200, horizon: 6, methods: vec![Method::Ours], differences: None };
    let found: Vec<Row> = (100..112u64).into_par_iter().map(|r| setting.run(r).unwrap()).collect();
    for number in ["value", "CF metric"] {
        let of = |row: &Row| row[&("ours".to_string(), number.to_string())];
        let count = found.iter().filter(|row| covers(&of(row), 2)).count();
        assert!(count >= 8, "{number}: {count} of 12");
        // And they say something: half-widths well below what rewards allow.
        assert!(found.iter().all(|row| of(row).intervals[2].1 - of(row).intervals[2].0 < 6.0));
    }
}

const HEADER: &str = "world,people,horizon,method,number,repetitions,truth,estimate,error_sd,covers_50,covers_90,covers_95,upper_95,\
                      half_width_95,warned";

#[test]
#[ignore = "minutes: prints rows of tests/coverage/front_door.csv"]
fn the_table() {
    let word = |name: &str, otherwise: &str| std::env::var(name).unwrap_or(otherwise.into());
    let repetitions: u64 = word("REPETITIONS", "20").parse().unwrap();
    let first: u64 = word("FIRST", "0").parse().unwrap();
    let methods: Vec<Method> = word("METHODS", "ours").split(',').map(|m| m.parse().unwrap()).collect();
    println!("{HEADER}");
    for text in word("SETTINGS", "linear:400:8").split(',') {
        let parts: Vec<&str> = text.rsplitn(3, ':').collect();
        let setting = Setting {
            world: parts[2].into(),
            people: parts[1].parse().unwrap(),
            horizon: parts[0].parse().unwrap(),
            methods: methods.clone(),
            differences: match word("DIFFERENCES", "").as_str() {
                "linear" => Some(Differences::Linear),
                "products" => Some(Differences::Products),
                "joint" => Some(Differences::Joint),
                _ => None,
            },
        };
        let found: Vec<Row> =
            (first..first + repetitions).into_par_iter().filter_map(|r| setting.run(r).ok()).collect();
        let mut names: Vec<&(String, String)> = found.iter().flat_map(BTreeMap::keys).collect();
        names.sort();
        names.dedup();
        for (method, number) in names {
            let key = (method.clone(), number.clone());
            let all: Vec<Found> = found.iter().filter_map(|row| row.get(&key)).copied().collect();
            let Setting { world, people, horizon, .. } = &setting;
            println!("{world},{people},{horizon},{method},{number},{}", columns(&all));
        }
    }
}

/// The columns of one number, from `repetitions` on.
fn columns(all: &[Found]) -> String {
    let n = all.len() as f64;
    let mean = |of: &dyn Fn(&Found) -> f64| all.iter().map(of).sum::<f64>() / n;
    let share = |of: &dyn Fn(&Found) -> bool| mean(&|found| f64::from(u8::from(of(found))));
    let error = mean(&|f| f.estimate - f.truth);
    let error_sd = (mean(&|f| (f.estimate - f.truth - error).powi(2)) * n / (n - 1.0)).sqrt();
    let upper = if all[0].upper.is_nan() { String::new() } else { format!("{:.3}", share(&|f| f.truth <= f.upper)) };
    let [half, most, nearly] = [0, 1, 2].map(|at| share(&|f| covers(f, at)));
    format!(
        "{n},{:.4},{:.4},{error_sd:.4},{half:.3},{most:.3},{nearly:.3},{upper},{:.4},{:.2}",
        mean(&|f| f.truth),
        mean(&|f| f.estimate),
        mean(&|f| (f.intervals[2].1 - f.intervals[2].0) / 2.0),
        share(&|f| f.warned)
    )
}
