//! The account of a person: second factor, passkeys, password, sessions; members of a workspace and invitations to it.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use searchwright_contract::{ids::UserId, people::Role};
use searchwright_server::people::operator::NewUser;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    browser::{Browser, Page},
    harness::Bench,
    oauth::Agent,
    people::{PASSWORD, person},
};

on_both!(
    second_factor_is_asked_for_and_a_code_works_once,
    wrong_codes_are_limited,
    recovery_codes_replace_a_lost_second_factor,
    privileged_forms_need_a_recent_sign_in,
    new_password_ends_sessions_and_applications,
    sessions_are_listed_and_ended,
    passkey_signs_in_without_a_password,
    invitation_makes_a_member_once,
    members_are_managed_within_roles,
    disabled_person_is_out_at_once,
    attempts_to_connect_are_shown_with_where_they_stopped,
);

/// Address of the server, for which passkeys can be made.
const NAMED: &str = "public_url=\"https://seo.example.com\"";

/// The code that an app shows for the secret on this page.
pub fn code(page: &Page, bench: &Bench) -> String {
    let (_, rest) = page
        .text
        .split_once("secret=")
        .unwrap_or_else(|| panic!("{}", page.text));
    let secret = rest.split('&').next().unwrap();
    let secret = totp_rs::Secret::try_from_base32(secret).unwrap();
    let totp = totp_rs::Builder::new()
        .with_secret(secret)
        .with_account_name("a")
        .build()
        .unwrap();
    let seconds = u64::try_from(bench.clock.now().millis() / 1_000).unwrap();
    totp.generate(seconds).to_string()
}

fn recovery_codes(page: &Page) -> Vec<String> {
    let lists = page.text.split("<li><code>").skip(1);
    lists
        .map(|rest| rest.split('<').next().unwrap().to_owned())
        .collect()
}

/// Signs a person in and sets up a second factor: the page with its secret, and the recovery codes.
pub async fn with_second_factor<'a>(bench: &'a Bench, email: &str) -> (Browser<'a>, Page, Vec<String>) {
    person(bench, email, Role::Owner).await;
    let browser = Browser::new(bench);
    let csrf = browser.sign_in(email, PASSWORD).await.field("csrf");
    let page = browser
        .send("/account/second-factor/begin", &[("csrf", &csrf)])
        .await;
    assert_eq!(page.status, 200, "{}", page.text);
    let wrong = browser
        .send(
            "/account/second-factor/confirm",
            &[("csrf", &csrf), ("code", "000000")],
        )
        .await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.text.contains("is not right"), "{}", wrong.text);
    let code = code(&page, bench);
    let done = browser
        .send(
            "/account/second-factor/confirm",
            &[("csrf", &csrf), ("code", &code)],
        )
        .await;
    let codes = recovery_codes(&done);
    assert_eq!(codes.len(), 10, "{}", done.text);
    (browser, page, codes)
}

async fn second_factor_is_asked_for_and_a_code_works_once(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let (first, secret, _) = with_second_factor(&bench, "ann@example.com").await;
    let browser = Browser::new(&bench);
    let asked = browser
        .send(
            "/login",
            &[
                ("email", "ann@example.com"),
                ("password", PASSWORD),
                ("next", "/device"),
            ],
        )
        .await;
    assert_eq!(
        (asked.status, browser.cookie.borrow().clone()),
        (200, None),
        "{}",
        asked.text
    );
    let pending = asked.field("sign_in");
    let enter = async |code: &str, next: &str| {
        browser
            .send(
                "/login/code",
                &[("sign_in", &pending), ("code", code), ("next", next)],
            )
            .await
    };
    let used = code(&secret, &bench);
    assert_eq!(
        enter(&used, "/device").await.status,
        401,
        "it was used to confirm"
    );
    bench.clock.advance(30_000);
    let next = code(&secret, &bench);
    let done = enter(&next, "/device").await;
    assert_eq!(done.status, 200, "{}", done.text);
    assert!(done.text.contains("user_code"), "{}", done.text);
    // The same sign-in, and the same code, do not work again.
    let again = enter(&next, "/device").await;
    assert!(again.text.contains("Sign in again"), "{}", again.text);
    // A sign-in that waits for a code ends after ten minutes.
    let late = Browser::new(&bench);
    let pending = late.sign_in("ann@example.com", PASSWORD).await.field("sign_in");
    bench.clock.advance(10 * 60_000);
    let code = code(&secret, &bench);
    let page = late
        .send("/login/code", &[("sign_in", &pending), ("code", &code)])
        .await;
    assert_eq!((page.status, late.cookie.borrow().clone()), (401, None));
    // Removed, it is no longer asked for.
    let account = first.open("/account").await;
    first
        .send(
            "/account/second-factor/remove",
            &[("csrf", &account.field("csrf"))],
        )
        .await;
    assert_eq!(late.sign_in("ann@example.com", PASSWORD).await.status, 200);
    assert!(late.cookie.borrow().is_some());
}

