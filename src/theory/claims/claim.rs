//! What a claim is, what can become of it, and how one row of the table is made.

use serde::{Deserialize, Serialize, Serializer};

/// How much work a check may do. Seeds are the same at both; `Full` looks longer, never elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Budget {
    /// Fit for `cargo test`: all claims in a minute or two.
    Quick,
    /// Fit for an evening.
    Full,
}

impl Budget {
    /// `quick` or `full`, whichever this is.
    pub fn pick<N>(self, quick: N, full: N) -> N {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// Whose statement it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The source document says it in these words or symbols.
    Printed,
    /// The source document does not say it, but a step of it, or two of its sentences together, need it.
    Implied,
    /// The source document assumes it. That it fails in an example shows what the assumption asks, not that a statement is false.
    Assumption,
    /// Ours: a corrected statement, or one that the document lacks and needs.
    Ours,
}

impl Kind {
    /// All of them, from what is said to what is added.
    pub const ALL: [Self; 4] = [Self::Printed, Self::Implied, Self::Assumption, Self::Ours];

    /// The word for it in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Printed => "printed",
            Self::Implied => "implied",
            Self::Assumption => "assumption",
            Self::Ours => "ours",
        }
    }
}

/// Words of the source document, and where they stand: what a claim examines, corrects or completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Quotation {
    /// The line of the document's LaTeX source, counted from 1.
    pub line: usize,
    /// A verbatim fragment of that line.
    pub words: &'static str,
}

/// What code a claim runs when it is made of formulas alone.
pub const ARITHMETIC: &str = "arithmetic";

/// The kind of verdict a claim is expected to earn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// Holds, by enumeration or closed form.
    Exact,
    /// Searched, and no counterexample found.
    NotRefuted,
    /// False: a witness exists.
    Refuted,
}

/// A rate, measured: means over seeds at several sizes and the slope of their logarithms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Law {
    /// What `sizes` count.
    pub axis: String,
    /// Sizes, at least six over a 64-fold range.
    pub sizes: Vec<f64>,
    /// Mean over seeds at each size.
    pub means: Vec<f64>,
    /// Standard error of each mean.
    pub standard_errors: Vec<f64>,
    /// Runs in all.
    pub runs: usize,
    /// Slope of log mean on log size.
    pub slope: f64,
    /// Natural logarithm of the fitted mean at size 1.
    pub intercept: f64,
    /// Bootstrap interval of the slope.
    pub interval: (f64, f64),
    /// The share of resampled slopes in the interval; what is left is the chance of a false alarm.
    pub confidence: f64,
    /// The slope claimed.
    pub target: f64,
}

impl Law {
    /// Slope, interval and target in words.
    fn text(&self) -> String {
        let Self { slope, interval: (low, high), target, runs, .. } = self;
        let means: Vec<String> = self.means.iter().map(|m| format!("{m:.3e}")).collect();
        let sizes: Vec<String> = self.sizes.iter().map(|n| format!("{n}")).collect();
        format!(
            "slope {slope:.2} in [{low:.2}, {high:.2}], target {target}; {runs} runs, {} = {}: means {}",
            self.axis,
            sizes.join(" "),
            means.join(" ")
        )
    }
}

/// Numbers that show a statement to be false, or an equality to fail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Witness {
    /// All that is needed to recompute both sides by hand.
    pub text: String,
    /// The side that should have been the smaller, or one side of an equality.
    pub left: f64,
    /// The side that should have been the larger, or the other side of an equality.
    pub right: f64,
    /// The rate that was measured, when the statement is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<Box<Law>>,
}

/// What became of a claim. It never says "true".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Verdict {
    /// Enumerated or in closed form; `error` is the largest deviation met.
    Exact {
        /// Largest deviation between two sides that should be equal.
        error: f64,
    },
    /// Searched without finding a counterexample.
    NotRefuted {
        /// Cases looked at.
        trials: usize,
        /// The largest left side in units of its right side; 1 is a statement that cannot be improved. For a rate, the distance of
        /// the slope from its target in units of half the interval.
        worst_ratio: f64,
        /// The rate that was measured, when the statement is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        law: Option<Box<Law>>,
    },
    /// A counterexample.
    Refuted {
        /// The counterexample.
        witness: Witness,
    },
    /// The check could not decide.
    Inconclusive {
        /// Why.
        reason: String,
    },
}

impl Verdict {
    /// Whether this is the kind expected.
    pub fn is(&self, expected: Expected) -> bool {
        matches!(
            (self, expected),
            (Self::Exact { .. }, Expected::Exact)
                | (Self::NotRefuted { .. }, Expected::NotRefuted)
                | (Self::Refuted { .. }, Expected::Refuted)
        )
    }

    /// The word for it in tables.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Exact { .. } => "exact",
            Self::NotRefuted { .. } => "not refuted",
            Self::Refuted { .. } => "refuted",
            Self::Inconclusive { .. } => "inconclusive",
        }
    }

    /// The rate that was measured, when the statement is one.
    pub fn law(&self) -> Option<&Law> {
        match self {
            Self::NotRefuted { law, .. } | Self::Refuted { witness: Witness { law, .. } } => law.as_deref(),
            Self::Exact { .. } | Self::Inconclusive { .. } => None,
        }
    }

    /// The numbers behind the word, to three digits: the same text on every machine.
    pub fn detail(&self) -> String {
        match self {
            Self::Exact { error } if *error == 0.0 => "no error".into(),
            Self::Exact { error } => format!("error {error:.0e}"),
            Self::NotRefuted { law: Some(law), .. } => law.text(),
            Self::NotRefuted { trials, worst_ratio, .. } => format!("{trials} cases, worst ratio {worst_ratio:.3}"),
            Self::Refuted { witness: Witness { law: Some(law), .. } } => law.text(),
            Self::Refuted { witness } => {
                format!("{} [{:.3e} against {:.3e}]", witness.text, witness.left, witness.right)
            }
            Self::Inconclusive { reason } => reason.clone(),
        }
    }
}

