//! Cases that every vendor has to pass: what it makes of answers, of refusals, and of connections that fail.
//!
//! A vendor gives a [`Fixture`], its scripts and its differences, to [`vendor_conformance`], which makes a test of
//! every case. The state machine trusts in the difference between "not sent" and "sent, and perhaps done": a vendor
//! that mixes them up publishes twice.

use std::{fmt, net::TcpListener, time::Duration};

use searchwright_outbound::test_server::{Fake, Script, impatient_client};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    find,
    tests::{Connected, assert_refused, item, marker, picture, remote, wanted},
};
use crate::{
    Marker,
    error::{Trouble, Why},
    publisher::{Account, Item, Publisher, Remote, Visible, Wanted},
    values::is_same_version,
};

/// Time that a client waits for an answer that does not come.
const PATIENCE: Duration = Duration::from_secs(2);

/// Makes the tests of a vendor from a function that returns its [`Fixture`]: the cases of all vendors, and these.
macro_rules! vendor_conformance {
    ($fixture:ident: $($case:ident),* $(,)?) => {
        mod conformance {
            $crate::vendors::conformance::vendor_conformance!(
                @ $fixture
                account_is_that_of_the_credential
                created_item_is_live_and_carries_the_mark
                item_that_the_provider_keeps_from_readers_is_not_live
                item_is_found_by_its_id
                changed_item_is_live
                unpublished_item_is_hidden_from_readers
                image_is_uploaded_where_the_vendor_takes_images
                refusals_of_changes_are_told_apart
                request_that_finds_no_server_may_be_sent_again
                request_without_a_secure_connection_may_be_sent_again
                address_that_is_forbidden_is_not_reached
                silence_after_a_change_leaves_open_what_happened
                secrets_are_not_shown
                $($case)*
            );
        }
    };
    (@ $fixture:ident $($case:ident)+) => {
        $(
            #[tokio::test]
            async fn $case() {
                $crate::vendors::conformance::$case(&super::$fixture()).await;
            }
        )+
    };
}
pub(super) use vendor_conformance;

/// Answer to the request that decides whether an operation succeeds.
#[derive(Clone)]
pub(super) enum Reply {
    /// JSON that the vendor reads.
    Read(Value),
    /// Any success will do: its body is not looked at.
    Ignored(Script),
}

/// The answers to one operation, in the order of its requests.
#[derive(Clone)]
pub(super) struct Play {
    before: Vec<Script>,
    reply: Reply,
    after: Vec<Script>,
    conflict: Expected,
    /// Numbers of the requests after `reply` whose failure leaves open what happened.
    later_steps: Vec<usize>,
}

impl Play {
    /// An operation whose first request decides.
    pub fn new(reply: Value) -> Self {
        Self::with_reply(Reply::Read(reply))
    }

    /// An operation whose first request decides, and is answered like this.
    pub fn with_reply(reply: Reply) -> Self {
        Self {
            before: Vec::new(),
            reply,
            after: Vec::new(),
            conflict: Expected::Refused(Why::Conflict),
            later_steps: Vec::new(),
        }
    }

    /// Answers to reads that come before the request that decides.
    pub fn after_reads(self, before: impl IntoIterator<Item = Script>) -> Self {
        Self {
            before: before.into_iter().collect(),
            ..self
        }
    }

    /// Answers to what comes after the request that decides.
    pub fn then(self, after: impl IntoIterator<Item = Script>) -> Self {
        Self {
            after: after.into_iter().collect(),
            ..self
        }
    }

    /// Meaning of 409, unless it is [`Why::Conflict`].
    pub fn on_conflict(self, conflict: Expected) -> Self {
        Self { conflict, ..self }
    }

    /// Everything that comes after the request that decides comes too late to be sent again.
    pub fn in_steps(self) -> Self {
        let first = self.before.len() + 1;
        Self {
            later_steps: (first..first + self.after.len()).collect(),
            ..self
        }
    }

    fn scripts(&self) -> Vec<Script> {
        let reply = match &self.reply {
            Reply::Read(body) => Script::json(200, body),
            Reply::Ignored(script) => script.clone(),
        };
        [self.before.clone(), vec![reply], self.after.clone()].concat()
    }
}