async fn wrong_codes_are_limited(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let (_, secret, _) = with_second_factor(&bench, "ann@example.com").await;
    let browser = Browser::new(&bench);
    let mut statuses = Vec::new();
    // A known password gives no fresh guesses at the code.
    for _ in 0..12 {
        let page = browser.sign_in("ann@example.com", PASSWORD).await;
        if page.status != 200 {
            statuses.push(page.status);
            break;
        }
        let form = [("sign_in", &*page.field("sign_in")), ("code", "123456")];
        statuses.push(browser.send("/login/code", &form).await.status);
    }
    assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
    assert!(statuses.len() <= 11, "{statuses:?}");
    bench.clock.advance(20 * 60_000);
    let pending = browser
        .sign_in("ann@example.com", PASSWORD)
        .await
        .field("sign_in");
    let form = [("sign_in", &*pending), ("code", &*code(&secret, &bench))];
    assert_eq!(browser.send("/login/code", &form).await.status, 200);
}

async fn recovery_codes_replace_a_lost_second_factor(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let (first, _, codes) = with_second_factor(&bench, "ann@example.com").await;
    let enter = async |code: &str| {
        let browser = Browser::new(&bench);
        let pending = browser
            .sign_in("ann@example.com", PASSWORD)
            .await
            .field("sign_in");
        browser
            .send("/login/code", &[("sign_in", &pending), ("code", code)])
            .await
            .status
    };
    let written = codes[0].to_uppercase().replace('-', " ");
    assert_eq!((enter(&written).await, enter(&codes[0]).await), (200, 401));
    let account = first.open("/account").await;
    assert!(
        account.text.contains("9 recovery codes are left"),
        "{}",
        account.text
    );
    let renewed = first
        .send("/account/recovery-codes", &[("csrf", &account.field("csrf"))])
        .await;
    let new = recovery_codes(&renewed);
    assert_eq!((enter(&codes[1]).await, enter(&new[1]).await), (401, 200));
    // The operator removes it where everything is lost.
    let people = &bench.server.app.people;
    let user = people.find_user("ann@example.com").await.unwrap();
    people.remove_second_factor_as_operator(user).await.unwrap();
    let browser = Browser::new(&bench);
    assert!(
        browser
            .sign_in("ann@example.com", PASSWORD)
            .await
            .text
            .contains("Sign out")
    );
}

