//! What a claim is, and how one row of the table of theorems is made.

use super::judge::{Limit, Verdict, judge};
use super::{Found, Slope};
use serde::{Deserialize, Serialize, Serializer};

/// Words of the source document, and where they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Quotation {
    /// The line of the document's LaTeX source, counted from 1.
    pub line: usize,
    /// A verbatim fragment of that line.
    pub words: &'static str,
}

impl Quotation {
    /// Words and their line, where there are some: short enough to stand in a table of claims.
    pub const fn at(line: usize, words: &'static str) -> Option<Self> {
        Some(Self { line, words })
    }
}

/// Which of the two runs of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// The statement as it stands.
    Stated,
    /// The same run with the one change that the claim's `control` names: its limit must be broken.
    Control,
}

impl Run {
    /// The first where the statement is as it stands, the second in the control.
    pub fn pick<T>(self, stated: T, control: T) -> T {
        match self {
            Self::Stated => stated,
            Self::Control => control,
        }
    }
}

/// What is expected of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// The limit is kept.
    Holds,
    /// A law that is known not to hold here: a finding. Its control is a run in which the same judge accepts it.
    Outside,
}

/// Where a claim stands in the table that `cargo test` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rank {
    /// One of the four checks, or one of the theorems that carry the method: a row of its own.
    Headline,
    /// Counted in the line of lemmas; `--all` shows its row.
    Lemma,
}

/// A theorem, lemma or rate about the kernel: what it says, the limit that must be kept, a check that runs the kernel, and a control.
///
/// A claim is data. Its check returns what was found, once as stated and once with the one change that the control names; a generic judge compares
/// either with the limit. A check that cannot be broken by its control says nothing, and counts as a failure.
#[derive(Clone, Copy)]
pub struct Claim {
    /// The label shared with the source document, the proofs and the paper.
    pub label: &'static str,
    /// What is claimed, in one line.
    pub says: &'static str,
    /// Everything it stands on: worlds, constants, hypotheses.
    pub assumes: &'static [&'static str],
    /// What must be kept.
    pub limit: Limit,
    /// What was found, as stated or in the control.
    pub check: fn(Run) -> Found,
    /// What the control changes, in words.
    pub control: &'static str,
    /// The kernel's code that the check runs, by its path.
    pub runs: &'static str,
    /// The words of the source document that it states, corrects or completes.
    pub source: Option<Quotation>,
    /// Its theorems in `proofs/`; none where nothing is proved.
    pub proved_by: &'static [&'static str],
    /// What is expected of it.
    pub expected: Expected,
    /// Where it is shown.
    pub rank: Rank,
}

impl Claim {
    /// A claim with nothing said yet, for `Claim { label: …, ..Claim::LEMMA }`.
    pub const LEMMA: Self = Self {
        label: "",
        says: "",
        assumes: &[],
        limit: Limit::AtMost,
        check: |_| Found::Nothing { reason: String::new() },
        control: "",
        runs: "",
        source: None,
        proved_by: &[],
        expected: Expected::Holds,
        rank: Rank::Lemma,
    };

    /// The same, for a row of its own in the table.
    pub const HEADLINE: Self = Self { rank: Rank::Headline, ..Self::LEMMA };

    /// Runs check and control.
    pub fn examine(&self) -> Row {
        let start = std::time::Instant::now();
        let (stated, control) = ((self.check)(Run::Stated), (self.check)(Run::Control));
        Row { claim: *self, stated, control, seconds: start.elapsed().as_secs_f64() }
    }
}

impl std::fmt::Debug for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.label, self.says)
    }
}

impl Serialize for Claim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("Claim", 10)?;
        fields.serialize_field("label", self.label)?;
        fields.serialize_field("says", self.says)?;
        fields.serialize_field("assumes", self.assumes)?;
        fields.serialize_field("limit", &self.limit)?;
        fields.serialize_field("control", self.control)?;
        fields.serialize_field("runs", self.runs)?;
        fields.serialize_field("source", &self.source)?;
        fields.serialize_field("proved_by", self.proved_by)?;
        fields.serialize_field("expected", &self.expected)?;
        fields.serialize_field("rank", &self.rank)?;
        fields.end()
    }
}

/// One row of the table: a claim with what was found.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The claim.
    pub claim: Claim,
    /// What its check found.
    pub stated: Found,
    /// What its control found.
    pub control: Found,
    /// Wall time of the two.
    pub seconds: f64,
}

impl Row {
    /// What became of the claim.
    pub fn verdict(&self) -> Verdict {
        judge(self.claim.limit, &self.stated)
    }

    /// What became of its control.
    pub fn control_verdict(&self) -> Verdict {
        judge(self.claim.limit, &self.control)
    }

    /// Whether the control broke the limit; for a law that is known to be outside, whether the judge can accept it at all.
    pub fn control_turns(&self) -> bool {
        match self.claim.expected {
            Expected::Holds => self.control_verdict() == Verdict::Refuted,
            Expected::Outside => self.control_verdict().stands(),
        }
    }

    /// Whether the claim came back as expected, and its control the other way.
    pub fn as_expected(&self) -> bool {
        let claim = match self.claim.expected {
            Expected::Holds => self.verdict().stands(),
            Expected::Outside => self.verdict() == Verdict::Refuted,
        };
        claim && self.control_turns()
    }

    /// The slope that was measured, when the claim is about one.
    pub fn slope(&self) -> Option<&Slope> {
        self.stated.slope()
    }
}
