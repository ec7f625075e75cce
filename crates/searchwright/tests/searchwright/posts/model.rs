//! A server with Chat Completions that answers each step of an article, counts what it was asked, and can hold an
//! answer back.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
};

use serde_json::{Value, json};

/// The running server.
pub struct Model {
    pub address: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    asked: BTreeMap<String, usize>,
    /// The step whose answer does not come.
    held: Option<String>,
    /// It was asked for.
    holds: bool,
    refuses: bool,
    /// Answers other than the usual ones, by step.
    said: BTreeMap<String, String>,
}

impl Model {
    pub fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let model = Self {
            address: listener.local_addr().unwrap().to_string(),
            shared: Arc::default(),
        };
        let shared = model.shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = shared.clone();
                std::thread::spawn(move || serve(stream.unwrap(), &shared));
            }
        });
        model
    }

    /// Returns the number of requests per step since the last call.
    pub fn asked(&self) -> BTreeMap<String, usize> {
        std::mem::take(&mut self.shared.state.lock().unwrap().asked)
    }

    /// Holds the answer to a step back.
    pub fn hold(&self, step: &str) {
        let mut state = self.shared.state.lock().unwrap();
        (state.held, state.holds) = (Some(step.to_owned()), false);
    }

    /// Returns when the step was asked for.
    pub fn until_it_holds(&self) {
        let state = self.shared.state.lock().unwrap();
        drop(
            self.shared
                .changed
                .wait_while(state, |state| !state.holds)
                .unwrap(),
        );
    }

    /// Holds nothing back that is asked from now on.
    pub fn answer_all(&self) {
        self.shared.state.lock().unwrap().held = None;
    }

    /// Answers a step with this text from now on.
    pub fn say(&self, step: &str, text: &str) {
        let mut state = self.shared.state.lock().unwrap();
        state.said.insert(step.to_owned(), text.to_owned());
    }

    /// Accepts no key from now on.
    pub fn refuse(&self) {
        self.shared.state.lock().unwrap().refuses = true;
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) {
    let Some(body) = read(&stream) else { return };
    let user = body["messages"][1]["content"].as_str().unwrap().to_owned();
    let (step, answer) = answer(&user);
    let mut state = shared.state.lock().unwrap();
    *state.asked.entry(step.clone()).or_default() += 1;
    if state.held.as_ref() == Some(&step) {
        state.holds = true;
        shared.changed.notify_all();
        drop(state);
        // Until whoever asked is gone.
        let _ = stream.read(&mut [0]);
        return;
    }
    let refuses = state.refuses;
    let answer = state.said.get(&step).cloned().unwrap_or(answer);
    drop(state);
    if refuses {
        let _ =
            stream.write_all(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        return;
    }
    let chunk = |value: Value| format!("data: {value}\n\n");
    let mut events = chunk(json!({ "choices": [{ "delta": { "content": answer } }] }));
    events += &chunk(json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }));
    events += &chunk(json!({ "choices": [], "usage": { "prompt_tokens": 1000, "completion_tokens": 500 } }));
    events += "data: [DONE]\n\n";
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        events.len()
    );
    let _ = stream.write_all((head + &events).as_bytes());
}

fn read(stream: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// Returns the step of a prompt and the answer to it.
fn answer(user: &str) -> (String, String) {
    if user.contains("Outline it:") {
        let outline = json!({ "title": "Standing desk heights", "sections": [
            { "heading": "How high does it go?", "points": ["up to 128 cm"] },
            { "heading": "What it does", "points": ["stands"] },
        ] });
        return ("outline".to_owned(), outline.to_string());
    }
    if user.contains("Write section 1 only") {
        let text = "It goes up to 128 cm. See [our oak desk](https://example.com/oak) or [a shop](https://evil.example/x).\n\n\
            <script>alert(1)</script>";
        return ("section 1".to_owned(), text.to_owned());
    }
    if user.contains("Write section 2 only") {
        // What an editor asks it to say it says.
        let asked = user.split_once("The editor asks: ").map(|(_, asked)| asked);
        let said = asked.and_then(|asked| asked.split(" Its sections are").next());
        return (
            "section 2".to_owned(),
            format!(
                "It halves back pain in 37% of all offices. It stands. {}",
                said.unwrap_or_default()
            ),
        );
    }
    // Of an outline that is not this one's.
    let further = (3..=8).find(|at| user.contains(&format!("Write section {at} only")));
    if let Some(at) = further {
        return (format!("section {at}"), "It stands.".to_owned());
    }
    if user.contains("Edit the draft:") {
        let (_, draft) = user.split_once("> draft\n").unwrap();
        let (draft, _) = draft.split_once("\n</data-").unwrap();
        return ("edit".to_owned(), draft.to_owned());
    }
    assert!(user.contains("Sum the article up:"), "{user}");
    let meta = json!({ "excerpt": "How high a standing desk goes.", "metaDescription": "A standing desk and its heights." });
    ("meta".to_owned(), meta.to_string())
}
