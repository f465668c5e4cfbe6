//! Least squares, random streams, quadrature, estimates and slopes: the arithmetic everything else stands on.

pub mod network;
