//! Mail over SMTP (RFC 5321), as plain text.
//!
//! The server is named in the configuration of the operator, not by users or pages, so it may be at any address. Passwords and
//! links that sign in are sent over TLS only, except to a server on the loopback interface.

use std::{
    net::IpAddr,
    time::{Duration, SystemTime},
};

use lettre::{
    AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor,
    message::{
        Mailbox, MessageBuilder,
        header::{ContentType, HeaderName, HeaderValue},
    },
    transport::smtp::Error as SmtpError,
};
use url::Url;

/// Time for one step of the conversation with the server.
const STEP_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for a message as a whole.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Sends mail through the server of the operator.
pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl std::fmt::Debug for Mailer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mailer({})", self.from)
    }
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub struct Mail<'a> {
    /// Address of the receiver.
    pub to: &'a str,
    /// Subject.
    pub subject: &'a str,
    /// Plain text.
    pub text: &'a str,
}

/// Headers of a mail that a program sends by itself.
#[derive(Clone, Copy, Debug)]
pub struct MailMarks<'a> {
    /// Part of the `Message-ID` before the sign `@`: the same in every attempt, so that a repeat is recognised.
    pub id: &'a str,
    /// `Date`.
    pub at: SystemTime,
    /// Address that stops such mail by a POST (RFC 8058).
    pub unsubscribe: Option<&'a str>,
}

/// A setting that cannot be used, or a message that was not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailError {
    /// URL of the server.
    #[error("{0}")]
    Url(String),
    /// Address of the sender or receiver.
    #[error("{0:?} is not an address such as Searchwright <searchwright@example.com>")]
    Address(String),
    /// The message cannot be written.
    #[error("the message cannot be written: {0}")]
    Message(String),
    /// The server did not take it; it may take it later.
    #[error("the SMTP server did not take the message: {0}")]
    Refused(String),
    /// The server does not take it, now or later.
    #[error("the SMTP server does not take the message: {0}")]
    Rejected(String),
}

impl MailError {
    /// Returns whether another attempt would end in the same way.
    pub const fn is_permanent(&self) -> bool {
        !matches!(self, Self::Refused(_))
    }

    fn from_smtp(error: &SmtpError) -> Self {
        // Replies about the login concern the settings of the server and not this message: the operator mends them.
        let code = error.status().map(u16::from);
        let is_login = matches!(code, Some(530 | 534 | 535 | 538));
        if error.is_permanent() && !is_login {
            Self::Rejected(error.to_string())
        } else {
            Self::Refused(error.to_string())
        }
    }
}

