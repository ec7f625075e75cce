//! Device authorization (RFC 8628), for the command line on a machine without a browser.

use searchwright_contract::{Instant, Scope};
use searchwright_store::{
    Tx, account_activity,
    oauth_clients::{self, OauthClient},
    oauth_devices::{self, Device},
    oauth_grants::{self, Grant},
    sessions::{self, Session},
    users,
};
use serde_json::{Value, json};

use super::{
    OauthCode, OauthError, Resources,
    clients::CLI,
    known_scopes,
    parameters::Parameters,
    requests::GRANT_MILLIS,
    tokens::{FreshTokens, TokenOutcome},
};
use crate::{AccountEntry, Caller, People};
use searchwright_engine::secrets::{self, SecretKind};
use searchwright_failure::{Result, defect};

/// Letters of a user code: no vowels, so that no words come up, and none that look alike (RFC 8628 section 6.1).
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
const USER_CODE: usize = 8;
/// Time for which a device waits.
const DEVICE_MILLIS: i64 = 10 * 60_000;
/// Seconds between two polls at first, and those that are added when a device polls too often.
const INTERVAL_SECONDS: u32 = 5;
/// Scopes that a device cannot be granted: a person who was sent a code by a stranger must not give these away.
const NEVER: [Scope; 3] = [
    Scope::ContentPublish,
    Scope::VisibilityTrack,
    Scope::AutopilotWrite,
];

fn user_code() -> Result<String> {
    let mut code = String::with_capacity(USER_CODE);
    let mut bytes = [0u8; 32];
    while code.len() < USER_CODE {
        getrandom::fill(&mut bytes).map_err(|e| defect("no randomness", e))?;
        // 240 is a multiple of 20: what is above it would favour some letters.
        let fair = bytes
            .iter()
            .filter(|b| **b < 240)
            .map(|b| char::from(LETTERS[usize::from(b % 20)]));
        code.extend(fair.take(USER_CODE - code.len()));
    }
    Ok(code)
}

/// Returns a user code as a person may have typed it: upper case, without hyphens and spaces. `None` if it cannot be one.
pub fn read_user_code(typed: &str) -> Option<String> {
    let code: String = typed
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '-')
        .map(|c| c.to_ascii_uppercase())
        .collect();
    (code.len() == USER_CODE && code.bytes().all(|b| LETTERS.contains(&b))).then_some(code)
}

/// Returns a user code as it is shown, in two halves.
pub fn show_user_code(code: &str) -> String {
    match code.split_at_checked(USER_CODE / 2) {
        Some((first, second)) => format!("{first}-{second}"),
        None => code.to_owned(),
    }
}

impl People {
    /// Begins a device authorization and returns the answer for the device.
    pub async fn begin_device(
        &self,
        client: &OauthClient,
        parameters: &Parameters,
        resources: &Resources,
        address: &str,
    ) -> Result<std::result::Result<Value, OauthError>> {
        if client.id != CLI {
            let why = "device authorization is for the command line only";
            return Ok(Err(OauthError::new(OauthCode::UnauthorizedClient, why)));
        }
        let Some(resource) = resources.find(parameters.get("resource")) else {
            let why = "resource is not one of this server";
            return Ok(Err(OauthError::new(OauthCode::InvalidTarget, why)));
        };
        let scopes = known_scopes(parameters.get("scope")).map(|scopes| {
            let kept: Vec<&str> = scopes
                .split(' ')
                .filter(|scope| Scope::parse(scope).is_none_or(|scope| !NEVER.contains(&scope)))
                .collect();
            kept.join(" ")
        });
        let Some(scopes) = scopes.filter(|scopes| !scopes.is_empty()) else {
            let why = "no scope of the request is known and may be granted to a device";
            return Ok(Err(OauthError::new(OauthCode::InvalidScope, why)));
        };
        let (now, code, typed) = (
            self.clock.now(),
            secrets::generate(SecretKind::DeviceCode)?,
            user_code()?,
        );
        let device = Device {
            user_code: typed.clone(),
            client: client.id.clone(),
            resource: resource.to_owned(),
            scopes,
            address: address.to_owned(),
            interval_seconds: INTERVAL_SECONDS,
            polled_at: None,
            grant: None,
            denied_at: None,
            created_at: now,
            expires_at: now.plus_millis(DEVICE_MILLIS),
        };
        let digest = secrets::digest(&code);
        self.db
            .write(move |tx| Box::pin(async move { oauth_devices::create(tx, &digest, &device).await }))
            .await?;
        let (shown, page) = (show_user_code(&typed), format!("{}/device", resources.issuer));
        Ok(Ok(json!({
            "device_code": code,
            "user_code": shown,
            "verification_uri": page,
            "verification_uri_complete": format!("{page}?user_code={shown}"),
            "expires_in": DEVICE_MILLIS / 1_000,
            "interval": INTERVAL_SECONDS,
        })))
    }

    /// Returns the device of a user code that still waits.
    pub async fn find_waiting_device(&self, user_code: &str) -> Result<Option<Device>> {
        let now = self.clock.now();
        let found = oauth_devices::find_by_user_code(&mut self.db.read().await?, user_code).await?;
        let waits =
            |device: &Device| device.expires_at > now && device.grant.is_none() && device.denied_at.is_none();
        Ok(found.filter(waits))
    }

