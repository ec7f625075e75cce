//! The contract as its readers see it.

mod shapes;
