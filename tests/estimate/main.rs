//! Estimators, agents and preprocessing against finite sums, the noise ladder against R, the stable learner against the plain one, and all against
//! PyCFRL.

mod exact;
mod noise;
mod peer;
mod peer_values;
mod stable_learner;
