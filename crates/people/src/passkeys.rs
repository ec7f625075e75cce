//! Passkeys: adding and removing them, and signing in with one (WebAuthn Level 3). A passkey asks for a fingerprint or a PIN on
//! its device, so it is two factors in one, and no code is asked for after it.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use searchwright_contract::{
    Code, Problem,
    ids::{PasskeyId, UserId},
};
use searchwright_identity::webauthn::{self, PasskeyFault, RelyingParty};
use searchwright_store::{
    Error, Tx, account_activity,
    passkeys::{self, Passkey},
    sessions::Session,
    users,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::{Host, Url};

use super::{
    AccountEntry, Caller,
    sessions::{self, RecentSession, SignIn},
};
use crate::People;
use searchwright_engine::{admin::check_name, secrets};
use searchwright_failure::{Failure, Result, defect};

/// Passkeys of a person.
const MAX_PASSKEYS: usize = 20;
/// Time in which a challenge has to be answered.
const CHALLENGE_MILLIS: i64 = 5 * 60_000;

/// Address for which passkeys are made: the host of the public URL and its origin. `None` if the host is an IP address, for which
/// browsers make no passkeys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasskeySite {
    id: String,
    origin: String,
}

impl PasskeySite {
    /// Returns the site of the public URL.
    pub fn new(public_url: &str) -> Option<Self> {
        let url = Url::parse(public_url).ok()?;
        match url.host()? {
            Host::Domain(host) if url.scheme() == "https" || host == "localhost" => Some(Self {
                id: host.to_owned(),
                origin: url.origin().ascii_serialization(),
            }),
            _ => None,
        }
    }

    fn party(&self) -> RelyingParty<'_> {
        RelyingParty {
            id: &self.id,
            origin: &self.origin,
        }
    }
}

fn refused(fault: &PasskeyFault) -> Failure {
    Problem::new(
        Code::InvalidState,
        format!("the passkey was not accepted: {fault}"),
    )
    .hint("try again")
    .into()
}

fn late() -> Failure {
    Problem::new(
        Code::InvalidState,
        "the answer of the passkey came too late, or was sent before",
    )
    .hint("try again")
    .into()
}

fn digest(challenge: &[u8]) -> [u8; 32] {
    Sha256::digest(challenge).into()
}

impl People {
    async fn new_challenge(&self, user: Option<UserId>) -> Result<String> {
        let mut challenge = [0u8; 32];
        getrandom::fill(&mut challenge).map_err(|e| defect("no randomness", e))?;
        let (stored, ends) = (digest(&challenge), self.clock.now().plus_millis(CHALLENGE_MILLIS));
        self.db
            .write(move |tx| {
                Box::pin(async move { passkeys::create_challenge(tx, &stored, user, ends).await })
            })
            .await?;
        Ok(URL_SAFE_NO_PAD.encode(challenge))
    }

    /// Returns the options with which a browser makes a passkey (`PublicKeyCredentialCreationOptionsJSON`).
    pub async fn begin_passkey(
        &self,
        site: &PasskeySite,
        by: &RecentSession,
        session: &Session,
    ) -> Result<Value> {
        let known = passkeys::list_of_user(&mut self.db.read().await?, by.user).await?;
        check_count(known.len())?;
        let excluded: Vec<Value> = known
            .iter()
            .map(|key| json!({ "type": "public-key", "id": URL_SAFE_NO_PAD.encode(&key.credential) }))
            .collect();
        let algorithms = webauthn::ALGORITHMS.map(|alg| json!({ "type": "public-key", "alg": alg }));
        Ok(json!({
            "challenge": self.new_challenge(Some(by.user)).await?,
            "rp": { "id": site.id, "name": "Searchwright" },
            "user": {
                "id": URL_SAFE_NO_PAD.encode(by.user.uuid().as_bytes()),
                "name": session.email,
                "displayName": session.user_name,
            },
            "pubKeyCredParams": algorithms,
            "excludeCredentials": excluded,
            "authenticatorSelection": { "residentKey": "required", "userVerification": "required" },
            "attestation": "none",
            "timeout": CHALLENGE_MILLIS,
        }))
    }

    /// Adds the passkey that a browser made.
    pub async fn add_passkey(
        &self,
        site: &PasskeySite,
        by: &RecentSession,
        name: &str,
        credential: &str,
        caller: &Caller,
    ) -> Result<()> {
        let name = check_name(name, 60)?;
        let challenge = webauthn::claimed_challenge(credential).map_err(|e| refused(&e))?;
        let new = webauthn::register(credential, &challenge, &site.party()).map_err(|e| refused(&e))?;
        let (user, now) = (by.user, self.clock.now());
        let passkey = Passkey {
            id: self.clock.id(),
            user,
            name,
            credential: new.credential_id,
            public_key: new.public_key,
            algorithm: new.algorithm,
            sign_count: new.sign_count,
            created_at: now,
            last_used_at: None,
        };
        let entry = self.account_activity(entry("passkey.added", user, &passkey.name, caller), now);
        let challenge = digest(&challenge);
        let work = async move |tx: &mut Tx| {
            if !passkeys::use_challenge(tx, &challenge, Some(user), now).await? {
                return Err(late());
            }
            users::find_for_update(tx, user).await?;
            check_count(passkeys::list_of_user(tx, user).await?.len())?;
            passkeys::create(tx, &passkey).await.map_err(|e| match e {
                Error::Duplicate(_) => {
                    Failure::from(Problem::new(Code::AlreadyExists, "this passkey is known already"))
                }
                other => other.into(),
            })?;
            account_activity::insert(tx, entry).await?;
            Ok(())
        };
        self.db.write(move |tx| Box::pin(work(tx))).await
    }