impl Mailer {
    /// Creates a mailer. `smtps://` is TLS from the start, `smtp://` is STARTTLS; without TLS only on loopback.
    pub fn new(smtp_url: &str, from: &str) -> Result<Self, MailError> {
        let wrong = |why: &str| {
            MailError::Url(format!(
                "{why}; an example is smtps://user:password@mail.example.com"
            ))
        };
        // No error repeats the URL: it has the password.
        let mut url = Url::parse(smtp_url).map_err(|e| wrong(&e.to_string()))?;
        let host = url.host_str().filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| wrong("it has no host"))?;
        // Of a scheme that the URL standard does not know, no host is parsed as an address.
        let address: Result<IpAddr, _> = host.trim_start_matches('[').trim_end_matches(']').parse();
        let is_on_loopback = address.map_or(host == "localhost", |address| address.is_loopback());
        match url.scheme() {
            "smtps" => {}
            "smtp" if is_on_loopback => {}
            "smtp" => url.set_query(Some("tls=required")),
            _ => return Err(wrong("it begins with neither smtp:// nor smtps://")),
        }
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.as_str())
            .map_err(|_| wrong("it cannot be used"))?
            .timeout(Some(STEP_TIMEOUT))
            .build();
        Ok(Self {
            transport,
            from: mailbox(from)?,
        })
    }

    /// Sends a message.
    pub async fn send(&self, mail: Mail<'_>) -> Result<(), MailError> {
        self.deliver(mail, self.begin(mail)?).await.map(drop)
    }

    /// Sends a message that nobody asked for just now. Returns the answer of the server.
    pub async fn send_marked(&self, mail: Mail<'_>, marks: MailMarks<'_>) -> Result<String, MailError> {
        let mut builder = self
            .begin(mail)?
            .message_id(Some(format!("<{}@{}>", marks.id, self.from.email.domain())))
            .date(marks.at)
            // No program answers it (RFC 3834).
            .raw_header(header("Auto-Submitted", "auto-generated")?);
        if let Some(address) = marks.unsubscribe {
            builder = builder
                .raw_header(header("List-Unsubscribe", &format!("<{address}>"))?)
                .raw_header(header("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")?);
        }
        self.deliver(mail, builder).await
    }

    /// Connects to the server and signs in, and sends nothing.
    pub async fn check(&self) -> Result<(), MailError> {
        match tokio::time::timeout(TIMEOUT, self.transport.test_connection()).await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => Err(MailError::Refused("it does not answer as it should".to_owned())),
            Ok(Err(error)) => Err(MailError::Refused(error.to_string())),
            Err(_) => Err(too_slow()),
        }
    }

    fn begin(&self, mail: Mail<'_>) -> Result<MessageBuilder, MailError> {
        Ok(Message::builder()
            .from(self.from.clone())
            .to(mailbox(mail.to)?)
            .subject(mail.subject)
            .header(ContentType::TEXT_PLAIN))
    }

    async fn deliver(&self, mail: Mail<'_>, builder: MessageBuilder) -> Result<String, MailError> {
        let message = builder
            .body(mail.text.to_owned())
            .map_err(|e| MailError::Message(e.to_string()))?;
        match tokio::time::timeout(TIMEOUT, self.transport.send(message)).await {
            Ok(Ok(response)) => Ok(response.message().collect::<Vec<_>>().join(" ")),
            Ok(Err(error)) => Err(MailError::from_smtp(&error)),
            Err(_) => Err(too_slow()),
        }
    }
}

fn too_slow() -> MailError {
    MailError::Refused(format!("no answer within {} s", TIMEOUT.as_secs()))
}

/// A header whose value is ASCII without spaces to fold at, such as an address.
fn header(name: &'static str, value: &str) -> Result<HeaderValue, MailError> {
    if !value.bytes().all(|byte| (b' '..0x7f).contains(&byte)) {
        return Err(MailError::Message(format!("{name} is not ASCII")));
    }
    let name = HeaderName::new_from_ascii_str(name);
    Ok(HeaderValue::dangerous_new_pre_encoded(
        name,
        value.to_owned(),
        value.to_owned(),
    ))
}

fn mailbox(text: &str) -> Result<Mailbox, MailError> {
    text.parse().map_err(|_| MailError::Address(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_without_tls_are_on_loopback_only() {
        let make = |url: &str| Mailer::new(url, "Searchwright <sw@example.com>").map(drop);
        for good in [
            "smtps://user:pass@mail.example.com",
            "smtp://mail.example.com:587",
            "smtp://mail.example.com?tls=opportunistic",
            "smtp://127.0.0.1:2525",
        ] {
            assert_eq!(make(good), Ok(()), "{good}");
        }
        for bad in [
            "mail.example.com",
            "http://mail.example.com",
            "smtps:",
            "smtp://u:hush@",
        ] {
            let error = make(bad).unwrap_err().to_string();
            assert!(
                error.contains("smtps://user") && !error.contains("hush"),
                "{error}"
            );
        }
        assert!(Mailer::new("smtp://127.0.0.1", "nobody").is_err());
    }

    #[tokio::test]
    async fn addresses_cannot_add_headers() {
        let mailer = Mailer::new("smtp://127.0.0.1:1", "sw@example.com").unwrap();
        let mail = Mail {
            to: "a@example.com\r\nBcc: b@example.com",
            subject: "x",
            text: "y",
        };
        assert!(matches!(mailer.send(mail).await, Err(MailError::Address(_))));
    }

    #[tokio::test]
    async fn refusal_of_the_server_is_told() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("smtp://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            use tokio::io::AsyncWriteExt as _;
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(b"554 no service here\r\n").await.unwrap();
        });
        let mailer = Mailer::new(&url, "sw@example.com").unwrap();
        let mail = Mail {
            to: "a@example.com",
            subject: "x",
            text: "y",
        };
        let error = mailer.send(mail).await.unwrap_err().to_string();
        assert!(error.contains("no service here"), "{error}");
    }
}
