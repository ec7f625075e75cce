//! `searchwright login`, `logout` and `whoami`: OAuth with a browser on this machine, or with a code on another one.

use std::{
    io::{self, Write as _},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use searchwright_client::{
    Client,
    oauth::{CLIENT_ID, DeviceAuthorization, ServerMetadata, TokenError, TokenSet},
};
use searchwright_contract::{
    Scope,
    me::{GetMe, Me},
};
use sha2::{Digest as _, Sha256};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    time::{sleep, timeout},
};

use crate::{
    exit::{CliError, Exit},
    profile::{Connection, StoredTokens},
};

/// Time in which a person has to decide.
const DECISION_TIMEOUT: Duration = Duration::from_secs(300);
/// Largest request of the browser that is read.
const MAX_REQUEST_BYTES: usize = 16 << 10;
const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// Sign in with a browser, and keep the tokens in a profile.
#[derive(Clone, Debug, clap::Args)]
pub struct LoginCommand {
    /// Show a code to be entered in a browser on another machine; publishing, tracking and autopilot cannot be granted this way.
    #[arg(long)]
    device: bool,
    /// Scopes to ask for, separated by commas; default all. The consent page lets you take some away.
    #[arg(long, value_delimiter = ',')]
    scopes: Vec<String>,
    /// Print the address, and do not open a browser.
    #[arg(long)]
    no_browser: bool,
    /// Sign in for `searchwright mcp` instead of the other commands: a token is valid at one of the two.
    #[arg(long)]
    mcp: bool,
}

/// Returns the URL of MCP that the server names.
fn mcp_of(client: &Client, metadata: &ServerMetadata) -> Result<String, CliError> {
    let url = metadata.mcp_url().map(str::to_owned);
    url.ok_or_else(|| no_mcp_url(client.root().trim_end_matches("/v1")))
}

/// Error for a server that does not name its MCP.
pub(crate) fn no_mcp_url(server: &str) -> CliError {
    CliError::new(
        Exit::Failed,
        format!("{server} does not say at which URL it serves MCP"),
    )
    .hint("name it with --mcp-url; by default it is http://127.0.0.1:8788/mcp")
}

fn failed(why: impl Into<String>) -> CliError {
    CliError::new(Exit::Unauthorised, why)
}

fn refused(error: &TokenError) -> CliError {
    failed(format!("the server refused: {error}"))
}

/// A random text of 43 characters.
fn random() -> Result<String, CliError> {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes).map_err(|e| CliError::new(Exit::Failed, e.to_string()))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

impl LoginCommand {
    /// Signs in, and stores the tokens in the profile of the connection.
    pub async fn run(&self, connection: &Connection) -> Result<Exit, CliError> {
        let client = Client::new(&connection.server_url()?, "")?;
        let metadata = client.server_metadata().await?;
        let scope = self.scope();
        let mcp = self.mcp.then(|| mcp_of(&client, &metadata)).transpose()?;
        let resource = mcp.as_deref().unwrap_or(client.root());
        let tokens = if self.device {
            self.by_device(&client, &metadata, resource, &scope).await?
        } else {
            self.by_browser(&client, &metadata, resource, &scope).await?
        };
        let stored = StoredTokens::new(&tokens, &metadata)?;
        if let Some(mcp) = &mcp {
            let name = connection.store_mcp_tokens(client.root(), mcp, stored)?;
            eprintln!("signed in for MCP at {mcp}; the tokens are in the profile {name}");
            return Ok(Exit::Done);
        }
        let name = connection.store_tokens(client.root(), stored)?;
        eprintln!("signed in; the tokens are in the profile {name}");
        whoami(connection, false).await
    }

    fn scope(&self) -> String {
        let all = Scope::ALL.iter().map(|scope| scope.as_str().to_owned());
        let mut scopes: Vec<String> = if self.scopes.is_empty() {
            all.collect()
        } else {
            self.scopes.clone()
        };
        scopes.push("offline_access".to_owned());
        scopes.join(" ")
    }