/// Way in which a vendor takes images.
pub(super) enum Upload {
    /// It takes an image from its address only.
    Never,
    /// It is sent the file.
    Here(Play),
    /// Another server is sent the file: tested by the vendor itself.
    Elsewhere,
}

/// A vendor with its answers and its differences.
pub(super) struct Fixture {
    pub connected: Connected<'static>,
    /// Credential that a server could repeat; `None` for a vendor that sends none.
    pub secret: Option<&'static str>,
    /// Id of the item in the answers.
    pub id: &'static str,
    /// Version of the item that an update names.
    pub etag: Option<&'static str>,
    /// Name and site of the account; `{url}` and `{host}` stand for the server's.
    pub account: (Option<&'static str>, &'static str),
    /// `None` for a vendor that sends nothing.
    pub check: Option<Play>,
    /// `None` for a vendor that sends nothing.
    pub find: Option<Play>,
    /// Meaning of 404 at the place where posts are looked for.
    pub no_place: Why,
    pub create: Play,
    /// Creations that the provider carries out and keeps from readers, with its word for that.
    pub held: Vec<(Play, &'static str)>,
    pub update: Play,
    /// `None` for a vendor that cannot unpublish.
    pub unpublish: Option<Play>,
    pub upload: Upload,
    /// Answers to a search whose item has a mapped field that is filled, that is empty, and that no longer exists.
    pub lost_field: Option<[Vec<Script>; 3]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Check,
    Find,
    Create,
    Update,
    Unpublish,
    Upload,
}

const READS: [Operation; 2] = [Operation::Check, Operation::Find];
const CHANGES: [Operation; 4] = [
    Operation::Create,
    Operation::Update,
    Operation::Unpublish,
    Operation::Upload,
];

/// Outcome that a case demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// Success.
    Success,
    /// It will not be carried out, for this reason.
    Refused(Why),
    /// It was not carried out, for a cause of this word.
    NotNow(&'static str),
    /// It was not carried out, and may be sent again in seven seconds.
    RateLimited,
    /// It may have been carried out; the cause has this word.
    Unclear(&'static str),
}

impl Expected {
    fn matches<T: fmt::Debug>(self, answer: &Result<T, Trouble>) -> bool {
        match (self, answer) {
            (Self::Success, Ok(_)) => true,
            (Self::Refused(expected), Err(Trouble::Refused { why, .. })) => *why == expected,
            (Self::NotNow(word), Err(trouble @ Trouble::NotNow { after: None, .. }))
            | (Self::Unclear(word), Err(trouble @ Trouble::Unclear { .. })) => trouble.word() == word,
            (Self::RateLimited, Err(trouble @ Trouble::NotNow { after, .. })) => {
                trouble.word() == "rate_limited" && *after == Some(Duration::from_secs(7))
            }
            _ => false,
        }
    }
}

impl Fixture {
    fn open(&self, server: &Fake) -> Box<dyn Publisher> {
        self.connected.open(&server.url)
    }

    fn remote(&self) -> Remote {
        Remote {
            etag: self.etag.map(str::to_owned),
            ..remote(self.id)
        }
    }

    fn play(&self, operation: Operation) -> Option<&Play> {
        match operation {
            Operation::Check => self.check.as_ref(),
            Operation::Find => self.find.as_ref(),
            Operation::Create => Some(&self.create),
            Operation::Update => Some(&self.update),
            Operation::Unpublish => self.unpublish.as_ref(),
            Operation::Upload => match &self.upload {
                Upload::Here(play) => Some(play),
                Upload::Never | Upload::Elsewhere => None,
            },
        }
    }

    fn plays(&self, operations: &[Operation]) -> Vec<(Operation, &Play)> {
        let play = |operation: &Operation| Some((*operation, self.play(*operation)?));
        operations.iter().filter_map(play).collect()
    }

    /// Carries out an operation, and returns the items that came of it.
    async fn run(&self, operation: Operation, publisher: &dyn Publisher) -> Result<Vec<Remote>, Trouble> {
        match operation {
            Operation::Check => publisher.check().await.map(|_| Vec::new()),
            Operation::Find => publisher.find(&wanted(None)).await,
            Operation::Create => publisher.create(&item()).await.map(|made| vec![made]),
            Operation::Update => {
                let changed = publisher.update(&self.remote(), &item()).await;
                changed.map(|changed| vec![changed])
            }
            Operation::Unpublish => {
                let hidden = publisher.unpublish(&self.remote()).await;
                hidden.map(|hidden| vec![hidden])
            }
            Operation::Upload => publisher.upload(&picture()).await.map(|_| Vec::new()),
        }
    }

    /// Carries out an operation whose requests are all answered as they should be.
    async fn succeed(&self, operation: Operation, play: &Play) -> (Remote, Fake) {
        let server = Fake::new(play.scripts()).await;
        let mut made = self.run(operation, &*self.open(&server)).await.unwrap();
        assert_eq!(made.len(), 1, "{operation:?}: {made:?}");
        assert_eq!(made[0].id, self.id, "{operation:?}");
        assert_eq!(server.asked().len(), play.scripts().len(), "{operation:?}");
        (made.remove(0), server)
    }

    /// Answers the request that decides with a failure, and holds the outcome against what is expected.
    async fn fail(&self, operation: Operation, play: &Play, failure: &Failure, expected: Expected) {
        let scripts = [&play.before[..], std::slice::from_ref(&failure.script)].concat();
        let server = Fake::new([scripts, play.after.clone()].concat()).await;
        let answer = self.run(operation, &*self.open(&server)).await;
        let name = failure.name;
        assert!(
            expected.matches(&answer),
            "{operation:?}, {name}: {answer:?} instead of {expected:?}"
        );
        if expected != Expected::Success {
            assert_eq!(
                server.asked().len(),
                play.before.len() + 1,
                "{operation:?}, {name}: nothing is sent twice"
            );
        }
        let shown = format!("{answer:?}");
        assert!(!shown.contains("token=x"), "{operation:?}, {name}: {shown}");
        if let Some(secret) = self.secret {
            assert!(!shown.contains(secret), "{operation:?}, {name}: {shown}");
        }
    }

    /// The answers that are no success, with what each means for a read and for a change.
    fn failures(&self, play: &Play) -> Vec<Failure> {
        use Expected::{NotNow, RateLimited, Refused, Success, Unclear};
        let secret = self.secret.unwrap_or("nothing");
        let error = json!({ "message": format!("no {secret}") });
        let said = |status| Script::json(status, &error);
        let case = |name, script, read, change| Failure {
            name,
            script,
            read,
            change,
        };
        let refused = |name, status, why| case(name, said(status), Refused(why), Refused(why));
        let (whole, is_read) = match &play.reply {
            Reply::Read(body) => (body.to_string(), true),
            Reply::Ignored(_) => (json!({ "some": "body" }).to_string(), false),
        };
        let half = &whole[..whole.len() / 2];
        let unreadable = |change| if is_read { change } else { Success };
        let cut = format!("HTTP/1.1 200 X\r\nContent-Length: {}\r\n\r\n{half}", whole.len());
        vec![
            refused("401", 401, Why::Credential),
            refused("403", 403, Why::Permission),
            refused("404", 404, Why::Missing),
            refused("410", 410, Why::Missing),
            case("409", said(409), Refused(Why::Conflict), play.conflict),
            refused("413", 413, Why::TooLarge),
            refused("422", 422, Why::Invalid),
            case(
                "429",
                Script::new(429, "text/plain", "Retry-After: 7\r\n", ""),
                RateLimited,
                RateLimited,
            ),
            case("408", said(408), NotNow("status"), NotNow("status")),
            case("500", said(500), NotNow("status"), Unclear("status")),
            case(
                "503",
                Script::new(503, "text/html", "", "<html>"),
                NotNow("status"),
                Unclear("status"),
            ),
            case(
                "a page",
                Script::new(200, "text/html", "", "<html>"),
                Refused(Why::Unreadable),
                unreadable(Unclear("unreadable_answer")),
            ),
            case(
                "half of the JSON",
                Script::new(200, "application/json", "", half),
                Refused(Why::Unreadable),
                unreadable(Unclear("unreadable_answer")),
            ),
            case(
                "a cut connection",
                Script::raw(cut.into_bytes()),
                NotNow("broken"),
                Unclear("broken"),
            ),
            case(
                "no answer",
                Script::nothing(),
                NotNow("broken"),
                Unclear("broken"),
            ),
            case(
                "moved",
                Script::new(
                    301,
                    "text/html",
                    "Location: https://elsewhere.example/?token=x\r\n",
                    "",
                ),
                Refused(Why::Unreadable),
                Refused(Why::Unreadable),
            ),
        ]
    }
}

/// An answer that is no success, or none.
struct Failure {
    name: &'static str,
    script: Script,
    read: Expected,
    change: Expected,
}

pub(super) async fn account_is_that_of_the_credential(fixture: &Fixture) {
    let scripts = fixture.check.as_ref().map(Play::scripts);
    let server = Fake::new(scripts.clone().unwrap_or_else(|| vec![Script::nothing()])).await;
    let account = fixture.open(&server).check().await.unwrap();
    let (name, site) = fixture.account;
    let host = server.url.trim_start_matches("http://");
    let filled = |text: &str| text.replace("{url}", &server.url).replace("{host}", host);
    let expected = Account {
        name: name.map(filled),
        site: filled(site),
    };
    assert_eq!(account, expected);
    assert_eq!(server.asked().len(), scripts.map_or(0, |scripts| scripts.len()));
}

pub(super) async fn created_item_is_live_and_carries_the_mark(fixture: &Fixture) {
    let (made, server) = fixture.succeed(Operation::Create, &fixture.create).await;
    assert_eq!(made.visible, Visible::Live);
    if find(fixture.connected.provider).unwrap().marks {
        assert_eq!(made.marker, Some(marker()));
        let sent = &server.asked()[fixture.create.before.len()];
        let body = String::from_utf8_lossy(&sent.body);
        assert!(body.contains(&marker().to_string()), "{body}");
    }
    let Some(play) = &fixture.find else { return };
    // What was made is recognised when it is looked for, or it would be made again.
    let server = Fake::new(play.scripts()).await;
    let found = fixture.open(&server).find(&wanted(Some(fixture.id))).await;
    let found = found.unwrap().remove(0);
    assert_eq!(found.marker, made.marker);
    assert!(is_same_version(&made.version, &found.version));
    assert_eq!(found.slug, made.slug);
}

pub(super) async fn item_that_the_provider_keeps_from_readers_is_not_live(fixture: &Fixture) {
    assert!(!fixture.held.is_empty());
    for (play, word) in &fixture.held {
        let (made, _) = fixture.succeed(Operation::Create, play).await;
        assert_ne!(made.visible, Visible::Live, "{word}");
        assert_eq!(made.url, None, "{word}");
        let reason = made.reason.unwrap_or_default();
        assert!(reason.contains(word) && reason.contains("there"), "{reason}");
    }
}

pub(super) async fn item_is_found_by_its_id(fixture: &Fixture) {
    let scripts = fixture.find.as_ref().map(Play::scripts);
    let server = Fake::new(scripts.clone().unwrap_or_else(|| vec![Script::nothing()])).await;
    let found = fixture
        .open(&server)
        .find(&wanted(Some(fixture.id)))
        .await
        .unwrap();
    let ids: Vec<&str> = found.iter().map(|remote| remote.id.as_str()).collect();
    assert_eq!(ids, [fixture.id]);
    assert_eq!(server.asked().len(), scripts.map_or(0, |scripts| scripts.len()));
}

pub(super) async fn changed_item_is_live(fixture: &Fixture) {
    let (changed, _) = fixture.succeed(Operation::Update, &fixture.update).await;
    assert_eq!(changed.visible, Visible::Live);
}

pub(super) async fn unpublished_item_is_hidden_from_readers(fixture: &Fixture) {
    let can = find(fixture.connected.provider).unwrap().capabilities.unpublish;
    assert_eq!(fixture.unpublish.is_some(), can);
    let Some(play) = &fixture.unpublish else {
        let server = Fake::new(vec![Script::nothing()]).await;
        let answer = fixture.open(&server).unpublish(&fixture.remote()).await;
        assert_refused(&answer, Why::Unsupported);
        assert!(server.asked().is_empty());
        return;
    };
    let (hidden, _) = fixture.succeed(Operation::Unpublish, play).await;
    assert_eq!((hidden.visible, hidden.url), (Visible::Draft, None));
}

pub(super) async fn image_is_uploaded_where_the_vendor_takes_images(fixture: &Fixture) {
    let can = find(fixture.connected.provider).unwrap().capabilities.images;
    assert_eq!(can, !matches!(fixture.upload, Upload::Never));
    if !can {
        let server = Fake::new(vec![Script::nothing()]).await;
        let answer = fixture.open(&server).upload(&picture()).await;
        assert_refused(&answer, Why::Unsupported);
        assert!(server.asked().is_empty());
    } else if let Upload::Here(play) = &fixture.upload {
        let server = Fake::new(play.scripts()).await;
        let uploaded = fixture.open(&server).upload(&picture()).await.unwrap();
        assert!(!uploaded.reference.is_empty());
        assert_eq!(uploaded.alt.as_deref(), Some("An image"));
        let sent = server.asked().pop().unwrap();
        let bytes = &picture().bytes[..];
        assert!(sent.body.windows(bytes.len()).any(|part| part == bytes));
    }
}

pub(super) async fn refusals_of_reads_are_told_apart(fixture: &Fixture) {
    let plays = fixture.plays(&READS);
    assert_eq!(plays.len(), READS.len());
    for (operation, play) in plays {
        for failure in fixture.failures(play) {
            let expected = match failure.name {
                "404" | "410" if operation == Operation::Find => Expected::Refused(fixture.no_place),
                _ => failure.read,
            };
            fixture.fail(operation, play, &failure, expected).await;
        }
    }
}

pub(super) async fn refusals_of_changes_are_told_apart(fixture: &Fixture) {
    for (operation, play) in fixture.plays(&CHANGES) {
        for failure in fixture.failures(play) {
            fixture.fail(operation, play, &failure, failure.change).await;
        }
    }
}

pub(super) async fn failure_of_a_later_step_leaves_open_what_happened(fixture: &Fixture) {
    let mut plays = fixture.plays(&CHANGES);
    plays.retain(|(_, play)| !play.later_steps.is_empty());
    assert!(!plays.is_empty(), "no operation has a later step");
    for (operation, play) in plays {
        for at in &play.later_steps {
            let before = &play.scripts()[..*at];
            let busy = Script::new(429, "text/plain", "Retry-After: 7\r\n", "");
            let failed = Script::json(500, &json!({ "message": "no" }));
            for script in [busy, failed, Script::nothing()] {
                let server = Fake::new([before, &[script]].concat()).await;
                let answer = fixture.run(operation, &*fixture.open(&server)).await;
                assert!(
                    matches!(answer, Err(Trouble::Unclear { .. })),
                    "{operation:?}, step {at}: {answer:?}"
                );
                assert_eq!(server.asked().len(), at + 1, "{operation:?}, step {at}");
            }
            let server = Fake::vanishing(before.to_vec()).await;
            let answer = fixture.run(operation, &*fixture.open(&server)).await;
            assert!(
                Expected::Unclear("connect").matches(&answer),
                "{operation:?}, step {at}: {answer:?}"
            );
        }
    }
}

pub(super) async fn request_that_finds_no_server_may_be_sent_again(fixture: &Fixture) {
    for (operation, play) in fixture.plays(&[&READS[..], &CHANGES].concat()) {
        let server = Fake::vanishing(play.before.clone()).await;
        let answer = fixture.run(operation, &*fixture.open(&server)).await;
        assert!(
            Expected::NotNow("connect").matches(&answer),
            "{operation:?}: {answer:?}"
        );
        assert_eq!(server.asked().len(), play.before.len(), "{operation:?}");
    }
}

pub(super) async fn request_without_a_secure_connection_may_be_sent_again(fixture: &Fixture) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        use std::io::Write as _;
        for mut stream in listener.incoming().map_while(Result::ok) {
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").ok();
        }
    });
    for (operation, _) in fixture.plays(&[&READS[..], &CHANGES].concat()) {
        let answer = fixture.run(operation, &*fixture.connected.open(&url)).await;
        assert!(
            Expected::NotNow("tls").matches(&answer),
            "{operation:?}: {answer:?}"
        );
    }
}

