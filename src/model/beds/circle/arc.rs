//! Where one first-order trigonometric function exceeds another.

use std::f64::consts::{PI, TAU};

/// Where A + B cos(x − ω) is positive: |x − ω| < half.
pub(super) struct Arc {
    pub level: f64,
    pub size: f64,
    pub centre: f64,
    pub half: f64,
}

impl Arc {
    /// Where g exceeds f.
    pub fn of(f: [f64; 3], g: [f64; 3]) -> Self {
        let (a, c, s) = (g[0] - f[0], g[1] - f[1], g[2] - f[2]);
        let b = c.hypot(s);
        let half = if a >= b {
            PI
        } else if a <= -b {
            0.0
        } else {
            (-a / b).acos()
        };
        Self { level: a, size: b, centre: s.atan2(c), half }
    }

    pub fn contains(&self, x: f64) -> bool {
        ((x - self.centre + PI).rem_euclid(TAU) - PI).abs() < self.half
    }

    /// Where |A + B cos(x − ω)| reaches `height`: at most four places, as distances from ω.
    pub fn heights(&self, height: f64) -> Vec<f64> {
        let reached = [height, -height].map(|h| (h - self.level) / self.size);
        reached.into_iter().filter(|c| c.abs() < 1.0).flat_map(|c| [c.acos(), -c.acos()]).collect()
    }

    /// |A + B cos(x − ω)|, the gap between the two functions.
    pub fn gap(&self, x: f64) -> f64 {
        (self.level + self.size * (x - self.centre).cos()).abs()
    }

    /// sup over x > 0 of (length of {gap ≤ x})/x, from above, by one part in a hundred at most.
    ///
    /// On a geometric grid with ratio 1.01 the length at a point bounds all lengths down to the next, and below 10⁻⁹ of the largest gap
    /// the length is linear in x.
    pub fn widest(&self) -> f64 {
        let top = self.level.abs() + self.size;
        if self.size == 0.0 {
            return if self.level == 0.0 { f64::INFINITY } else { TAU / top };
        }
        let inside = |x: f64| {
            let cos = |h: f64| ((h - self.level) / self.size).clamp(-1.0, 1.0);
            2.0 * (cos(-x).acos() - cos(x).acos())
        };
        let ratio = 1.01f64;
        let steps = (1e9f64.ln() / ratio.ln()).ceil() as i32;
        (0..=steps).map(|k| top * ratio.powi(-k)).map(|x| ratio * inside(x) / x).fold(0.0, f64::max)
    }

    /// ∫ over the arc of (1, cos, sin)ᵀ(1, cos, sin).
    pub fn moments(&self) -> [[f64; 3]; 3] {
        let (ω, τ) = (self.centre, self.half);
        let (c, s) = (2.0 * τ.sin() * ω.cos(), 2.0 * τ.sin() * ω.sin());
        let second = 0.5 * (2.0 * τ).sin();
        let (cc, ss, cs) = (τ + second * (2.0 * ω).cos(), τ - second * (2.0 * ω).cos(), second * (2.0 * ω).sin());
        [[2.0 * τ, c, s], [c, cc, cs], [s, cs, ss]]
    }
}
