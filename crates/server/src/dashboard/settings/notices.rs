//! `/projects/{id}/settings/notices`: what a person is mailed, what the chat of the project is told, and what became of it.

use std::sync::Arc;

use askama::Template;
use axum::{Router, routing::get};
use http::StatusCode;
use searchwright_contract::{Problem, people::Role};
use searchwright_engine::Failure;
use searchwright_notices::kinds::{KindSet, NoticeKind, Wishes};
use searchwright_people::notices::ChatChange;
use searchwright_store::{
    Tx,
    access::{self, ProjectAccess},
    notices::{
        self, NoticeRecord,
        messages::{self, MessageState},
        settings::{self, NewChatUrl, NoticeChat, NoticeSettings},
    },
};
use secrecy::SecretString;

use crate::{
    app::App,
    dashboard::{
        fields::{self, Choice},
        frame::{ProjectFrame, Section},
        page::{self, Form},
        show,
        visit::{self, PageResult, SentForm, Visit},
    },
    notices::{chat_url, wishes},
};

/// Notices that are shown.
const SHOWN: u32 = 20;
/// Messages in which their states are looked for.
const MESSAGES: u32 = 60;

/// The page.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(
        "/projects/{project}/settings/notices",
        get(show_page).post(change),
    )
}

/// Fields of what somebody is sent.
struct WishFields {
    kinds: Vec<Choice>,
    digest: bool,
    weekdays: Vec<Choice>,
    hours: Vec<Choice>,
}

impl WishFields {
    fn new(wishes: &Wishes) -> Self {
        let kinds = NoticeKind::ALL.iter().map(|kind| (kind.as_str(), kind.name()));
        let hours: Vec<(String, String)> = (0..24)
            .map(|hour| (hour.to_string(), format!("{hour:02}:00")))
            .collect();
        let hours = hours.iter().map(|(value, text)| (value.as_str(), text.as_str()));
        Self {
            kinds: Choice::list(kinds, |word| {
                NoticeKind::parse(word).is_some_and(|kind| wishes.kinds.has(kind))
            }),
            digest: wishes.digest,
            weekdays: Choice::list(fields::WEEKDAYS, |day| day == wishes.weekday.to_string()),
            hours: Choice::list(hours, |hour| hour == wishes.hour.to_string()),
        }
    }
}

/// The form of the chat.
struct ChatCard {
    /// Host and last characters; `None` without a chat.
    shown: Option<String>,
    /// Reason for which nothing more is sent, with the time.
    stopped: Option<String>,
    version: i64,
    fields: WishFields,
    wrong: Option<String>,
}

