//! Tests of addresses that no request may reach.

use super::*;

#[tokio::test]
async fn every_spelling_of_loopback_is_denied() {
    let port = server(OK).await.port();
    let client = crawler(&settings(&[]));
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "①②⑦.0.0.1",
        "0",
        "localhost",
        "localhost.",
        "a.example",
        "[::1]",
        "[::]",
        "[::ffff:7f00:1]",
        "[::ffff:127.0.0.1]",
        "[::7f00:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[2001::1]",
        "169.254.169.254",
        "[fd00:ec2::254]",
        "10.0.0.1",
        "192.168.1.1",
        "example.com@127.0.0.1",
        "user@a.example",
        "user:pw@a.example",
        ":pw@a.example",
    ] {
        assert_eq!(
            get(&client, &format!("http://{host}:{port}/")).await.unwrap_err(),
            FetchError::Denied,
            "{host}"
        );
    }
    for url in [
        "ftp://1.1.1.1/",
        "file:///etc/passwd",
        "data:,x",
        "unix:/run/x.sock",
    ] {
        assert_eq!(get(&client, url).await.unwrap_err(), FetchError::Denied, "{url}");
    }
}

#[tokio::test]
async fn an_exception_holds_for_its_purpose_host_and_port_only() {
    let (open, shut) = (server(OK).await.port(), server(OK).await.port());
    let outbound = Outbound::new(&settings(&[
        format!("crawl=site.example:{open}"),
        "webhook=hooks.example".into(),
    ]))
    .unwrap();
    let (crawl, hook) = (
        outbound.for_purpose(Purpose::Crawl),
        outbound.for_purpose(Purpose::Webhook),
    );
    assert_eq!(
        get(&crawl, &format!("http://site.example:{open}/"))
            .await
            .unwrap()
            .body,
        "hi"
    );
    for url in [
        format!("http://site.example:{shut}/"),
        format!("http://other.example:{open}/"),
        format!("http://hooks.example:{open}/"),
        format!("http://127.0.0.1:{open}/"),
    ] {
        assert_eq!(get(&crawl, &url).await.unwrap_err(), FetchError::Denied, "{url}");
    }
    assert_eq!(
        get(&hook, &format!("http://hooks.example:{shut}/"))
            .await
            .unwrap()
            .body,
        "hi"
    );
    assert_eq!(
        get(&hook, &format!("http://site.example:{open}/"))
            .await
            .unwrap_err(),
        FetchError::Denied
    );
}

#[tokio::test]
async fn an_exception_for_addresses_holds_for_names_too() {
    let (open, shut) = (server(OK).await.port(), server(OK).await.port());
    let client = crawler(&settings(&[format!("crawl=127.0.0.1:{open}")]));
    for host in ["127.0.0.1", "a.example", "127.1"] {
        assert!(
            get(&client, &format!("http://{host}:{open}/")).await.is_ok(),
            "{host}"
        );
        assert_eq!(
            get(&client, &format!("http://{host}:{shut}/")).await.unwrap_err(),
            FetchError::Denied,
            "{host}"
        );
    }
    let client = crawler(&settings(&["crawl=127.0.0.0/8".into()]));
    assert!(get(&client, &format!("http://a.example:{shut}/")).await.is_ok());
}

#[tokio::test]
async fn metadata_stays_denied_unless_the_operator_insists() {
    let mut settings = settings(&["crawl=169.254.0.0/16".into(), "crawl=metadata.example".into()]);
    settings.lookup = Names::new(&[&["169.254.169.254"]]);
    let client = crawler(&settings);
    for url in ["http://169.254.169.254/", "http://metadata.example/"] {
        assert_eq!(get(&client, url).await.unwrap_err(), FetchError::Denied, "{url}");
    }
    // Asked of the guard alone: a test that connects to such an address would leave the machine.
    let insisting = |allow_metadata| Guard {
        logins: Vec::new(),
        purpose: Purpose::Crawl,
        allow: settings.allow.iter().map(|a| a.target.clone()).collect(),
        allow_metadata,
        own: Vec::new(),
        logged: Mutex::default(),
    };
    let address = "169.254.169.254".parse().unwrap();
    assert!(insisting(true).permits("169.254.169.254", address, None));
    assert!(!insisting(false).permits("169.254.169.254", address, None));
    assert!(!insisting(true).permits("fd00:ec2::254", "fd00:ec2::254".parse().unwrap(), None));
}

#[tokio::test]
async fn one_bad_address_refuses_the_name() {
    let mut settings = settings(&[]);
    settings.lookup = Names::new(&[&["1.1.1.1", "10.0.0.1"]]);
    assert_eq!(
        get(&crawler(&settings), "http://a.example/").await.unwrap_err(),
        FetchError::Denied
    );
}

#[tokio::test]
async fn a_name_that_changes_its_mind_gains_nothing() {
    // The first answer is judged and refused; whatever comes later is judged again.
    let port = server(OK).await.port();
    let mut settings = settings(&[]);
    let names = Names::new(&[&["127.0.0.1"], &["::1"], &["10.0.0.1"], &["127.0.0.1"]]);
    settings.lookup = names.clone();
    let client = crawler(&settings);
    for i in 1..=4 {
        assert_eq!(
            get(&client, &format!("http://a.example:{port}/"))
                .await
                .unwrap_err(),
            FetchError::Denied
        );
        assert_eq!(
            names.asked.load(Ordering::SeqCst),
            i,
            "one lookup for each connection"
        );
    }
}

#[tokio::test]
async fn our_own_listener_is_not_reached_through_a_range() {
    let address = server(OK).await;
    let mut settings = settings(&["crawl=127.0.0.0/8".into()]);
    settings.own = vec![address];
    for host in ["127.0.0.1", "a.example"] {
        let url = format!("http://{host}:{}/", address.port());
        assert_eq!(
            get(&crawler(&settings), &url).await.unwrap_err(),
            FetchError::Denied,
            "{url}"
        );
    }
    settings
        .allow
        .push(format!("crawl=127.0.0.1:{}", address.port()).parse().unwrap());
    assert!(
        get(
            &crawler(&settings),
            &format!("http://127.0.0.1:{}/", address.port())
        )
        .await
        .is_ok()
    );
}
