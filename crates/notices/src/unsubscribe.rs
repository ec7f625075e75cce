//! Links that stop the mail of a project to a person without signing in (RFC 8058). A link holds the ids of both and their
//! HMAC; it works again and again, as old mails have it.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use searchwright_contract::ids::{ProjectId, UserId};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

/// Bytes of an id.
const ID: usize = 16;
/// Bytes of the code of authentication.
const TAG: usize = 16;

/// Key of an installation that its links are made with.
#[derive(Clone)]
pub struct UnsubscribeKey([u8; 32]);

impl std::fmt::Debug for UnsubscribeKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("UnsubscribeKey")
    }
}

impl UnsubscribeKey {
    /// Creates the key from random bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    fn tag(&self, ids: &[u8]) -> [u8; TAG] {
        let mut tag = [0; TAG];
        if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) {
            mac.update(b"unsubscribe");
            mac.update(ids);
            tag.copy_from_slice(&mac.finalize().into_bytes()[..TAG]);
        }
        tag
    }

    /// Returns the token of a person and a project.
    pub fn token(&self, project: ProjectId, user: UserId) -> String {
        let mut bytes = Vec::with_capacity(2 * ID + TAG);
        bytes.extend(project.uuid().as_bytes());
        bytes.extend(user.uuid().as_bytes());
        let tag = self.tag(&bytes);
        bytes.extend(tag);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Returns the project and the person of a token; `None` if it was not made with this key.
    pub fn open(&self, token: &str) -> Option<(ProjectId, UserId)> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (ids, tag) = bytes.split_last_chunk::<TAG>()?;
        let (project, user) = ids.split_at_checked(ID)?;
        let is_ours = bool::from(self.tag(ids).ct_eq(tag));
        let id = |bytes| Uuid::from_slice(bytes).ok();
        is_ours.then_some((id(project)?.into(), id(user)?.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_with_its_key_only() {
        let (project, user) = (Uuid::from_u128(1).into(), Uuid::from_u128(2).into());
        let key = UnsubscribeKey::new([7; 32]);
        let token = key.token(project, user);
        assert_eq!(key.open(&token), Some((project, user)));
        assert_eq!(UnsubscribeKey::new([8; 32]).open(&token), None);
        for at in 0..token.len() {
            let mut forged = token.clone();
            let other = if &forged[at..=at] == "A" { "B" } else { "A" };
            forged.replace_range(at..=at, other);
            assert_eq!(key.open(&forged), None, "{at}");
            assert_eq!(key.open(&token[..at]), None, "{at}");
        }
    }
}
