//! An SMTP server as the tests need it: it keeps what it takes, and refuses or hangs up as it is told.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

/// Fault of the next conversation.
#[derive(Clone, Copy, Debug)]
pub enum MailFault {
    /// The recipient is answered with this line.
    Recipient(&'static str),
    /// The login is answered with this line.
    Login(&'static str),
    /// The message is answered with this line.
    Message(&'static str),
    /// It hangs up in the middle of the message.
    HangsUp,
}

/// A message that was taken.
#[derive(Clone, Debug)]
pub struct TakenMail {
    /// Lines of the head, unfolded.
    pub head: Vec<String>,
    /// Text, decoded.
    pub text: String,
    /// As it came.
    pub raw: String,
}

impl TakenMail {
    /// Value of the only header of this name.
    pub fn header(&self, name: &str) -> &str {
        let prefix = format!("{name}: ");
        let mut found = self.head.iter().filter_map(|line| line.strip_prefix(&prefix));
        let first = found.next().unwrap_or_else(|| panic!("no {name}: {}", self.raw));
        assert_eq!(found.next(), None, "{name} is there twice");
        first
    }

    /// Path of the link that stops mail.
    pub fn unsubscribe(&self) -> String {
        let link = self.header("List-Unsubscribe").trim_matches(['<', '>']);
        link[link.find("/notices/").unwrap()..].to_owned()
    }
}

#[derive(Debug, Default)]
struct State {
    taken: Vec<TakenMail>,
    faults: VecDeque<MailFault>,
    logins: Vec<String>,
    conversations: usize,
}

/// The server. Clones are the same one.
#[derive(Clone, Debug)]
pub struct MailServer {
    state: Arc<Mutex<State>>,
    settings: Vec<String>,
}

impl MailServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::<Mutex<State>>::default();
        let shared = state.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = shared.clone();
                // A client that hangs up ends its conversation only.
                tokio::spawn(async move { drop(receive(stream, &state).await) });
            }
        });
        Self {
            state,
            settings: vec![
                format!("mail.smtp_url=\"smtp://robot:{SECRET}@{address}\""),
                "mail.from=\"Searchwright <sw@example.com>\"".to_owned(),
            ],
        }
    }

    /// Settings of a server that sends by it.
    pub fn settings(&self) -> Vec<&str> {
        self.settings.iter().map(String::as_str).collect()
    }

    pub fn fails(&self, faults: &[MailFault]) {
        self.state.lock().unwrap().faults.extend(faults);
    }

    pub fn taken(&self) -> Vec<TakenMail> {
        self.state.lock().unwrap().taken.clone()
    }

    pub fn conversations(&self) -> usize {
        self.state.lock().unwrap().conversations
    }

    pub fn logins(&self) -> Vec<String> {
        self.state.lock().unwrap().logins.clone()
    }
}

/// Password of the login.
pub const SECRET: &str = "hush-hush-4711";

async fn receive(stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let fault = {
        let mut state = state.lock().unwrap();
        state.conversations += 1;
        state.faults.pop_front()
    };
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.write_all(b"220 ready\r\n").await?;
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let word = line.get(..4).unwrap_or_default().to_uppercase();
        let answer = match (word.as_str(), fault) {
            ("EHLO", _) => "250-here\r\n250-8BITMIME\r\n250 AUTH PLAIN".to_owned(),
            ("AUTH", Some(MailFault::Login(answer))) => answer.to_owned(),
            ("AUTH", _) => {
                let encoded = line.trim_end().rsplit(' ').next().unwrap();
                let login = String::from_utf8(STANDARD.decode(encoded).unwrap()).unwrap();
                state.lock().unwrap().logins.push(login.replace('\0', " "));
                "235 welcome".to_owned()
            }
            ("RCPT", Some(MailFault::Recipient(answer))) => answer.to_owned(),
            ("DATA", _) => "354 go on".to_owned(),
            ("QUIT", _) => "221 bye".to_owned(),
            _ => "250 ok".to_owned(),
        };
        stream.write_all(format!("{answer}\r\n").as_bytes()).await?;
        if word == "DATA" {
            if let Some(MailFault::HangsUp) = fault {
                stream.read_line(&mut line).await?;
                return Ok(());
            }
            let mut message = String::new();
            while !message.ends_with("\r\n.\r\n") {
                if stream.read_line(&mut message).await? == 0 {
                    return Ok(());
                }
            }
            match fault {
                Some(MailFault::Message(answer)) => {
                    stream.write_all(format!("{answer}\r\n").as_bytes()).await?;
                }
                _ => {
                    state.lock().unwrap().taken.push(read(&message));
                    stream.write_all(b"250 taken as number 7\r\n").await?;
                }
            }
        }
    }
}

fn read(message: &str) -> TakenMail {
    let (head, body) = message.split_once("\r\n\r\n").unwrap();
    let body = body.strip_suffix(".\r\n").unwrap().replace("\r\n..", "\r\n.");
    let mut lines: Vec<String> = Vec::new();
    for line in head.split("\r\n") {
        match (line.strip_prefix([' ', '\t']), lines.last_mut()) {
            (Some(more), Some(last)) => *last = format!("{last} {more}"),
            _ => lines.push(line.to_owned()),
        }
    }
    let encoding = lines
        .iter()
        .find_map(|line| line.strip_prefix("Content-Transfer-Encoding: "));
    let bytes = match encoding {
        Some("quoted-printable") => quoted_printable(&body),
        Some("base64") => STANDARD.decode(body.replace("\r\n", "")).unwrap(),
        _ => body.into_bytes(),
    };
    TakenMail {
        head: lines,
        text: String::from_utf8(bytes).unwrap().replace("\r\n", "\n"),
        raw: message.to_owned(),
    }
}

fn quoted_printable(text: &str) -> Vec<u8> {
    let text = text.replace("=\r\n", "");
    let mut bytes = Vec::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('=') {
        bytes.extend(before.bytes());
        bytes.push(u8::from_str_radix(&after[..2], 16).unwrap());
        rest = &after[2..];
    }
    bytes.extend(rest.bytes());
    bytes
}