    /// Carries out the decision of a person about a device. Returns `false` if it no longer waits.
    pub async fn decide_device(
        &self,
        device: Device,
        session: &Session,
        is_allowed: bool,
        caller: &Caller,
    ) -> Result<bool> {
        let (now, id, user) = (self.clock.now(), self.clock.id(), session.user);
        let session = session.id;
        let entry = AccountEntry {
            action: if is_allowed {
                "grant.created"
            } else {
                "grant.denied"
            },
            user: Some(user),
            client: Some(&device.client),
            address: &caller.address,
            detail: Some("device"),
        };
        let entry = self.account_activity(entry, now);
        let work = async move |tx: &mut Tx| {
            if !is_allowed {
                let is_denied = oauth_devices::deny(tx, &device.user_code, now).await?;
                account_activity::insert(tx, entry).await?;
                return Ok::<_, searchwright_store::Error>(is_denied);
            }
            // A change of the password ends the session and what it allowed, or comes before.
            users::find_for_update(tx, user).await?;
            if !sessions::exists(tx, session).await? {
                return Ok(false);
            }
            let grant = Grant {
                id,
                user,
                client: device.client.clone(),
                resource: device.resource,
                scopes: device.scopes,
                expires_at: now.plus_millis(GRANT_MILLIS),
                revoked_at: None,
            };
            oauth_grants::create(tx, &grant, now).await?;
            if !oauth_devices::approve(tx, &device.user_code, id).await? {
                oauth_grants::revoke(tx, id, "the device was decided before", now).await?;
                return Ok(false);
            }
            oauth_clients::mark_consented(tx, &device.client, now).await?;
            account_activity::insert(tx, entry).await?;
            Ok(true)
        };
        Ok(self.db.write(move |tx| Box::pin(work(tx))).await?)
    }

    /// Answers a device that asks for its tokens.
    pub async fn poll_device(
        &self,
        client: &OauthClient,
        parameters: &Parameters,
        address: &str,
    ) -> Result<TokenOutcome> {
        let digest = match parameters.need("device_code") {
            Ok(code) => secrets::digest(code),
            Err(error) => return Ok(Err(error)),
        };
        let (now, fresh, id) = (self.clock.now(), FreshTokens::generate()?, client.id.clone());
        let entry = AccountEntry {
            action: "tokens.issued",
            user: None,
            client: Some(&client.id),
            address,
            detail: Some("device code"),
        };
        let mut entry = self.account_activity(entry, now);
        let work = async move |tx: &mut Tx| {
            let refuse = |code, why: &str| Ok(Err(OauthError::new(code, why)));
            let found = oauth_devices::find(tx, &digest).await?;
            let Some(device) = found.filter(|device| device.client == id) else {
                return refuse(OauthCode::InvalidGrant, "the device code is not valid");
            };
            if device.expires_at <= now {
                return refuse(OauthCode::ExpiredToken, "the code has expired; begin again");
            }
            if device.denied_at.is_some() {
                return refuse(OauthCode::AccessDenied, "the person declined");
            }
            let Some(grant) = device.grant else {
                let (interval, is_early) = next_interval(&device, now);
                oauth_devices::record_poll(tx, &digest, interval, now).await?;
                return if is_early {
                    refuse(
                        OauthCode::SlowDown,
                        "the device asks too often; 5 seconds are added",
                    )
                } else {
                    refuse(OauthCode::AuthorizationPending, "the person has not decided yet")
                };
            };
            // Of two polls at once, the one that deletes it gets the tokens.
            let grant = oauth_grants::lock(tx, grant).await?;
            let (true, Some(grant)) = (oauth_devices::delete(tx, &digest).await?, grant) else {
                return refuse(OauthCode::InvalidGrant, "the device code was used before");
            };
            entry.user = Some(grant.user);
            account_activity::insert(tx, entry).await?;
            let scopes = grant.scopes.clone();
            Ok::<_, searchwright_store::Error>(Ok(fresh.issue(tx, &grant, scopes, true, None, now).await?))
        };
        Ok(self.db.write(move |tx| Box::pin(work(tx))).await?)
    }
}

/// Returns the interval after a poll, and whether it came too early.
fn next_interval(device: &Device, now: Instant) -> (u32, bool) {
    let is_early = device
        .polled_at
        .is_some_and(|at| now.millis() - at.millis() < i64::from(device.interval_seconds) * 1_000);
    let more = if is_early { INTERVAL_SECONDS } else { 0 };
    (device.interval_seconds.saturating_add(more), is_early)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_codes_are_read_as_people_type_them() {
        let code = user_code().unwrap();
        let shown = show_user_code(&code);
        assert_eq!(shown.len(), 9);
        for typed in [
            shown.clone(),
            shown.to_lowercase(),
            format!(" {} ", shown.replace('-', " ")),
        ] {
            assert_eq!(read_user_code(&typed), Some(code.clone()), "{typed:?}");
        }
        for bad in ["", "BCDF", "BCDF-GHJA", "BCDF-GHJKL", "BCDFéGHJ"] {
            assert_eq!(read_user_code(bad), None, "{bad:?}");
        }
        assert_ne!(code, user_code().unwrap());
    }
}
