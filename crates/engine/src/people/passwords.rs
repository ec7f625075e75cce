//! Passwords: which are accepted (OWASP ASVS 5.0, 6.2), and their hashes (Argon2id, 19 MiB, 2 passes).

use std::sync::Arc;

use argon2::{
    Argon2,
    password_hash::{PasswordHasher as _, PasswordVerifier as _, phc::PasswordHash},
};
use tokio::sync::Semaphore;

use crate::{
    call::fault,
    failure::{Result, defect},
};

/// Shortest password, in characters.
pub const MIN_CHARACTERS: usize = 15;
/// Longest password, in characters.
pub const MAX_CHARACTERS: usize = 128;
/// Characters of a name or an address from which a password may not be made.
const MIN_FORBIDDEN: usize = 4;
/// Passwords of 12 and more characters that are in common lists.
const COMMON: &str = include_str!("../../data/common_passwords.txt");

/// Hashes passwords, as many at a time as there are cores, away from the threads that answer requests.
pub(crate) struct Passwords {
    places: Arc<Semaphore>,
    /// Hash of a random password: the time it takes to verify it hides that a person is unknown.
    dummy: String,
}

impl std::fmt::Debug for Passwords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Passwords")
    }
}

impl Passwords {
    pub(crate) fn new() -> Result<Self> {
        let mut random = [0u8; 32];
        getrandom::fill(&mut random).map_err(|e| defect("no randomness", e))?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            places: Arc::new(Semaphore::new(cores)),
            dummy: hash(&random)?,
        })
    }

    /// Returns the hash of a password in the PHC string format.
    pub(crate) async fn hash(&self, password: String) -> Result<String> {
        self.run(move || hash(password.as_bytes())).await?
    }

    /// Returns whether a password belongs to a hash; `false` without one, after as long.
    pub(crate) async fn verify(&self, password: String, stored: Option<String>) -> Result<bool> {
        let is_known = stored.is_some();
        let stored = stored.unwrap_or_else(|| self.dummy.clone());
        let matches = self.run(move || verify(password.as_bytes(), &stored)).await??;
        Ok(matches && is_known)
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let place = self.places.clone().acquire_owned().await;
        let place = place.map_err(|e| defect("password hashing", e))?;
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            work()
        });
        done.await.map_err(|e| defect("password hashing", e))
    }
}

fn hash(password: &[u8]) -> Result<String> {
    let hash = Argon2::default().hash_password(password);
    Ok(hash.map_err(|e| defect("password hash", e))?.to_string())
}

fn verify(password: &[u8], stored: &str) -> Result<bool> {
    let stored = PasswordHash::new(stored).map_err(|e| defect("stored password hash", e))?;
    Ok(Argon2::default().verify_password(password, &stored).is_ok())
}

/// Checks a new password. `forbidden` are names and addresses of which it may not mainly consist.
pub(crate) fn check(password: &str, forbidden: &[&str]) -> Result<()> {
    let refuse = |code: &str, why: String| Err(fault("/password", code, why));
    let characters = password.chars().count();
    if characters < MIN_CHARACTERS {
        return refuse(
            "too_short",
            format!(
                "has {characters} characters, at least {MIN_CHARACTERS} are needed; a few random words make a good one"
            ),
        );
    }
    if characters > MAX_CHARACTERS {
        return refuse(
            "too_long",
            format!("has {characters} characters, at most {MAX_CHARACTERS} are accepted"),
        );
    }
    let folded = password.to_lowercase();
    if COMMON.lines().any(|common| common == folded) {
        return refuse(
            "too_common",
            "is in lists of common passwords; choose another".to_owned(),
        );
    }
    let mut rest = folded.clone();
    for part in forbidden.iter().flat_map(|text| text.split(['@', '.', ' '])) {
        let part = part.to_lowercase();
        if part.chars().count() >= MIN_FORBIDDEN {
            rest = rest.replace(&part, "");
        }
    }
    if rest.chars().count() < MIN_CHARACTERS / 2 || is_repetition(&folded) || is_repetition(&rest) {
        return refuse(
            "too_easy",
            "is made of your name, your address or a repetition; choose another".to_owned(),
        );
    }
    Ok(())
}

/// Returns whether a text is a shorter one again and again, such as `passwordpassword`.
fn is_repetition(text: &str) -> bool {
    let letters: Vec<char> = text.chars().collect();
    (1..=letters.len() / 2).any(|period| {
        let shifted = letters.iter().skip(period);
        letters.iter().zip(shifted).all(|(one, other)| one == other)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_passwords_are_refused() {
        let forbidden = ["ann.miller@example.com", "Ann Miller", "searchwright"];
        for bad in [
            "",
            "short",
            "fourteen chars",
            "aaaaaaaaaaaaaaaaaaaa",
            "passwordPassword",
            "abcabcabcabcabcab",
            "MillerExampleMiller1",
            "searchwrightexample12",
            &"x1".repeat(65),
        ] {
            assert!(check(bad, &forbidden).is_err(), "{bad:?}");
        }
        assert!(check("correct horse battery staple 7", &forbidden).is_ok());
        assert!(check("ünïcödé wörds äre fine", &forbidden).is_ok());
        let common = COMMON
            .lines()
            .skip(1)
            .find(|line| line.chars().count() >= MIN_CHARACTERS);
        let refused = check(common.unwrap(), &[]).unwrap_err();
        assert_eq!(refused.0.errors[0].code, "too_common");
    }

    #[tokio::test]
    async fn only_the_right_password_is_accepted() {
        let passwords = Passwords::new().unwrap();
        let stored = passwords.hash("correct horse battery".to_owned()).await.unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        let verify = async |password: &str, stored: Option<&String>| {
            passwords
                .verify(password.to_owned(), stored.cloned())
                .await
                .unwrap()
        };
        assert!(verify("correct horse battery", Some(&stored)).await);
        assert!(!verify("correct horse batterY", Some(&stored)).await);
        assert!(!verify("correct horse battery", None).await);
    }
}
