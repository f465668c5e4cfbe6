//! Any bytes are a policy or an error; a policy that was accepted can decide.
#![no_main]

use counterfair::fair::Policy;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Ok(policy) = Policy::from_json(input, "fuzz.json") else { return };
    let agent = policy.agent();
    let mut memory = agent.begin(&[0], &vec![0.5; policy.state_dim], &[0.5]);
    agent.act(&mut memory, &[0.5], &mut [0]);
    agent.advance(&mut memory, &[0], &vec![0.25; policy.state_dim]);
});
