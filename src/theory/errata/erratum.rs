//! What an erratum is: a statement of the source document, a witness against it, and the statement as it should read.

use crate::theory::theorems::{Quotation, ROUNDING};
use serde::{Deserialize, Serialize, Serializer};

/// How a statement stands in the source document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stands {
    /// As a statement, in these words or symbols.
    Printed,
    /// As a step of a proof, printed too. That it fails does not by itself make the statement false that it serves.
    Step,
    /// Not said, but a step of it, or two of its sentences together, need it.
    Implied,
    /// As an assumption. That it fails in an example shows what it asks, not that a statement is false.
    Assumed,
}

impl Stands {
    /// All of them, from what is said to what is asked.
    pub const ALL: [Self; 4] = [Self::Printed, Self::Step, Self::Implied, Self::Assumed];

    /// The word for it in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Printed => "printed",
            Self::Step => "step",
            Self::Implied => "implied",
            Self::Assumed => "assumed",
        }
    }
}

/// How two numbers should compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// ≤
    AtMost,
    /// ≥
    AtLeast,
    /// =
    Equals,
    /// <
    Less,
}

impl Relation {
    /// Its symbol.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::AtMost => "≤",
            Self::AtLeast => "≥",
            Self::Equals => "=",
            Self::Less => "<",
        }
    }
}

/// What is so, and what a form of the statement says about it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sides {
    /// What is so.
    pub is: f64,
    /// How it should compare.
    pub relation: Relation,
    /// With what.
    pub said: f64,
}

impl Sides {
    /// is ≤ said.
    pub fn at_most(is: f64, said: f64) -> Self {
        Self { is, relation: Relation::AtMost, said }
    }

    /// is ≥ said.
    pub fn at_least(is: f64, said: f64) -> Self {
        Self { is, relation: Relation::AtLeast, said }
    }

    /// is = said.
    pub fn equals(is: f64, said: f64) -> Self {
        Self { is, relation: Relation::Equals, said }
    }

    /// is < said, without rounding.
    pub fn less(is: f64, said: f64) -> Self {
        Self { is, relation: Relation::Less, said }
    }

    /// Whether they compare as they should, up to rounding; a number that is none does not.
    pub fn hold(self) -> bool {
        let Self { is, relation, said } = self;
        let slack = ROUNDING * is.abs().max(said.abs());
        match relation {
            Relation::AtMost => is <= said + slack,
            Relation::AtLeast => is >= said - slack,
            Relation::Equals => (is - said).abs() <= slack,
            Relation::Less => is < said,
        }
    }
}

/// A case in which the document's form fails and the corrected form holds, recomputed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Witness {
    /// All that is needed to recompute both by hand.
    pub text: String,
    /// What is so, against the document's form.
    pub printed: Sides,
    /// What is so, against the corrected form.
    pub corrected: Sides,
}

/// A statement of the source document that does not hold as it stands, or an assumption that fails in an example.
#[derive(Clone, Copy)]
pub struct Erratum {
    /// The label shared with the source document, the proofs and the paper.
    pub label: &'static str,
    /// How it stands there.
    pub stands: Stands,
    /// Its words there, and their line.
    pub source: Quotation,
    /// What the document's form says, in one line.
    pub says: &'static str,
    /// Why it fails, in one line: what the witness shows.
    pub why: &'static str,
    /// The statement as it should read.
    pub right: &'static str,
    /// Recomputes the witness.
    pub witness: fn() -> Witness,
    /// The label of the erratum that this one follows from; its own label when it is the first of its kind.
    pub root: &'static str,
    /// Its theorems in `proofs/`; none where nothing is proved.
    pub proved_by: &'static [&'static str],
}

impl Erratum {
    /// Recomputes its witness.
    pub fn recompute(&self) -> ErratumRow {
        ErratumRow { erratum: *self, witness: (self.witness)() }
    }
}

impl std::fmt::Debug for Erratum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}): {}", self.label, self.stands.word(), self.says)
    }
}

impl Serialize for Erratum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("Erratum", 8)?;
        fields.serialize_field("label", self.label)?;
        fields.serialize_field("stands", &self.stands)?;
        fields.serialize_field("source", &self.source)?;
        fields.serialize_field("says", self.says)?;
        fields.serialize_field("why", self.why)?;
        fields.serialize_field("right", self.right)?;
        fields.serialize_field("root", self.root)?;
        fields.serialize_field("proved_by", self.proved_by)?;
        fields.end()
    }
}

/// An erratum with its witness recomputed.
#[derive(Debug, Clone, Serialize)]
pub struct ErratumRow {
    /// The erratum.
    pub erratum: Erratum,
    /// Its witness.
    pub witness: Witness,
}

impl ErratumRow {
    /// Whether the document's form fails at the witness and the corrected form does not.
    pub fn as_expected(&self) -> bool {
        !self.witness.printed.hold() && self.witness.corrected.hold()
    }

    /// Whether it follows from no other.
    pub fn is_root(&self) -> bool {
        self.erratum.root == self.erratum.label
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_hold_up_to_rounding_and_not_beyond() {
        for (sides, holds) in [
            (Sides::at_most(1.0 + 1e-12, 1.0), true),
            (Sides::at_most(1.001, 1.0), false),
            (Sides::at_least(0.999, 1.0), false),
            (Sides::equals(0.0, 1e-30), false),
            (Sides::equals(2.0, 2.0), true),
            (Sides::less(1.0, 1.0), false),
            (Sides::at_most(f64::NAN, 1.0), false),
        ] {
            assert_eq!(sides.hold(), holds, "{sides:?}");
        }
    }
}
