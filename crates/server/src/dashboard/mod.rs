//! Pages for people.

pub(crate) mod connect;
