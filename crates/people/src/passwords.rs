//! Hashes of passwords (Argon2id, 19 MiB, 2 passes).

use std::sync::Arc;

use argon2::{
    Algorithm, Argon2, Version,
    password_hash::{
        PasswordHasher as _, PasswordVerifier as _,
        phc::{Output, PasswordHash, Salt},
    },
};
use searchwright_identity::password_policy;
use tokio::sync::Semaphore;

use searchwright_failure::{Result, defect, fault};

/// Hashes passwords, as many at a time as there are cores, away from the threads that answer requests.
pub(crate) struct Passwords {
    places: Arc<Semaphore>,
    /// Random hash, which no password is known of: the time it takes to verify it hides that a person is unknown.
    dummy: String,
}

impl std::fmt::Debug for Passwords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Passwords")
    }
}

impl Passwords {
    pub(crate) fn new() -> Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            places: Arc::new(Semaphore::new(cores)),
            dummy: make_dummy()?,
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

/// Makes a hash without hashing, which would cost every start of the server 19 MiB and some 30 ms.
fn make_dummy() -> Result<String> {
    let mut random = [0_u8; 48];
    getrandom::fill(&mut random).map_err(|e| defect("no randomness", e))?;
    let (salt, output) = random.split_at(16);
    let argon2 = Argon2::default();
    let hash = || {
        Ok::<_, argon2::password_hash::Error>(PasswordHash {
            algorithm: Algorithm::default().ident(),
            version: Some(Version::default().into()),
            params: argon2.params().try_into()?,
            salt: Some(Salt::new(salt)?),
            hash: Some(Output::new(output)?),
        })
    };
    Ok(hash().map_err(|e| defect("password hash", e))?.to_string())
}

fn verify(password: &[u8], stored: &str) -> Result<bool> {
    let stored = PasswordHash::new(stored).map_err(|e| defect("stored password hash", e))?;
    Ok(Argon2::default().verify_password(password, &stored).is_ok())
}

/// Checks a new password. `forbidden` are names and addresses of which it may not mainly consist.
pub(crate) fn check(password: &str, forbidden: &[&str]) -> Result<()> {
    password_policy::check(password, forbidden)
        .map_err(|refused| fault("/password", refused.code, refused.why))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let settings = |hash: &str| hash.split('$').take(4).collect::<Vec<_>>().join("$");
        assert_eq!(settings(&passwords.dummy), settings(&stored));
        assert_eq!(passwords.dummy.len(), stored.len());
    }
}
