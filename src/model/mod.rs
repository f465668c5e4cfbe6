//! Structural models: the means of a decision process, exact counterfactuals, the paper's worlds and fitted mechanisms.
