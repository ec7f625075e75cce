//! Secrets at rest: XChaCha20-Poly1305 with a random nonce. The associated data names table, column,
//! row and project, so that a ciphertext opens only where it was written.

mod rewrap;

use std::collections::BTreeMap;

pub use rewrap::{Rewrapped, rewrap};

use chacha20poly1305::{
    XChaCha20Poly1305,
    aead::{Aead as _, KeyInit as _, Payload},
};
use secrecy::{ExposeSecret as _, SecretBox};
use uuid::Uuid;

use crate::{Error, Result, Tx, admin};

const NONCE: usize = 24;
pub(crate) const CANARY: &str = "seal_canary";
const CANARY_TEXT: &[u8] = b"searchwright";
const CANARY_PLACE: Place<'_> = Place {
    table: "meta",
    column: "value",
    row: Uuid::nil(),
    project: Uuid::nil(),
};

/// Where a sealed value stands.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Table.
    pub table: &'a str,
    /// Column.
    pub column: &'a str,
    /// Row.
    pub row: Uuid,
    /// Project, nil for values of the installation.
    pub project: Uuid,
}

impl Place<'_> {
    fn bytes(&self) -> Vec<u8> {
        format!("{}|{}|{}|{}", self.table, self.column, self.row, self.project).into_bytes()
    }
}

/// The keys values are sealed with: the newest seals, all of them open.
pub struct Keyring {
    keys: BTreeMap<u8, SecretBox<[u8; 32]>>,
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Keyring({} keys)", self.keys.len())
    }
}

impl Keyring {
    /// Keys by number, 32 bytes each; at least one.
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

    /// Seals: key number, nonce, ciphertext with tag.
    pub fn seal(&self, place: Place<'_>, secret: &[u8]) -> Result<Vec<u8>> {
        let (id, key) = self
            .keys
            .last_key_value()
            .ok_or(Error::Seal("no sealing key is configured"))?;
        let mut nonce = [0u8; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| Error::Seal("no randomness is available"))?;
        let sealed = XChaCha20Poly1305::new(key.expose_secret().into())
            .encrypt(
                &nonce.into(),
                Payload {
                    msg: secret,
                    aad: &place.bytes(),
                },
            )
            .map_err(|_| Error::Seal("the value is too long to be sealed"))?;
        Ok([&[*id][..], &nonce, &sealed].concat())
    }

    /// Opens what was sealed at this place.
    pub fn open(&self, place: Place<'_>, sealed: &[u8]) -> Result<Vec<u8>> {
        const FAILED: Error = Error::Seal("a sealed value does not open with the configured keys");
        let (id, rest) = sealed.split_first().ok_or(FAILED)?;
        let (nonce, text) = rest.split_first_chunk::<NONCE>().ok_or(FAILED)?;
        let key = self.keys.get(id).ok_or(FAILED)?;
        XChaCha20Poly1305::new(key.expose_secret().into())
            .decrypt(
                nonce.into(),
                Payload {
                    msg: text,
                    aad: &place.bytes(),
                },
            )
            .map_err(|_| FAILED)
    }

    /// Number of the key that seals.
    pub fn newest(&self) -> Option<u8> {
        self.keys.last_key_value().map(|(id, _)| *id)
    }

    /// Refuses to go on with keys that are not the ones this database was sealed with. `false` if it was
    /// never sealed: then [`Keyring::mark`] it.
    pub async fn check(&self, tx: &mut Tx) -> Result<bool> {
        match admin::meta(tx, CANARY).await? {
            Some(stored) => self.recognises(&stored).map(|()| true),
            None => Ok(false),
        }
    }

    /// Leaves the mark that [`Keyring::check`] looks for.
    pub async fn mark(&self, tx: &mut Tx) -> Result<()> {
        let stored = admin::set_meta(tx, CANARY, self.seal(CANARY_PLACE, CANARY_TEXT)?).await?;
        self.recognises(&stored)
    }

    fn recognises(&self, stored: &[u8]) -> Result<()> {
        let opened = self.open(CANARY_PLACE, stored);
        opened
            .map(|_| ())
            .map_err(|_| Error::Seal("the sealing key is not the one this database was made with"))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{Keyring, Place};

    #[test]
    fn opens_only_where_it_was_sealed() {
        let old = Keyring::new([(1, [7; 32])]).unwrap();
        let both = Keyring::new([(1, [7; 32]), (2, [9; 32])]).unwrap();
        let here = Place {
            table: "webhooks",
            column: "secret",
            row: Uuid::from_u128(1),
            project: Uuid::from_u128(2),
        };
        let sealed = old.seal(here, b"hush").unwrap();
        assert_eq!(both.open(here, &sealed).unwrap(), b"hush");
        for there in [
            Place {
                table: "other",
                ..here
            },
            Place {
                column: "other",
                ..here
            },
            Place {
                row: Uuid::nil(),
                ..here
            },
            Place {
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
