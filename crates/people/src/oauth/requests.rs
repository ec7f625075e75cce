//! Authorization requests (RFC 6749 section 4.1.1 with PKCE, RFC 8707 and RFC 9207), and the decision of a person about one.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use searchwright_contract::{
    Scope,
    ids::{CredentialId, SessionId},
};
use searchwright_identity::redirects;
use searchwright_store::{
    Tx, account_activity,
    oauth_clients::{self, OauthClient},
    oauth_grants::{self, Code, Grant},
    oauth_requests::{self, ConsentDecision, PendingRequest},
    sessions::Session,
};

use super::{
    OFFLINE_ACCESS, OauthCode, OauthError, Resources, clients::ClientError, is_document_url, known_scopes,
    parameters::Parameters,
};
use crate::{AccountEntry, Caller, People};
use searchwright_engine::secrets::{self, SecretKind};
use searchwright_failure::Result;

/// Time for which a consent form can be answered.
const REQUEST_MILLIS: i64 = 10 * 60_000;
/// Time for which an authorization code can be redeemed.
const CODE_MILLIS: i64 = 60_000;
/// Time after which a grant ends, however often it is refreshed.
pub(super) const GRANT_MILLIS: i64 = 180 * 24 * 3_600_000;
/// Bytes of `state`, at most.
const MAX_STATE: usize = 4_096;

/// An authorization request, as far as it was understood.
#[derive(Debug)]
pub enum Authorization {
    /// Client or redirect URI cannot be trusted: told to the person, never redirected.
    Refused(String),
    /// Nobody is signed in yet; the request is read again afterwards.
    SignInFirst,
    /// The client made a mistake; it is told at its redirect URI.
    Fault(Box<Fault>),
    /// To be decided by the person.
    Ask(Box<Request>),
}

/// A mistake of a client.
#[derive(Debug)]
pub struct Fault {
    /// The client.
    pub client: OauthClient,
    /// The mistake.
    pub error: OauthError,
    /// Redirect URI with the error.
    pub location: String,
}

/// A valid authorization request.
#[derive(Debug)]
pub struct Request {
    /// The client.
    pub client: OauthClient,
    /// Redirect URI, as it was requested.
    pub redirect_uri: String,
    /// Audience of the tokens.
    pub resource: String,
    /// Scopes, in the order of the table.
    pub scopes: Vec<Scope>,
    /// Whether refresh tokens are asked for.
    pub is_offline: bool,
    state: Option<String>,
    code_challenge: String,
}

/// Location of the client with a person's decision, and whether tokens may follow.
#[derive(Debug)]
pub struct Decided {
    /// Redirect URI with the code or the error.
    pub location: String,
    /// The client.
    pub client: String,
}

impl People {
    /// Reads an authorization request in the order that lets nobody use this server as an open redirector.
    pub async fn read_authorization(
        &self,
        query: &[u8],
        resources: &Resources,
        is_signed_in: bool,
    ) -> Result<Authorization> {
        let parameters = match Parameters::parse(query) {
            Ok(parameters) => parameters,
            Err(error) => return Ok(Authorization::Refused(error.description)),
        };
        let Some(id) = parameters.get("client_id") else {
            return Ok(Authorization::Refused("client_id is missing".to_owned()));
        };
        if is_document_url(id) && !is_signed_in {
            return Ok(Authorization::SignInFirst);
        }
        let client = match self.find_client(id, is_signed_in).await? {
            Ok(client) => client,
            Err(ClientError::Unknown) => {
                let why = "the client is not registered here, or its registration was deleted; let the program connect again, so that it registers anew";
                return Ok(Authorization::Refused(why.to_owned()));
            }
            Err(ClientError::Document(why)) => return Ok(Authorization::Refused(why)),
        };
        let Some(redirect_uri) = parameters.get("redirect_uri") else {
            return Ok(Authorization::Refused("redirect_uri is missing".to_owned()));
        };
        let is_registered = |known: &String| redirects::matches(known, redirect_uri);
        if !client.redirect_uris.iter().any(is_registered) {
            return Ok(Authorization::Refused(
                "redirect_uri is not one that the client registered".to_owned(),
            ));
        }
        if !is_signed_in {
            return Ok(Authorization::SignInFirst);
        }
        Ok(match check(&parameters, resources) {
            Ok(checked) => Authorization::Ask(Box::new(Request {
                client,
                redirect_uri: redirect_uri.to_owned(),
                resource: checked.resource,
                scopes: checked.scopes.split(' ').filter_map(Scope::parse).collect(),
                is_offline: checked.scopes.split(' ').any(|scope| scope == OFFLINE_ACCESS),
                state: parameters.get("state").map(str::to_owned),
                code_challenge: checked.code_challenge,
            })),
            Err(error) => {
                let location = error_location(redirect_uri, &error, parameters.get("state"), resources);
                Authorization::Fault(Box::new(Fault {
                    client,
                    error,
                    location,
                }))
            }
        })
    }

