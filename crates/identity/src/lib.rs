//! Rules of signing in and connecting that need no database: passkeys, passwords, OAuth requests and clients,
//! attempts to connect and refused calls.

pub mod connections;
pub mod denials;
pub mod oauth;
pub mod password_policy;
pub mod redirects;
pub mod webauthn;
