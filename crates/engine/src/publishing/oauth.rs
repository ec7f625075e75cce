//! Letting us in on a page of the provider (OAuth 2.0, RFC 6749 section 4.1): where a person is sent, and how the code they come back
//! with becomes a token. Needs an application that the operator registered with the provider.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{Method, header};
use searchwright_contract::integrations::Provider;
use searchwright_store::oauth_apps::App;
use serde_json::{Value, json};
use sha2::Sha256;
use url::Url;

use super::{
    exchange::Server,
    trouble::{Trouble, Why},
};
use crate::providers::outbound::Guarded;

/// How one provider does it.
struct Flow {
    authorize: &'static str,
    token: &'static str,
    /// Further members of the first request.
    asks: &'static [(&'static str, &'static str)],
    /// Whether the application is named by Basic authentication, and not in the body.
    basic: bool,
    /// Whether its answer to the person is signed with the application's secret.
    signs: bool,
}

/// In addresses, the host of the shop.
const SHOP: &str = "{shop}";

/// The providers that have such a page.
const fn flow(provider: Provider) -> Option<Flow> {
    Some(match provider {
        Provider::Webflow => Flow {
            authorize: "https://webflow.com/oauth/authorize",
            token: "https://api.webflow.com/oauth/access_token",
            asks: &[
                ("response_type", "code"),
                ("scope", "sites:read cms:read cms:write"),
            ],
            basic: false,
            signs: false,
        },
        Provider::Notion => Flow {
            authorize: "https://api.notion.com/v1/oauth/authorize",
            token: "https://api.notion.com/v1/oauth/token",
            asks: &[("response_type", "code"), ("owner", "user")],
            basic: true,
            signs: false,
        },
        Provider::Shopify => Flow {
            authorize: "https://{shop}/admin/oauth/authorize",
            token: "https://{shop}/admin/oauth/access_token",
            asks: &[("scope", "read_content,write_content")],
            basic: false,
            signs: true,
        },
        _ => return None,
    })
}

/// Whether an application can be registered with it.
pub(crate) const fn has_page(provider: Provider) -> bool {
    flow(provider).is_some()
}

/// The address that is the provider's own, or that the operator set.
fn address(app: &App, name: &str, usual: &str, site: &str) -> Option<Url> {
    let host = || Some(Url::parse(site).ok()?.host_str()?.to_owned());
    let text = match app.settings.get(name) {
        Some(set) => set.clone(),
        // Only a shop's own host: elsewhere its code, and with it our secret, would go to somebody else.
        None if usual.contains(SHOP) => {
            usual.replace(SHOP, &host().filter(|host| host.ends_with(".myshopify.com"))?)
        }
        None => usual.to_owned(),
    };
    Url::parse(&text).ok()
}

/// Where a person lets us in; `state` comes back with them.
pub(crate) fn page(app: &App, site: &str, back: &str, state: &str) -> Option<String> {
    let flow = flow(app.provider)?;
    let mut url = address(app, "authorizeUrl", flow.authorize, site)?;
    url.query_pairs_mut()
        .append_pair("client_id", &app.client_id)
        .append_pair("redirect_uri", back)
        .append_pair("state", state)
        .extend_pairs(flow.asks);
    Some(url.into())
}

/// The token for the code of a person who came back.
pub(crate) async fn token(
    client: Guarded,
    app: &App,
    secret: &str,
    site: &str,
    back: &str,
    query: &BTreeMap<String, String>,
) -> Result<String, Trouble> {
    let no = |why: &str| Trouble::because(Why::Credential, why);
    let flow = flow(app.provider).ok_or(Trouble::refused(Why::Unsupported))?;
    let code = query
        .get("code")
        .ok_or_else(|| no("it sent nobody back with a code"))?;
    if flow.signs && !is_signed(query, secret) {
        return Err(no("what it sent back does not carry its signature"));
    }
    let url = address(app, "tokenUrl", flow.token, site)
        .ok_or_else(|| Trouble::because(Why::Address, "siteUrl: has to end in myshopify.com"))?;
    let mut body = json!({ "grant_type": "authorization_code", "code": code, "redirect_uri": back });
    let mut server = Server::at(client, url.as_str());
    if flow.basic {
        let pair = STANDARD.encode(format!("{}:{secret}", app.client_id));
        server = server.with_secret(header::AUTHORIZATION, &format!("Basic {pair}"), secret)?;
    } else {
        body["client_id"] = json!(app.client_id);
        body["client_secret"] = json!(secret);
    }
    // A code works once: should the answer be lost, the person begins again.
    let answer = server.write(Method::POST, "", &body).await?;
    answer.made(|body: &Value| Some(body.get("access_token")?.as_str()?.to_owned()))
}

/// Whether the `hmac` of a query is that of its other members, by Shopify's rule.
fn is_signed(query: &BTreeMap<String, String>, secret: &str) -> bool {
    let Some(given) = query.get("hmac") else {
        return false;
    };
    let message: Vec<String> = query
        .iter()
        .filter(|(name, _)| *name != "hmac")
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else {
        return false;
    };
    mac.update(message.join("&").as_bytes());
    let bytes: Option<Vec<u8>> = given
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    bytes.is_some_and(|bytes| mac.verify_slice(&bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
            .collect()
    }

    #[test]
    fn a_signature_is_that_of_all_other_members() {
        // HMAC-SHA256 of `code=0907a61c0c8d55e99db179b68161bc00&shop=some-shop.myshopify.com&state=0.6784241404160823&timestamp=1337178173` with `hush`
        let signed = [
            ("code", "0907a61c0c8d55e99db179b68161bc00"),
            ("shop", "some-shop.myshopify.com"),
            ("state", "0.6784241404160823"),
            ("timestamp", "1337178173"),
            (
                "hmac",
                "700e2dadb827fcc8609e9d5ce208b2e9cdaab9df07390d2cbca10d7c328fc4bf",
            ),
        ];
        assert!(is_signed(&query(&signed), "hush"));
        assert!(!is_signed(&query(&signed), "hash"));
        assert!(!is_signed(&query(&signed[1..]), "hush"));
        assert!(!is_signed(&query(&signed[..4]), "hush"));
    }

    #[test]
    fn a_shop_is_sent_to_its_own_host_only() {
        let app = App {
            provider: Provider::Shopify,
            client_id: "id".to_owned(),
            settings: BTreeMap::new(),
        };
        let page = page(
            &app,
            "https://oak.myshopify.com",
            "https://sw.example/connect/callback",
            "s",
        )
        .unwrap();
        assert!(page.starts_with("https://oak.myshopify.com/admin/oauth/authorize?client_id=id&redirect_uri=https%3A%2F%2Fsw.example"), "{page}");
        for site in [
            "https://oak.example",
            "https://myshopify.com.evil.example",
            "nothing",
        ] {
            assert_eq!(super::page(&app, site, "https://sw.example", "s"), None, "{site}");
        }
    }
}