async fn privileged_forms_need_a_recent_sign_in(database: &str) {
    let bench = Bench::on(database, &[]).await;
    person(&bench, "ann@example.com", Role::Owner).await;
    let browser = Browser::new(&bench);
    let csrf = browser.sign_in("ann@example.com", PASSWORD).await.field("csrf");
    bench.clock.advance(15 * 60_000);
    let members = format!("/projects/{}/settings/members", bench.project);
    for path in [
        "/account/password",
        "/account/second-factor/begin",
        "/account/second-factor/confirm",
        "/account/second-factor/remove",
        "/account/recovery-codes",
        "/account/passkeys",
        "/account/passkeys/019b0000-0000-7000-8000-000000000000/remove",
        &format!("{members}/invite"),
        &format!("{members}/019b0000-0000-7000-8000-000000000000/remove"),
        &format!("{members}/019b0000-0000-7000-8000-000000000000/role"),
    ] {
        let form = [
            ("csrf", &*csrf),
            ("password", "another horse battery staple"),
            ("role", "viewer"),
        ];
        let page = browser.send(path, &form).await;
        assert!(
            page.text.contains("Confirm that it is you"),
            "{path}: {}",
            page.text
        );
    }
    assert_eq!(
        browser
            .send("/account/passkeys/challenge", &[("csrf", &csrf)])
            .await
            .status,
        403
    );
    assert!(!browser.open("/account").await.text.contains("new-password"));
    let form = [
        ("email", "ann@example.com"),
        ("password", PASSWORD),
        ("again", "1"),
        ("next", &members),
    ];
    let page = browser.send("/login", &form).await;
    assert!(page.text.contains("Invite somebody"), "{}", page.text);
    assert!(browser.open("/account").await.text.contains("new-password"));
}

async fn new_password_ends_sessions_and_applications(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let agent = Agent::new(&bench, Role::Owner).await;
    let tokens = agent.tokens(&[]).await;
    assert_eq!(agent.status(&tokens["access_token"]).await, 200);
    let other = Browser::new(&bench);
    other.sign_in("ann@example.com", PASSWORD).await;
    let csrf = agent.browser.open("/account").await.field("csrf");
    let set = async |password: &str| {
        let form = [("csrf", &*csrf), ("password", password)];
        agent.browser.send("/account/password", &form).await
    };
    let weak = set("too short").await;
    assert_eq!(weak.status, 422);
    assert!(weak.text.contains("at least 15"), "{}", weak.text);
    let new = "quiet river under seven bridges";
    assert_eq!(set(new).await.status, 200);
    assert!(
        agent
            .browser
            .open("/account")
            .await
            .text
            .contains("Password changed")
    );
    assert!(
        other.open("/account").await.text.contains("name=\"password\""),
        "its session ended"
    );
    assert_eq!(agent.status(&tokens["access_token"]).await, 401);
    assert_eq!(agent.refresh(&tokens["refresh_token"]).await.status, 400);
    assert_eq!(other.sign_in("ann@example.com", PASSWORD).await.status, 401);
    assert_eq!(other.sign_in("ann@example.com", new).await.status, 200);
}

async fn sessions_are_listed_and_ended(database: &str) {
    let bench = Bench::on(database, &[]).await;
    person(&bench, "ann@example.com", Role::Owner).await;
    person(&bench, "bob@example.com", Role::Owner).await;
    let (here, there, bob) = (Browser::new(&bench), Browser::new(&bench), Browser::new(&bench));
    here.sign_in("ann@example.com", PASSWORD).await;
    bench.clock.advance(1_000);
    there.sign_in("ann@example.com", PASSWORD).await;
    bob.sign_in("bob@example.com", PASSWORD).await;
    let end_path = async |browser: &Browser<'_>| {
        let page = browser.open("/account").await;
        let (_, rest) = page.text.split_once("/account/sessions/").unwrap();
        (
            format!("/account/sessions/{}", rest.split('"').next().unwrap()),
            page.field("csrf"),
        )
    };
    let (path, csrf) = end_path(&here).await;
    let bobs = bob.open("/account").await.field("csrf");
    bob.send(&path, &[("csrf", &bobs)]).await;
    assert!(
        there.open("/account").await.text.contains("Sign out"),
        "another person ends nothing"
    );
    here.send(&path, &[("csrf", &csrf)]).await;
    assert!(there.open("/account").await.text.contains("name=\"password\""));
    there.sign_in("ann@example.com", PASSWORD).await;
    let page = here.open("/account").await;
    assert!(page.text.contains("End all others"), "{}", page.text);
    here.send("/account/sessions/end-others", &[("csrf", &csrf)])
        .await;
    assert!(there.open("/account").await.text.contains("name=\"password\""));
    assert!(here.open("/account").await.text.contains("Sign out"));
}

