//! stub
use crate::data::Panel;
use crate::model::Mechanism;
use crate::numeric::{Stream, least_squares};
#[derive(Debug, Clone)]
pub struct Fitted { p: usize, k: usize, a: usize, initial: Vec<Vec<f64>>, w: Vec<Vec<f64>> }
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("stub")]
pub struct FitError;
pub enum Basis { Linear, Polynomial(usize), Spline, Neural }
pub enum Pooling { Pooled, PerLevel }
pub struct FitSettings { pub basis: Basis, pub pooling: Pooling, pub stream: Stream }
pub fn fit(panel: &Panel, _s: &FitSettings) -> Result<Fitted, FitError> {
    let (p, k, a) = (panel.state_dim(), panel.levels().len(), panel.action_names().len());
    let mut initial = vec![vec![0.0; p]; k];
    let mut n = vec![0.0; k];
    let mut x = vec![vec![]; k * a];
    let mut y = vec![vec![]; k * a];
    for person in panel.iter() {
        let z = person.level as usize;
        n[z] += 1.0;
        for j in 0..p { initial[z][j] += person.states[j]; }
        for t in 0..person.states.len() / p - 1 {
            let c = z * a + person.actions[t] as usize;
            x[c].push(1.0);
            x[c].extend_from_slice(&person.states[t * p..(t + 1) * p]);
            y[c].extend_from_slice(&person.states[(t + 1) * p..(t + 2) * p]);
            y[c].push(person.rewards[t]);
        }
    }
    for z in 0..k { for j in 0..p { initial[z][j] /= n[z]; } }
    let w = x.iter().zip(&y).map(|(x, y)| least_squares(x, y, p + 1, p + 1).map(|f| f.coefficients).map_err(|_| FitError)).collect::<Result<_, _>>()?;
    Ok(Fitted { p, k, a, initial, w })
}
impl Mechanism for Fitted {
    fn state_dim(&self) -> usize { self.p }
    fn levels(&self) -> usize { self.k }
    fn actions(&self) -> usize { self.a }
    fn initial_mean(&self, level: usize) -> &[f64] { &self.initial[level] }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        let p = self.p;
        for (i, &a) in actions.iter().enumerate() {
            let w = &self.w[level * self.a + a as usize];
            for o in 0..=p {
                let c = &w[o * (p + 1)..];
                let v = c[0] + (0..p).map(|j| c[1 + j] * states[i * p + j]).sum::<f64>();
                if o < p { next[i * p + o] = v } else { rewards[i] = v }
            }
        }
    }
}
