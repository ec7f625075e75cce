//! `searchwright mcp`: MCP over standard input and output, for clients that start a program.
//!
//! Nothing is served here. Each line is sent to the server's MCP with the credential of the connection, and what comes back
//! is written as one line: tools, rules and consent are those of the server, in whichever revision the client speaks. A question of
//! the server is passed on to clients whose revision has another way to ask.
//! Failures on the way are answered as JSON-RPC errors, because most clients show nothing else.

mod lines;
mod message;
mod questions;

use std::{
    collections::HashMap,
    io::IsTerminal as _,
    sync::{Arc, Mutex, PoisonError},
};

use searchwright_client::{
    Client, ClientError,
    mcp::{McpEvents, McpReply},
};
use searchwright_contract::Problem;
use serde_json::{Value, json};
use tokio::{
    sync::{OnceCell, Semaphore, mpsc},
    task::{AbortHandle, JoinSet},
};

use self::{
    lines::Line,
    message::{INVALID_REQUEST, Kind, Message, PARSE_ERROR, REFUSED, error_line},
    questions::{Questions, Repeated},
};
use crate::{
    exit::{CliError, Exit},
    mcp_install::{find_mcp_url, with_toolsets},
    output::plain,
    profile::Connection,
};

/// Requests that are under way at once.
const MAX_UNDER_WAY: usize = 32;
/// Messages that are read before the first of them is answered.
const MAX_READ: usize = 512;
/// Characters of an answer that is no message and is shown.
const MAX_QUOTED: usize = 300;
/// Questions about one call: a record may change while its person thinks.
const MAX_QUESTIONS: usize = 3;
/// Lines that wait for the client to read them.
const MAX_WAITING: usize = 64;

/// Speak MCP on standard input and output.
#[derive(Clone, Debug, clap::Args)]
pub struct ServeStdio {
    /// Sets of tools to offer, separated by commas; the usual ones unless named.
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    toolsets: Vec<String>,
    /// URL of MCP; by default the server is asked.
    #[arg(long, value_name = "URL")]
    mcp_url: Option<String>,
}

impl ServeStdio {
    /// Passes messages on until standard input ends.
    pub async fn run(self, connection: &Connection) -> Result<Exit, CliError> {
        if std::io::stdin().is_terminal() {
            eprintln!(
                "This speaks MCP on standard input and output, to a client that starts it. `searchwright mcp install CLIENT` sets one up."
            );
        }
        let (out, waiting) = mpsc::channel(MAX_WAITING);
        let writer = std::thread::spawn(move || lines::write(waiting));
        let bridge = Arc::new(Bridge {
            connection: connection.clone(),
            arguments: self,
            http: Client::new("http://127.0.0.1", "")?,
            url: OnceCell::new(),
            version: Mutex::new(None),
            told: Mutex::new(None),
            places: Semaphore::new(MAX_UNDER_WAY),
            questions: Questions::default(),
            out,
        });
        bridge.serve().await;
        // The last sender is dropped with it, and the writer ends after what it holds.
        drop(bridge);
        let ended = tokio::task::spawn_blocking(move || writer.join()).await;
        match ended {
            Ok(Ok(written)) => written.map(|()| Exit::Done).map_err(CliError::from),
            _ => Err(CliError::new(Exit::Failed, "the writer of the answers ended")),
        }
    }
}

/// Connection of one client with one server.
struct Bridge {
    connection: Connection,
    arguments: ServeStdio,
    http: Client,
    /// URL of MCP, once it is known.
    url: OnceCell<String>,
    /// Revision that was agreed on by `initialize`.
    version: Mutex<Option<String>>,
    /// Failure that was said last, with its hint.
    told: Mutex<Option<(String, Option<String>)>>,
    places: Semaphore,
    questions: Questions,
    out: mpsc::Sender<Vec<u8>>,
}

impl Bridge {
    async fn serve(self: &Arc<Self>) {
        let mut lines = lines::read();
        let mut tasks: JoinSet<String> = JoinSet::new();
        let mut under_way: HashMap<String, UnderWay> = HashMap::new();
        loop {
            tokio::select! {
                Some(ended) = tasks.join_next(), if !tasks.is_empty() => {
                    if let Ok(id) = ended {
                        under_way.remove(&id);
                    }
                }
                line = lines.recv(), if tasks.len() < MAX_READ => match line {
                    Some(line) => self.take(line, &mut tasks, &mut under_way).await,
                    None => break,
                },
                () = self.out.closed() => return,
            }
        }
        self.questions.close();
        for (_, request) in under_way.drain().filter(|(_, request)| request.is_endless) {
            request.task.abort();
        }
        tokio::select! {
            () = async { while tasks.join_next().await.is_some() {} } => {}
            () = self.out.closed() => {}
        }
    }

