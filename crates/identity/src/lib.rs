//! Rules of signing in and connecting that need no database: passkeys, redirect URIs, and attempts to connect.

pub mod connections;
pub mod redirects;
pub mod webauthn;