/// A notice in the list.
struct NoticeRow {
    at: String,
    text: String,
    href: Option<String>,
    times: u64,
    mail: (&'static str, String),
    chat: Option<(&'static str, String)>,
}

#[derive(Template)]
#[template(path = "notices.html")]
struct NoticesView {
    frame: ProjectFrame,
    has_mail: bool,
    address: String,
    is_default: bool,
    version: i64,
    mail: WishFields,
    mail_wrong: Option<String>,
    digest_state: Option<String>,
    refused: Option<String>,
    may_set_chat: bool,
    chat: ChatCard,
    tried: Option<String>,
    rows: Vec<NoticeRow>,
}

impl NoticesView {
    fn kinds(&self) -> &'static [NoticeKind] {
        NoticeKind::ALL
    }
}

/// Remarks and typed choices that a form left to be shown on the page.
#[derive(Default)]
struct NoticeRemarks {
    /// Answer of the other side to a test.
    tried: Option<String>,
    /// Choices for mail as they were sent, and their fault.
    mail: Option<Wishes>,
    mail_wrong: Option<(StatusCode, String)>,
    /// Choices for the chat as they were sent, and their fault.
    chat: Option<Wishes>,
    chat_wrong: Option<(StatusCode, String)>,
}

fn state_of(visit: &Visit, message: &MessageState) -> (&'static str, String) {
    let reason = message.reason.as_deref().map(show::plain).unwrap_or_default();
    match (message.status.as_str(), message.sent_at, message.next_at) {
        ("sent", Some(at), _) => ("good", format!("Sent {}", visit.time(&at))),
        ("failed", ..) => ("error", format!("Failed: {reason}")),
        (_, _, Some(at)) if message.attempts > 0 => {
            ("warning", format!("Waits until {}: {reason}", visit.time(&at)))
        }
        _ => ("run", "On its way".to_owned()),
    }
}

/// State of a notice in one channel; `missing` where no message has it.
fn channel_state(
    visit: &Visit,
    notice: &NoticeRecord,
    sent: &[MessageState],
    missing: &str,
) -> (&'static str, String) {
    let Some(batch) = notice.batch else {
        return if notice.ended_at.is_some() {
            ("off", "Over before it was told".to_owned())
        } else if notice.kind == NoticeKind::AuditFound.as_str() {
            ("run", "Told when the audit has ended".to_owned())
        } else {
            ("run", format!("Collected until {}", visit.time(&notice.due_at)))
        };
    };
    let of_batch = sent.iter().find(|message| message.batch == batch);
    match of_batch {
        Some(message) if message.notices.contains(&notice.id) => state_of(visit, message),
        Some(message) if message.purpose == "last" => ("off", "Too many that day".to_owned()),
        _ => ("off", missing.to_owned()),
    }
}

async fn access_of(tx: &mut Tx, visit: &Visit) -> Result<ProjectAccess, Failure> {
    let access = access::find_project_of_user(tx, visit.user(), visit.project.id).await?;
    Ok(access.ok_or_else(|| Problem::not_found("project"))?)
}

async fn show_with(visit: &Visit, remarks: NoticeRemarks) -> PageResult {
    let app = visit.app();
    let loaded = async {
        let mut tx = app.engine.db.read().await?;
        let scope = access_of(&mut tx, visit).await?.scope();
        let own = settings::find(&mut tx, scope, visit.user()).await?;
        let chat = settings::find_chat(&mut tx, scope).await?;
        let notices = notices::list_newest(&mut tx, scope, SHOWN).await?;
        let mails = messages::list_newest(&mut tx, scope, Some(visit.user()), MESSAGES).await?;
        let chats = messages::list_newest(&mut tx, scope, None, MESSAGES).await?;
        Ok::<_, Failure>((own, chat, notices, mails, chats))
    };
    let (own, chat, listed, mails, chats) = loaded.await?;
    let has_mail = app.notices.has_mail();
    let may_set_chat = visit.role >= Role::Admin;
    let missing = if has_mail {
        "Not mailed to you"
    } else {
        "Mail is not set up"
    };
    let rows = listed.iter().map(|notice| NoticeRow {
        at: visit.time(&notice.first_at),
        text: notice.headline.as_deref().map_or_else(
            || {
                NoticeKind::parse(&notice.kind)
                    .map_or("", NoticeKind::name)
                    .to_owned()
            },
            show::plain,
        ),
        href: notice.link.as_deref().map(|path| visit.address(path)),
        times: notice.times,
        mail: channel_state(visit, notice, &mails, missing),
        chat: chat
            .as_ref()
            .map(|_| channel_state(visit, notice, &chats, "Not sent")),
    });
    let own_wishes = own.as_ref().map_or_else(|| Wishes::of_role(visit.role), wishes);
    let digest = mails.iter().find(|message| message.purpose == "digest");
    // Only the newest mail tells whether the address works.
    let refused = mails.first().filter(|message| message.status == "failed");
    let (mail_status, mail_wrong) = split(remarks.mail_wrong);
    let (chat_status, chat_wrong) = split(remarks.chat_wrong);
    let view = NoticesView {
        frame: visit.frame("Notices", Section::Settings),
        has_mail,
        address: show::plain(&visit.session().email),
        is_default: own.is_none(),
        version: own.as_ref().map_or(0, |set| set.version),
        mail: WishFields::new(remarks.mail.as_ref().unwrap_or(&own_wishes)),
        mail_wrong,
        digest_state: digest.map(|message| state_of(visit, message).1),
        refused: refused
            .and_then(|message| message.reason.as_deref())
            .map(show::plain),
        may_set_chat,
        chat: chat_card(visit, chat.as_ref(), remarks.chat, chat_wrong),
        tried: remarks.tried,
        rows: rows.collect(),
    };
    let status = mail_status.or(chat_status).unwrap_or(StatusCode::OK);
    Ok(page::respond(status, &view, Form::OwnWithScript))
}

fn split(wrong: Option<(StatusCode, String)>) -> (Option<StatusCode>, Option<String>) {
    wrong.map_or((None, None), |(status, text)| (Some(status), Some(text)))
}

fn chat_card(
    visit: &Visit,
    chat: Option<&NoticeChat>,
    typed: Option<Wishes>,
    wrong: Option<String>,
) -> ChatCard {
    let known = chat.map(|chat| wishes(&chat.settings));
    let first = Wishes {
        digest: false,
        ..Wishes::of_role(Role::Admin)
    };
    let stopped = chat.and_then(|chat| {
        let at = visit.time(&chat.stopped_at?);
        let reason = chat
            .stopped_because
            .as_deref()
            .map(show::plain)
            .unwrap_or_default();
        Some(format!(
            "{reason} Nothing more is sent since {at}. Save it again to go on."
        ))
    });
    ChatCard {
        shown: chat.map(|chat| show::plain(&chat.shown)),
        stopped,
        version: chat.map_or(0, |chat| chat.settings.version),
        fields: WishFields::new(&typed.or(known).unwrap_or(first)),
        wrong,
    }
}

async fn show_page(visit: Visit) -> PageResult {
    show_with(&visit, NoticeRemarks::default()).await
}

/// Reads what was chosen; an error is a choice that the form does not have.
fn chosen(sent: &SentForm) -> Result<Wishes, Failure> {
    let number = |name: &str, most: u8| {
        let number = sent
            .form
            .get(name)
            .parse::<u8>()
            .ok()
            .filter(|number| *number <= most);
        let text = format!("choose the {name} from the list");
        number.ok_or_else(|| Failure::from(Problem::fault("", "not_a_choice", &text)))
    };
    Ok(Wishes {
        kinds: KindSet::from_words(sent.form.all("kind")),
        digest: !sent.form.get("digest").is_empty(),
        weekday: number("weekday", 6)?,
        hour: number("hour", 23)?,
    })
}

fn stored(wishes: &Wishes, now: searchwright_contract::Instant) -> NoticeSettings {
    NoticeSettings {
        kinds: wishes.kinds.to_text(),
        digest: wishes.digest,
        weekday: wishes.weekday,
        hour: wishes.hour,
        version: 0,
        updated_at: now,
    }
}

async fn save_mail(sent: &SentForm, wishes: &Wishes) -> Result<(), Failure> {
    let visit = &sent.visit;
    let (set, seen) = (stored(wishes, visit.now()), sent.form.get("version").parse().ok());
    let people = &visit.app().people;
    people
        .choose_mail(visit.user(), visit.project.id, set, seen)
        .await
}

async fn change_chat(sent: &SentForm, change: ChatChange) -> Result<(), Failure> {
    let (visit, seen) = (&sent.visit, sent.form.get("version").parse().ok());
    let people = &visit.app().people;
    people
        .change_chat(visit.user(), visit.project.id, change, seen)
        .await
}

fn new_url(sent: &SentForm) -> Result<Option<NewChatUrl>, Failure> {
    let text = sent.form.get("secret").trim();
    if text.is_empty() {
        return Ok(None);
    }
    let engine = &sent.visit.app().engine;
    let url = chat_url::read(text, &engine.allow).map_err(|why| Problem::fault("", "invalid", why))?;
    Ok(Some(NewChatUrl {
        id: engine.clock.id(),
        shown: chat_url::shown(&url),
        url: SecretString::from(String::from(url)),
    }))
}

async fn change(sent: SentForm) -> PageResult {
    match sent.form.get("action") {
        "mail" => send_mail_form(&sent).await,
        "chat" => send_chat_form(&sent).await,
        "remove-chat" => {
            let changed = change_chat(&sent, ChatChange::Remove).await;
            answer_chat(&sent, changed, None, "chat-removed").await
        }
        "test-mail" => test(&sent.visit, true).await,
        "test-chat" => test(&sent.visit, false).await,
        _ => Ok(visit::not_found()),
    }
}

async fn send_mail_form(sent: &SentForm) -> PageResult {
    let (saved, typed) = match chosen(sent) {
        Ok(wishes) => (save_mail(sent, &wishes).await, Some(wishes)),
        Err(failure) => (Err(failure), None),
    };
    let Err(failure) = saved else {
        return Ok(sent.done(&sent.visit.address("/settings/notices"), "saved", 1));
    };
    let Some(wrong) = visit::refusal(&failure) else {
        return Err(failure.into());
    };
    let remarks = NoticeRemarks {
        mail: typed,
        mail_wrong: Some(wrong),
        ..NoticeRemarks::default()
    };
    show_with(&sent.visit, remarks).await
}

async fn send_chat_form(sent: &SentForm) -> PageResult {
    let wishes = match chosen(sent) {
        Ok(wishes) => wishes,
        Err(failure) => return answer_chat(sent, Err(failure), None, "saved").await,
    };
    let changed = match new_url(sent) {
        Ok(url) => {
            let set = stored(&wishes, sent.visit.now());
            change_chat(sent, ChatChange::Set(url, set)).await
        }
        Err(failure) => Err(failure),
    };
    answer_chat(sent, changed, Some(wishes), "saved").await
}

async fn answer_chat(
    sent: &SentForm,
    changed: Result<(), Failure>,
    typed: Option<Wishes>,
    code: &str,
) -> PageResult {
    let Err(failure) = changed else {
        return Ok(sent.done(&sent.visit.address("/settings/notices"), code, 1));
    };
    let Some(wrong) = visit::refusal(&failure) else {
        return Err(failure.into());
    };
    let remarks = NoticeRemarks {
        chat: typed,
        chat_wrong: Some(wrong),
        ..NoticeRemarks::default()
    };
    show_with(&sent.visit, remarks).await
}

/// Sends a test, and shows what the other side answered.
async fn test(visit: &Visit, is_mail: bool) -> PageResult {
    let app = visit.app();
    let tried = async {
        if !is_mail {
            visit.check_manages()?;
        }
        visit.start_work().await?;
        let mut tx = app.engine.db.read().await?;
        let scope = access_of(&mut tx, visit).await?.scope();
        drop(tx);
        Ok::<_, Failure>(if is_mail {
            let address = &visit.session().email;
            app.notices.try_mail(address, scope, visit.user()).await
        } else {
            app.notices.try_chat(scope).await
        })
    };
    let outcome = match tried.await {
        Ok(Ok(answer)) => {
            let who = if is_mail { "The mail server" } else { "The chat" };
            let answer = match answer.as_str() {
                "" => String::new(),
                answer => format!(" and answered: {}", show::plain(answer)),
            };
            let remarks = NoticeRemarks {
                tried: Some(format!("{who} took the test{answer}.")),
                ..NoticeRemarks::default()
            };
            return show_with(visit, remarks).await;
        }
        Ok(Err(reason)) => (StatusCode::UNPROCESSABLE_ENTITY, show::plain(&reason)),
        Err(failure) => match visit::refusal(&failure) {
            Some(wrong) => wrong,
            None => return Err(failure.into()),
        },
    };
    let mut remarks = NoticeRemarks::default();
    if is_mail {
        remarks.mail_wrong = Some(outcome);
    } else {
        remarks.chat_wrong = Some(outcome);
    }
    show_with(visit, remarks).await
}