    /// Begins what a line asks for.
    async fn take(
        self: &Arc<Self>,
        line: Line,
        tasks: &mut JoinSet<String>,
        under_way: &mut HashMap<String, UnderWay>,
    ) {
        let read = match line {
            Line::TooLong => Err((
                Value::Null,
                INVALID_REQUEST,
                format!("a message is longer than {} bytes", lines::MAX_BYTES),
            )),
            Line::Text(text) => Message::read(text),
        };
        let message = match read {
            Ok(message) => message,
            Err((id, code, why)) => {
                let hint = match code {
                    PARSE_ERROR => "send one JSON-RPC message on each line, without line breaks in it",
                    _ => "send one JSON-RPC 2.0 request, notification or response on each line",
                };
                let line = error_line(&id, code, &CliError::new(Exit::Usage, why).hint(hint), json!({}));
                let _ = self.out.send(line).await;
                return;
            }
        };
        if self.questions.take_answer(&message) {
            return;
        }
        if let Some(id) = message.cancels()
            && let Some(request) = under_way.remove(&id)
        {
            request.task.abort();
        }
        if message.method() == Some("initialize") {
            // What follows it is of the revision that its answer names.
            self.questions.learn(&message);
            self.carry_out(&message).await;
            return;
        }
        let key = message.key();
        let is_endless = message.method() == Some("subscriptions/listen");
        let bridge = self.clone();
        let ended = key.clone();
        let task = tasks.spawn(async move {
            let _place = bridge.places.acquire().await;
            bridge.carry_out(&message).await;
            ended
        });
        if !key.is_empty() {
            under_way.insert(key, UnderWay { task, is_endless });
        }
    }

    /// Sends a message, and passes on what comes back. A request gets an answer in any case.
    async fn carry_out(&self, message: &Message) {
        let outcome = self.exchange(message).await;
        let Err((error, data)) = outcome else { return };
        self.report_once(&error);
        if let Kind::Request(id) = message.kind() {
            let _ = self.out.send(error_line(id, REFUSED, &error, data)).await;
        }
    }

