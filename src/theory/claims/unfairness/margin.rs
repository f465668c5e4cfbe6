//! One-dimensional worlds with a boundary, in which unfairness is the length of an interval.
//!
//! Two actions, Q*(s,1) − Q*(s,0) = 2(s − ½) and Q*(s,0) = ½ − s, so that gap(s) = 2|s − ½| and L_Q = 1. The law of s has
//! P(gap ≤ x) = x^α: two-sided (symmetric about ½) or one-sided (all mass above ½). f̂ moves the boundary to ½ + `boundary`,
//! which an error of ξ = |boundary| does: f̂(s,1) = Q*(s,1) − ξ, f̂(s,0) = Q*(s,0) + ξ shifts it by exactly ξ. Worlds read s + shift.

/// A law on [0, 1] with P(2|s − ½| ≤ x) = x^α.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sides {
    /// All mass above ½: P(2(s − ½) ≤ x) = x^α.
    One,
    /// Half of the mass on each side.
    Two,
}

/// The world and the estimate.
#[derive(Debug, Clone, Copy)]
pub struct Boundary {
    /// The law's sides.
    pub sides: Sides,
    /// The margin exponent α.
    pub α: f64,
    /// Where f̂ puts the boundary, relative to ½; its sup-error is the absolute value.
    pub boundary: f64,
    /// What the two worlds add to s.
    pub shifts: (f64, f64),
}

impl Boundary {
    /// P(s ≤ x), closed form.
    fn law(&self, x: f64) -> f64 {
        let side = (2.0 * (x - 0.5)).clamp(-1.0, 1.0);
        match self.sides {
            Sides::One => side.max(0.0).powf(self.α),
            Sides::Two => 0.5 * (1.0 + side.signum() * side.abs().powf(self.α)),
        }
    }

    /// P(π̂(s + shift₁) ≠ π̂(s + shift₂)): s between the two places where the decision turns.
    pub fn unfairness(&self) -> f64 {
        let turn = |shift: f64| 0.5 + self.boundary - shift;
        (self.law(turn(self.shifts.0)) - self.law(turn(self.shifts.1))).abs()
    }

    /// ξ.
    pub fn error(&self) -> f64 {
        self.boundary.abs()
    }

    /// ε_s.
    pub fn shift(&self) -> f64 {
        self.shifts.0.abs().max(self.shifts.1.abs())
    }

    /// Everything needed to recompute [`unfairness`](Self::unfairness).
    pub fn text(&self) -> String {
        let Self { sides, α, boundary, shifts } = self;
        let law = match sides {
            Sides::One => "P(2(s−½) ≤ x) = x^α, s > ½",
            Sides::Two => "P(2|s−½| ≤ x) = x^α, symmetric",
        };
        format!(
            "Q*(s,1) − Q*(s,0) = 2(s − ½), L_Q = 1, {law}, α = {α}; f̂ = Q* ∓ ξ turns at ½ + {boundary}, worlds read s + {} and s + {}",
            shifts.0, shifts.1
        )
    }
}