    /// Stores a request for the decision of a person, and returns the token for the form.
    pub async fn ask_consent(&self, request: &Request, session: SessionId) -> Result<String> {
        let token = secrets::generate(SecretKind::Request)?;
        let (digest, until) = (
            secrets::digest(&token),
            self.clock.now().plus_millis(REQUEST_MILLIS),
        );
        let mut scopes: Vec<&str> = request.scopes.iter().map(|scope| scope.as_str()).collect();
        if request.is_offline {
            scopes.push(OFFLINE_ACCESS);
        }
        let pending = PendingRequest {
            session,
            client: request.client.id.clone(),
            redirect_uri: request.redirect_uri.clone(),
            state: request.state.clone(),
            code_challenge: request.code_challenge.clone(),
            resource: request.resource.clone(),
            scopes: scopes.join(" "),
        };
        self.db
            .write(move |tx| {
                Box::pin(async move { oauth_requests::create(tx, &digest, &pending, until).await })
            })
            .await?;
        Ok(token)
    }

    /// Carries out the decision of a person, who allows `scopes` of those requested, or none. Of a form that
    /// is sent twice, the last decision counts, except that declined stays declined. `None` if the client has come for its tokens
    /// meanwhile, or if the form is too old.
    pub async fn decide(
        &self,
        token: &str,
        session: &Session,
        scopes: Option<&[String]>,
        resources: &Resources,
        caller: &Caller,
    ) -> Result<Option<Decided>> {
        let now = self.clock.now();
        let code = secrets::generate(SecretKind::Code)?;
        let ids = DecisionIds {
            request: secrets::digest(token),
            code: secrets::digest(&code),
            grant: self.clock.id(),
        };
        let (id, user) = (session.id, session.user);
        let wanted = scopes.map(<[String]>::to_vec);
        let log = |action, client: &str, detail: &str| {
            let entry = AccountEntry {
                action,
                user: Some(user),
                client: Some(client),
                address: &caller.address,
                detail: Some(detail),
            };
            self.account_activity(entry, now)
        };
        // The client is known only in the transaction.
        let (mut granted, mut denied) = (
            log("grant.created", "", ""),
            log("grant.denied", "", "declined on the consent page"),
        );
        let work = async move |tx: &mut Tx| {
            let found = oauth_requests::lock(tx, &ids.request, id, now).await?;
            let Some((pending, decision)) = found else {
                return Ok::<_, searchwright_store::Error>(None);
            };
            let code = |grant| Code {
                grant,
                redirect_uri: pending.redirect_uri.clone(),
                code_challenge: pending.code_challenge.clone(),
                expires_at: now.plus_millis(CODE_MILLIS),
                used_at: None,
            };
            match decision {
                ConsentDecision::Open => {}
                ConsentDecision::Declined => return Ok(Some((pending, false))),
                // Sent again before the first answer arrived, or after going back: the browser follows only the last answer, and
                // what the person chose last counts, unless the client has come for its tokens.
                ConsentDecision::Allowed(grant) => {
                    oauth_grants::lock(tx, grant).await?;
                    if !oauth_grants::withdraw_codes(tx, grant).await?
                        || !oauth_grants::revoke(tx, grant, "the person decided again", now).await?
                    {
                        return Ok(None);
                    }
                }
            }
            let allowed = wanted.and_then(|wanted| allowed_scopes(&pending.scopes, &wanted));
            let Some(allowed) = allowed else {
                denied.client = Some(pending.client.clone());
                account_activity::insert(tx, denied).await?;
                oauth_requests::record_decision(tx, &ids.request, None, now).await?;
                return Ok(Some((pending, false)));
            };
            (granted.client, granted.detail) = (Some(pending.client.clone()), Some(allowed.clone()));
            let grant = Grant {
                id: ids.grant,
                user,
                client: pending.client.clone(),
                resource: pending.resource.clone(),
                scopes: allowed,
                expires_at: now.plus_millis(GRANT_MILLIS),
                revoked_at: None,
            };
            oauth_grants::create(tx, &grant, now).await?;
            oauth_clients::mark_consented(tx, &pending.client, now).await?;
            oauth_grants::create_code(tx, &ids.code, &code(ids.grant)).await?;
            oauth_requests::record_decision(tx, &ids.request, Some(ids.grant), now).await?;
            account_activity::insert(tx, granted).await?;
            Ok(Some((pending, true)))
        };
        let decided = self.db.write(move |tx| Box::pin(work(tx))).await?;
        Ok(decided.map(|(pending, is_granted)| Decided {
            client: pending.client.clone(),
            location: if is_granted {
                location(
                    &pending.redirect_uri,
                    &[("code", &code)],
                    pending.state.as_deref(),
                    resources,
                )
            } else {
                let error = OauthError::new(OauthCode::AccessDenied, "the person declined");
                error_location(&pending.redirect_uri, &error, pending.state.as_deref(), resources)
            },
        }))
    }
}