    /// Says a failure on stderr, once until there is another: some clients keep that for their person, and hide errors.
    fn report_once(&self, error: &CliError) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let words = (error.message.clone(), error.hint.clone());
        if told.as_ref() != Some(&words) {
            error.report();
            *told = Some(words);
        }
    }

    async fn exchange(&self, message: &Message) -> Result<(), (CliError, Value)> {
        match self.send(message).await? {
            McpReply::Message(body) => {
                let reply = self.consented(message, body).await?;
                self.deliver(message, reply).await
            }
            other => self.deliver(message, other).await,
        }
    }

    /// Returns what a call is answered with once its person was asked for the consent that it lacks, and the answer itself where
    /// nothing lacks or nobody can be asked: it says where a person can act.
    async fn consented(&self, message: &Message, body: Vec<u8>) -> Result<McpReply, (CliError, Value)> {
        let agreed = self.agreed_version();
        let mut repeated = self.questions.repeat(message, agreed.as_deref(), &body);
        for _ in 0..MAX_QUESTIONS {
            let Some(call) = repeated.take() else { break };
            let answer = match self.send(&call).await? {
                McpReply::Message(answer) => answer,
                other => return Ok(other),
            };
            match Repeated::read(answer) {
                Repeated::Done(answer) => return Ok(McpReply::Message(answer)),
                Repeated::Asked(questions, state) => {
                    let answers = self.questions.ask(questions, &self.out).await;
                    repeated = answers.and_then(|answers| questions::answered(&call, answers, state));
                }
            }
        }
        Ok(McpReply::Message(body))
    }

    /// Sends a message.
    async fn send(&self, message: &Message) -> Result<McpReply, (CliError, Value)> {
        let url = self.url.get_or_try_init(|| self.find_url()).await;
        let url = url.map_err(without_data)?;
        let mut refused: Option<String> = None;
        loop {
            let token = self.connection.mcp_token(url, refused.as_deref()).await;
            let token = token.map_err(without_data)?;
            let headers = message.headers(self.agreed_version().as_deref());
            let reply = self.http.send_mcp(url, &token, &headers, message.bytes()).await;
            let reply = reply.map_err(|error| without_data(error.into()))?;
            // The clock of this machine may be late: a token that is refused is refreshed once.
            if !matches!(reply, McpReply::Refused { status: 401, .. }) || refused.is_some() {
                return Ok(reply);
            }
            match self.connection.mcp_token(url, Some(&token)).await {
                Ok(fresh) if fresh != token => refused = Some(token),
                Ok(_) | Err(_) => return Ok(reply),
            }
        }
    }

    /// Passes a reply on.
    async fn deliver(&self, message: &Message, reply: McpReply) -> Result<(), (CliError, Value)> {
        match reply {
            McpReply::Accepted => message.no_answer().map_err(without_data),
            McpReply::Message(body) => {
                let line = message.answer(body).map_err(without_data)?;
                self.pass_on(message, line).await;
                Ok(())
            }
            McpReply::Events(events) => self.pass_on_events(message, *events).await.map_err(without_data),
            McpReply::Refused { status, body } => self.refuse(message, status, body).await,
        }
    }

    async fn find_url(&self) -> Result<String, CliError> {
        let url = match &self.arguments.mcp_url {
            Some(url) => url.clone(),
            None => find_mcp_url(&self.connection.server_url()?).await?,
        };
        Ok(with_toolsets(url, &self.arguments.toolsets))
    }

    fn agreed_version(&self) -> Option<String> {
        let version = self.version.lock().unwrap_or_else(PoisonError::into_inner);
        version.clone()
    }

    async fn pass_on(&self, message: &Message, line: Vec<u8>) {
        if let Some(version) = message.agreed_version(&line) {
            *self.version.lock().unwrap_or_else(PoisonError::into_inner) = Some(version);
        }
        let _ = self.out.send(line).await;
    }

    async fn pass_on_events(&self, message: &Message, mut events: McpEvents) -> Result<(), CliError> {
        let mut is_answered = !matches!(message.kind(), Kind::Request(_));
        while let Some(event) = events.next().await? {
            let event = event.into_bytes();
            is_answered |= message.is_answered_by(&event);
            let line = message::one_line(event)?;
            self.pass_on(message, line).await;
        }
        if is_answered {
            Ok(())
        } else {
            Err(CliError::new(Exit::Failed, "the server ended before it answered")
                .hint("send the request again"))
        }
    }

    /// Passes a refusal on: as it is where it is of JSON-RPC, else as an error of this program.
    async fn refuse(&self, message: &Message, status: u16, body: Vec<u8>) -> Result<(), (CliError, Value)> {
        if let Some(line) = message.error_of_server(&body) {
            let _ = self.out.send(line).await;
            return Ok(());
        }
        let hint = match status {
            401 => {
                "check SEARCHWRIGHT_KEY where the client starts this program, or sign in with `searchwright login --mcp`"
            }
            _ => "check that the URL is that of MCP: `searchwright mcp --mcp-url URL`",
        };
        let Ok(mut problem) = serde_json::from_slice::<Problem>(&body) else {
            let mut why = format!("the server answered with the status {status} and no JSON-RPC message");
            if let Some(text) = quote(&body) {
                why.push_str(&format!(": {text}"));
            }
            return Err((
                CliError::new(Exit::Failed, why).hint(hint),
                json!({ "status": status }),
            ));
        };
        if status == 401 {
            problem.hint.get_or_insert_with(|| hint.to_owned());
        }
        let data = json!({ "status": status, "code": problem.code.as_str(), "requestId": problem.request_id, "retryable": problem.retryable });
        let error = CliError::from(ClientError::Problem(Box::new(problem)));
        Err((error, data))
    }
}

/// Request that is not answered yet.
struct UnderWay {
    task: AbortHandle,
    /// Whether it is answered only when the client ends it.
    is_endless: bool,
}

fn without_data(error: CliError) -> (CliError, Value) {
    (error, json!({}))
}

/// Returns the beginning of a body that is a line of words, and not a page.
fn quote(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?.trim();
    let is_words = !text.is_empty() && !text.starts_with('<');
    is_words.then(|| plain(text).chars().take(MAX_QUOTED).collect())
}
