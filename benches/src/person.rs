//! A person who signs in and lets a program in, for measurements with an OAuth token.

use anyhow::{Context, Result, bail};
use reqwest::{Client, RequestBuilder, header, redirect::Policy};
use serde_json::Value;
use tokio::runtime::Builder;

use crate::product::text;

/// Signs in with a password. Returns the `Cookie` header.
pub fn sign_in(origin: &str, email: &str, password: &str) -> Result<String> {
    // fails only when one is already installed
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let client = Client::builder().no_proxy().redirect(Policy::none()).build()?;
    let body = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("email", email), ("password", password)])
        .finish();
    let form = client
        .post(format!("{origin}/login"))
        .header("sec-fetch-site", "same-origin")
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(body);
    let signed_in = runtime.block_on(form.send())?;
    let cookie = signed_in.headers().get(header::SET_COOKIE);
    let cookie = cookie.context("nobody was signed in")?.to_str()?;
    Ok(cookie.split(';').next().unwrap_or_default().to_owned())
}

/// Signs in with a password and lets the command line in by the device flow (RFC 8628). Returns the `Authorization` header.
pub fn token(origin: &str, email: &str, password: &str) -> Result<String> {
    let cookie = sign_in(origin, email, password)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let client = Client::builder().no_proxy().redirect(Policy::none()).build()?;
    runtime.block_on(async {
        let form = |path: &str, pairs: &[(&str, &str)]| {
            let body = url::form_urlencoded::Serializer::new(String::new())
                .extend_pairs(pairs)
                .finish();
            client
                .post(format!("{origin}{path}"))
                .header("sec-fetch-site", "same-origin")
                .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(body)
        };
        let device = json(form("/oauth/device", &[("client_id", "cli")])).await?;
        let code = text(&device, "user_code")?;
        let page = client
            .get(format!("{origin}/device"))
            .header(header::COOKIE, &cookie)
            .send()
            .await?
            .text()
            .await?;
        let csrf = page
            .split("name=\"csrf\" value=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        let csrf = csrf.context("the page has no form")?;
        let allowed = [("csrf", csrf), ("user_code", &code), ("decision", "allow")];
        let allowed = form("/device", &allowed)
            .header(header::COOKIE, &cookie)
            .send()
            .await?;
        if !allowed.status().is_success() {
            bail!("the device was answered with {}", allowed.status());
        }
        let device_code = text(&device, "device_code")?;
        let grant = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("client_id", "cli"),
            ("device_code", &device_code),
        ];
        let tokens = json(form("/oauth/token", &grant)).await?;
        Ok(format!("Bearer {}", text(&tokens, "access_token")?))
    })
}

async fn json(request: RequestBuilder) -> Result<Value> {
    let answer = request.send().await?;
    let (status, said) = (answer.status(), answer.text().await?);
    if !status.is_success() {
        bail!("{status}: {said}");
    }
    Ok(serde_json::from_str(&said)?)
}
