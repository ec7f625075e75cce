//! People: setup of the first account, sign-in, its limits, and the forms that other sites cannot send.

use searchwright_contract::{ids::UserId, people::Role};
use searchwright_server::people::operator::NewUser;

use crate::{
    browser::Browser,
    harness::{Bench, settings},
};

pub const PASSWORD: &str = "correct horse battery staple 7";

on_both!(
    first_account_is_set_up_by_a_link_that_works_once,
    person_signs_in_and_out,
    front_page_says_what_this_is,
    wrong_passwords_are_limited_after_a_restart_too,
    clients_behind_a_proxy_are_told_apart,
    sessions_end_when_idle,
    sign_in_link_works_once,
    sign_in_leads_to_pages_of_this_server_only,
);

async fn front_page_says_what_this_is(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let browser = Browser::new(&bench);
    let page = browser.open("/").await;
    assert_eq!(page.status, 200, "{}", page.text);
    let api = format!("http://{}/v1", bench.server.addresses.api);
    for words in [
        "href=\"/login\"",
        "href=\"/docs\"",
        api.as_str(),
        &bench.server.app.settings.mcp_url,
    ] {
        assert!(page.text.contains(words), "{words}: {}", page.text);
    }
    person(&bench, "ann@example.com", Role::Editor).await;
    browser.sign_in("ann@example.com", PASSWORD).await;
    let own = browser.open("/").await;
    assert!(own.text.contains("<h1>Projects</h1>"), "{}", own.text);
}

/// Adds a person to the first workspace.
pub async fn person(bench: &Bench, email: &str, role: Role) -> UserId {
    let new = NewUser {
        email: email.to_owned(),
        name: "Ann".to_owned(),
        password: Some(PASSWORD.to_owned()),
        role: Some(role),
        workspace: None,
    };
    bench.server.app.people.create_user(new).await.unwrap().id
}

async fn first_account_is_set_up_by_a_link_that_works_once(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let people = &bench.server.app.people;
    let replaced = people.create_setup_link().await.unwrap().unwrap();
    let link = format!("/setup/{}", people.create_setup_link().await.unwrap().unwrap());
    let browser = Browser::new(&bench);
    assert_eq!(browser.open(&format!("/setup/{replaced}")).await.status, 404);
    assert_eq!(browser.open("/setup/swl_0").await.status, 404);
    let page = browser.open(&link).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let fill = |password| {
        [
            ("name", "Ann <b>"),
            ("email", "Ann@Example.com"),
            ("password", password),
        ]
    };
    let weak = browser.send(&link, &fill("too short")).await;
    assert_eq!(weak.status, 422);
    assert!(weak.text.contains("at least 15"), "{}", weak.text);
    assert!(!weak.text.contains("Ann <b>"), "escaped");
    let done = browser.send(&link, &fill(PASSWORD)).await;
    assert_eq!(done.status, 200, "{}", done.text);
    assert!(
        done.text.contains("ann@example.com") && done.text.contains("owner"),
        "{}",
        done.text
    );
    assert_eq!(browser.open(&link).await.status, 404);
    assert_eq!(browser.send(&link, &fill(PASSWORD)).await.status, 404);
    assert_eq!(
        people.create_setup_link().await.unwrap(),
        None,
        "there is an account"
    );
}

async fn person_signs_in_and_out(database: &str) {
    let bench = Bench::on(database, &[]).await;
    person(&bench, "ann@example.com", Role::Owner).await;
    let browser = Browser::new(&bench);
    let page = browser.open("/account").await;
    assert!(page.text.contains("name=\"password\""), "{}", page.text);
    assert_eq!(page.field("next"), "/account");
    let unknown = browser.sign_in("bob@example.com", PASSWORD).await;
    let wrong = browser
        .sign_in("ann@example.com", "wrong horse battery staple")
        .await;
    assert_eq!((unknown.status, wrong.status), (401, 401));
    assert_eq!(
        unknown.text.replace("bob@", "ann@"),
        wrong.text,
        "known and unknown addresses look alike"
    );
    let before = browser.cookie.borrow().clone();
    let page = browser.sign_in(" ANN@example.com ", PASSWORD).await;
    assert_eq!((page.status, before), (200, None), "{}", page.text);
    let first = browser.cookie.borrow().clone().unwrap();
    browser.sign_in("ann@example.com", PASSWORD).await;
    let second = browser.cookie.borrow().clone().unwrap();
    assert_ne!(first, second, "a session is new after each sign-in");
    let fixed = Browser::new(&bench);
    *fixed.cookie.borrow_mut() = Some(first);
    assert!(
        fixed.open("/account").await.text.contains("name=\"password\""),
        "the former one has ended"
    );
    for header in ["content-security-policy", "x-frame-options", "referrer-policy"] {
        assert!(page.headers.contains_key(header), "{header}");
    }
    assert_eq!(page.headers["cache-control"], "no-store");
    // Other sites cannot send its forms.
    let csrf = browser.open("/account").await.field("csrf");
    for origin in [
        vec![],
        vec![("sec-fetch-site", "cross-site".to_owned())],
        vec![("sec-fetch-site", "same-site".to_owned())],
        vec![("origin", "https://evil.example".to_owned())],
        vec![("origin", "null".to_owned())],
    ] {
        let mut other = Browser::new(&bench);
        (other.origin, other.cookie) = (origin, browser.cookie.clone());
        assert_eq!(
            other.send("/logout", &[("csrf", &csrf)]).await.status,
            403,
            "{:?}",
            other.origin
        );
        assert_eq!(other.sign_in("ann@example.com", PASSWORD).await.status, 403);
    }
    assert_eq!(browser.send("/logout", &[("csrf", "x")]).await.status, 403);
    assert_eq!(browser.send("/logout", &[]).await.status, 403);
    let cookie = browser.cookie.clone();
    let out = browser.send("/logout", &[("csrf", &csrf)]).await;
    assert!(out.text.contains("name=\"password\""), "{}", out.text);
    *browser.cookie.borrow_mut() = cookie.into_inner();
    assert!(browser.open("/account").await.text.contains("name=\"password\""));
    // The API does not know the cookie.
    let answer = bench
        .call("GET", "/me")
        .no_key()
        .header("cookie", &format!("__Host-session={second}"));
    answer.send().await.refuses(401, "unauthenticated");
}

