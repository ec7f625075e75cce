//! A vendor of answers: Chat Completions that count their questions and can hold answers back.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
};

use serde_json::json;

/// The running vendor.
pub struct Vendor {
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
    /// Questions since the last plan, which are charged when they arrive.
    asked: usize,
    /// Answers that are still given before the others are held back.
    answers: usize,
    held: usize,
}

impl Vendor {
    pub fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let vendor = Self {
            address: listener.local_addr().unwrap().to_string(),
            shared: Arc::default(),
        };
        let shared = vendor.shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = shared.clone();
                std::thread::spawn(move || serve(stream.unwrap(), &shared));
            }
        });
        vendor
    }

    /// Answers so many questions from now on and holds the answers to the others back; counts anew.
    pub fn plan(&self, answers: usize) {
        let mut state = self.shared.state.lock().unwrap();
        *state = State {
            answers,
            ..State::default()
        };
    }

    /// Answers everything from now on.
    pub fn answer_all(&self) {
        self.shared.state.lock().unwrap().answers = usize::MAX;
    }

    /// Returns the number of questions since the last plan.
    pub fn asked(&self) -> usize {
        self.shared.state.lock().unwrap().asked
    }

    /// Returns when so many questions wait for their answer.
    pub fn until_it_holds(&self, questions: usize) {
        let state = self.shared.state.lock().unwrap();
        let waits = |state: &mut State| state.held < questions;
        drop(self.shared.changed.wait_while(state, waits).unwrap());
    }

    /// Returns when so many questions have come.
    pub fn until_asked(&self, questions: usize) {
        let state = self.shared.state.lock().unwrap();
        let waits = |state: &mut State| state.asked < questions;
        drop(self.shared.changed.wait_while(state, waits).unwrap());
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) {
    if !read(&stream) {
        return;
    }
    let mut state = shared.state.lock().unwrap();
    state.asked += 1;
    let is_answered = state.answers > 0;
    if is_answered {
        state.answers -= 1;
    } else {
        state.held += 1;
    }
    shared.changed.notify_all();
    drop(state);
    if !is_answered {
        // Until whoever asked is gone.
        let _ = stream.read(&mut [0]);
        return;
    }
    let answer = json!({
        "id": "c1", "object": "chat.completion", "model": "m-1",
        "choices": [{ "index": 0, "finish_reason": "stop",
            "message": { "role": "assistant", "content": "I would look at Fern first, see https://example.com/oak." } }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 30, "total_tokens": 40 },
    })
    .to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        answer.len()
    );
    let _ = stream.write_all((head + &answer).as_bytes());
}

/// Reads a request; returns whether one came.
fn read(stream: &TcpStream) -> bool {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        match reader.read_line(&mut line) {
            Ok(0) | Err(_) => return false,
            Ok(_) => {}
        }
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    reader.read_exact(&mut vec![0; length]).is_ok()
}
