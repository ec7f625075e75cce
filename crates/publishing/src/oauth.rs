//! Access granted on a page of the provider (OAuth 2.0, RFC 6749): the page a person is sent to, and the values they
//! come back with. Needs an application that the operator registered with the provider.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{Method, header};
use searchwright_contract::integrations::Provider;
use searchwright_outbound::Guarded;
use serde_json::{Value, json};
use sha2::Sha256;
use url::Url;

use super::{
    connection_input::API_URL,
    error::{Trouble, Why},
    http::Server,
    vendors::wix,
};

/// An application that the operator registered with a provider.
#[derive(Clone, Debug)]
pub struct App {
    /// The provider.
    pub provider: Provider,
    /// Identifier of the application at the provider.
    pub client_id: String,
    /// Addresses that differ from the provider's usual ones, by name.
    pub settings: BTreeMap<String, String>,
}

/// OAuth flow of one provider.
struct Flow {
    authorize: &'static str,
    /// Further members of the first request.
    asks: &'static [(&'static str, &'static str)],
    way: Way,
}

/// Credential that the browser brings back from the provider.
enum Way {
    /// A code that becomes a token (section 4.1).
    Code {
        token: &'static str,
        /// Whether the application is named by Basic authentication, and not in the body.
        basic: bool,
        /// Whether the answer is signed with the application's secret.
        signs: bool,
    },
    /// The token itself, in the part of the address that no server sees (section 4.2).
    Fragment,
    /// The number of an installation of the application, signed: Wix's own way.
    Install,
}

/// Placeholder in addresses for the host of the shop.
const SHOP: &str = "{shop}";

/// The providers that have such a page.
const fn flow(provider: Provider) -> Option<Flow> {
    Some(match provider {
        Provider::Webflow => Flow {
            authorize: "https://webflow.com/oauth/authorize",
            asks: &[
                ("response_type", "code"),
                ("scope", "sites:read cms:read cms:write"),
            ],
            way: Way::Code {
                token: "https://api.webflow.com/oauth/access_token",
                basic: false,
                signs: false,
            },
        },
        Provider::Notion => Flow {
            authorize: "https://api.notion.com/v1/oauth/authorize",
            asks: &[("response_type", "code"), ("owner", "user")],
            way: Way::Code {
                token: "https://api.notion.com/v1/oauth/token",
                basic: true,
                signs: false,
            },
        },
        Provider::Shopify => Flow {
            authorize: "https://{shop}/admin/oauth/authorize",
            asks: &[("scope", "read_content,write_content")],
            way: Way::Code {
                token: "https://{shop}/admin/oauth/access_token",
                basic: false,
                signs: true,
            },
        },
        // Contentful documents no code.
        Provider::Contentful => Flow {
            authorize: "https://be.contentful.com/oauth/authorize",
            asks: &[("response_type", "token"), ("scope", "content_management_manage")],
            way: Way::Fragment,
        },
        Provider::Wix => Flow {
            authorize: "https://www.wix.com/app-installer",
            asks: &[],
            way: Way::Install,
        },
        _ => return None,
    })
}

/// Whether an application can be registered with it.
pub const fn has_page(provider: Provider) -> bool {
    flow(provider).is_some()
}

/// Settings of an application: addresses that are not the provider's usual ones.
pub fn settings(provider: Provider) -> &'static [&'static str] {
    match flow(provider).map(|flow| flow.way) {
        Some(Way::Code { .. }) => &["authorizeUrl", "tokenUrl", API_URL],
        _ => &["authorizeUrl", API_URL],
    }
}

