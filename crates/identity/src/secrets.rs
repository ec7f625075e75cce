//! Secrets that this server hands out: a tag of four characters, 30 random base62 characters, and 6 of checksum, so that a
//! mistyped one is refused without a look into the database and scanners recognise a leaked one.

use sha2::{Digest as _, Sha256};

/// Kind of a secret, shown by its first characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKind {
    /// API key.
    ApiKey,
    /// OAuth access token.
    AccessToken,
    /// OAuth refresh token.
    RefreshToken,
    /// OAuth authorization code.
    Code,
    /// Device code (RFC 8628).
    DeviceCode,
    /// Authorization request in a consent form.
    Request,
    /// Session of a browser.
    Session,
    /// Sign-in that waits for the code of the second factor.
    PendingSignIn,
    /// Link that lets a person in once, or invites one.
    Link,
    /// Secret of a confidential OAuth client.
    ClientSecret,
    /// Link that shows one report to whoever has it.
    Share,
}

impl SecretKind {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::ApiKey,
        Self::AccessToken,
        Self::RefreshToken,
        Self::Code,
        Self::DeviceCode,
        Self::Request,
        Self::Session,
        Self::PendingSignIn,
        Self::Link,
        Self::ClientSecret,
        Self::Share,
    ];

    const fn tag(self) -> &'static str {
        match self {
            Self::ApiKey => "swk_",
            Self::AccessToken => "swa_",
            Self::RefreshToken => "swr_",
            Self::Code => "swc_",
            Self::DeviceCode => "swd_",
            Self::Request => "swq_",
            Self::Session => "sws_",
            Self::PendingSignIn => "swp_",
            Self::Link => "swl_",
            Self::ClientSecret => "swx_",
            Self::Share => "swv_",
        }
    }
}

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const TAG: usize = 4;
const RANDOM: usize = 30;
const LENGTH: usize = TAG + RANDOM + 6;

/// Makes a secret. 178 bits of it are random.
pub fn generate(kind: SecretKind) -> Result<String, getrandom::Error> {
    let mut key = String::with_capacity(LENGTH);
    key.push_str(kind.tag());
    let mut bytes = [0u8; 64];
    while key.len() < TAG + RANDOM {
        getrandom::fill(&mut bytes)?;
        // 248 is the largest multiple of 62 in a byte: what is above it would favour some characters.
        let fair = bytes
            .iter()
            .filter(|b| **b < 248)
            .map(|b| char::from(ALPHABET[usize::from(b % 62)]));
        key.extend(fair.take(TAG + RANDOM - key.len()));
    }
    let sum = checksum(&key);
    key.extend(sum.map(char::from));
    Ok(key)
}

/// Returns whether a string has the form of a secret of this kind and its checksum is right.
pub fn is_well_formed(kind: SecretKind, key: &str) -> bool {
    key.len() == LENGTH
        && key.starts_with(kind.tag())
        && key.bytes().skip(TAG).all(|b| b.is_ascii_alphanumeric())
        && checksum(&key[..LENGTH - 6]) == key.as_bytes()[LENGTH - 6..]
}

/// The characters that may be shown.
pub fn prefix(key: &str) -> &str {
    key.get(..TAG + 8).unwrap_or_default()
}

/// Returns the SHA-256 of a secret, which is stored in its place.
pub fn digest(key: &str) -> [u8; 32] {
    Sha256::digest(key).into()
}

fn checksum(text: &str) -> [u8; 6] {
    let mut rest = crc32fast::hash(text.as_bytes());
    let mut sum = [b'0'; 6];
    for digit in sum.iter_mut().rev() {
        *digit = ALPHABET[(rest % 62) as usize];
        rest /= 62;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::{ALPHABET, SecretKind, generate, is_well_formed, prefix};

    const ACCOUNTS: &str = include_str!("../../../docs/accounts.md");

    #[test]
    fn scanners_find_every_kind() {
        let (_, pattern) = ACCOUNTS.split_once("`\\bsw[").unwrap();
        let (letters, rest) = pattern.split_once("]_[0-9A-Za-z]{36}\\b`").unwrap();
        assert!(rest.starts_with(':'), "what the letters stand for follows");
        let mut seen = String::new();
        for kind in SecretKind::ALL {
            let secret = generate(kind).unwrap();
            let (tag, random) = secret.split_at(4);
            let letter = tag.strip_prefix("sw").unwrap().strip_suffix('_').unwrap();
            assert!(
                letters.contains(letter),
                "{kind:?} is not in the pattern of docs/accounts.md"
            );
            assert!(
                random.len() == 36 && random.bytes().all(|b| ALPHABET.contains(&b)),
                "{secret}"
            );
            assert!(!seen.contains(letter), "{kind:?} looks like another kind");
            seen.push_str(letter);
        }
        assert_eq!(seen.len(), letters.len(), "{letters}");
    }

    #[test]
    fn a_mistyped_key_is_recognised() {
        // CRC-32 of "swk_" and thirty zeros, computed apart with Python's zlib.
        assert!(is_well_formed(
            SecretKind::ApiKey,
            "swk_0000000000000000000000000000002mhFoQ"
        ));
        let key = generate(SecretKind::ApiKey).unwrap();
        assert!(is_well_formed(SecretKind::ApiKey, &key), "{key}");
        assert_eq!(prefix(&key).len(), 12);
        for at in 4..key.len() {
            let mut other = key.clone().into_bytes();
            other[at] = if other[at] == b'a' { b'b' } else { b'a' };
            assert!(!is_well_formed(
                SecretKind::ApiKey,
                &String::from_utf8(other).unwrap()
            ));
        }
        assert!(!is_well_formed(SecretKind::ApiKey, ""));
        assert!(!is_well_formed(SecretKind::ApiKey, &key[1..]));
        assert!(!is_well_formed(SecretKind::ApiKey, &format!("{}é", &key[..38])));
        assert!(!is_well_formed(SecretKind::AccessToken, &key));
        assert_ne!(key, generate(SecretKind::ApiKey).unwrap());
    }
}
