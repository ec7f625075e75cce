//! Cursors: the place in a list, signed, and bound to the project, the operation and its filters, so that
//! one list's cursor is refused by another.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use searchwright_contract::{Code, Operation, Problem};
use searchwright_store::{Db, admin};
use serde::{Serialize, de::DeserializeOwned};
use sha2::Sha256;

use crate::failure::{Result, defect};

const NAME: &str = "cursor_key";
const TAG: usize = 16;

/// Signs and checks cursors with a secret of the installation, the same on every replica.
pub struct Cursors {
    key: [u8; 32],
}

impl std::fmt::Debug for Cursors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cursors")
    }
}

impl Cursors {
    /// With a secret of the caller's.
    pub fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    pub(crate) async fn load(db: &Db) -> Result<Self> {
        let stored = admin::get_meta(&mut db.read().await?, NAME).await?;
        let stored = match stored {
            Some(stored) => stored,
            None => {
                let mut fresh = vec![0; 32];
                getrandom::fill(&mut fresh).map_err(|e| defect("no randomness", e))?;
                db.write(move |tx| Box::pin(async move { admin::insert_meta(tx, NAME, fresh).await }))
                    .await
                    .map_err(crate::Failure::from)?
            }
        };
        let key = stored
            .try_into()
            .map_err(|_| defect("cursor key", "is not 32 bytes"))?;
        Ok(Self::new(key))
    }

    fn tag<O: Operation>(&self, operation: &O, place: &[u8]) -> Result<[u8; TAG]> {
        let mut filters = serde_json::to_value(operation).map_err(|e| defect("cursor", e))?;
        if let Some(members) = filters.as_object_mut() {
            members.remove("cursor");
            members.remove("limit");
        }
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).map_err(|e| defect("cursor", e))?;
        mac.update(O::META.name.as_bytes());
        mac.update(filters.to_string().as_bytes());
        mac.update(place);
        let whole = mac.finalize().into_bytes();
        let mut tag = [0; TAG];
        tag.copy_from_slice(&whole[..TAG]);
        Ok(tag)
    }

    /// A cursor for the page after `place`.
    pub fn seal<O: Operation>(&self, operation: &O, place: &impl Serialize) -> Result<String> {
        let mut bytes = postcard::to_stdvec(place).map_err(|e| defect("cursor", e))?;
        bytes.extend(self.tag(operation, &bytes)?);
        Ok(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// The place a cursor names; `400 invalid_cursor` if it is not one of this list.
    pub fn open<O: Operation, P: DeserializeOwned>(
        &self,
        operation: &O,
        cursor: Option<&str>,
    ) -> Result<Option<P>> {
        let Some(cursor) = cursor else { return Ok(None) };
        let invalid = || {
            Problem::new(
                Code::InvalidCursor,
                "the cursor is invalid, or belongs to another list or other filters",
            )
            .hint("begin again without a cursor")
        };
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| invalid())?;
        let (place, tag) = bytes.split_last_chunk::<TAG>().ok_or_else(invalid)?;
        // A cursor grants nothing: comparing its tag in variable time gives nothing away.
        if self.tag(operation, place)? != *tag {
            return Err(invalid().into());
        }
        Ok(Some(postcard::from_bytes(place).map_err(|_| invalid())?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, any, proptest};
    use searchwright_contract::keywords::ListKeywords;

    use super::Cursors;

    fn list(project: &str, q: Option<&str>, limit: Option<u8>) -> ListKeywords {
        ListKeywords {
            project_id: project.to_owned(),
            status: None,
            intent: None,
            q: q.map(str::to_owned),
            sort: None,
            limit,
            cluster_id: None,
            cursor: None,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn only_its_own_list_opens_it(place in any::<(i64, u128)>(), flip in any::<proptest::sample::Index>()) {
            let cursors = Cursors::new([3; 32]);
            let cursor = cursors.seal(&list("a", None, None), &place).unwrap();
            assert_eq!(cursors.open::<_, (i64, u128)>(&list("a", None, Some(7)), Some(&cursor)).unwrap(), Some(place));
            assert!(cursors.open::<_, (i64, u128)>(&list("b", None, None), Some(&cursor)).is_err());
            assert!(cursors.open::<_, (i64, u128)>(&list("a", Some("x"), None), Some(&cursor)).is_err());
            let mut other = cursor.clone().into_bytes();
            let at = flip.index(other.len());
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).unwrap();
            if other != cursor {
                let opened = cursors.open::<_, (i64, u128)>(&list("a", None, None), Some(&other));
                assert!(opened.is_err() || opened.unwrap() == Some(place));
            }
        }
    }
}