    async fn by_browser(
        &self,
        client: &Client,
        metadata: &ServerMetadata,
        resource: &str,
        scope: &str,
    ) -> Result<TokenSet, CliError> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let redirect = format!("http://127.0.0.1:{}/callback", listener.local_addr()?.port());
        let (verifier, state) = (random()?, random()?);
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier));
        let query = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs([
                ("response_type", "code"),
                ("client_id", CLIENT_ID),
                ("redirect_uri", &redirect),
                ("code_challenge", &challenge),
                ("code_challenge_method", "S256"),
                ("resource", resource),
                ("scope", scope),
                ("state", &state),
            ])
            .finish();
        let page = format!("{}?{query}", metadata.authorization_endpoint);
        eprintln!(
            "Open this address in a browser on this machine, if it does not open by itself:\n\n  {page}\n"
        );
        eprintln!("Without a browser here: searchwright login --device");
        if !self.no_browser && webbrowser::open(&page).is_err() {
            eprintln!("No browser could be opened.");
        }
        let late = |_| failed("nobody decided within 5 minutes; run `searchwright login` again");
        let code = timeout(DECISION_TIMEOUT, receive(&listener, &state, &metadata.issuer))
            .await
            .map_err(late)??;
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("redirect_uri", &redirect),
            ("client_id", CLIENT_ID),
            ("code_verifier", &verifier),
            ("resource", resource),
        ];
        client
            .send_form(&metadata.token_endpoint, &form)
            .await?
            .map_err(|e| refused(&e))
    }

    async fn by_device(
        &self,
        client: &Client,
        metadata: &ServerMetadata,
        resource: &str,
        scope: &str,
    ) -> Result<TokenSet, CliError> {
        let form = [("client_id", CLIENT_ID), ("scope", scope), ("resource", resource)];
        let begun: DeviceAuthorization = client
            .send_form(&metadata.device_authorization_endpoint, &form)
            .await?
            .map_err(|e| refused(&e))?;
        eprintln!(
            "In a browser on any machine, open\n\n  {}\n\nand enter the code {} (or open {}).",
            begun.verification_uri, begun.user_code, begun.verification_uri_complete
        );
        let form = [
            ("grant_type", DEVICE_GRANT),
            ("device_code", begun.device_code.as_str()),
            ("client_id", CLIENT_ID),
        ];
        let mut interval = begun.interval.max(1);
        loop {
            sleep(Duration::from_secs(interval)).await;
            let answer: Result<TokenSet, TokenError> =
                client.send_form(&metadata.token_endpoint, &form).await?;
            match answer {
                Ok(tokens) => return Ok(tokens),
                Err(error) if error.error == "authorization_pending" => {}
                Err(error) if error.error == "slow_down" => interval += 5,
                Err(error) => return Err(refused(&error)),
            }
        }
    }
}

/// Waits for the browser to come back, and returns the code. Requests for other paths are answered with 404.
async fn receive(listener: &TcpListener, state: &str, issuer: &str) -> Result<String, CliError> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        let Some(target) = read_target(&mut stream).await else {
            continue;
        };
        let Some(query) = target.strip_prefix("/callback?") else {
            let _ = stream
                .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                .await;
            continue;
        };
        let outcome = read_callback(query, state, issuer);
        let text = match &outcome {
            Ok(_) => "You are signed in. Go back to the terminal; this page can be closed.",
            Err(_) => "This did not work. The terminal says why; this page can be closed.",
        };
        let page = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Searchwright</title><p>{text}</p></html>"
        );
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nContent-Security-Policy: default-src 'none'\r\nConnection: close\r\n\r\n{page}",
            page.len()
        );
        let _ = stream.write_all(answer.as_bytes()).await;
        return outcome;
    }
}