async fn wrong_passwords_are_limited_after_a_restart_too(database: &str) {
    let bench = Bench::on(database, &[]).await;
    person(&bench, "ann@example.com", Role::Editor).await;
    let browser = Browser::new(&bench);
    for _ in 0..10 {
        assert_eq!(
            browser
                .sign_in("ann@example.com", "wrong horse battery staple")
                .await
                .status,
            401
        );
    }
    let blocked = browser.sign_in("ann@example.com", PASSWORD).await;
    assert_eq!(blocked.status, 429);
    assert!(blocked.headers.contains_key("retry-after"));
    // The address is limited as well: other accounts cannot be tried instead.
    assert_eq!(browser.sign_in("bob@example.com", PASSWORD).await.status, 429);
    let Bench {
        server,
        clock,
        folder,
        ..
    } = bench;
    server.stop().await;
    let bench = Bench::open(folder.clone(), settings(&folder, database, &[]), clock).await;
    let browser = Browser::new(&bench);
    assert_eq!(browser.sign_in("ann@example.com", PASSWORD).await.status, 429);
    bench.clock.advance(61_000);
    assert_eq!(browser.sign_in("ann@example.com", PASSWORD).await.status, 200);
}

async fn sessions_end_when_idle(database: &str) {
    let bench = Bench::on(database, &[]).await;
    person(&bench, "ann@example.com", Role::Editor).await;
    let browser = Browser::new(&bench);
    browser.sign_in("ann@example.com", PASSWORD).await;
    let is_in = async || !browser.open("/account").await.text.contains("name=\"password\"");
    for _ in 0..3 {
        bench.clock.advance(23 * 3_600_000);
        assert!(is_in().await);
    }
    bench.clock.advance(24 * 3_600_000 + 1);
    assert!(!is_in().await);
    browser.sign_in("ann@example.com", PASSWORD).await;
    for _ in 0..31 {
        bench.clock.advance(23 * 3_600_000);
        is_in().await;
    }
    bench.clock.advance(23 * 3_600_000);
    assert!(!is_in().await, "30 days are the end");
}

async fn sign_in_link_works_once(database: &str) {
    let bench = Bench::on(database, &[]).await;
    let people = &bench.server.app.people;
    let user = person(&bench, "ann@example.com", Role::Editor).await;
    let path = format!("/login/{}", people.create_sign_in_link(user).await.unwrap());
    let browser = Browser::new(&bench);
    for _ in 0..2 {
        let page = browser.open(&path).await;
        assert!(
            page.status == 200 && page.text.contains("ann@example.com"),
            "opening uses nothing up"
        );
    }
    assert!(
        browser
            .send(&path, &[])
            .await
            .text
            .contains("Connected applications")
    );
    assert_eq!(Browser::new(&bench).open(&path).await.status, 404);
    assert_eq!(Browser::new(&bench).send(&path, &[]).await.status, 404);
    let late = format!("/login/{}", people.create_sign_in_link(user).await.unwrap());
    bench.clock.advance(24 * 3_600_000 + 1);
    assert_eq!(Browser::new(&bench).open(&late).await.status, 404);
}

async fn clients_behind_a_proxy_are_told_apart(database: &str) {
    let bench = Bench::on(database, &["trusted_proxies=[\"127.0.0.0/8\"]"]).await;
    person(&bench, "ann@example.com", Role::Editor).await;
    let from = |address: &str| {
        let mut browser = Browser::new(&bench);
        browser.origin.push(("x-forwarded-for", address.to_owned()));
        browser
    };
    // One visitor tries many accounts until their address has to wait; what they write before it themselves counts nothing.
    let sprayer = from("203.0.113.5, 198.51.100.7");
    let mut last = 0;
    for n in 0..11 {
        last = sprayer
            .sign_in(&format!("p{n}@example.com"), PASSWORD)
            .await
            .status;
    }
    assert_eq!(last, 429);
    assert_eq!(
        from("198.51.100.7")
            .sign_in("ann@example.com", PASSWORD)
            .await
            .status,
        429
    );
    let other = from("198.51.100.8");
    let page = other.sign_in("ann@example.com", PASSWORD).await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert!(
        page.text.contains("198.51.100.8"),
        "the log has the address of the client"
    );
}

async fn sign_in_leads_to_pages_of_this_server_only(database: &str) {
    let bench = Bench::on(database, &[]).await;
    person(&bench, "ann@example.com", Role::Editor).await;
    for next in [
        "https://evil.example/",
        "//evil.example/",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/account//evil.example",
        "/account/..//evil.example",
        "/account/../../evil",
        "javascript:alert(1)",
        "data:text/html,x",
        "\thttps://evil.example",
        "/account\r\nlocation: https://evil.example",
        "/projectsevil",
        "@evil.example",
        "",
    ] {
        let form = [
            ("email", "ann@example.com"),
            ("password", PASSWORD),
            ("next", next),
        ];
        let page = Browser::new(&bench).send("/login", &form).await;
        assert_eq!((page.status, &page.location), (200, &None), "{next:?}");
        assert!(page.text.contains("<h1>Projects</h1>"), "{next:?}: {}", page.text);
    }
}
