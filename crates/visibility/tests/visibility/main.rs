//! Tests over data files, properties, and bounds on hostile text.

mod hostile;
mod intervals;
mod labelled;
mod rollups;
