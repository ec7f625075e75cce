//! Encryption of secrets at rest: XChaCha20-Poly1305 with a random nonce.
//!
//! The associated data names table, column, row and project, so that a ciphertext cannot be moved to another
//! place. A canary in `meta` tells whether the configured keys are those of the database.

mod rotation;

use std::collections::BTreeMap;

pub use rotation::{RewrapCounts, rewrap};

use chacha20poly1305::{
    XChaCha20Poly1305,
    aead::{Aead as _, KeyInit as _, Payload},
};
use secrecy::{ExposeSecret as _, SecretBox, SecretString};
use uuid::Uuid;

use crate::{Error, Result, Tx, admin};

const NONCE_LEN: usize = 24;
const CANARY: &str = "seal_canary";
const CANARY_TEXT: &[u8] = b"searchwright";
const CANARY_CONTEXT: SealContext<'_> = SealContext {
    table: "meta",
    column: "value",
    row: Uuid::nil(),
    project: Uuid::nil(),
};

/// Location of a sealed value in the database.
#[derive(Clone, Copy, Debug)]
pub struct SealContext<'a> {
    /// Table.
    pub table: &'a str,
    /// Column.
    pub column: &'a str,
    /// Row.
    pub row: Uuid,
    /// Project; nil for values of the installation.
    pub project: Uuid,
}

impl SealContext<'_> {
    fn associated_data(&self) -> Vec<u8> {
        format!("{}|{}|{}|{}", self.table, self.column, self.row, self.project).into_bytes()
    }
}

/// Sealing keys. The newest seals, all of them open.
pub struct Keyring {
    keys: BTreeMap<u8, SecretBox<[u8; 32]>>,
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Keyring({} keys)", self.keys.len())
    }
}

impl Keyring {
    /// Creates a keyring from keys of 32 bytes by number; at least one.
    pub fn new(keys: impl IntoIterator<Item = (u8, [u8; 32])>) -> Result<Self> {
        let keys: BTreeMap<_, _> = keys
            .into_iter()
            .map(|(id, key)| (id, SecretBox::new(Box::new(key))))
            .collect();
        if keys.is_empty() {
            return Err(Error::Seal("no sealing key is configured"));
        }
        Ok(Self { keys })
    }

    /// Seals a value. The result is key number (1 byte), nonce, and ciphertext with tag.
    pub fn seal(&self, context: SealContext<'_>, secret: &[u8]) -> Result<Vec<u8>> {
        let (id, key) = self
            .keys
            .last_key_value()
            .ok_or(Error::Seal("no sealing key is configured"))?;
        let mut nonce = [0u8; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|_| Error::Seal("no randomness is available"))?;
        let sealed = XChaCha20Poly1305::new(key.expose_secret().into())
            .encrypt(
                &nonce.into(),
                Payload {
                    msg: secret,
                    aad: &context.associated_data(),
                },
            )
            .map_err(|_| Error::Seal("the value is too long to be sealed"))?;
        Ok([&[*id][..], &nonce, &sealed].concat())
    }

    /// Opens a value that was sealed for this context.
    pub fn open(&self, context: SealContext<'_>, sealed: &[u8]) -> Result<Vec<u8>> {
        const FAILED: Error = Error::Seal("a sealed value does not open with the configured keys");
        let (id, rest) = sealed.split_first().ok_or(FAILED)?;
        let (nonce, text) = rest.split_first_chunk::<NONCE_LEN>().ok_or(FAILED)?;
        let key = self.keys.get(id).ok_or(FAILED)?;
        XChaCha20Poly1305::new(key.expose_secret().into())
            .decrypt(
                nonce.into(),
                Payload {
                    msg: text,
                    aad: &context.associated_data(),
                },
            )
            .map_err(|_| FAILED)
    }

    /// Opens a value that is text.
    pub(crate) fn open_text(&self, context: SealContext<'_>, sealed: &[u8]) -> Result<SecretString> {
        let text = String::from_utf8(self.open(context, sealed)?);
        text.map(SecretString::from)
            .map_err(|_| Error::Seal("a sealed value is not text"))
    }

    /// Number of the key that seals.
    pub fn newest(&self) -> Option<u8> {
        self.keys.last_key_value().map(|(id, _)| *id)
    }

    /// Returns an error if these are not the keys of the database; `false` if it has no canary, for which see
    /// [`Keyring::write_canary`].
    pub async fn check_canary(&self, tx: &mut Tx) -> Result<bool> {
        match admin::get_meta(tx, CANARY).await? {
            Some(stored) => self.open_canary(&stored).map(|()| true),
            None => Ok(false),
        }
    }

    /// Writes the canary, unless another process has, and checks it.
    pub async fn write_canary(&self, tx: &mut Tx) -> Result<()> {
        let stored = admin::insert_meta(tx, CANARY, self.seal(CANARY_CONTEXT, CANARY_TEXT)?).await?;
        self.open_canary(&stored)
    }

    /// Returns an error if these are not the keys of the database that has this canary.
    pub fn open_canary(&self, stored: &[u8]) -> Result<()> {
        let opened = self.open(CANARY_CONTEXT, stored);
        opened
            .map(|_| ())
            .map_err(|_| Error::Seal("the sealing key is not the one this database was made with"))
    }
}

/// Returns the canary of a database file.
pub(crate) fn canary_of(database: &rusqlite::Connection) -> Result<Option<Vec<u8>>> {
    use rusqlite::OptionalExtension as _;
    let stored = database.query_row("SELECT value FROM meta WHERE name = ?1", [CANARY], |row| {
        row.get(0)
    });
    Ok(stored.optional()?)
}

/// Returns whether secrets of the database were sealed with a key already.
pub async fn is_sealed(tx: &mut Tx) -> Result<bool> {
    Ok(admin::get_meta(tx, CANARY).await?.is_some())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{Keyring, SealContext};

    #[test]
    fn sealed_value_opens_only_in_its_context() {
        let old = Keyring::new([(1, [7; 32])]).unwrap();
        let both = Keyring::new([(1, [7; 32]), (2, [9; 32])]).unwrap();
        let here = SealContext {
            table: "webhooks",
            column: "secret",
            row: Uuid::from_u128(1),
            project: Uuid::from_u128(2),
        };
        let sealed = old.seal(here, b"hush").unwrap();
        assert_eq!(both.open(here, &sealed).unwrap(), b"hush");
        for there in [
            SealContext {
                table: "other",
                ..here
            },
            SealContext {
                column: "other",
                ..here
            },
            SealContext {
                row: Uuid::nil(),
                ..here
            },
            SealContext {
                project: Uuid::nil(),
                ..here
            },
        ] {
            assert!(both.open(there, &sealed).is_err());
        }
        assert!(old.open(here, &both.seal(here, b"hush").unwrap()).is_err());
        for cut in 0..sealed.len() {
            assert!(both.open(here, &sealed[..cut]).is_err());
        }
        assert!(!format!("{both:?}").contains('9'));
    }
}
