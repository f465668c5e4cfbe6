//! All monomials up to a total degree, each made from a lower one by one multiplication.

use serde::{Deserialize, Serialize};

/// Exponents of all monomials of total degree ≤ D in p coordinates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "(usize, usize)", into = "(usize, usize)")]
pub struct Monomials {
    coordinates: usize,
    degree: usize,
    /// Monomial j is monomial `parent` times coordinate `factor`; the constant has none.
    steps: Vec<(usize, usize)>,
    /// How many monomials have total degree ≤ d, for d = 0, …, D.
    up_to: Vec<usize>,
}

/// A degree that makes more monomials than is sensible.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("degree {degree} in {coordinates} coordinates makes more than {} monomials", Monomials::LIMIT)]
pub struct TooManyMonomials {
    /// p.
    pub coordinates: usize,
    /// D.
    pub degree: usize,
}

impl Monomials {
    /// The most monomials there may be.
    pub const LIMIT: usize = 2000;

    /// All monomials of total degree ≤ `degree`.
    ///
    /// # Errors
    /// [`TooManyMonomials`].
    pub fn new(coordinates: usize, degree: usize) -> Result<Self, TooManyMonomials> {
        let mut steps = vec![(0, 0)];
        let mut up_to = vec![1];
        // The factors of a monomial never decrease, so each arises once.
        let mut last = vec![(0, 0)];
        for _ in 0..degree {
            let mut this = Vec::new();
            for &(parent, from) in &last {
                for factor in from..coordinates {
                    if steps.len() >= Self::LIMIT {
                        return Err(TooManyMonomials { coordinates, degree });
                    }
                    this.push((steps.len(), factor));
                    steps.push((parent, factor));
                }
            }
            up_to.push(steps.len());
            last = this;
        }
        Ok(Self { coordinates, degree, steps, up_to })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.steps.len()
    }

    /// p.
    pub fn coordinates(&self) -> usize {
        self.coordinates
    }

    /// For each monomial a lower one and the coordinate to multiply it with; the first is the constant and has neither.
    pub fn steps(&self) -> &[(usize, usize)] {
        &self.steps
    }

    /// D.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// How many have total degree ≤ d.
    pub fn up_to(&self, degree: usize) -> usize {
        self.up_to[degree]
    }
}

impl TryFrom<(usize, usize)> for Monomials {
    type Error = TooManyMonomials;

    fn try_from((coordinates, degree): (usize, usize)) -> Result<Self, TooManyMonomials> {
        // A degree beyond the limit would spin through empty rounds when there are no coordinates.
        if degree > Self::LIMIT {
            return Err(TooManyMonomials { coordinates, degree });
        }
        Self::new(coordinates, degree)
    }
}

impl From<Monomials> for (usize, usize) {
    fn from(monomials: Monomials) -> Self {
        (monomials.coordinates, monomials.degree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monomials_come_by_degree_and_each_once() {
        let monomials = Monomials::new(2, 3).unwrap();
        assert_eq!((0..=3).map(|d| monomials.up_to(d)).collect::<Vec<_>>(), [1, 3, 6, 10]);
        assert_eq!((monomials.count(), monomials.coordinates(), monomials.degree()), (10, 2, 3));
        let x = [2.0, 3.0];
        let mut values: Vec<f64> = vec![1.0];
        for &(parent, factor) in &monomials.steps()[1..] {
            values.push(values[parent] * x[factor]);
        }
        assert_eq!(values, [1.0, 2.0, 3.0, 4.0, 6.0, 9.0, 8.0, 12.0, 18.0, 27.0]);
    }

    #[test]
    fn too_high_a_degree_is_refused_without_building_it() {
        assert_eq!(Monomials::new(30, 30), Err(TooManyMonomials { coordinates: 30, degree: 30 }));
        assert!(serde_json::from_str::<Monomials>("[0, 18446744073709551615]").is_err());
        assert_eq!(Monomials::new(1, Monomials::LIMIT - 1).unwrap().count(), Monomials::LIMIT);
        assert!(Monomials::new(1, Monomials::LIMIT).is_err());
    }

    #[test]
    fn monomials_are_written_as_their_two_numbers_and_read_back() {
        let monomials = Monomials::new(3, 2).unwrap();
        assert_eq!(<(usize, usize)>::from(monomials.clone()), (3, 2));
        assert_eq!(Monomials::try_from((3, 2)), Ok(monomials));
        let limit = Monomials::LIMIT;
        assert_eq!(Monomials::try_from((0, limit)).map(|m| m.count()), Ok(1), "of no coordinate only the constant");
        assert_eq!(Monomials::try_from((0, limit + 1)), Err(TooManyMonomials { coordinates: 0, degree: limit + 1 }));
    }
}
