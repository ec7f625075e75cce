//! Second factor: one-time codes of an authenticator app (RFC 6238), and recovery codes for when it is lost.

use searchwright_contract::{Code, Instant, Problem, ids::UserId};
use searchwright_store::{Tx, account_activity, seal::Keyring, second_factors, sessions::Session, users};
use totp_rs::{Builder, Totp};

use super::{AccountEntry, Caller, sessions::RecentSession};
use crate::People;
use searchwright_engine::secrets;
use searchwright_failure::{Failure, Result, defect, fault};

/// Bytes of a secret (RFC 4226 section 4, R6).
const SECRET_BYTES: usize = 20;
/// Recovery codes of a person.
const RECOVERY_CODES: usize = 10;
/// Random characters of a recovery code: 80 bits.
const RECOVERY_CHARACTERS: usize = 16;
/// Crockford's base32: without letters that look like digits.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Secret of one-time codes that was begun, and is not confirmed yet.
pub struct NewTotp {
    /// The secret in base32, to be typed.
    pub secret: String,
    /// `otpauth:` URL, to be shown as a QR code.
    pub url: String,
}

impl std::fmt::Debug for NewTotp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NewTotp")
    }
}

fn totp(secret: &[u8], email: &str) -> Result<Totp> {
    Builder::new()
        .with_secret(secret.to_vec())
        // The colon separates issuer and account in the URL.
        .with_account_name(email.replace(':', " "))
        .with_issuer(Some("Searchwright"))
        .build()
        .map_err(|e| defect("one-time codes", e))
}

/// Returns the time step of a code that is right now, or was half a minute ago, or is in half a minute.
fn step(secret: &[u8], code: &str, now: Instant) -> Result<Option<u64>> {
    let seconds = u64::try_from(now.millis() / 1_000).unwrap_or_default();
    Ok(totp(secret, "account")?.check(code, seconds))
}

/// Returns a code without the signs with which it may be written.
fn plain(code: &str) -> String {
    let signs = |c: &char| !c.is_whitespace() && *c != '-';
    code.chars().filter(signs).collect::<String>().to_lowercase()
}

/// Accepts a code of the second factor, or a recovery code, once.
pub(super) async fn accept(
    tx: &mut Tx,
    keyring: &Keyring,
    user: UserId,
    code: &str,
    now: Instant,
) -> Result<bool> {
    let found = second_factors::find_totp(tx, keyring, user).await?;
    let Some(found) = found.filter(|found| found.confirmed_at.is_some()) else {
        return Ok(false);
    };
    let code = plain(code);
    if code.len() == RECOVERY_CHARACTERS {
        return Ok(second_factors::use_recovery_code(tx, user, &secrets::digest(&code)).await?);
    }
    match step(&found.secret, &code, now)? {
        Some(step) => Ok(second_factors::use_step(tx, user, step, now).await?),
        None => Ok(false),
    }
}

/// Returns new recovery codes, in groups of four.
fn recovery_codes() -> Result<Vec<String>> {
    let mut codes = Vec::with_capacity(RECOVERY_CODES);
    for _ in 0..RECOVERY_CODES {
        let mut bytes = [0u8; RECOVERY_CHARACTERS];
        getrandom::fill(&mut bytes).map_err(|e| defect("no randomness", e))?;
        let letters: Vec<char> = bytes
            .iter()
            .map(|byte| char::from(ALPHABET[usize::from(byte % 32)]))
            .collect();
        let groups: Vec<String> = letters.chunks(4).map(|group| group.iter().collect()).collect();
        codes.push(groups.join("-"));
    }
    Ok(codes)
}

fn digests(codes: &[String]) -> Vec<[u8; 32]> {
    codes.iter().map(|code| secrets::digest(&plain(code))).collect()
}