/// A statement with its check and its control.
///
/// The control is the same check where its answer must turn: for a statement that should hold, a world in which its
/// conclusion is derived to be false, which must come back refuted; for a statement of the document that is false, the same
/// search with the mistake repaired, which must *not* come back refuted. A check that can only say one thing says nothing.
#[derive(Clone, Copy)]
pub struct Claim {
    /// The label shared with the source document, the proofs and the paper.
    pub label: &'static str,
    /// Whose statement it is.
    pub kind: Kind,
    /// What is claimed, in one line.
    pub statement: &'static str,
    /// What it stands on.
    pub assumes: &'static [&'static str],
    /// What we expect of the check.
    pub expected: Expected,
    /// The check.
    pub check: fn(Budget) -> Verdict,
    /// The control, whose verdict must be the opposite.
    pub control: fn(Budget) -> Verdict,
    /// The words of the source document; none for what has no counterpart there.
    pub source: Option<Quotation>,
    /// The library's code that the check runs, by its path; [`ARITHMETIC`] where the check is self-contained.
    pub runs: &'static str,
    /// The label of the error that this one follows from; a claim's own label when it is the first of its kind.
    pub root: &'static str,
}

impl Claim {
    const fn new(
        kind: Kind,
        label: &'static str,
        statement: &'static str,
        assumes: &'static [&'static str],
        expected: Expected,
        check: fn(Budget) -> Verdict,
        control: fn(Budget) -> Verdict,
    ) -> Self {
        Self { label, kind, statement, assumes, expected, check, control, source: None, runs: ARITHMETIC, root: label }
    }

    /// A statement that the source document prints.
    pub(super) const fn printed(
        label: &'static str,
        statement: &'static str,
        assumes: &'static [&'static str],
        expected: Expected,
        check: fn(Budget) -> Verdict,
        control: fn(Budget) -> Verdict,
    ) -> Self {
        Self::new(Kind::Printed, label, statement, assumes, expected, check, control)
    }

    /// A statement that the source document needs without printing it.
    pub(super) const fn implied(
        label: &'static str,
        statement: &'static str,
        assumes: &'static [&'static str],
        expected: Expected,
        check: fn(Budget) -> Verdict,
        control: fn(Budget) -> Verdict,
    ) -> Self {
        Self::new(Kind::Implied, label, statement, assumes, expected, check, control)
    }

    /// Something that the source document assumes.
    pub(super) const fn assumption(
        label: &'static str,
        statement: &'static str,
        assumes: &'static [&'static str],
        expected: Expected,
        check: fn(Budget) -> Verdict,
        control: fn(Budget) -> Verdict,
    ) -> Self {
        Self::new(Kind::Assumption, label, statement, assumes, expected, check, control)
    }

    /// A statement as it should read, or one that is missing.
    pub(super) const fn ours(
        label: &'static str,
        statement: &'static str,
        assumes: &'static [&'static str],
        expected: Expected,
        check: fn(Budget) -> Verdict,
        control: fn(Budget) -> Verdict,
    ) -> Self {
        Self::new(Kind::Ours, label, statement, assumes, expected, check, control)
    }

    /// With the words of the source document that it examines, corrects or completes.
    pub(super) const fn at(self, line: usize, words: &'static str) -> Self {
        Self { source: Some(Quotation { line, words }), ..self }
    }

    /// With the library's code that the check runs.
    pub(super) const fn runs(self, path: &'static str) -> Self {
        Self { runs: path, ..self }
    }

    /// Whether a statement of the source document is expected to be false, or an assumption of it to fail.
    pub fn is_erratum(&self) -> bool {
        self.kind != Kind::Ours && self.expected == Expected::Refuted
    }

    /// Whether `verdict` is what a control of this claim must say.
    pub fn control_turns(&self, verdict: &Verdict) -> bool {
        match self.expected {
            Expected::Refuted => verdict.is(Expected::Exact) || verdict.is(Expected::NotRefuted),
            Expected::Exact | Expected::NotRefuted => verdict.is(Expected::Refuted),
        }
    }

    /// Runs check and control.
    pub fn examine(&self, budget: Budget) -> Row {
        let start = std::time::Instant::now();
        let (verdict, control) = ((self.check)(budget), (self.control)(budget));
        let as_expected = judge(self, &verdict, &control);
        Row { claim: *self, verdict, control, as_expected, seconds: start.elapsed().as_secs_f64() }
    }
}

/// Whether check and control said what they should.
pub(super) fn judge(claim: &Claim, verdict: &Verdict, control: &Verdict) -> bool {
    verdict.is(claim.expected) && claim.control_turns(control)
}

impl std::fmt::Debug for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}): {}", self.label, self.kind.word(), self.statement)
    }
}

impl Serialize for Claim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("Claim", 8)?;
        fields.serialize_field("label", self.label)?;
        fields.serialize_field("kind", &self.kind)?;
        fields.serialize_field("statement", self.statement)?;
        fields.serialize_field("assumes", self.assumes)?;
        fields.serialize_field("expected", &self.expected)?;
        fields.serialize_field("source", &self.source)?;
        fields.serialize_field("runs", self.runs)?;
        fields.serialize_field("root", self.root)?;
        fields.end()
    }
}

/// One line of the table.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The claim.
    pub claim: Claim,
    /// What its check said.
    pub verdict: Verdict,
    /// What its control said.
    pub control: Verdict,
    /// Whether both said what they should.
    pub as_expected: bool,
    /// Wall time of the two.
    pub seconds: f64,
}