/// Returns the target of a `GET` request.
async fn read_target(stream: &mut tokio::net::TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut piece = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = timeout(Duration::from_secs(5), stream.read(&mut piece))
            .await
            .ok()?
            .ok()?;
        if read == 0 || head.len() > MAX_REQUEST_BYTES {
            return None;
        }
        head.extend_from_slice(&piece[..read]);
    }
    let text = String::from_utf8(head).ok()?;
    let target = text.strip_prefix("GET ")?.split(' ').next()?;
    Some(target.to_owned())
}

/// Reads the parameters of the redirect: `state` has to be ours, and `iss` the server that was asked (RFC 9207).
fn read_callback(query: &str, state: &str, issuer: &str) -> Result<String, CliError> {
    let mut code = None;
    let (mut is_ours, mut is_issuer, mut error) = (false, false, None);
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "state" => is_ours = value == state,
            "iss" => is_issuer = value == issuer,
            "code" => code = Some(value.into_owned()),
            "error" => error = Some(value.into_owned()),
            _ => {}
        }
    }
    if !is_ours || !is_issuer {
        return Err(failed(
            "the answer is not from the server that was asked, or not for this sign-in",
        ));
    }
    match (code, error) {
        (_, Some(error)) if error == "access_denied" => Err(failed("it was declined")),
        (_, Some(error)) => Err(failed(format!("the server answered {error:?}"))),
        (Some(code), None) => Ok(code),
        (None, None) => Err(failed("the answer has no code")),
    }
}

/// Shows the credential in use.
pub async fn whoami(connection: &Connection, json: bool) -> Result<Exit, CliError> {
    let client = connection.client().await?;
    let me = client.call(&GetMe {}).await?;
    let mut out = io::stdout().lock();
    if json {
        crate::json_text::write_json(&mut out, &me)?;
        return Ok(Exit::Done);
    }
    match me {
        Me::Key(key) => writeln!(
            out,
            "API key {} ({}…) of {} {}",
            key.api_key.name, key.api_key.prefix, key.project.id, key.project.domain
        )?,
        Me::Token(token) => {
            writeln!(
                out,
                "{} through {}: {}",
                token.authorization.user.name,
                token.authorization.client.name,
                token.authorization.scopes.join(" ")
            )?;
            for project in token.projects {
                writeln!(out, "{} {} ({})", project.id, project.domain, project.role)?;
            }
        }
    }
    Ok(Exit::Done)
}

/// Gives the tokens of the profile back, and removes the profile.
pub async fn logout(connection: &Connection) -> Result<Exit, CliError> {
    let (name, url, all) = connection.take_tokens()?;
    let client = Client::new(&url, "")?;
    let mut is_revoked = true;
    for tokens in all {
        let form = [("token", tokens.refresh_token.as_str()), ("client_id", CLIENT_ID)];
        let revoked: Result<Result<serde_json::Value, TokenError>, _> =
            client.send_form(&tokens.revocation_endpoint, &form).await;
        is_revoked &= matches!(revoked, Ok(Ok(_)));
    }
    if is_revoked {
        eprintln!("signed out; profile {name} is removed");
    } else {
        eprintln!(
            "profile {name} is removed, but the server did not take the tokens back; end the access on its page /account"
        );
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::read_callback;

    #[test]
    fn callback_is_from_the_server_that_was_asked() {
        let read = |query| read_callback(query, "s", "https://sw.example").map_err(|e| e.to_string());
        assert_eq!(
            read("code=c&state=s&iss=https%3A%2F%2Fsw.example").as_deref(),
            Ok("c")
        );
        for bad in [
            "code=c&state=x&iss=https%3A%2F%2Fsw.example",
            "code=c&state=s&iss=https%3A%2F%2Fevil.example",
            "code=c&state=s",
            "code=c&iss=https%3A%2F%2Fsw.example",
            "state=s&iss=https%3A%2F%2Fsw.example",
            "error=access_denied&code=c&state=s&iss=https%3A%2F%2Fsw.example",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
