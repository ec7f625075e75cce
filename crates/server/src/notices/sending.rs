//! Messages that are due are sent, each under a lease; what became of it is recorded in words.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{Request, header};
use searchwright_contract::{Instant, ids::UserId};
use searchwright_notices::{
    render,
    timing::{MAX_ATTEMPTS, next_attempt},
    wording::{one_line, sentence},
};
use searchwright_outbound::{
    mail::{Mail, MailMarks},
    retry_after,
};
use searchwright_site::fetch::FetchError;
use searchwright_store::{
    Error,
    access::ProjectScope,
    notices::{
        messages::{self, LeasedMessage, MessageOutcome},
        settings,
    },
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use uuid::Uuid;

use super::Notices;

/// Messages leased at a time: with so many at once, all are sent before a lease ends.
const LEASED: u32 = 16;
/// Messages sent at a time.
const AT_ONCE: usize = 8;
/// Bytes of an answer of a chat that are read.
const ANSWER: usize = 4 << 10;
/// Characters of an answer that are shown.
const SHOWN: usize = 60;
/// Characters of a reason.
const REASON: usize = 300;

/// Answer of a receiver.
#[derive(Debug)]
enum ReceiverAnswer {
    /// It was taken, with these words.
    Taken(String),
    /// It may be taken later, not before so many seconds.
    Later(String, Option<u64>),
    /// It is never taken.
    Never(String),
    /// The receiver is gone: nothing more is sent to it.
    Gone(String),
}

impl Notices {
    /// Returns what makes the links that stop mail.
    pub(super) fn links(&self) -> impl Fn(Uuid, UserId) -> String + Send + Sync + 'static {
        let (key, origin) = (self.key.clone(), self.origin.clone());
        move |project, user| format!("{origin}/notices/unsubscribe/{}", key.token(project.into(), user))
    }

    /// Sends what is due.
    pub async fn send_due(&self) -> Result<(), Error> {
        loop {
            let now = self.clock().now();
            let at = self.db().lease_time(self.clock()).await?;
            if !messages::has_due(&mut self.db().read().await?, now, at).await? {
                return Ok(());
            }
            let leased = self
                .db()
                .write(move |tx| Box::pin(async move { messages::lease(tx, now, at, LEASED).await }))
                .await?;
            if leased.is_empty() {
                return Ok(());
            }
            stream::iter(leased)
                .for_each_concurrent(AT_ONCE, |message| async move {
                    let id = message.id;
                    if let Err(error) = self.send_one(message).await {
                        tracing::warn!(%error, message = %id, "a notice was not recorded as sent; it is sent again");
                    }
                })
                .await;
        }
    }

    async fn send_one(&self, message: LeasedMessage) -> Result<(), Error> {
        let mut chat = None;
        let said = match message.user {
            // Each attempt was counted when it began. None of them came to an end.
            _ if message.attempts > MAX_ATTEMPTS => ReceiverAnswer::Never(format!(
                "It was begun {MAX_ATTEMPTS} times, and the server was stopped each time."
            )),
            Some(user) => self.send_mail(&message, user).await?,
            None => {
                let mut tx = self.db().read().await?;
                let found = settings::find_chat_url(&mut tx, message.scope, &self.engine.keyring).await?;
                drop(tx);
                match found {
                    Some(found) => {
                        chat = Some(found.id);
                        self.say(&found.url, &message.text).await
                    }
                    None => ReceiverAnswer::Never("The chat was removed or stopped.".to_owned()),
                }
            }
        };
        let now = self.clock().now();
        self.db()
            .write(move |tx| {
                Box::pin(async move {
                    let outcome = match said {
                        ReceiverAnswer::Taken(_) => MessageOutcome::Sent,
                        ReceiverAnswer::Later(reason, asked) => {
                            match next_attempt(message.attempts, asked, message.created_at, now) {
                                Some(next) => MessageOutcome::Again(next, reason),
                                None => MessageOutcome::Failed(format!("{reason} It was tried for a day.")),
                            }
                        }
                        ReceiverAnswer::Never(reason) => MessageOutcome::Failed(reason),
                        ReceiverAnswer::Gone(reason) => {
                            // Before the message, so that messages to one chat wait for each other here.
                            if let Some(chat) = chat {
                                settings::stop_chat(tx, message.scope, chat, &reason, now).await?;
                            }
                            MessageOutcome::Failed(reason)
                        }
                    };
                    messages::record(tx, &message, outcome, now).await.map(drop)
                })
            })
            .await
    }

    async fn send_mail(&self, message: &LeasedMessage, user: UserId) -> Result<ReceiverAnswer, Error> {
        let mut tx = self.db().read().await?;
        let address = messages::find_address(&mut tx, message.scope, user).await?;
        drop(tx);
        let Some(address) = address else {
            return Ok(ReceiverAnswer::Never(
                "The person is no member any more.".to_owned(),
            ));
        };
        let stop = self.links()(message.scope.project(), user);
        let id = format!("notice.{}", message.id);
        Ok(self
            .mail(&address, &message.subject, &message.text, &id, Some(&stop))
            .await)
    }

    async fn mail(
        &self,
        to: &str,
        subject: &str,
        text: &str,
        id: &str,
        stop: Option<&str>,
    ) -> ReceiverAnswer {
        let Some(mailer) = &self.mailer else {
            return ReceiverAnswer::Never("Mail is not set up on this server.".to_owned());
        };
        let marks = MailMarks {
            id,
            at: system_time(self.clock().now()),
            unsubscribe: stop,
        };
        match mailer.send_marked(Mail { to, subject, text }, marks).await {
            Ok(answer) => ReceiverAnswer::Taken(one_line(&answer, SHOWN)),
            Err(error) => {
                let reason = sentence(&error.to_string(), REASON).unwrap_or_default();
                if error.is_permanent() {
                    ReceiverAnswer::Never(reason)
                } else {
                    ReceiverAnswer::Later(reason, None)
                }
            }
        }
    }

    /// Posts a text to a chat.
    async fn say(&self, url: &SecretString, text: &str) -> ReceiverAnswer {
        let body = json!({ "text": text }).to_string();
        let request = Request::post(url.expose_secret())
            .header(header::CONTENT_TYPE, "application/json; charset=utf-8")
            .body(Bytes::from(body));
        let answer = match request {
            Ok(request) => self.chat.send(request, ANSWER).await,
            Err(_) => Err(FetchError::Denied),
        };
        match answer {
            Ok(answer) => {
                let words = shown(&answer.body, url);
                let told = format!("The chat answered {}{words}.", answer.status);
                match answer.status {
                    200..=299 => ReceiverAnswer::Taken(format!("{}{words}", answer.status)),
                    403 | 404 | 410 => ReceiverAnswer::Gone(told),
                    429 => {
                        ReceiverAnswer::Later(told, retry_after(&answer.headers).map(|wait| wait.as_secs()))
                    }
                    408 | 500..=599 => ReceiverAnswer::Later(told, None),
                    _ => ReceiverAnswer::Never(told),
                }
            }
            Err(FetchError::Denied) => ReceiverAnswer::Gone(
                "The address of the chat may not be reached from this server.".to_owned(),
            ),
            Err(error) => ReceiverAnswer::Later(
                match error {
                    FetchError::Dns => "The name of the chat cannot be resolved.",
                    FetchError::Tls | FetchError::Certificate(_) => {
                        "There is no secure connection to the chat."
                    }
                    FetchError::Timeout => "The chat did not answer in time.",
                    FetchError::Connect => "The chat accepts no connection.",
                    _ => "The connection to the chat broke.",
                }
                .to_owned(),
                None,
            ),
        }
    }

    /// Sends a mail to try it; returns the answer of the server, or why it did not take it.
    pub(crate) async fn try_mail(
        &self,
        to: &str,
        scope: ProjectScope,
        user: UserId,
    ) -> Result<String, String> {
        let project = self.db().read().await;
        let project = match project {
            Ok(mut tx) => self.project(&mut tx, scope).await,
            Err(error) => Err(error),
        };
        let project = project.map_err(|_| "The server cannot do this right now.".to_owned())?;
        let stop = self.links()(scope.project(), user);
        let (subject, text) = render::test(&project);
        let text = text + &render::foot(&project, &stop);
        let id = format!("test.{}", self.clock().id::<Uuid>());
        answer(self.mail(to, &subject, &text, &id, Some(&stop)).await)
    }

    /// Posts a text to the chat of a project to try it; returns its answer, or why it did not take it.
    pub(crate) async fn try_chat(&self, scope: ProjectScope) -> Result<String, String> {
        let found = async {
            let mut tx = self.db().read().await?;
            let project = self.project(&mut tx, scope).await?;
            let url = settings::find_chat_url(&mut tx, scope, &self.engine.keyring).await?;
            Ok::<_, Error>((project, url))
        };
        let found = found
            .await
            .map_err(|_| "The server cannot do this right now.".to_owned())?;
        let (project, Some(chat)) = found else {
            return Err("There is no chat, or it is stopped.".to_owned());
        };
        let (_, text) = render::test(&project);
        answer(self.say(&chat.url, &render::chat(&text)).await)
    }
}

