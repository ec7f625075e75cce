//! Tests of answers that come back, and of those that are cut.

use super::*;

#[tokio::test]
async fn redirects_and_statuses_are_answers() {
    let (client, url) = allowed(
        server(b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n").await,
        None,
    );
    let answer = get(&client, &url).await.unwrap();
    assert_eq!(
        (answer.status, &answer.headers["location"]),
        (302, &http::HeaderValue::from_static("http://169.254.169.254/"))
    );
}

#[tokio::test]
async fn the_request_says_who_asks_and_what_it_can_read() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (client, url) = allowed(listener.local_addr().unwrap(), None);
    let seen = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = vec![0; 4096];
        let length = stream.read(&mut head).await.unwrap();
        stream.write_all(OK).await.unwrap();
        String::from_utf8(head[..length].to_vec())
            .unwrap()
            .to_ascii_lowercase()
    });
    let request = Request {
        url: Url::parse(&url).unwrap(),
        method: Method::Head,
        body_limit: 10,
        fresh: true,
        picture: true,
        unless: Some(Box::new(Validators {
            etag: Some("w/\"a\"".into()),
            last_modified: Some("wed, 18 nov 2020 02:00:00 gmt".into()),
            read_at_ms: 0,
        })),
    };
    client.fetch(request).await.unwrap();
    let head = seen.await.unwrap();
    assert!(head.starts_with("head / http/1.1\r\n"), "{head}");
    for line in [
        "user-agent: searchwrightbot/1.0 (+http://localhost/bot)",
        "accept-encoding: gzip, br",
        "cache-control: no-cache",
        "if-none-match: w/\"a\"",
        "if-modified-since: wed, 18 nov 2020 02:00:00 gmt",
        "accept: image/avif,image/webp,image/*,*/*;q=0.8",
    ] {
        assert!(head.contains(&format!("\r\n{line}\r\n")), "{head}");
    }
    assert!(!head.contains("cookie") && !head.contains("referer"), "{head}");
}

#[tokio::test]
async fn an_answer_may_have_hundreds_of_header_fields() {
    let fields: String = (0..600).map(|n| format!("X-Field-{n}: {n}\r\n")).collect();
    let answer = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 2\r\n\r\nok");
    let (client, url) = allowed(server(answer.leak().as_bytes()).await, None);
    let answer = get(&client, &url).await.unwrap();
    assert_eq!(
        (answer.status, &answer.body[..], answer.headers.len()),
        (200, &b"ok"[..], 601)
    );
}

#[tokio::test]
async fn ten_gigabytes_are_cut_at_the_limit() {
    let address = serve(|mut stream| async move {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n")
            .await
            .ok();
        let piece = vec![b'x'; 64 * 1024];
        while stream.write_all(&piece).await.is_ok() {}
    })
    .await;
    let (client, url) = allowed(address, None);
    let answer = get_up_to(&client, &url, 100_000).await.unwrap();
    assert_eq!((answer.body.len(), answer.cut), (100_000, Some(Cut::Size)));
    assert!(answer.wire_bytes < 1024 * 1024, "{}", answer.wire_bytes);
}

#[tokio::test]
async fn a_bomb_is_cut() {
    static BOMB: OnceLock<Vec<u8>> = OnceLock::new();
    let bomb = BOMB.get_or_init(|| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        for _ in 0..100 {
            encoder.write_all(&[0; 1024 * 1024]).unwrap();
        }
        let coded = encoder.finish().unwrap();
        let mut answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
            coded.len()
        )
        .into_bytes();
        answer.extend_from_slice(&coded);
        answer
    });
    let (client, url) = allowed(server(bomb).await, None);
    let answer = get_up_to(&client, &url, 50 * 1024 * 1024).await.unwrap();
    assert_eq!(answer.cut, Some(Cut::Ratio));
    assert!(answer.body.len() < 2 * 1024 * 1024);
}

const SHORT: Times = Times {
    dns: Duration::from_millis(200),
    connect: Duration::from_millis(200),
    first_byte: Duration::from_millis(200),
    idle: Duration::from_millis(400),
    total: Duration::from_millis(400),
};

#[tokio::test]
async fn a_trickle_is_cut_with_what_came() {
    let address = serve(|mut stream| async move {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nab")
            .await
            .ok();
        stream.flush().await.ok();
        // Holds the connection until the client leaves.
        stream.read_u8().await.ok();
    })
    .await;
    let (client, url) = allowed(address, Some(SHORT));
    let answer = get(&client, &url).await.unwrap();
    assert_eq!((&answer.body[..], answer.cut), (&b"ab"[..], Some(Cut::Time)));
}

#[tokio::test]
async fn silence_times_out() {
    let address = serve(|mut stream| async move {
        stream.read_u8().await.ok();
    })
    .await;
    let (client, url) = allowed(address, Some(SHORT));
    assert_eq!(get(&client, &url).await.unwrap_err(), FetchError::Timeout);
}

#[tokio::test]
async fn failures_are_told_apart() {
    for (answer, error) in [
        (&b"\x16\x03\x01 this is not http\r\n\r\n"[..], FetchError::Broken),
        (b"", FetchError::Broken),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
            FetchError::Broken,
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
            FetchError::Broken,
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, br\r\nContent-Length: 4\r\n\r\nabcd",
            FetchError::Broken,
        ),
    ] {
        let (client, url) = allowed(server(answer).await, None);
        assert_eq!(
            get(&client, &url).await.unwrap_err(),
            error,
            "{}",
            answer.escape_ascii()
        );
    }
    let address = server(OK).await;
    let (client, _) = allowed(address, None);
    assert_eq!(
        get(&client, &format!("https://{address}/")).await.unwrap_err(),
        FetchError::Tls
    );
    let gone = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let (client, url) = allowed(gone, None);
    assert_eq!(get(&client, &url).await.unwrap_err(), FetchError::Connect);
    let mut unknown = settings(&[]);
    unknown.lookup = Names::new(&[&[]]);
    assert_eq!(
        get(&crawler(&unknown), "http://nowhere.example/")
            .await
            .unwrap_err(),
        FetchError::Dns
    );
}

#[tokio::test]
async fn any_request_can_be_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = vec![0; 4096];
        let mut length = 0;
        while !head[..length].ends_with(b"{}") {
            length += stream.read(&mut head[length..]).await.unwrap();
        }
        stream.write_all(OK).await.unwrap();
        String::from_utf8(head[..length].to_vec())
            .unwrap()
            .to_ascii_lowercase()
    });
    let client = Outbound::new(&settings(&[format!("webhook={address}")]))
        .unwrap()
        .for_purpose(Purpose::Webhook);
    let request = http::Request::post(format!("http://{address}/hook"))
        .header("webhook-id", "msg_1")
        .body(Bytes::from_static(b"{}"))
        .unwrap();
    assert_eq!(client.send(request, 100).await.unwrap().status, 200);
    assert!(seen.await.unwrap().contains("webhook-id: msg_1\r\n"));
}
