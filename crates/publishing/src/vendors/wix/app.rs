//! A site that installed the operator's app: its number, told by Wix with a signature, is good for tokens of four hours.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::header;
use searchwright_outbound::Guarded;
use serde_json::{Value, json};
use sha2::Sha256;

use super::{CLIENT, HOME, INSTANCE, KEY, MEMBER, SITE_ID};
use crate::{
    connection_input::API_URL,
    error::{Trouble, Why},
    http::Server,
    oauth::App,
    values::{list, text},
};

/// Returns the values that a person who let Wix install the app would otherwise have entered.
pub async fn installed(
    client: Guarded,
    app: &App,
    secret: &str,
    query: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, Trouble> {
    let no = |why| Trouble::because(Why::Credential, why);
    if !query.contains_key("instanceId") {
        return Err(no("it sent nobody back with an installation"));
    }
    // Anybody can write a number into an address, also that of another's site.
    let instance =
        instance(query, secret).ok_or_else(|| no("what it sent back does not carry its signature"))?;
    let home = app.settings.get(API_URL).map_or(HOME, String::as_str);
    let server = reached(Server::new(client, home), &app.client_id, secret, &instance).await?;
    let member = author(&server).await?;
    let site = query.get("tenantId").filter(|site| !site.is_empty());
    Ok(BTreeMap::from([
        (SITE_ID.to_owned(), site.unwrap_or(&instance).clone()),
        (CLIENT.to_owned(), app.client_id.clone()),
        (KEY.to_owned(), secret.to_owned()),
        (MEMBER.to_owned(), member),
        (INSTANCE.to_owned(), instance),
    ]))
}

/// The number of the installation, where Wix signed it for somebody who is logged in.
fn instance(query: &BTreeMap<String, String>, secret: &str) -> Option<String> {
    let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
    let (signature, data) = query.get("signedInstance")?.split_once('.')?;
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(data.as_bytes());
    mac.verify_slice(&decoded(signature)?).ok()?;
    let told: Value = serde_json::from_slice(&decoded(data)?).ok()?;
    let instance = text(&told, "/instanceId")?;
    // Visitors of the site are given a signature too, with a number for each that is not logged in.
    let is_visitor = told.get("aid").is_some_and(|aid| !aid.is_null());
    (!is_visitor && query.get("instanceId")? == instance).then(|| instance.to_owned())
}

/// The server with a token of the installation.
pub(super) async fn reached(
    server: Server,
    client: &str,
    secret: &str,
    instance: &str,
) -> Result<Server, Trouble> {
    let server = server.hiding(secret);
    let body = json!({ "grant_type": "client_credentials", "client_id": client, "client_secret": secret, "instance_id": instance });
    let answer = match server.ask("/oauth2/token", &body).await {
        // The app was taken off the site, or its secret is another now.
        Err(Trouble::Refused {
            why: Why::Invalid | Why::Permission | Why::Missing,
            said,
        }) => {
            return Err(Trouble::Refused {
                why: Why::Credential,
                said,
            });
        }
        answer => answer?.json()?,
    };
    let token = text(&answer, "/access_token").ok_or(Trouble::refused(Why::Unreadable))?;
    server.with_secret(header::AUTHORIZATION, token, token)
}

/// Returns the id of the member in whose name posts are written: the author of the newest post. An app has to name a
/// member, and is none itself.
async fn author(server: &Server) -> Result<String, Trouble> {
    let drafts = super::newest(server).await?;
    let member = list(&drafts, "/draftPosts")
        .first()
        .and_then(|post| text(post, "/memberId"));
    member.map(str::to_owned).ok_or_else(|| {
        let why = "the blog has no post yet, in whose author's name ours could be written; write a draft in Wix, then load this page again";
        Trouble::because(Why::Missing, why)
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use searchwright_contract::integrations::Provider;
    use searchwright_outbound::test_server::{Fake, Script, client};

    use super::*;

    /// `signature.data` as Wix makes it.
    fn signed(data: &Value, secret: &str) -> String {
        let data = URL_SAFE_NO_PAD.encode(data.to_string());
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(data.as_bytes());
        format!("{}.{data}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
    }

    fn query(signed: &str) -> BTreeMap<String, String> {
        [
            ("appId", "app"),
            ("tenantId", "site-1"),
            ("instanceId", "i-1"),
            ("signedInstance", signed),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }

    #[test]
    fn only_what_wix_signed_for_its_owner_is_an_installation() {
        let good = signed(&json!({ "instanceId": "i-1", "uid": "u", "aid": null }), "hush");
        assert_eq!(instance(&query(&good), "hush").as_deref(), Some("i-1"));
        assert_eq!(
            instance(&query(&format!("{good}=")), "hush"),
            None,
            "not what was signed"
        );
        assert_eq!(instance(&query(&good), "hash"), None);
        let other = signed(&json!({ "instanceId": "i-2" }), "hush");
        assert_eq!(instance(&query(&other), "hush"), None);
        let (signature, _) = good.split_once('.').unwrap();
        let (_, data) = other.split_once('.').unwrap();
        assert_eq!(instance(&query(&format!("{signature}.{data}")), "hush"), None);
        let visitor = signed(&json!({ "instanceId": "i-1", "aid": "v" }), "hush");
        assert_eq!(instance(&query(&visitor), "hush"), None);
        for bad in ["", ".", "a.b", "one", &good[1..]] {
            assert_eq!(instance(&query(bad), "hush"), None, "{bad}");
        }
        let mut lacking = query(&good);
        lacking.remove("signedInstance");
        assert_eq!(instance(&lacking, "hush"), None);
    }

    fn app(url: &str) -> App {
        App {
            provider: Provider::Wix,
            client_id: "app".to_owned(),
            settings: BTreeMap::from([(API_URL.to_owned(), url.to_owned())]),
        }
    }

    fn token() -> Script {
        Script::json(200, &json!({ "access_token": "t-1", "expires_in": 14_400 }))
    }

    #[tokio::test]
    async fn posts_are_written_in_the_name_of_who_wrote_the_newest() {
        let good = query(&signed(&json!({ "instanceId": "i-1" }), "hush"));
        let post =
            json!({ "draftPosts": [{ "id": "p1", "memberId": "m-1" }, { "id": "p0", "memberId": "m-0" }] });
        let server = Fake::new(vec![token(), Script::json(200, &post)]).await;
        let got = installed(client(Duration::from_secs(60)), &app(&server.url), "hush", &good)
            .await
            .unwrap();
        let want = [
            ("siteId", "site-1"),
            ("clientId", "app"),
            ("instanceId", "i-1"),
            ("key", "hush"),
            ("memberId", "m-1"),
        ];
        assert_eq!(
            got,
            want.map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into()
        );
        let asked = server.asked();
        assert_eq!(asked[0].line, "POST /oauth2/token");
        assert_eq!(
            asked[0].json(),
            json!({ "grant_type": "client_credentials", "client_id": "app", "client_secret": "hush", "instance_id": "i-1" })
        );
        assert_eq!(asked[1].line, "GET /blog/v3/draft-posts?paging.limit=1");
        assert_eq!(asked[1].headers["authorization"], "t-1");
        assert!(!asked[1].headers.contains_key("wix-site-id"));

        let server = Fake::new(vec![token(), Script::json(200, &json!({ "draftPosts": [] }))]).await;
        let none = installed(client(Duration::from_secs(60)), &app(&server.url), "hush", &good).await;
        assert!(
            matches!(
                none,
                Err(Trouble::Refused {
                    why: Why::Missing,
                    ..
                })
            ),
            "{none:?}"
        );
    }

    #[tokio::test]
    async fn an_installation_gets_a_token_when_it_is_opened() {
        use super::super::super::tests::{connection, open};
        let settings = |url: &str| {
            let settings = [
                ("apiUrl", url),
                ("siteId", "site-1"),
                ("memberId", "m-1"),
                ("clientId", "app"),
                ("instanceId", "i-1"),
            ];
            open(Provider::Wix, connection(&settings, &[("key", "hush")], &[]))
        };
        let none = json!({ "draftPosts": [] });
        let server = Fake::new(vec![token(), Script::json(200, &none), Script::json(200, &none)]).await;
        let publisher = settings(&server.url);
        assert_eq!(publisher.check().await.unwrap().site, "site-1");
        publisher.check().await.unwrap();
        let asked = server.asked();
        assert_eq!(asked.len(), 3, "one token for both");
        assert_eq!(asked[2].headers["authorization"], "t-1");
        assert!(!asked[2].headers.contains_key("wix-site-id"));
        // It was taken off the site; the answer quotes what it was sent.
        for status in [400, 401, 403, 404] {
            let said = json!({ "message": "no instance for hush" });
            let server = Fake::new(vec![Script::json(status, &said)]).await;
            let refused = settings(&server.url).check().await.unwrap_err();
            assert!(
                matches!(&refused, Trouble::Refused { why: Why::Credential, said: Some(said) } if !said.contains("hush")),
                "{refused:?}"
            );
        }
    }
}
