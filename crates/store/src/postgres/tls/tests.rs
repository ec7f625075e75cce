//! Against a server that does no more of the protocol than to say how it was reached.

use std::sync::Arc;

use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

use super::{explain, parse};

const AUTHORITY: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/src/postgres/tls/certs/authority.pem"
);
const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/postgres/tls/certs/own.pem");

/// Ways into a server.
#[derive(Clone, Copy, Debug)]
enum Ways {
    Both,
    /// It has no TLS.
    Plain,
    /// Its rules let nobody in without TLS.
    Tls,
    /// It has TLS, and its rules let nobody in by it.
    NotTls,
}

/// Reads the first message of a connection, and answers that the password is wrong, or that nobody is let in this way.
async fn answer(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    lets_in: bool,
    how: &str,
) -> std::io::Result<()> {
    let length = usize::try_from(stream.read_u32().await?).unwrap();
    stream.read_exact(&mut vec![0; length - 4]).await?;
    let code = if lets_in { "28P01" } else { "28000" };
    let fields = format!("SFATAL\0VFATAL\0C{code}\0M{how}\0\0");
    stream.write_u8(b'E').await?;
    stream.write_u32(u32::try_from(fields.len()).unwrap() + 4).await?;
    stream.write_all(fields.as_bytes()).await?;
    stream.flush().await
}

async fn serve(mut stream: TcpStream, acceptor: TlsAcceptor, ways: Ways) -> std::io::Result<()> {
    // Length and number of the request for TLS.
    let mut first = [0; 8];
    stream.peek(&mut first).await?;
    if first != [0, 0, 0, 8, 4, 210, 22, 47] {
        return answer(stream, !matches!(ways, Ways::Tls), "plain").await;
    }
    stream.read_exact(&mut first).await?;
    if matches!(ways, Ways::Plain) {
        stream.write_u8(b'N').await?;
        return answer(stream, true, "plain").await;
    }
    stream.write_u8(b'S').await?;
    let stream = acceptor.accept(stream).await?;
    answer(stream, !matches!(ways, Ways::NotTls), "tls").await
}

async fn server(certificate: &'static [u8], ways: Ways) -> u16 {
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("certs/server.key")).unwrap();
    let certificate = CertificateDer::from_pem_slice(certificate).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, acceptor.clone(), ways));
        }
    });
    port
}

/// Outcome of a connection: the way in which it was made, or the reason why not.
async fn reached(port: u16, settings: &str) -> String {
    let host = if settings.contains("host=") {
        ""
    } else {
        "host=localhost"
    };
    let text = format!("{host} hostaddr=127.0.0.1 port={port} user=me password=x {settings}");
    let (config, connector) = match parse(&text) {
        Ok(parsed) => parsed,
        Err(error) => return error.to_string(),
    };
    let Err(error) = connector.open(&config).await else {
        panic!("let in")
    };
    match error.as_db_error() {
        Some(error) => error.message().to_owned(),
        None => explain(&error).unwrap_or_else(|| error.to_string()),
    }
}

#[tokio::test]
async fn modes_differ_in_when_tls_is_used() {
    for (ways, reaches) in [
        (
            Ways::Both,
            [
                ("disable", "plain"),
                ("allow", "plain"),
                ("prefer", "tls"),
                ("require", "tls"),
            ],
        ),
        (
            Ways::Plain,
            [
                ("disable", "plain"),
                ("allow", "plain"),
                ("prefer", "plain"),
                ("require", "ssl = on"),
            ],
        ),
        (
            Ways::Tls,
            [
                ("disable", "plain"),
                ("allow", "tls"),
                ("prefer", "tls"),
                ("require", "tls"),
            ],
        ),
        (
            Ways::NotTls,
            [
                ("disable", "plain"),
                ("allow", "plain"),
                ("prefer", "plain"),
                ("require", "tls"),
            ],
        ),
    ] {
        let port = server(include_bytes!("certs/own.pem"), ways).await;
        for (mode, expected) in reaches {
            let found = reached(port, &format!("sslmode={mode}")).await;
            assert!(found.contains(expected), "{ways:?} {mode}: {found}");
        }
    }
}

#[tokio::test]
async fn certificates_are_checked_by_who_asks_for_it() {
    let signed = server(include_bytes!("certs/signed.pem"), Ways::Both).await;
    let own = server(include_bytes!("certs/own.pem"), Ways::Both).await;
    for (port, settings, expected) in [
        (
            signed,
            format!("sslmode=verify-ca sslrootcert={AUTHORITY}"),
            "tls",
        ),
        (
            signed,
            format!("sslmode=verify-full sslrootcert={AUTHORITY}"),
            "tls",
        ),
        (
            signed,
            format!("sslmode=verify-ca host=other sslrootcert={AUTHORITY}"),
            "tls",
        ),
        (
            signed,
            format!("sslmode=verify-full host=other sslrootcert={AUTHORITY}"),
            "sslmode=verify-ca",
        ),
        (signed, "sslmode=verify-full".to_owned(), "sslmode=require"),
        (signed, "sslrootcert=system".to_owned(), "sslrootcert=FILE"),
        // A file that is named is used wherever TLS is.
        (
            signed,
            format!("sslmode=require sslrootcert={OWN}"),
            "sslrootcert=FILE",
        ),
        (signed, format!("sslmode=prefer sslrootcert={OWN}"), "plain"),
        (own, format!("sslmode=verify-full sslrootcert={OWN}"), "tls"),
        (
            own,
            format!("sslmode=verify-ca host=other sslrootcert={OWN}"),
            "tls",
        ),
        (
            own,
            format!("sslmode=verify-full host=other sslrootcert={OWN}"),
            "sslmode=verify-ca",
        ),
        (
            own,
            format!("sslmode=verify-ca sslrootcert={AUTHORITY}"),
            "sslrootcert=FILE",
        ),
        (
            own,
            "sslmode=verify-ca sslrootcert=/no/such/file".to_owned(),
            "/no/such/file",
        ),
    ] {
        let found = reached(port, &settings).await;
        assert!(found.contains(expected), "{settings}: {found}");
    }
}