struct DecisionIds {
    request: [u8; 32],
    code: [u8; 32],
    grant: CredentialId,
}

/// Returns the scopes that a person allowed, also such that were not requested (RFC 6749 section 3.3); `None` if there is none.
fn allowed_scopes(requested: &str, wanted: &[String]) -> Option<String> {
    let mut allowed: Vec<&str> = Scope::ALL
        .iter()
        .map(|scope| scope.as_str())
        .filter(|scope| wanted.iter().any(|wish| wish == scope))
        .collect();
    if allowed.is_empty() {
        return None;
    }
    allowed.extend(requested.split(' ').filter(|scope| *scope == OFFLINE_ACCESS));
    Some(allowed.join(" "))
}

/// Parameters of a request that have been checked.
struct Checked {
    code_challenge: String,
    resource: String,
    scopes: String,
}

/// Checks the parameters whose faults the client is told.
fn check(parameters: &Parameters, resources: &Resources) -> Result<Checked, OauthError> {
    let refuse = |code, why: &str| Err(OauthError::new(code, why));
    if parameters.need("response_type")? != "code" {
        return refuse(OauthCode::UnsupportedResponseType, "response_type has to be code");
    }
    if parameters
        .get("state")
        .is_some_and(|state| state.len() > MAX_STATE)
    {
        return refuse(OauthCode::InvalidRequest, "state has more than 4096 bytes");
    }
    let challenge = parameters.need("code_challenge")?;
    if parameters.get("code_challenge_method") != Some("S256") {
        return refuse(OauthCode::InvalidRequest, "code_challenge_method has to be S256");
    }
    if challenge.len() != 43 || URL_SAFE_NO_PAD.decode(challenge).is_err() {
        return refuse(
            OauthCode::InvalidRequest,
            "code_challenge has to be the base64url form of a SHA-256, 43 characters",
        );
    }
    let Some(resource) = resources.find(parameters.get("resource")) else {
        let why = format!("resource has to be {} or {}", resources.api, resources.mcp);
        return refuse(OauthCode::InvalidTarget, &why);
    };
    let Some(scopes) = known_scopes(parameters.get("scope")) else {
        return refuse(OauthCode::InvalidScope, "no scope of the request is known");
    };
    Ok(Checked {
        code_challenge: challenge.to_owned(),
        resource: resource.to_owned(),
        scopes,
    })
}

/// Redirect URI with parameters, `state` as it came, and the issuer (RFC 9207).
fn location(uri: &str, parameters: &[(&str, &str)], state: Option<&str>, resources: &Resources) -> String {
    let mut all = parameters.to_vec();
    all.extend(state.map(|state| ("state", state)));
    all.push(("iss", &resources.issuer));
    redirects::with_parameters(uri, &all)
}

fn error_location(uri: &str, error: &OauthError, state: Option<&str>, resources: &Resources) -> String {
    let parameters = [
        ("error", error.code.as_str()),
        ("error_description", &error.description),
    ];
    location(uri, &parameters, state, resources)
}
