//! Rules of signing in and connecting that need no database: passkeys, redirect URIs, attempts to connect and
//! refused calls.

pub mod connections;
pub mod denials;
pub mod redirects;
pub mod webauthn;
