//! Features, Bellman operators, fitted Q iteration, policies and exact optima.
