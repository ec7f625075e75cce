//! Everything that talks to the outside. One file per vendor; all traffic leaves through
//! [`outbound`], so that where it may go is decided in one place.

pub mod outbound;
