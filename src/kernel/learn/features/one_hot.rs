//! Indicators of finitely many points: the tabular case.

use super::FeatureMap;
use serde::{Deserialize, Serialize};

/// One indicator a listed point; a row that is none of them has no feature at all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OneHot {
    points: Vec<Vec<f64>>,
}

impl OneHot {
    /// Indicators of the given points. `None` when there is none, or when they differ in length.
    pub fn new(points: Vec<Vec<f64>>) -> Option<Self> {
        let width = points.first()?.len();
        (width > 0 && points.iter().all(|point| point.len() == width)).then_some(Self { points })
    }
}

impl FeatureMap for OneHot {
    fn inputs(&self) -> usize {
        self.points.first().map_or(0, Vec::len)
    }

    fn count(&self) -> usize {
        self.points.len()
    }

    fn fill(&self, rows: &[f64], out: &mut [f64]) {
        let n = rows.len() / self.inputs();
        out[..n * self.count()].fill(0.0);
        for (i, row) in rows.chunks_exact(self.inputs()).enumerate() {
            if let Some(j) = self.points.iter().position(|point| point == row) {
                out[j * n + i] = 1.0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_point_has_its_indicator_and_another_has_none() {
        let map = OneHot::new(vec![vec![0.0, 1.0], vec![2.0, 3.0], vec![4.0, 5.0]]).unwrap();
        let mut out = vec![9.0; 6];
        map.fill(&[2.0, 3.0, 2.0, 1.0], &mut out);
        assert_eq!(out, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        assert!(OneHot::new(vec![]).is_none());
        assert!(OneHot::new(vec![vec![1.0], vec![1.0, 2.0]]).is_none());
        assert!(OneHot::new(vec![vec![]]).is_none());
    }
}