/// A device with a passkey of Ed25519.
struct Device {
    pair: Ed25519KeyPair,
}

impl Device {
    fn new() -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
        Self { pair }
    }

    fn data(flags: u8, more: &[u8]) -> Vec<u8> {
        let mut data = Sha256::digest("seo.example.com").to_vec();
        data.push(flags);
        data.extend([0, 0, 0, 1]);
        data.extend(more);
        data
    }

    fn client(kind: &str, options: &Value, origin: &str) -> String {
        json!({ "type": kind, "challenge": options["challenge"], "origin": origin, "crossOrigin": false })
            .to_string()
    }

    fn create(&self, options: &Value) -> String {
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let mut spki = vec![
            0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
        ];
        spki.extend(self.pair.public_key().as_ref());
        let mut attested = vec![0; 16];
        attested.extend([0, 4]);
        attested.extend(b"key1");
        // The key itself follows in CBOR, which is not read.
        attested.push(0xa0);
        let client = Self::client("webauthn.create", options, "https://seo.example.com");
        json!({
            "id": encode(b"key1"), "rawId": encode(b"key1"), "type": "public-key", "clientExtensionResults": {},
            "response": {
                "clientDataJSON": encode(client.as_bytes()), "authenticatorData": encode(&Self::data(0x45, &attested)),
                "publicKey": encode(&spki), "publicKeyAlgorithm": -8, "attestationObject": "oA", "transports": ["internal"],
            },
        })
        .to_string()
    }

    fn get(&self, options: &Value, origin: &str) -> String {
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let client = Self::client("webauthn.get", options, origin);
        let data = Self::data(0x05, &[]);
        let mut signed = data.clone();
        signed.extend(Sha256::digest(&client));
        json!({
            "id": encode(b"key1"), "rawId": encode(b"key1"), "type": "public-key", "clientExtensionResults": {},
            "response": {
                "clientDataJSON": encode(client.as_bytes()), "authenticatorData": encode(&data),
                "signature": encode(self.pair.sign(&signed).as_ref()), "userHandle": null,
            },
        })
        .to_string()
    }
}

async fn passkey_signs_in_without_a_password(database: &str) {
    let bench = Bench::on(database, &[NAMED]).await;
    person(&bench, "ann@example.com", Role::Owner).await;
    let browser = Browser::new(&bench);
    let csrf = browser.sign_in("ann@example.com", PASSWORD).await.field("csrf");
    let begun = browser
        .send("/account/passkeys/challenge", &[("csrf", &csrf)])
        .await;
    let options: Value = serde_json::from_str(&begun.text).unwrap();
    assert_eq!(
        (&options["rp"]["id"], &options["attestation"]),
        (&json!("seo.example.com"), &json!("none"))
    );
    let (device, add) = (Device::new(), "/account/passkeys");
    let made = device.create(&options);
    let form = [("csrf", &*csrf), ("name", "Phone <b>"), ("credential", &*made)];
    let page = browser.send(add, &form).await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert!(
        page.text.contains("Phone &#60;b&#62;") || page.text.contains("Phone &lt;b&gt;"),
        "{}",
        page.text
    );
    assert_eq!(
        browser.send(add, &form).await.status,
        409,
        "a challenge is answered once"
    );
    // Signing in, without a password.
    let other = Browser::new(&bench);
    let challenge = async || -> Value {
        let page = other.send("/login/passkey/challenge", &[("csrf", "")]).await;
        serde_json::from_str(&page.text).unwrap()
    };
    let sign_in = async |credential: &str| {
        other
            .send(
                "/login/passkey",
                &[("credential", credential), ("next", "/device")],
            )
            .await
    };
    let evil = device.get(&challenge().await, "https://evil.example");
    assert_eq!(sign_in(&evil).await.status, 401);
    let creating = browser
        .send("/account/passkeys/challenge", &[("csrf", &csrf)])
        .await;
    let for_creation: Value = serde_json::from_str(&creating.text).unwrap();
    let wrong = device.get(&for_creation, "https://seo.example.com");
    assert_eq!(
        sign_in(&wrong).await.status,
        401,
        "a challenge for another purpose"
    );
    assert_eq!(sign_in("{}").await.status, 401);
    let options = challenge().await;
    let answer = device.get(&options, "https://seo.example.com");
    let done = sign_in(&answer).await;
    assert_eq!(done.status, 200, "{}", done.text);
    assert!(done.text.contains("user_code"), "{}", done.text);
    assert_eq!(sign_in(&answer).await.status, 401, "an answer works once");
    let late = device.get(&challenge().await, "https://seo.example.com");
    bench.clock.advance(5 * 60_000);
    assert_eq!(sign_in(&late).await.status, 401, "too late");
    // Removed, it signs in nobody.
    let account = browser.open("/account").await;
    let (_, rest) = account.text.split_once("/account/passkeys/").unwrap();
    let (_, rest) = rest
        .split_once("/account/passkeys/")
        .map_or(("", rest), |found| found);
    let id = rest.split(['/', '"']).next().unwrap();
    let id = if id.len() == 36 {
        id
    } else {
        account
            .text
            .split("/account/passkeys/")
            .find_map(|part| part.get(..36).filter(|id| id.matches('-').count() == 4))
            .unwrap()
    };
    browser
        .send(&format!("/account/passkeys/{id}/remove"), &[("csrf", &csrf)])
        .await;
    let gone = device.get(&challenge().await, "https://seo.example.com");
    assert_eq!(sign_in(&gone).await.status, 401);
}

