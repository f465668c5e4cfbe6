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
    let mut sizes: Vec<&Sample> = find("passes").filter(|s| s.get("iterations") == Some(11.0)).collect();
    let place = |s: &Sample| (s.get("n").unwrap_or(0.0), s.get("d").unwrap_or(0.0));
    sizes.sort_by(|a, b| place(a).partial_cmp(&place(b)).expect("sizes are numbers"));
    for long in sizes {
        let shape = ["n", "d", "coordinates", "actions"].map(|key| long.get(key));
        let [Some(n), Some(d), Some(p), Some(actions)] = shape else { continue };
        // The mean of all iterations but the first.
        let mean = |name: &'static str| {
            let timed = || find(name).filter(|s| s.get("n") == Some(n) && s.get("d") == Some(d));
            let ends = timed().filter_map(|s| Some((s.get("iterations")?, s.median())));
            let (short, long) =
                ends.fold(
                    (None, None),
                    |(short, long), end| {
                        if end.0 == 1.0 { (Some(end), long) } else { (short, Some(end)) }
                    },
                );
            let ((one, first), (many, all)) = (short?, long?);
            Some((all - first) / (many - one))
        };
        let nearest = find("stream").filter_map(|s| Some((s.get("n")?, s.get("d")?, s.median())));
        let nearest = nearest.min_by(|a, b| (a.0 - n).abs().total_cmp(&(b.0 - n).abs()));
        let (Some(pass), Some(iteration), Some((rows, columns, seconds))) =
            (mean("passes"), mean("iterations"), nearest)
        else {
            continue;
        };
        let bandwidth = rows * columns * NUMBER / seconds;
        // An iteration has to read states, rewards and actions, and to make features, values and moments of them.
        let memory = n * (p * NUMBER + NUMBER + CODE) / bandwidth;
        let arithmetic = n * ((d - 1.0 - p) + 2.0 * actions * d) / peak;
        let (binding, bound) = if memory > arithmetic { ("bandwidth", memory) } else { ("arithmetic", arithmetic) };
        found.push(json!({
            "n": n, "d": d, "binds": binding, "share": bound / pass, "pass_nanoseconds_a_tuple": 1e9 * pass / n,
            "iteration_nanoseconds_a_tuple": 1e9 * iteration / n,
            "gigabytes_a_second": 1e-9 * bandwidth, "fused_products_a_second": peak,
        }));
        let reading = n * d * NUMBER / bandwidth;
        println!(
            "n = {n}, d = {d}: a plain pass takes {:.2} ns a tuple; {binding} binds, {:.0} % of it reached; {:.2} times the time to read \
             the features. In the mean over a hundred iterations {:.2} ns, {:.2} times that time",
            1e9 * pass / n,
            100.0 * bound / pass,
            pass / reading,
            1e9 * iteration / n,
            iteration / reading,
        );
    }
    found
}
