//! What a policy may see: from a history to the state a decision rule reads.