fn members_path(bench: &Bench) -> String {
    format!("/projects/{}/settings/members", bench.project)
}

/// The link of an invitation that was just made, as a path.
fn invitation(page: &Page) -> String {
    assert_eq!(page.status, 200, "{}", page.text);
    let (_, rest) = page
        .text
        .split_once("/invitations/swl_")
        .unwrap_or_else(|| panic!("{}", page.text));
    format!("/invitations/swl_{}", rest.split('<').next().unwrap())
}

async fn invitation_makes_a_member_once(database: &str) {
    let bench = Bench::on(database, &[]).await;
    person(&bench, "ann@example.com", Role::Owner).await;
    let ann = Browser::new(&bench);
    let csrf = ann.sign_in("ann@example.com", PASSWORD).await.field("csrf");
    let invite = async |role: &str, email: &str| {
        let path = format!("{}/invite", members_path(&bench));
        ann.send(&path, &[("csrf", &csrf), ("role", role), ("email", email)])
            .await
    };
    let link = invitation(&invite("editor", "").await);
    let new = Browser::new(&bench);
    let page = new.open(&link).await;
    assert!(
        page.text.contains("Ann invites you") && page.text.contains("editor"),
        "{}",
        page.text
    );
    let form = |email, password| [("name", "Bob"), ("email", email), ("password", password)];
    assert_eq!(
        new.send(&link, &form("bob@example.com", "short")).await.status,
        422
    );
    let taken = new.send(&link, &form("ann@example.com", PASSWORD)).await;
    assert_eq!(taken.status, 422);
    assert!(
        taken.text.contains("sign in, and open the invitation again"),
        "{}",
        taken.text
    );
    let joined = new.send(&link, &form("bob@example.com", PASSWORD)).await;
    assert_eq!(joined.status, 200, "{}", joined.text);
    assert!(
        joined.text.contains("bob@example.com") && joined.text.contains("editor"),
        "{}",
        joined.text
    );
    let third = Browser::new(&bench);
    assert_eq!(third.open(&link).await.status, 404, "it works once");
    assert_eq!(
        third.send(&link, &form("eve@example.com", PASSWORD)).await.status,
        404
    );
    // Made out to an address, only that account accepts it; a lower role takes nothing away.
    let link = invitation(&invite("viewer", "Ann@Example.com").await);
    assert_eq!(
        third.send(&link, &form("eve@example.com", PASSWORD)).await.status,
        422
    );
    let bobs = new.open("/account").await.field("csrf");
    let accept = format!("{link}/accept");
    assert_eq!(new.send(&accept, &[("csrf", &bobs)]).await.status, 422);
    let accepted = ann.send(&accept, &[("csrf", &csrf)]).await;
    assert!(accepted.text.contains("owner"), "{}", accepted.text);
    // Withdrawn or late, it is gone.
    let link = invitation(&invite("viewer", "").await);
    let page = ann.open(&members_path(&bench)).await;
    let (_, rest) = page.text.split_once("/invitations/").unwrap();
    let path = format!(
        "{}/invitations/{}",
        members_path(&bench),
        rest.split('"').next().unwrap()
    );
    ann.send(&path, &[("csrf", &csrf)]).await;
    assert_eq!(third.open(&link).await.status, 404);
    // Somebody who was removed does not come back by a link of their own.
    let cleo = add(&bench, "cleo@example.com", Role::Admin).await;
    let hers = Browser::new(&bench);
    let form_token = hers.sign_in("cleo@example.com", PASSWORD).await.field("csrf");
    let path = format!("{}/invite", members_path(&bench));
    let kept = hers
        .send(&path, &[("csrf", &form_token), ("role", "admin")])
        .await;
    let kept = invitation(&kept);
    ann.send(
        &format!("{}/{cleo}/remove", members_path(&bench)),
        &[("csrf", &csrf)],
    )
    .await;
    let back = hers
        .send(&format!("{kept}/accept"), &[("csrf", &form_token)])
        .await;
    assert_eq!(back.status, 404, "{}", back.text);
    assert_eq!(
        third.send(&kept, &form("eve@example.com", PASSWORD)).await.status,
        404
    );
    let link = invitation(&invite("viewer", "").await);
    bench.clock.advance(7 * 86_400_000);
    assert_eq!(third.open(&link).await.status, 404);
}