impl People {
    /// Begins a second factor for a person. It does not count before [`People::confirm_totp`].
    pub async fn begin_totp(&self, by: &RecentSession, session: &Session) -> Result<NewTotp> {
        let mut secret = [0u8; SECRET_BYTES];
        getrandom::fill(&mut secret).map_err(|e| defect("no randomness", e))?;
        let (user, now, keyring) = (by.user, self.clock.now(), self.keyring.clone());
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    users::find_for_update(tx, user).await?;
                    if second_factors::has_totp(tx, user).await? {
                        return Err(has_one());
                    }
                    second_factors::set_totp(tx, &keyring, user, &secret, now).await?;
                    Ok(())
                })
            })
            .await?;
        new_totp(&secret, &session.email)
    }

    /// Returns the second factor that a person has begun and not confirmed.
    pub async fn begun_totp(&self, by: &RecentSession, session: &Session) -> Result<Option<NewTotp>> {
        let mut tx = self.db.read().await?;
        let found = second_factors::find_totp(&mut tx, &self.keyring, by.user).await?;
        match found.filter(|found| found.confirmed_at.is_none()) {
            Some(found) => new_totp(&found.secret, &session.email).map(Some),
            None => Ok(None),
        }
    }

    /// Confirms a second factor with its first code. Returns the recovery codes, which are shown only now.
    pub async fn confirm_totp(&self, by: &RecentSession, code: &str, caller: &Caller) -> Result<Vec<String>> {
        let codes = recovery_codes()?;
        let (user, now, keyring) = (by.user, self.clock.now(), self.keyring.clone());
        let entry = self.account_activity(entry("second_factor.added", user, caller), now);
        let (code, digests) = (plain(code), digests(&codes));
        let work = async move |tx: &mut Tx| {
            users::find_for_update(tx, user).await?;
            let found = second_factors::find_totp(tx, &keyring, user).await?;
            let Some(found) = found.filter(|found| found.confirmed_at.is_none()) else {
                return Err(has_one());
            };
            let Some(step) = step(&found.secret, &code, now)? else {
                return Err(fault(
                    "/code",
                    "wrong",
                    "is not right; enter the six digits that the app shows now, and check the clock of the device",
                ));
            };
            second_factors::use_step(tx, user, step, now).await?;
            second_factors::set_recovery_codes(tx, user, &digests).await?;
            account_activity::insert(tx, entry).await?;
            Ok::<_, Failure>(())
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(codes)
    }

    /// Replaces the recovery codes of a person who has a second factor. Returns the new ones, which are shown only now.
    pub async fn renew_recovery_codes(&self, by: &RecentSession, caller: &Caller) -> Result<Vec<String>> {
        let codes = recovery_codes()?;
        let (user, now) = (by.user, self.clock.now());
        let entry = self.account_activity(entry("recovery_codes.created", user, caller), now);
        let digests = digests(&codes);
        let work = async move |tx: &mut Tx| {
            users::find_for_update(tx, user).await?;
            if !second_factors::has_totp(tx, user).await? {
                return Err(Problem::new(Code::InvalidState, "there is no second factor").into());
            }
            second_factors::set_recovery_codes(tx, user, &digests).await?;
            account_activity::insert(tx, entry).await?;
            Ok::<_, Failure>(())
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(codes)
    }

    /// Removes the second factor of a person.
    pub async fn remove_totp(&self, by: &RecentSession, caller: &Caller) -> Result<()> {
        let (user, now) = (by.user, self.clock.now());
        let entry = self.account_activity(entry("second_factor.removed", user, caller), now);
        let work = async move |tx: &mut Tx| {
            users::find_for_update(tx, user).await?;
            if second_factors::remove(tx, user).await? {
                account_activity::insert(tx, entry).await?;
            }
            Ok::<_, searchwright_store::Error>(())
        };
        Ok(self.db.write(move |tx| Box::pin(work(tx))).await?)
    }
}

fn new_totp(secret: &[u8], email: &str) -> Result<NewTotp> {
    let totp = totp(secret, email)?;
    Ok(NewTotp {
        secret: totp_rs::Secret::from(secret.to_vec()).to_base32(),
        url: totp.to_url().map_err(|e| defect("one-time codes", e))?,
    })
}

fn has_one() -> Failure {
    Problem::new(Code::InvalidState, "the account has a second factor already")
        .hint("remove it first to set up another device")
        .into()
}

fn entry<'a>(action: &'static str, user: UserId, caller: &'a Caller) -> AccountEntry<'a> {
    AccountEntry::new(action, Some(user), &caller.address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_rfc_6238() {
        // Appendix B has 8 digits; an app shows the last six.
        let secret = b"12345678901234567890";
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (20_000_000_000, "353130"),
        ] {
            let now = Instant::from_millis(seconds * 1_000);
            assert_eq!(
                step(secret, code, now).unwrap(),
                Some(u64::try_from(seconds).unwrap() / 30)
            );
            assert!(step(secret, "000000", now).unwrap().is_none());
            let later = Instant::from_millis((seconds + 90) * 1_000);
            assert!(step(secret, code, later).unwrap().is_none());
        }
        for odd in ["", "28708", "2870821", "abcdef", "２８７０８２"] {
            assert!(
                step(secret, odd, Instant::from_millis(59_000)).unwrap().is_none(),
                "{odd}"
            );
        }
    }

    #[test]
    fn recovery_codes_are_read_as_people_write_them() {
        let codes = recovery_codes().unwrap();
        assert_eq!(codes.len(), RECOVERY_CODES);
        for code in &codes {
            assert_eq!(code.len(), 19, "{code}");
            assert_eq!(
                plain(&format!(" {} ", code.to_uppercase().replace('-', " "))),
                plain(code)
            );
        }
        let url = new_totp(b"12345678901234567890", "a:b@example.com").unwrap().url;
        assert!(
            url.starts_with(
                "otpauth://totp/Searchwright:a%20b%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
            ),
            "{url}"
        );
    }
}
