//! Each fault against a server that counts what it did.

use std::{
    io::ErrorKind,
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::json;
use xtask::random::Random;

use super::{Fault, Message, Proxy, receive};
use crate::publish::http::HttpClient;

/// A server that counts what it does, and says the count in some thousand bytes.
fn server() -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let count = Arc::new(AtomicU64::new(0));
    let shared = Arc::clone(&count);
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let request = receive(&mut client).unwrap().unwrap();
            std::io::Read::read_exact(&mut client, &mut [0]).unwrap();
            let number = shared.fetch_add(1, Ordering::Relaxed) + 1;
            let answer = Message {
                start: "HTTP/1.1 201 Created".to_owned(),
                headers: Vec::new(),
                body: json!({ "number": number, "got": request.json(), "long": "x".repeat(4000) })
                    .to_string()
                    .into_bytes(),
            };
            std::io::Write::write_all(&mut client, &answer.bytes()).unwrap();
        }
    });
    (address, count)
}

fn reset(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == ErrorKind::ConnectionReset)
}

#[test]
fn each_fault_has_its_effect() {
    let (address, count) = server();
    let proxy = Proxy::start(&address, 1).unwrap();
    let site = HttpClient::new(format!("http://{}", proxy.address()));
    let ask = || site.request("POST", "/things", Some(&json!({ "title": "A" })));
    for (fault, status, done) in [
        (Fault::Pass, Some(201), true),
        (Fault::Delay, Some(201), true),
        (Fault::Trickle, Some(201), true),
        (Fault::ErrorAfter, Some(500), true),
        (Fault::Page, Some(200), true),
        (Fault::BusyBefore, Some(503), false),
        (Fault::LimitedBefore, Some(429), false),
        (Fault::ResetBefore, None, false),
        (Fault::ResetAfter, None, true),
        (Fault::Truncated, None, true),
    ] {
        let before = count.load(Ordering::Relaxed);
        proxy.force(fault);
        let answer = ask();
        assert_eq!(
            answer.as_ref().ok().map(Message::status),
            status,
            "{fault:?}: {answer:?}"
        );
        assert_eq!(
            count.load(Ordering::Relaxed) - before,
            u64::from(done),
            "{fault:?}"
        );
        let entry = proxy.log().pop().unwrap();
        assert_eq!((entry.fault, entry.status), (fault, done.then_some(201)));
        assert_eq!(entry.request, "POST /things");
        match (fault, answer) {
            (Fault::ResetBefore | Fault::ResetAfter, Err(error)) => assert!(reset(&error), "{error:?}"),
            (Fault::Truncated, Err(error)) => {
                assert!(!reset(&error), "{error:?}");
                assert!(error.to_string().contains("ends after"), "{error:?}");
            }
            (Fault::LimitedBefore, Ok(answer)) => assert_eq!(answer.header("retry-after"), Some("1")),
            (Fault::Pass | Fault::Delay | Fault::Trickle, Ok(answer)) => {
                assert_eq!(answer.json()["got"]["title"], "A");
            }
            _ => {}
        }
    }
    // one that reads is not what a forced fault waits for
    proxy.force(Fault::BusyBefore);
    assert_eq!(site.request("GET", "/things", None).unwrap().status(), 201);
    assert_eq!(ask().unwrap().status(), 503);
}

#[test]
fn late_request_arrives_after_the_reset() {
    let (address, count) = server();
    let proxy = Proxy::start(&address, 1).unwrap();
    let site = HttpClient::new(format!("http://{}", proxy.address()));
    proxy.force(Fault::Late(300));
    let error = site
        .request("POST", "/things", Some(&json!({ "title": "A" })))
        .unwrap_err();
    assert!(reset(&error), "{error:?}");
    let begun = Instant::now();
    while proxy.log()[0].status.is_none() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        thread::yield_now();
    }
    assert_eq!(count.load(Ordering::Relaxed), 1);
    assert_eq!(proxy.log()[0].status, Some(201));
}

#[test]
fn a_seed_fixes_the_plan() {
    let (address, _) = server();
    let plan = |seed| {
        let plan = (0..8).map(|request| Fault::random(&mut Random::new(seed, request)));
        plan.collect::<Vec<_>>()
    };
    let first = plan(7);
    assert_ne!(first, plan(8));
    let proxy = Proxy::start(&address, 7).unwrap();
    proxy.spoil(true);
    let site = HttpClient::new(format!("http://{}", proxy.address()));
    for _ in &first {
        drop(site.request("GET", "/", None));
    }
    let done: Vec<_> = proxy.log().iter().map(|entry| entry.fault).collect();
    assert_eq!(first, done);
    proxy.spoil(false);
    assert_eq!(site.request("GET", "/", None).unwrap().status(), 201);
    assert!(first.contains(&Fault::Pass) && first.iter().any(|fault| *fault != Fault::Pass));
}
