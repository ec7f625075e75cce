//! Calls of a quiet project on SQLite, alone and beside clients of another project that ask for the dearest work, or that read
//! none of their answers.

use std::{
    io::Write as _,
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::{
    Effort,
    product::{Access, Api, Database, Installation, prepared_keywords, text},
    report::{Figure, Report, Target},
};

/// Clients that post texts.
const WRITERS: usize = 3;
/// Bytes of each text, the most that a post may have.
const TEXT_BYTES: usize = 299_990;
/// Connections that ask for a long answer, several times each, and read nothing.
const SILENT_CONNECTIONS: usize = 48;
/// Pause of the quiet project between two calls.
const PAUSE: Duration = Duration::from_millis(3);
/// Time for which the others are at work before anything is measured.
const WARM_UP: Duration = Duration::from_secs(2);

/// Load by the clients of the other project.
#[derive(Clone, Copy)]
enum Abuse {
    DearTexts,
    UnreadAnswers,
}

impl Abuse {
    const ALL: [(Self, &str); 2] = [
        (Self::DearTexts, "3 writers of the dearest texts"),
        (Self::UnreadAnswers, "answers that nobody reads"),
    ];

    fn begin(self, installation: &Installation, access: &Access) -> Result<Abusers> {
        let mut abusers = Abusers::default();
        match self {
            Self::DearTexts => {
                for writer in 0..WRITERS {
                    let api = Api::new(installation.origin(), access.clone())?;
                    abusers.spawn(move |round| post_text(&api, writer + round));
                }
            }
            Self::UnreadAnswers => {
                let address = installation.origin().replace("http://", "");
                let refused = refused_request(&address, access);
                let asking = address.clone();
                let mut held = Vec::new();
                abusers.spawn(move |round| ask_in_silence(&asking, round, &mut held));
                let mut unread = Vec::new();
                abusers.spawn(move |_| send_in_silence(&address, &refused, &mut unread));
            }
        }
        std::thread::sleep(WARM_UP);
        Ok(abusers)
    }
}

/// Clients at work, until this is dropped.
#[derive(Default)]
struct Abusers {
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
    refused: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Abusers {
    /// Repeats a piece of work until the end; it returns whether it was carried out.
    fn spawn(&mut self, mut work: impl FnMut(usize) -> bool + Send + 'static) {
        let (stop, done, refused) = (self.stop.clone(), self.done.clone(), self.refused.clone());
        self.threads.push(std::thread::spawn(move || {
            for round in 0.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                if work(round) {
                    done.fetch_add(1, Ordering::Relaxed);
                } else {
                    refused.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(100));
                }
            }
        }));
    }
}

impl Abusers {
    /// Fails if all they asked for was refused: then they were no burden.
    fn check(&self) -> Result<()> {
        if self.done.load(Ordering::Relaxed) == 0 && self.refused.load(Ordering::Relaxed) > 0 {
            bail!("none of the requests was carried out");
        }
        Ok(())
    }
}

impl Drop for Abusers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Texts that took longest to read, render, check and compare.
fn dear_text(kind: usize) -> String {
    let row = |cell: &str| format!("|{}|\n", [cell; 5_000].join("|"));
    let mut text = match kind % 6 {
        0 => row("a") + &row("-") + &row("x").repeat(30),
        1 => "[a](b".repeat(60_000),
        2 => "word words ".repeat(28_000),
        3 => "## a\n\n".repeat(50_000),
        4 => {
            let references: String = (0..8_000)
                .map(|at| format!("[r{at}]: http://x.example/{at}\n"))
                .collect();
            references + &"[r1]".repeat(30_000)
        }
        _ => {
            "| cell | b | c | d |\n|---|---|---|---|\n".to_owned() + &"| cell | b | c | d |\n".repeat(15_000)
        }
    };
    text.truncate(TEXT_BYTES);
    text
}

fn post_text(api: &Api, kind: usize) -> bool {
    let post = json!({ "title": "A dear text", "content": dear_text(kind) });
    api.post("posts", &post).is_ok()
}

/// A request whose body has as many unknown members as it may, each of which is a fault to be told.
fn refused_request(address: &str, access: &Access) -> Vec<u8> {
    let members: Vec<String> = (0..70_000).map(|at| format!("\"m{at}\":1")).collect();
    let body = format!("{{{}}}", members.join(","));
    let head = format!(
        "POST /v1/projects/{}/keywords HTTP/1.1\r\nHost: {address}\r\nAuthorization: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        access.project,
        access.authorization,
        body.len()
    );
    (head + &body).into_bytes()
}

/// Sends a request and keeps the connection without reading, and forgets the oldest connection.
fn send_in_silence(address: &str, request: &[u8], unread: &mut Vec<TcpStream>) -> bool {
    if unread.len() >= SILENT_CONNECTIONS {
        unread.remove(0);
    }
    let sent = TcpStream::connect(address).and_then(|mut connection| {
        connection.set_write_timeout(Some(Duration::from_secs(1)))?;
        connection.write_all(request)?;
        Ok(connection)
    });
    std::thread::sleep(Duration::from_millis(20));
    sent.map(|connection| unread.push(connection)).is_ok()
}

