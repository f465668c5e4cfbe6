//! How good and how fair a policy is; every number with its standard error.
