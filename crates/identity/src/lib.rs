//! Rules of signing in and connecting that need no database: passkeys, passwords, OAuth requests and clients,
//! attempts to connect, refused calls
//! and a cache of verified credentials.

pub mod connections;
pub mod denials;
pub mod oauth;
pub mod password_policy;
pub mod redirects;
pub mod secrets;
pub mod verified_cache;
pub mod webauthn;
