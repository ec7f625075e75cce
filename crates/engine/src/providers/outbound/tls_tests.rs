//! Certificates that are not valid, and what is told of one that is. The key in `testdata` protects nothing.

use std::{io::Read as _, io::Write as _, net::TcpListener};

use rustls::{
    ClientConfig, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivatePkcs8KeyDer},
};
use searchwright_site::fetch::{Connection, Fault, FetchError, Fetched};

use super::*;

const CERTIFICATE: &[u8] = include_bytes!("testdata/certificate.der");
const KEY: &[u8] = include_bytes!("testdata/key.der");

/// Answers over TLS for the rest of the process; its port.
fn serve() -> u16 {
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
                stream
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
                    .ok();
            }
        }
    });
    port
}

async fn ask(host: &str, trusting: bool) -> Fetched {
    let port = serve();
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