pub(super) async fn address_that_is_forbidden_is_not_reached(fixture: &Fixture) {
    for (operation, _) in fixture.plays(&[&READS[..], &CHANGES].concat()) {
        let publisher = fixture.connected.open("http://10.0.0.1");
        let answer = fixture.run(operation, &*publisher).await;
        assert_refused(&answer, Why::Address);
    }
}

pub(super) async fn silence_after_a_change_leaves_open_what_happened(fixture: &Fixture) {
    let silent = async |operation, play: &Play| {
        let server = Fake::new([&play.before[..], &[Script::nothing().then_silence()]].concat()).await;
        let publisher = fixture
            .connected
            .open_with(&server.url, impatient_client(PATIENCE));
        let answer = fixture.run(operation, &*publisher).await;
        assert_eq!(server.asked().len(), play.before.len() + 1, "{operation:?}");
        answer
    };
    let change = silent(Operation::Create, &fixture.create);
    let read = async {
        match &fixture.check {
            Some(play) => Some(silent(Operation::Check, play).await),
            None => None,
        }
    };
    let (change, read) = tokio::join!(change, read);
    assert!(Expected::Unclear("timeout").matches(&change), "{change:?}");
    if let Some(read) = read {
        assert!(Expected::NotNow("timeout").matches(&read), "{read:?}");
    }
}