async fn add(bench: &Bench, email: &str, role: Role) -> UserId {
    let new = NewUser {
        email: email.to_owned(),
        name: email.split('@').next().unwrap().to_owned(),
        password: Some(PASSWORD.to_owned()),
        role: Some(role),
        workspace: None,
    };
    bench.server.app.people.create_user(new).await.unwrap().id
}

async fn members_are_managed_within_roles(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let owner = add(&bench, "ann@example.com", Role::Owner).await;
    let admin = add(&bench, "bob@example.com", Role::Admin).await;
    let editor = add(&bench, "eve@example.com", Role::Editor).await;
    let session = async |email: &str| {
        let browser = Browser::new(&bench);
        let csrf = browser.sign_in(email, PASSWORD).await.field("csrf");
        (browser, csrf)
    };
    let path = members_path(&bench);
    let set = async |(browser, csrf): &(Browser<'_>, String), user: UserId, role: &str| {
        let form = [("csrf", csrf.as_str()), ("role", role)];
        browser.send(&format!("{path}/{user}/role"), &form).await.status
    };
    let remove = async |(browser, csrf): &(Browser<'_>, String), user: UserId| {
        let form = [("csrf", csrf.as_str())];
        browser.send(&format!("{path}/{user}/remove"), &form).await.status
    };
    let (ann, bob, eve) = (
        session("ann@example.com").await,
        session("bob@example.com").await,
        session("eve@example.com").await,
    );
    assert!(!eve.0.open(&path).await.text.contains("Invite somebody"));
    assert_eq!(
        (set(&eve, editor, "owner").await, remove(&eve, owner).await),
        (403, 403)
    );
    assert_eq!(set(&bob, editor, "owner").await, 403, "an admin makes no owner");
    assert_eq!(
        (set(&bob, owner, "viewer").await, remove(&bob, owner).await),
        (403, 403)
    );
    let form = [("csrf", bob.1.as_str()), ("role", "owner")];
    assert_eq!(bob.0.send(&format!("{path}/invite"), &form).await.status, 403);
    assert_eq!(set(&bob, editor, "viewer").await, 200);
    assert_eq!(
        (set(&ann, owner, "viewer").await, remove(&ann, owner).await),
        (409, 409),
        "the last owner"
    );
    assert_eq!(set(&ann, admin, "owner").await, 200);
    assert_eq!(remove(&ann, owner).await, 200, "one may leave");
    assert_eq!(ann.0.open(&path).await.status, 404, "and sees nothing any more");
    // Projects of others are not there.
    let stranger = Browser::new(&bench);
    stranger.sign_in("ann@example.com", PASSWORD).await;
    for page in [
        path.clone(),
        path.replace("members", "connect"),
        "/projects/x/settings/members".to_owned(),
    ] {
        assert_eq!(stranger.open(&page).await.status, 404, "{page}");
    }
}

