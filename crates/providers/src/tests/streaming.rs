//! Bodies that are read while they come, under the same limits as those that are read whole.

use std::{io::Write as _, time::Duration};

use bytes::Bytes;
use searchwright_outbound::{
    Piece, Streamed,
    test_server::{Fake, Script, client},
};
use searchwright_site::fetch::{Cut, FetchError};

async fn open(fake: &Fake, idle: Duration, limit: usize) -> Result<Streamed, FetchError> {
    let request = http::Request::get(&fake.url).body(Bytes::new()).unwrap();
    client(idle).stream(request, limit).await
}

const PATIENT: Duration = Duration::from_secs(60);

/// All bytes and how they ended.
async fn read(script: Script, idle: Duration, limit: usize) -> (Vec<u8>, Result<Piece, FetchError>) {
    let fake = Fake::new(vec![script]).await;
    let mut answer = open(&fake, idle, limit).await.unwrap();
    let mut bytes = Vec::new();
    loop {
        match answer.next().await {
            Ok(Piece::Bytes(piece)) => {
                assert!(!piece.is_empty());
                bytes.extend_from_slice(&piece);
            }
            end => return (bytes, end),
        }
    }
}

fn coded(body: &[u8]) -> Script {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(body).unwrap();
    let body = encoder.finish().unwrap();
    let mut bytes = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(&body);
    Script::raw(bytes)
}

#[tokio::test]
async fn pieces_are_the_body_also_when_it_is_coded() {
    let text: String = (0..20_000).map(|n| format!("{n} ")).collect();
    for script in [Script::events(&text), coded(text.as_bytes())] {
        let (bytes, end) = read(script, PATIENT, text.len()).await;
        assert_eq!((bytes.len(), end), (text.len(), Ok(Piece::End)));
        assert_eq!(bytes, text.as_bytes());
    }
}

#[tokio::test]
async fn a_stream_ends_at_its_limit() {
    let text = "x".repeat(10_000);
    for script in [Script::events(&text), coded(text.as_bytes())] {
        let (bytes, end) = read(script, PATIENT, 1_000).await;
        assert_eq!((bytes.len(), end), (1_000, Ok(Piece::Cut(Cut::Size))));
    }
    let (bytes, end) = read(coded(&vec![0; 64 * 1024 * 1024]), PATIENT, usize::MAX).await;
    assert_eq!(end, Ok(Piece::Cut(Cut::Ratio)));
    assert!(bytes.len() < 2 * 1024 * 1024, "{}", bytes.len());
}

#[tokio::test]
async fn silence_and_a_cut_end_a_stream_with_what_came() {
    let (bytes, end) = read(
        Script::cut("half").then_silence(),
        Duration::from_millis(200),
        100,
    )
    .await;
    assert_eq!((&bytes[..], end), (&b"half"[..], Err(FetchError::Timeout)));
    let (bytes, end) = read(Script::cut("half"), PATIENT, 100).await;
    assert_eq!((&bytes[..], end), (&b"half"[..], Err(FetchError::Broken)));
}

#[tokio::test]
async fn the_guard_is_before_every_stream() {
    for url in [
        "http://10.0.0.1/",
        "http://169.254.169.254/latest",
        "http://[::1]/",
    ] {
        let request = http::Request::get(url).body(Bytes::new()).unwrap();
        let denied = client(PATIENT).stream(request, 100).await;
        assert!(matches!(denied, Err(FetchError::Denied)), "{url}");
    }
}
