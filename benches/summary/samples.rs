//! Criterion's samples, by benchmark and parameters.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

/// One benchmark: `name/parameter=value/…`, and seconds a run, one number a sample, ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The name before the first parameter.
    pub name: String,
    /// Its parameters.
    pub parameters: BTreeMap<String, f64>,
    /// Seconds a run.
    pub seconds: Vec<f64>,
}

impl Sample {
    /// The median of the samples.
    pub fn median(&self) -> f64 {
        counterfair::kernel::numeric::quantile(&self.seconds, 0.5)
    }

    /// A parameter.
    pub fn get(&self, parameter: &str) -> Option<f64> {
        self.parameters.get(parameter).copied()
    }
}

#[derive(Deserialize)]
struct Named {
    full_id: String,
}

#[derive(Deserialize)]
struct Measured {
    iters: Vec<f64>,
    times: Vec<f64>,
}

/// Where criterion keeps what it measured.
pub fn folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target")).join("criterion")
}

/// Every benchmark measured last.
pub fn read(folder: &Path) -> Result<Vec<Sample>, Box<dyn Error>> {
    let mut samples = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if !path.is_dir() {
            continue;
        }
        if path.file_name().is_some_and(|name| name == "new") && path.join("benchmark.json").exists() {
            let named: Named = serde_json::from_slice(&std::fs::read(path.join("benchmark.json"))?)?;
            let measured: Measured = serde_json::from_slice(&std::fs::read(path.join("sample.json"))?)?;
            samples.extend(parse(&named.full_id, &measured));
        } else {
            samples.extend(read(&path)?);
        }
    }
    Ok(samples)
}

fn parse(id: &str, measured: &Measured) -> Option<Sample> {
    let mut parts = id.split('/');
    let name = parts.next()?.to_string();
    let parameters: Option<BTreeMap<String, f64>> = parts
        .map(|part| part.split_once('=').and_then(|(key, value)| Some((key.into(), value.parse().ok()?))))
        .collect();
    // Criterion's times are nanoseconds.
    let mut seconds: Vec<f64> =
        measured.times.iter().zip(&measured.iters).map(|(time, runs)| 1e-9 * time / runs).collect();
    seconds.sort_by(f64::total_cmp);
    Some(Sample { name, parameters: parameters?, seconds })
}
