//! TLS to PostgreSQL, with the modes of libpq: who checks which certificate, and when a connection without TLS will do.

mod certificates;
mod settings;
#[cfg(test)]
mod tests;

use std::error::Error as _;

use deadpool_postgres::Connect;
use futures_util::future::BoxFuture;
use rustls::CertificateError;
use tokio::task::JoinHandle;
use tokio_postgres::{
    CancelToken, Client, Config, Connection, Socket,
    config::{Host, SslMode},
    error::SqlState,
    tls::MakeTlsConnect,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Error, Result, error_chain};
use settings::TlsSettings;

/// Values of `sslmode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

type Stream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// Opens connections as the mode of their URL wants them.
#[derive(Clone)]
pub(super) struct Connector {
    mode: Mode,
    tls: MakeRustlsConnect,
}

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Connector({:?})", self.mode)
    }
}

/// Reads a connection URL, or the form of `key=value`, with the settings of TLS as libpq reads them.
pub(super) fn parse(url: &str) -> Result<(Config, Connector)> {
    let failed = |why: String| Error::Schema(format!("DATABASE_URL is not a connection URL: {why}"));
    let (rest, settings) = settings::take(url).map_err(failed)?;
    let config: Config = rest.parse().map_err(|e| failed(error_chain(&e)))?;
    let mut settings = settings.resolve().map_err(failed)?;
    // As with libpq: nobody listens in on a socket of this machine.
    if config
        .get_hosts()
        .iter()
        .all(|host| !matches!(host, Host::Tcp(_)))
        && config.get_hostaddrs().is_empty()
    {
        settings = TlsSettings {
            mode: Mode::Disable,
            roots: None,
        };
    }
    let tls = MakeRustlsConnect::new(certificates::client(&settings)?);
    Ok((
        config,
        Connector {
            mode: settings.mode,
            tls,
        },
    ))
}

impl Connector {
    /// Opens a connection.
    pub(super) async fn open(
        &self,
        config: &Config,
    ) -> Result<(Client, Connection<Socket, Stream>), tokio_postgres::Error> {
        let attempt = async |mode| {
            let mut config = config.clone();
            config.ssl_mode(mode);
            config.connect(self.tls.clone()).await
        };
        match self.mode {
            Mode::Disable => attempt(SslMode::Disable).await,
            Mode::Allow => match attempt(SslMode::Disable).await {
                Err(error) if is_turned_away(&error) => attempt(SslMode::Require).await,
                done => done,
            },
            Mode::Prefer => match attempt(SslMode::Prefer).await {
                Err(error) if is_turned_away(&error) || is_of_tls(&error) => attempt(SslMode::Disable).await,
                done => done,
            },
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => attempt(SslMode::Require).await,
        }
    }
}

impl Connector {
    /// Ends the statement that a connection of this connector runs, over another connection of the same kind.
    pub(super) async fn cancel(&self, token: CancelToken) -> Result<(), tokio_postgres::Error> {
        token.cancel_query(self.tls.clone()).await
    }
}

impl Connect for Connector {
    fn connect(
        &self,
        config: &Config,
    ) -> BoxFuture<'_, Result<(Client, JoinHandle<()>), tokio_postgres::Error>> {
        let config = config.clone();
        Box::pin(async move {
            let (client, connection) = self.open(&config).await?;
            let driven = tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::warn!(error = error_chain(&error), "a connection to PostgreSQL broke");
                }
            });
            Ok((client, driven))
        })
    }
}

/// Whether the server's rules let nobody in this way: with TLS, or without.
fn is_turned_away(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
}

/// Whether no TLS came about. Of the client's errors, only those of TLS have no kind that can be asked for.
fn is_of_tls(error: &tokio_postgres::Error) -> bool {
    error.to_string().starts_with("error performing TLS handshake")
}

/// Tells what to do about an error of TLS.
pub(super) fn explain(error: &tokio_postgres::Error) -> Option<String> {
    if !is_of_tls(error) {
        return None;
    }
    let mut cause = error.source();
    while let Some(at) = cause {
        if let Some(error) = at.downcast_ref::<rustls::Error>() {
            return Some(explain_tls(error));
        }
        let inner = at
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref)
            .map(|inner| inner as &(dyn std::error::Error + 'static));
        cause = inner.or_else(|| at.source());
    }
    let text = error_chain(error);
    Some(if text.contains("does not support TLS") {
        "the server offers no TLS: turn it on there (ssl = on), or set sslmode=prefer".to_owned()
    } else {
        text
    })
}

fn explain_tls(error: &rustls::Error) -> String {
    let rustls::Error::InvalidCertificate(why) = error else {
        return format!("TLS with the server failed: {error}");
    };
    match why {
        CertificateError::UnknownIssuer => {
            "the server's certificate is not signed by a known authority: set sslrootcert=FILE to the certificate of its \
             authority, or sslmode=require to encrypt without knowing who answers"
                .to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => format!(
            "the server's certificate is for another name ({error}): connect by a name that is in its subjectAltName, or set \
             sslmode=verify-ca to check its authority alone"
        ),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            format!("the server's certificate has expired ({error}): renew it there")
        }
        _ => format!(
            "the server's certificate cannot be checked ({error}): set sslrootcert=FILE to the certificate of its authority, or \
             sslmode=require to encrypt without knowing who answers"
        ),
    }
}