    /// Removes a passkey of a person.
    pub async fn remove_passkey(&self, by: &RecentSession, id: PasskeyId, caller: &Caller) -> Result<()> {
        let (user, now) = (by.user, self.clock.now());
        let entry = self.account_activity(entry("passkey.removed", user, "", caller), now);
        let work = async move |tx: &mut Tx| {
            if passkeys::delete(tx, user, id).await? {
                account_activity::insert(tx, entry).await?;
            }
            Ok::<_, Error>(())
        };
        Ok(self.db.write(move |tx| Box::pin(work(tx))).await?)
    }

    /// Returns the options with which a browser asks for a passkey (`PublicKeyCredentialRequestOptionsJSON`).
    pub async fn ask_for_passkey(&self, site: &PasskeySite) -> Result<Value> {
        Ok(json!({
            "challenge": self.new_challenge(None).await?,
            "rpId": site.id,
            "allowCredentials": [],
            "userVerification": "required",
            "timeout": CHALLENGE_MILLIS,
        }))
    }

    /// Signs in the person of a passkey. A session that the browser had ends.
    pub async fn sign_in_by_passkey(
        &self,
        site: &PasskeySite,
        credential: &str,
        caller: &Caller,
        former: Option<&str>,
    ) -> Result<SignIn> {
        let now = self.clock.now();
        let assertion = webauthn::assertion(credential).map_err(|e| refused(&e))?;
        let challenge = webauthn::claimed_challenge(credential).map_err(|e| refused(&e))?;
        let found =
            passkeys::find_by_credential(&mut self.db.read().await?, &assertion.credential_id).await?;
        let handle = assertion.user_handle.clone();
        let is_theirs = |user: UserId| handle.is_none_or(|handle| handle == user.uuid().as_bytes());
        let Some(found) = found.filter(|found| is_theirs(found.user)) else {
            return Ok(SignIn::Wrong);
        };
        let verified = assertion.verify(&challenge, &site.party(), &found.public_key, found.algorithm);
        let count = match verified {
            Ok(count) => count,
            Err(fault) => {
                let failure = AccountEntry::new("sign_in.failed", Some(found.user), &caller.address)
                    .with_detail("passkey");
                let failure = self.account_activity(failure, now);
                self.db
                    .write(move |tx| Box::pin(async move { account_activity::insert(tx, failure).await }))
                    .await?;
                return Err(refused(&fault));
            }
        };
        let opened = self.new_session(found.user, caller, "passkey", now)?;
        let (token, former) = (opened.token.clone(), former.map(secrets::digest));
        let challenge = digest(&challenge);
        let work = async move |tx: &mut Tx| {
            if !passkeys::use_challenge(tx, &challenge, None, now).await? {
                return Err(late());
            }
            if !passkeys::record_use(tx, found.id, count, now).await? {
                return Err(Problem::new(Code::InvalidState, "this passkey was removed").into());
            }
            sessions::open(tx, opened, former, now).await
        };
        self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(SignIn::Done(token))
    }
}

/// Checks whether there is room for another passkey beside these.
fn check_count(known: usize) -> Result<()> {
    if known >= MAX_PASSKEYS {
        return Err(Problem::new(
            Code::InvalidState,
            format!("an account has at most {MAX_PASSKEYS} passkeys"),
        )
        .hint("remove one that is no longer used")
        .into());
    }
    Ok(())
}

fn entry<'a>(action: &'static str, user: UserId, name: &'a str, caller: &'a Caller) -> AccountEntry<'a> {
    AccountEntry {
        action,
        user: Some(user),
        client: None,
        address: &caller.address,
        detail: Some(name).filter(|name| !name.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::PasskeySite;

    #[test]
    fn passkeys_need_a_name_and_encryption() {
        let site = PasskeySite::new("https://seo.example.com:8443/").unwrap();
        assert_eq!(
            (site.id.as_str(), site.origin.as_str()),
            ("seo.example.com", "https://seo.example.com:8443")
        );
        assert!(PasskeySite::new("http://localhost:8787").is_some());
        for none in [
            "http://127.0.0.1:8787",
            "https://192.0.2.1",
            "http://seo.example.com",
            "https://[::1]",
            "",
        ] {
            assert_eq!(PasskeySite::new(none), None, "{none}");
        }
    }
}
