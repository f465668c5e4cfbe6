//! The name of what a policy does: SHA-256 of everything that its decisions depend on.

use super::{Method, Policy, StoredQ};
use crate::estimate::Fitted;
use crate::kernel::people::Labels;
use serde::Serialize;

impl Policy {
    /// SHA-256, in hexadecimal, of the method, the names, the mechanism and the action value as compact JSON. Two policies with one
    /// fingerprint decide alike; of a program only the command is known, and it must be one that always decides alike. How a policy came to be and what is certified of it do not enter.
    pub fn fingerprint(&self) -> String {
        #[derive(Serialize)]
        struct Deciding<'a> {
            method: Method,
            levels: &'a Labels,
            actions: &'a Labels,
            state_dim: usize,
            mechanism: &'a Option<Fitted>,
            #[serde(skip_serializing_if = "Option::is_none")]
            q: Option<&'a StoredQ>,
            #[serde(skip_serializing_if = "Option::is_none")]
            program: Option<&'a [String]>,
        }
        let Self { method, levels, actions, state_dim, mechanism, q, .. } = self;
        let (q, program) = match q {
            StoredQ::Program(program) => (None, Some(program.command().words.as_slice())),
            q => (Some(q), None),
        };
        let deciding = Deciding { method: *method, levels, actions, state_dim: *state_dim, mechanism, q, program };
        let text = serde_json::to_vec(&deciding).expect("a policy can be written");
        sha256(&text).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The first 32 bits of the fractional parts of √p (`INITIAL`) and ∛p (`ROUND`) for the first primes p: FIPS 180-4, §5.3.3 and §4.2.2.
const INITIAL: [u32; 8] =
    [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
#[rustfmt::skip]
const ROUND: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

/// SHA-256 (FIPS 180-4, §6.2).
pub(super) fn sha256(message: &[u8]) -> [u8; 32] {
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize((message.len() + 9).next_multiple_of(64) - 8, 0);
    padded.extend((8 * message.len() as u64).to_be_bytes());
    let mut state = INITIAL;
    for block in padded.chunks_exact(64) {
        let mut w = [0u32; 64];
        for (w, bytes) in w.iter_mut().zip(block.chunks_exact(4)) {
            *w = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        for t in 16..64 {
            let σ0 = w[t - 15].rotate_right(7) ^ w[t - 15].rotate_right(18) ^ (w[t - 15] >> 3);
            let σ1 = w[t - 2].rotate_right(17) ^ w[t - 2].rotate_right(19) ^ (w[t - 2] >> 10);
            w[t] = σ1.wrapping_add(w[t - 7]).wrapping_add(σ0).wrapping_add(w[t - 16]);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for (k, w) in ROUND.iter().zip(w) {
            let sum1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = (e & f) ^ (!e & g);
            let t1 = h.wrapping_add(sum1).wrapping_add(choice).wrapping_add(*k).wrapping_add(w);
            let sum0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let majority = (a & b) ^ (a & c) ^ (b & c);
            (h, g, f, e) = (g, f, e, d.wrapping_add(t1));
            (d, c, b, a) = (c, b, a, t1.wrapping_add(sum0.wrapping_add(majority)));
        }
        for (s, x) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *s = s.wrapping_add(x);
        }
    }
    let mut digest = [0; 32];
    digest.chunks_exact_mut(4).zip(state).for_each(|(out, word)| out.copy_from_slice(&word.to_be_bytes()));
    digest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::policy::tests::policy;

    /// The examples of FIPS 180-2, appendix B, and the empty message.
    #[test]
    fn published_digests_come_out() {
        let hex = |text: &[u8]| sha256(text).iter().map(|b| format!("{b:02x}")).collect::<String>();
        assert_eq!(hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let two_blocks = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(hex(two_blocks), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        let million = vec![b'a'; 1_000_000];
        assert_eq!(hex(&million), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }

    #[test]
    fn a_fingerprint_follows_what_decides_and_nothing_else() {
        let one = policy(Method::Ours);
        let mut told_otherwise = one.clone();
        told_otherwise.manifest.command = "another".into();
        told_otherwise.level_weights = vec![0.5, 0.5];
        assert_eq!(one.fingerprint(), told_otherwise.fingerprint());
        let mut other = one.clone();
        let StoredQ::Linear { weights, .. } = &mut other.q else { panic!("least squares") };
        weights[3] += 1e-12;
        assert_ne!(one.fingerprint(), other.fingerprint());
        assert_ne!(one.fingerprint(), policy(Method::Full).fingerprint());
    }
}