pub(super) async fn secrets_are_not_shown(fixture: &Fixture) {
    let publisher = format!("{:?}", fixture.connected.open("http://127.0.0.1:9"));
    for (name, secret) in fixture.connected.secrets {
        assert!(!publisher.contains(secret), "{name}: {publisher}");
    }
}

/// Only people empty a field; one that no longer exists says nothing about what they did.
pub(super) async fn field_that_the_provider_lost_is_no_change_by_others(fixture: &Fixture) {
    let Some(answers) = &fixture.lost_field else {
        return;
    };
    let mut versions = Vec::new();
    for scripts in answers {
        let server = Fake::new(scripts.clone()).await;
        let found = fixture.open(&server).find(&wanted(Some(fixture.id))).await;
        versions.push(found.unwrap().remove(0).version);
    }
    let [filled, empty, lost] = &versions[..] else {
        panic!("{versions:?}")
    };
    assert!(is_same_version(filled, lost), "{filled} {lost}");
    assert!(!is_same_version(filled, empty), "{filled} {empty}");
}

/// Takes a post through its life at a place that keeps what it is given.
pub(super) async fn item_lives_until_it_is_unpublished(publisher: &dyn Publisher) {
    let (first, stranger) = (item(), Marker::new(Uuid::from_u128(8), &[1; 32]));
    let find = async |id: Option<&str>, marker: &Marker, slug: &str| {
        publisher.find(&Wanted { id, marker, slug }).await.unwrap()
    };
    publisher.check().await.unwrap();
    assert_eq!(find(None, &first.marker, "a-b").await, []);

    let made = publisher.create(&first).await.unwrap();
    assert_eq!(
        (made.visible, made.marker.as_ref()),
        (Visible::Live, Some(&first.marker))
    );
    let all = std::slice::from_ref(&made);
    assert_eq!(find(None, &first.marker, "another").await, all, "by its mark");
    assert_eq!(find(None, &stranger, "a-b").await, all, "by its slug");
    assert_eq!(find(Some(&made.id), &stranger, "another").await, all, "by its id");
    assert_eq!(find(None, &stranger, "another").await, []);

    let second = Item {
        title: "Another".to_owned(),
        slug: "c-d".to_owned(),
        ..first.clone()
    };
    let changed = publisher.update(&made, &second).await.unwrap();
    assert!(!is_same_version(&made.version, &changed.version));
    assert_eq!(
        find(None, &first.marker, "a-b").await,
        std::slice::from_ref(&changed),
        "the old one is gone"
    );

    let hidden = publisher.unpublish(&changed).await.unwrap();
    assert_eq!(hidden.visible, Visible::Draft);
    assert_eq!(
        find(Some(&hidden.id), &first.marker, "c-d").await,
        std::slice::from_ref(&hidden)
    );
    let shown = publisher.update(&hidden, &second).await.unwrap();
    assert_eq!((shown.visible, &shown.id), (Visible::Live, &hidden.id));

    let uploaded = publisher.upload(&picture()).await.unwrap();
    assert_eq!(
        publisher.upload(&picture()).await.unwrap(),
        uploaded,
        "the same file again"
    );
    assert_eq!(uploaded.alt.as_deref(), Some("An image"));
}