/// Asks on one connection after the other for the longest document there is, several times each.
fn ask_in_silence(address: &str, round: usize, held: &mut Vec<TcpStream>) -> bool {
    let request = format!("GET /v1/openapi.json HTTP/1.1\r\nHost: {address}\r\n\r\n").repeat(3);
    if round.is_multiple_of(SILENT_CONNECTIONS) && round > 0 {
        std::thread::sleep(Duration::from_secs(1));
    }
    send_in_silence(address, request.as_bytes(), held)
}

/// Durations of the calls of the quiet project, in milliseconds.
#[derive(Default)]
struct Durations {
    reads: Vec<f64>,
    writes: Vec<f64>,
}

/// Call of the quiet project.
#[derive(Clone, Copy)]
enum QuietCall {
    Read,
    Write,
}

impl QuietCall {
    const fn name(self) -> &'static str {
        match self {
            Self::Read => "GET keywords",
            Self::Write => "POST keywords",
        }
    }

    fn durations(self, all: &Durations) -> &[f64] {
        match self {
            Self::Read => &all.reads,
            Self::Write => &all.writes,
        }
    }
}

/// The quiet project.
struct Quiet {
    api: Api,
    /// Path of a list, and of the keywords that are added.
    list: &'static str,
    keywords: &'static str,
    added: u64,
}

impl Quiet {
    fn measure(&mut self, seconds: u32) -> Result<Durations> {
        let mut durations = Durations::default();
        let end = Instant::now() + Duration::from_secs(seconds.into());
        let millis = |since: Instant| since.elapsed().as_secs_f64() * 1_000.0;
        while Instant::now() < end {
            let since = Instant::now();
            self.api.get(self.list)?;
            durations.reads.push(millis(since));
            std::thread::sleep(PAUSE);
            self.added += 1;
            let keyword = json!({ "keyword": format!("a quiet keyword {}", self.added) });
            let since = Instant::now();
            let created = self.api.post(self.keywords, &keyword)?;
            durations.writes.push(millis(since));
            text(&created, "id")?;
            std::thread::sleep(PAUSE);
        }
        Ok(durations)
    }
}

/// Measures the quiet project alone and beside each abuse.
pub fn run(effort: &Effort, report: &mut Report) -> Result<()> {
    eprintln!("preparing a quiet project");
    let installation = Installation::new("isolation", Database::Folder)?;
    let _server = installation.start()?;
    let access = installation.project("example.com")?;
    let other = installation.project("other.example.com")?;
    let api = Api::new(installation.origin(), access)?;
    api.post_all("keywords", &prepared_keywords())?;
    let mut quiet = Quiet {
        api,
        list: "keywords?limit=50",
        keywords: "keywords",
        added: 0,
    };
    for (abuse, title) in Abuse::ALL {
        let (mut alone, mut beside) = (Vec::new(), Vec::new());
        for _ in 0..effort.rounds {
            alone.push(quiet.measure(effort.seconds)?);
            let abusers = abuse.begin(&installation, &other)?;
            beside.push(quiet.measure(effort.seconds)?);
            abusers.check().context(title)?;
        }
        add_figures(report, title, &alone, &beside)?;
    }
    Ok(())
}

fn add_figures(report: &mut Report, title: &str, alone: &[Durations], beside: &[Durations]) -> Result<()> {
    for call in [QuietCall::Read, QuietCall::Write] {
        for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
            let rounds = |all: &[Durations]| -> Result<Vec<f64>> {
                let rounds = all
                    .iter()
                    .map(|durations| percentile(call.durations(durations), share));
                rounds.collect::<Option<_>>().context("nothing was measured")
            };
            let (alone, beside) = (rounds(alone)?, rounds(beside)?);
            report.add(Figure {
                name: format!("{} {name} beside {title}", call.name()),
                unit: "ms",
                baseline: alone,
                product: beside.clone(),
                target: Target::RatioBelow(2.0),
            });
            if matches!(call, QuietCall::Write) && name == "p99" {
                report.add(Figure {
                    name: format!("{} {name} beside {title}, itself", call.name()),
                    unit: "ms",
                    baseline: Vec::new(),
                    product: beside,
                    target: Target::Below(50.0),
                });
            }
        }
    }
    Ok(())
}

/// Smallest value that this share of all values does not exceed; none of nothing.
pub(super) fn percentile(values: &[f64], share: f64) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let rank = (values.len() as f64 * share).ceil() as usize;
    values.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::{TEXT_BYTES, dear_text, percentile};

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!(percentile(&values, 0.5), Some(100.0));
        assert_eq!(percentile(&values, 0.99), Some(198.0));
        assert_eq!(percentile(&[7.0], 0.99), Some(7.0));
        assert_eq!(percentile(&[], 0.5), None);
    }

    #[test]
    fn dear_texts_are_as_long_as_they_may_be() {
        for kind in 0..6 {
            let text = dear_text(kind);
            assert!(
                (200_000..=TEXT_BYTES).contains(&text.len()),
                "{kind}: {}",
                text.len()
            );
        }
    }
}
