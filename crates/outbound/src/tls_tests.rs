//! Certificates that are not valid, and what is told of one that is. The key in `testdata` protects nothing.

use std::{
    io::Read as _,
    io::Write as _,
    net::{TcpListener, TcpStream},
};

use rustls::{
    ClientConfig, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivatePkcs8KeyDer},
};
use searchwright_site::fetch::{Connection, Fault, FetchError, Fetched};

use super::*;

const CERTIFICATE: &[u8] = include_bytes!("testdata/certificate.der");
const KEY: &[u8] = include_bytes!("testdata/key.der");

/// Sends an answer.
fn answer(stream: &mut StreamOwned<ServerConnection, TcpStream>) {
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    stream.write_all(answer).ok();
}

/// Sends a record that nobody can decrypt.
fn break_off(stream: &mut StreamOwned<ServerConnection, TcpStream>) {
    stream.sock.write_all(b"\x17\x03\x03\x00\x20").ok();
    stream.sock.write_all(&[0; 32]).ok();
}

/// Serves TLS for the rest of the process, and replies like this to a request; its port.
fn serve(reply: fn(&mut StreamOwned<ServerConnection, TcpStream>)) -> u16 {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from(CERTIFICATE)],
            PrivatePkcs8KeyDer::from(KEY).into(),
        )
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(config.clone()).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            // a client that does not trust us hangs up here
            if stream.read(&mut [0; 4096]).is_ok() {
                reply(&mut stream);
            }
        }
    });
    port
}

async fn ask(host: &str, trusting: bool) -> Fetched {
    ask_server(serve(answer), host, trusting).await
}

async fn ask_server(port: u16, host: &str, trusting: bool) -> Fetched {
    let mut settings = Settings::new("test");
    settings.allow = vec![format!("crawl={host}:{port}").parse().unwrap()];
    let config = if trusting {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(CERTIFICATE)).unwrap();
        ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth()
    } else {
        read_tls().unwrap()
    };
    let client = guarded(&settings, Purpose::Crawl, &config).unwrap();
    let request = http::Request::get(format!("https://{host}:{port}/"));
    client.send(request.body(bytes::Bytes::new()).unwrap(), 10).await
}

#[tokio::test]
async fn what_is_wrong_with_a_certificate_is_told() {
    assert_eq!(
        ask("127.0.0.1", false).await.unwrap_err(),
        FetchError::Certificate(Fault::UnknownIssuer)
    );
    assert_eq!(
        ask("localhost", true).await.unwrap_err(),
        FetchError::Certificate(Fault::WrongName)
    );
}

/// The request was sent, and whether it was carried out is not known.
#[tokio::test]
async fn tls_error_after_the_handshake_is_a_broken_connection() {
    let answer = ask_server(serve(break_off), "127.0.0.1", true).await;
    assert_eq!(answer.unwrap_err(), FetchError::Broken);
}

#[tokio::test]
async fn what_is_known_of_a_connection_is_told() {
    let answer = ask("127.0.0.1", true).await.unwrap();
    let Connection {
        multiplexed,
        certificate_until_ms,
    } = answer.connection;
    assert_eq!(&answer.body[..], b"ok");
    // some day of 2126
    assert!(!multiplexed && (4_922_000_000_000..4_955_000_000_000).contains(&certificate_until_ms.unwrap()));
}

/// Takes connections for the rest of the process and never ends a handshake, after it has said this. Its port.
fn dawdle(said: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            stream.write_all(said).ok();
            while stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {}
        }
    });
    port
}

#[tokio::test]
async fn a_handshake_that_does_not_end_is_not_waited_for() {
    // nothing, and the beginning of a record of 16 KiB
    for said in [&b""[..], b"\x16\x03\x03\x40\x00\x02"] {
        let port = dawdle(said);
        let mut settings = Settings::new("test");
        settings.allow = vec![format!("webhook=127.0.0.1:{port}").parse().unwrap()];
        let short = Duration::from_millis(100);
        settings.times = Some(Times {
            dns: short,
            connect: short,
            first_byte: Duration::from_secs(60),
            idle: Duration::from_secs(60),
            total: Duration::from_secs(60),
        });
        let client = Outbound::new(&settings).unwrap().for_purpose(Purpose::Webhook);
        let request = http::Request::post(format!("https://127.0.0.1:{port}/"));
        let answer = client.send(request.body(bytes::Bytes::new()).unwrap(), 10).await;
        assert_eq!(answer.unwrap_err(), FetchError::Timeout, "{said:?}");
    }
}