async fn disabled_person_is_out_at_once(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let agent = Agent::new(&bench, Role::Owner).await;
    let tokens = agent.tokens(&[]).await;
    assert_eq!(agent.status(&tokens["access_token"]).await, 200);
    let people = &bench.server.app.people;
    let user = people.find_user("ann@example.com").await.unwrap();
    people.set_user_disabled(user, true).await.unwrap();
    assert_eq!(agent.status(&tokens["access_token"]).await, 401);
    assert!(
        agent
            .browser
            .open("/account")
            .await
            .text
            .contains("name=\"password\"")
    );
    assert_eq!(
        agent.browser.sign_in("ann@example.com", PASSWORD).await.status,
        401
    );
    people.set_user_disabled(user, false).await.unwrap();
    assert_eq!(
        agent.browser.sign_in("ann@example.com", PASSWORD).await.status,
        200
    );
}

async fn attempts_to_connect_are_shown_with_where_they_stopped(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let agent = Agent::new(&bench, Role::Viewer).await;
    add(&bench, "bob@example.com", Role::Admin).await;
    let mcp = format!("http://{}", bench.server.addresses.mcp);
    let get = async |url: String, agent: &str| {
        let sent = bench
            .http
            .get(url)
            .header("user-agent", agent)
            .send()
            .await
            .unwrap();
        sent.status().as_u16()
    };
    let ask = bench
        .http
        .post(format!("{mcp}/mcp"))
        .header("user-agent", "lost-client/1")
        .body("{}");
    assert_eq!(ask.send().await.unwrap().status().as_u16(), 401);
    let metadata = format!("{mcp}/.well-known/oauth-protected-resource/mcp");
    assert_eq!(get(metadata, "lost-client/1").await, 200);
    let path = members_path(&bench).replace("members", "connect");
    // The agent's person declines, then allows; its token is used.
    let page = agent.browser.open(&agent.request(&[])).await;
    agent.decide(&page, "deny").await;
    let own = agent.browser.open(&path).await;
    assert!(
        own.text.contains("Stopped at: Declined by a person"),
        "{}",
        own.text
    );
    assert!(!own.text.contains("lost-client"), "a viewer sees their own");
    let tokens = agent.tokens(&[]).await;
    agent.status(&tokens["access_token"]).await;
    let own = agent.browser.open(&path).await;
    assert!(own.text.contains("Connected."), "{}", own.text);
    assert!(!own.text.contains(tokens["access_token"].as_str().unwrap()));
    let bob = Browser::new(&bench);
    bob.sign_in("bob@example.com", PASSWORD).await;
    let all = bob.open(&path).await;
    assert!(all.text.contains("lost-client/1"), "{}", all.text);
    assert!(
        all.text.contains("Stopped at: Read which server signs people in"),
        "{}",
        all.text
    );
    for name in ["Claude Code", "ChatGPT", "Cursor", "VS Code", "Codex"] {
        assert!(all.text.contains(name), "{name}");
    }
    // A program that is refused says why.
    let refused = agent
        .browser
        .open(&agent.request(&[("redirect_uri", "https://evil.example/cb")]))
        .await;
    assert_eq!(refused.status, 400);
    let own = agent.browser.open(&path).await;
    assert!(own.text.contains("Authorization request refused"), "{}", own.text);
}