fn answer(said: ReceiverAnswer) -> Result<String, String> {
    match said {
        ReceiverAnswer::Taken(words) => Ok(words),
        ReceiverAnswer::Later(reason, _) | ReceiverAnswer::Never(reason) | ReceiverAnswer::Gone(reason) => {
            Err(reason)
        }
    }
}

fn system_time(at: Instant) -> SystemTime {
    let millis = u64::try_from(at.millis()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::from_millis(millis)
}

/// Returns the words of an answer, behind a colon, if they are a few plain words such as `no_service`. Others may repeat the
/// address, which is a secret.
fn shown(body: &[u8], url: &SecretString) -> String {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ');
    let mut parts = url.expose_secret().split(|c: char| !c.is_ascii_alphanumeric());
    let repeats = parts.any(|part| part.len() > 2 && text.contains(part));
    let is_safe = !text.is_empty() && text.len() <= SHOWN && text.chars().all(is_plain) && !repeats;
    if is_safe {
        format!(": {text}")
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_a_chat_never_repeats_its_address() {
        let url = SecretString::from("https://chat.example/services/T0/B0/Xyz123");
        assert_eq!(shown(b"no_service\n", &url), ": no_service");
        for told in [
            "Cannot POST /services/T0/B0/Xyz123",
            "no such hook Xyz123",
            "",
            "<b>no</b>",
            &"a".repeat(61),
        ] {
            assert_eq!(shown(told.as_bytes(), &url), "", "{told}");
        }
        let other = SecretString::from("https://chat.example/T0/Xyz123/slack?token=Abc456");
        for told in ["Xyz123", "no Abc456"] {
            assert_eq!(shown(told.as_bytes(), &other), "", "{told}");
        }
    }
}
