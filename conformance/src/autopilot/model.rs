//! A language model that answers as an endpoint compatible with OpenAI: an article of several sections about the topic of the request.

use std::{
    collections::BTreeMap,
    io::{BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use xtask::random::Random;

use crate::publish::{cms::text, http::Message};

const HEADINGS: [&str; 4] = [
    "What does it change in a day of work?",
    "Choosing one that fits the room",
    "Setting it up without help",
    "Keeping it in good order",
];
/// Plain sentences, whose words are drawn: texts that share whole sentences would be refused as too similar to each other.
const SENTENCES: [&str; 8] = [
    "A NOUN that is ADJ VERB the NOUN near the NOUN.",
    "When the NOUN looks ADJ, it VERB a NOUN as well.",
    "Put the NOUN beside a ADJ NOUN, and it VERB the NOUN.",
    "Nobody misses a ADJ NOUN where the NOUN VERB the room.",
    "First it VERB the NOUN, and later the ADJ NOUN too.",
    "Most people like how a ADJ NOUN VERB their NOUN.",
    "Ask whether the NOUN VERB the NOUN or only seems ADJ.",
    "With care, the ADJ NOUN VERB every NOUN in the house.",
];
const NOUNS: [&str; 24] = [
    "handle", "corner", "window", "drawer", "surface", "cushion", "hinge", "screw", "shelf", "curtain",
    "basket", "frame", "plank", "doorway", "cable", "pillow", "mirror", "ladder", "bracket", "hallway",
    "cupboard", "carpet", "cord", "knob",
];
const ADJECTIVES: [&str; 20] = [
    "plain", "quiet", "solid", "narrow", "bright", "gentle", "heavy", "smooth", "sturdy", "modest", "warm",
    "simple", "round", "thin", "clean", "soft", "short", "level", "loose", "wide",
];
const VERBS: [&str; 20] = [
    "carries", "protects", "frees", "covers", "guides", "lifts", "joins", "softens", "steadies", "hides",
    "clears", "shades", "holds", "spares", "suits", "keeps", "saves", "opens", "closes", "matches",
];

/// The running model. Clones are the same one.
#[derive(Clone)]
pub(crate) struct TopicModel {
    pub(crate) address: String,
    asked: Arc<Mutex<BTreeMap<String, usize>>>,
    watcher: Arc<dyn Fn() + Send + Sync>,
}

impl TopicModel {
    /// Begins to serve until this program ends.
    pub(crate) fn start() -> Result<Self> {
        Self::start_watched(Arc::new(|| {}))
    }

    /// The same, and calls this for every request that it charges, before it answers.
    pub(crate) fn start_watched(watcher: Arc<dyn Fn() + Send + Sync>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let model = Self {
            address: listener.local_addr()?.to_string(),
            asked: Arc::default(),
            watcher,
        };
        let own = model.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let own = own.clone();
                thread::spawn(move || {
                    if let Err(error) = own.answer(client) {
                        eprintln!("the model: {error:#}");
                    }
                });
            }
        });
        Ok(model)
    }

    /// Number of outlines that were asked for, by topic.
    pub(super) fn outlines(&self) -> BTreeMap<String, usize> {
        self.counts().clone()
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, mut client: TcpStream) -> Result<()> {
        let Some(request) = Message::request(&client)? else {
            return Ok(());
        };
        if request.start.starts_with("GET ") {
            client.write_all(&page().bytes())?;
            return Ok(());
        }
        let prompt = text(&request.json(), "/messages/1/content")?;
        (self.watcher)();
        let said = self.say(&prompt)?;
        let chunk = |value: Value| format!("data: {value}\n\n");
        let events = chunk(json!({ "choices": [{ "delta": { "content": said } }] }))
            + &chunk(json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }))
            + &chunk(json!({ "choices": [], "usage": { "prompt_tokens": 1000, "completion_tokens": 500 } }))
            + "data: [DONE]\n\n";
        let answer = Message {
            start: "HTTP/1.1 200 OK".to_owned(),
            headers: vec![("Content-Type".to_owned(), "text/event-stream".to_owned())],
            body: events.into_bytes(),
        };
        client.write_all(&answer.bytes())?;
        // whoever asked closes
        drop(BufReader::new(client).read(&mut [0]));
        Ok(())
    }

    fn say(&self, prompt: &str) -> Result<String> {
        if prompt.contains("Edit the draft:") {
            let draft = prompt.split_once("> draft\n").context("no draft")?.1;
            return Ok(draft.split_once("\n</data-").context("no end")?.0.to_owned());
        }
        let topic = prompt.split_once("Topic: ").context("no topic")?.1;
        let topic = topic.lines().next().unwrap_or_default().trim();
        let mut begun = topic.to_owned();
        if let Some(first) = begun.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        if prompt.contains("Outline it:") {
            *self.counts().entry(topic.to_owned()).or_default() += 1;
            let section = |heading: &&str| json!({ "heading": heading, "points": ["what to look at"] });
            let sections: Vec<Value> = HEADINGS.iter().map(section).collect();
            let title = format!("{begun}: what to look at before buying");
            return Ok(json!({ "title": title, "sections": sections }).to_string());
        }
        let part = (1..=HEADINGS.len()).find(|at| prompt.contains(&format!("Write section {at} only")));
        if let Some(part) = part {
            return Ok(write_section(&begun, topic, part));
        }
        let described = format!(
            "{begun}: how to choose one for your room, how to set it up by yourself, and how to keep it in good order for years to come."
        );
        let excerpt = format!("{begun}, from the choice to the care.");
        Ok(json!({ "excerpt": excerpt, "metaDescription": described }).to_string())
    }
}

/// The only page of the website that is at the same address.
fn page() -> Message {
    let html = "<!doctype html><html lang=en><title>Desks of all heights for your home</title><h1>Desks</h1><p>Some text.</p></html>";
    Message {
        start: "HTTP/1.1 200 OK".to_owned(),
        headers: vec![("Content-Type".to_owned(), "text/html; charset=utf-8".to_owned())],
        body: html.as_bytes().to_vec(),
    }
}

/// Writes a section that is another one for each topic.
fn write_section(begun: &str, topic: &str, part: usize) -> String {
    let seed = topic
        .bytes()
        .fold(0, |seed: u64, byte| seed.wrapping_mul(257) + u64::from(byte));
    let mut random = Random::new(seed, part as u64);
    let mut sentence = || {
        let template = random.pick(&SENTENCES);
        let words = template.split(' ').map(|word| {
            let end = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
            let list: &[&str] = match &word[..word.len() - end.len()] {
                "NOUN" => &NOUNS,
                "ADJ" => &ADJECTIVES,
                "VERB" => &VERBS,
                _ => return word.to_owned(),
            };
            format!("{}{end}", random.pick(list))
        });
        words.collect::<Vec<_>>().join(" ")
    };
    let mut paragraph = || (0..6).map(|_| sentence()).collect::<Vec<_>>().join(" ");
    format!(
        "{begun} is worth a slow look. {}\n\n{}\n\n{}",
        paragraph(),
        paragraph(),
        paragraph()
    )
}
