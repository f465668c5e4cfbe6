//! Where a statement of the source document is examined when no claim and no erratum bears its label, or why it is not.

/// Labels without a claim and without an erratum: where their content is, or the reason why nothing can be checked.
pub const ELSEWHERE: &[(&str, &str)] = &[];
