//! How near an iteration of fitted Q comes to what the machine allows.

use super::samples::Sample;
use serde_json::{Value, json};

/// Bytes of a number, of an action's code.
const NUMBER: f64 = 8.0;
const CODE: f64 = 4.0;

/// For every size: what binds, the share of it that is reached, and how the iteration compares with reading the features.
pub fn report(samples: &[Sample]) -> Vec<Value> {
    let mut found = Vec::new();
    let find = |name: &'static str| samples.iter().filter(move |s| s.name == name);
    let Some(peak) = find("fused").find_map(|s| Some(s.get("products")? / s.median())) else {
        println!("no peak was measured");
        return found;
    };
    println!("fused products: {:.1} · 10⁹ a second", 1e-9 * peak);
    for stream in find("stream") {
        let (Some(n), Some(d)) = (stream.get("n"), stream.get("d")) else { continue };
        println!("reading {n} × {d} numbers: {:.1} GB/s", 1e-9 * n * d * NUMBER / stream.median());
    }
    for long in find("passes").filter(|s| s.get("iterations") > Some(1.0)) {
        let shape = ["n", "d", "coordinates", "actions", "iterations"].map(|key| long.get(key));
        let [Some(n), Some(d), Some(p), Some(actions), Some(iterations)] = shape else { continue };
        let same = |s: &&Sample| s.get("n") == Some(n) && s.get("d") == Some(d) && s.get("iterations") == Some(1.0);
        let nearest = find("stream").filter_map(|s| Some((s.get("n")?, s.get("d")?, s.median())));
        let nearest = nearest.min_by(|a, b| (a.0 - n).abs().total_cmp(&(b.0 - n).abs()));
        let (Some(short), Some((rows, columns, seconds))) = (find("passes").find(same), nearest) else { continue };
        let iteration = (long.median() - short.median()) / (iterations - 1.0);
        let bandwidth = rows * columns * NUMBER / seconds;
        // An iteration has to read states, rewards and actions, and to make features, values and moments of them.
        let memory = n * (p * NUMBER + NUMBER + CODE) / bandwidth;
        let arithmetic = n * ((d - 1.0 - p) + 2.0 * actions * d) / peak;
        let (binding, bound) = if memory > arithmetic { ("bandwidth", memory) } else { ("arithmetic", arithmetic) };
        found.push(json!({
            "n": n, "d": d, "binds": binding, "share": bound / iteration, "nanoseconds_a_tuple": 1e9 * iteration / n,
            "gigabytes_a_second": 1e-9 * bandwidth, "fused_products_a_second": peak,
        }));
        println!(
            "n = {n}, d = {d}: {:.2} ns a tuple; {binding} binds, {:.0} % of it reached; {:.2} times the time to read the features",
            1e9 * iteration / n,
            100.0 * bound / iteration,
            iteration / (n * d * NUMBER / bandwidth),
        );
    }
    found
}
