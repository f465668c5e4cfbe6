//! Any line is a decision or an error, whatever lines came before it. The first line of the input is the policy.
#![no_main]

use counterfair::fair::{Deployment, Policy};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let mut lines = input.split(|byte| *byte == b'\n');
    let Some(Ok(policy)) = lines.next().map(|line| Policy::from_json(line, "fuzz.json")) else { return };
    let mut deployment = Deployment::new(policy);
    for line in lines {
        let _ = deployment.answer(line);
    }
});