/// Whether people come back with a token that only a script can read.
pub fn is_by_fragment(provider: Provider) -> bool {
    flow(provider).is_some_and(|flow| matches!(flow.way, Way::Fragment))
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

/// Address of the page on which a person grants us access. The provider sends `state` back with them.
pub fn page(app: &App, site: &str, back: &str, state: &str) -> Option<String> {
    let flow = flow(app.provider)?;
    let mut url = address(app, "authorizeUrl", flow.authorize, site)?;
    let mut query = url.query_pairs_mut();
    match flow.way {
        Way::Install => query
            .append_pair("appId", &app.client_id)
            .append_pair("postInstallationUrl", &format!("{back}?state={state}")),
        Way::Code { .. } | Way::Fragment => query
            .append_pair("client_id", &app.client_id)
            .append_pair("redirect_uri", back)
            .append_pair("state", state)
            .extend_pairs(flow.asks),
    };
    drop(query);
    Some(url.into())
}

/// Turns the query that a person came back with into the values that they would otherwise have entered.
pub async fn brought(
    client: Guarded,
    app: &App,
    secret: &str,
    site: &str,
    back: &str,
    query: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, Trouble> {
    let flow = flow(app.provider).ok_or(Trouble::refused(Why::Unsupported))?;
    match flow.way {
        Way::Code { token, basic, signs } => {
            let code = query
                .get("code")
                .ok_or_else(|| no("it sent nobody back with a code"))?;
            if signs && !is_signed(query, secret) {
                return Err(no("what it sent back does not carry its signature"));
            }
            let url = address(app, "tokenUrl", token, site)
                .ok_or_else(|| Trouble::because(Why::Address, "siteUrl: has to end in myshopify.com"))?;
            let token = exchanged(client, &url, (&app.client_id, secret), basic, (code, back)).await?;
            Ok(BTreeMap::from([("token".to_owned(), token)]))
        }
        // A token in what servers and proxies write down is one that somebody else may have.
        Way::Fragment => Err(no("it sent nobody back with a token")),
        Way::Install => wix::installed(client, app, secret, query).await,
    }
}

fn no(why: &str) -> Trouble {
    Trouble::because(Why::Credential, why)
}

/// The token for a code.
async fn exchanged(
    client: Guarded,
    url: &Url,
    (id, secret): (&str, &str),
    basic: bool,
    (code, back): (&str, &str),
) -> Result<String, Trouble> {
    let mut body = json!({ "grant_type": "authorization_code", "code": code, "redirect_uri": back });
    let mut server = Server::at(client, url.as_str());
    if basic {
        let pair = STANDARD.encode(format!("{id}:{secret}"));
        server = server.with_secret(header::AUTHORIZATION, &format!("Basic {pair}"), secret)?;
    } else {
        body["client_id"] = json!(id);
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

/// Identifier by which WordPress tells applications apart.
const APP_ID: &str = "7c1f2a0e-5d0b-4a57-9a0e-4b6c7a1d2e3f";

/// Returns the page of a WordPress site on which a person creates an application password, with `{own}` in place of the address
/// to which WordPress sends the person back; `None` where the site has no such page or would not come back.
pub async fn wordpress_page(client: Guarded, origin: &str, site: &str) -> Option<String> {
    // WordPress sends nobody back to an address without encryption, unless the site is one of a developer without it.
    if !origin.starts_with("https:") && !site.starts_with("http:") {
        return None;
    }
    let index = Server::new(client, site).get("/wp-json/").await.ok()?.body;
    let page = index
        .pointer("/authentication/application-passwords/endpoints/authorization")?
        .as_str()?;
    let mut url = Url::parse(page)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))?;
    url.query_pairs_mut()
        .append_pair("app_name", "Searchwright")
        .append_pair("app_id", APP_ID);
    Some(format!("{url}&success_url={{own}}&reject_url={{own}}"))
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

    fn app(provider: Provider, settings: &[(&str, &str)]) -> App {
        App {
            provider,
            client_id: "id".to_owned(),
            settings: query(settings),
        }
    }

    #[test]
    fn each_is_sent_to_the_page_that_its_provider_documents() {
        let page = |app: &App| page(app, "", "https://sw.example/connect/callback", "s_-1").unwrap();
        assert_eq!(
            page(&app(Provider::Contentful, &[])),
            "https://be.contentful.com/oauth/authorize?client_id=id&redirect_uri=https%3A%2F%2Fsw.example%2Fconnect%2Fcallback\
             &state=s_-1&response_type=token&scope=content_management_manage"
        );
        let back = "postInstallationUrl=https%3A%2F%2Fsw.example%2Fconnect%2Fcallback%3Fstate%3Ds_-1";
        assert_eq!(
            page(&app(Provider::Wix, &[])),
            format!("https://www.wix.com/app-installer?appId=id&{back}")
        );
        // An app that is not in Wix's market is installed by the number of its link.
        let unlisted = [("authorizeUrl", "https://www.wix.com/app-installer?shareUrlId=7")];
        assert_eq!(
            page(&app(Provider::Wix, &unlisted)),
            format!("https://www.wix.com/app-installer?shareUrlId=7&appId=id&{back}")
        );
    }

    #[test]
    fn only_a_code_is_exchanged() {
        for provider in Provider::ALL.iter().filter(|provider| has_page(**provider)) {
            let exchanges = !matches!(provider, Provider::Wix | Provider::Contentful);
            assert_eq!(settings(*provider).contains(&"tokenUrl"), exchanges, "{provider}");
            assert_eq!(
                is_by_fragment(*provider),
                *provider == Provider::Contentful,
                "{provider}"
            );
        }
    }

    #[test]
    fn a_shop_is_sent_to_its_own_host_only() {
        let app = app(Provider::Shopify, &[]);
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
