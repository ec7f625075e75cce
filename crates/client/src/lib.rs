//! Calls any operation of the contract over HTTP: the same structs on both sides of the wire.

pub mod call;
pub mod mcp;
pub mod oauth;

pub use call::{Client, ClientError};
