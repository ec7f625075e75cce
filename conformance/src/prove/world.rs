//! Everything outside the product, which counts what reaches it: a CMS, a model, a website and a receiver of webhooks.

use std::{
    collections::BTreeMap,
    io::Write,
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use anyhow::Result;
use serde_json::{Value, json};
use xtask::random::Random;

use super::history::{History, HistoryEntry};
use crate::{
    autopilot::model::TopicModel,
    publish::{cms::scalar, http::Message},
};

/// Of so many requests to the CMS that write, one is carried out and its answer lost.
const LOST_ANSWERS: usize = 8;
/// Of so many deliveries, one is refused.
const REFUSED_DELIVERIES: usize = 6;

/// Addresses of the outside.
pub(super) struct World {
    pub(super) cms: String,
    pub(super) receiver: String,
    pub(super) model: String,
    items: Arc<Mutex<BTreeMap<u64, Value>>>,
    history: Arc<History>,
}

impl World {
    pub(super) fn start(history: &Arc<History>, seed: u64) -> Result<Self> {
        let items = Arc::<Mutex<BTreeMap<u64, Value>>>::default();
        let (own, record) = (Arc::clone(&items), Arc::clone(history));
        let random = Mutex::new(Random::new(seed, 1));
        let cms = serve(move |request| answer_as_cms(&request, &own, &record, &random))?;
        let record = Arc::clone(history);
        let random = Mutex::new(Random::new(seed, 2));
        let receiver = serve(move |request| Some(receive(&request, &record, &random)))?;
        let (record, asked) = (Arc::clone(history), AtomicU64::new(0));
        let model = TopicModel::start_watched(Arc::new(move || {
            let call = asked.fetch_add(1, Ordering::Relaxed);
            record.write(HistoryEntry::Charged { call });
        }))?;
        Ok(Self {
            cms,
            receiver,
            model: model.address,
            items,
            history: Arc::clone(history),
        })
    }

    /// Addresses that the product may reach, as `PURPOSE=HOST:PORT`.
    pub(super) fn allowed(&self) -> Vec<String> {
        vec![
            format!("publish={}", self.cms),
            format!("webhook={}", self.receiver),
            format!("provider={}", self.model),
            format!("crawl={}", self.model),
            format!("crawl={}", self.cms),
        ]
    }

    /// Writes the items of the CMS into the history.
    pub(super) fn record_items(&self) {
        for (item, kept) in locked(&self.items).iter() {
            self.history.write(HistoryEntry::FoundItem {
                item: *item,
                title: scalar(kept, "/title/raw"),
            });
        }
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves requests, each in a thread; no answer closes the connection.
fn serve(answer: impl Fn(Message) -> Option<Message> + Send + Sync + 'static) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let answer = Arc::clone(&answer);
            // a client that was killed is no fault here
            thread::spawn(move || drop(exchange(client, &*answer)));
        }
    });
    Ok(address)
}

fn exchange(mut client: TcpStream, answer: &dyn Fn(Message) -> Option<Message>) -> Result<()> {
    if let Some(request) = Message::request(&client)?
        && let Some(answer) = answer(request)
    {
        client.write_all(&answer.bytes())?;
    }
    Ok(())
}

fn reply(status: u16, body: &Value) -> Message {
    Message {
        start: format!("HTTP/1.1 {status} Said"),
        headers: vec![("Content-Type".to_owned(), "application/json".to_owned())],
        body: body.to_string().into_bytes(),
    }
}

/// Takes an event and refuses some.
fn receive(request: &Message, history: &History, random: &Mutex<Random>) -> Message {
    let accepted = locked(random).below(REFUSED_DELIVERIES) > 0;
    let event = request.json();
    let id = request.header("webhook-id").unwrap_or_default();
    history.write(HistoryEntry::Delivered {
        event: scalar(&event, "/id"),
        kind: scalar(&event, "/type"),
        digest: format!("{id} {:016x}", digest(&request.body)),
        accepted,
    });
    reply(if accepted { 200 } else { 500 }, &json!({}))
}

/// FNV-1a (Fowler, Noll, Vo), which tells bodies apart.
fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |digest: u64, byte| {
        (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// As much of WordPress's REST interface as publishing needs.
fn answer_as_cms(
    request: &Message,
    items: &Mutex<BTreeMap<u64, Value>>,
    history: &History,
    random: &Mutex<Random>,
) -> Option<Message> {
    let mut words = request.start.split(' ');
    let method = words.next().unwrap_or_default();
    let target = words.next().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let Some(path) = path.strip_prefix("/wp-json") else {
        return Some(show_page(path.trim_matches('/'), &locked(items)));
    };
    let path = path.trim_end_matches('/');
    let asked = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value.to_owned())
    };
    Some(match (method, path) {
        ("GET", "") => reply(
            200,
            &json!({ "name": "A blog", "home": "http://127.0.0.1", "namespaces": ["wp/v2"], "authentication": {} }),
        ),
        ("GET", "/wp/v2/users/me") => reply(
            200,
            &json!({ "id": 1, "name": "Ada", "slug": "ada", "capabilities": { "edit_posts": true, "publish_posts": true } }),
        ),
        ("GET", "/wp/v2/types") => reply(
            200,
            &json!({ "post": { "rest_base": "posts", "rest_namespace": "wp/v2", "name": "Posts", "viewable": true,
                               "supports": { "title": true, "editor": true } } }),
        ),
        ("OPTIONS", "/wp/v2/posts") => reply(200, &json!({ "schema": { "properties": fields() } })),
        ("GET", "/wp/v2/posts") => {
            let items = locked(items);
            let found = items
                .values()
                .filter(|item| match (asked("search"), asked("slug")) {
                    (Some(text), _) => scalar(item, "/content/raw").contains(&text),
                    (_, Some(slug)) => item["slug"] == slug,
                    _ => true,
                });
            reply(200, &json!(found.collect::<Vec<_>>()))
        }
        ("GET", path) => match locked(items).get(&item_number(path)?) {
            Some(item) => reply(200, item),
            None => reply(404, &json!({ "code": "rest_post_invalid_id", "message": "none" })),
        },
        ("POST", path) => {
            let address = request.header("host").unwrap_or_default();
            let kept = write_item(path, address, &request.json(), items, history);
            if locked(random).below(LOST_ANSWERS) == 0 {
                return None;
            }
            reply(200, &kept)
        }
        _ => reply(404, &json!({ "code": "rest_no_route", "message": "none" })),
    })
}

/// The page of a post, as readers see it.
fn show_page(slug: &str, items: &BTreeMap<u64, Value>) -> Message {
    let item = items
        .values()
        .find(|item| item["slug"] == slug && item["status"] == "publish");
    let status = if item.is_some() { 200 } else { 404 };
    let (title, content) = item.map_or_else(Default::default, |item| {
        (scalar(item, "/title/raw"), scalar(item, "/content/raw"))
    });
    Message {
        start: format!("HTTP/1.1 {status} Said"),
        headers: vec![("Content-Type".to_owned(), "text/html; charset=utf-8".to_owned())],
        body: format!("<!doctype html><html lang=en><title>{title}</title><h1>{title}</h1>{content}")
            .into_bytes(),
    }
}

fn fields() -> Value {
    let plain = json!({ "type": "string", "context": ["edit"] });
    let rendered = json!({ "type": "object", "context": ["edit"], "properties": { "raw": plain } });
    json!({ "title": rendered, "content": rendered, "excerpt": rendered, "slug": plain, "status": plain })
}

fn item_number(path: &str) -> Option<u64> {
    path.strip_prefix("/wp/v2/posts/")?.parse().ok()
}

/// Creates or changes an item as it was asked for.
fn write_item(
    path: &str,
    address: &str,
    body: &Value,
    items: &Mutex<BTreeMap<u64, Value>>,
    history: &History,
) -> Value {
    let mut items = locked(items);
    let number = item_number(path).unwrap_or(items.len() as u64 + 1);
    let is_new = !items.contains_key(&number);
    let item = items.entry(number).or_insert_with(|| {
        json!({ "id": number, "slug": "", "status": "draft", "title": { "raw": "" }, "content": { "raw": "" },
                "excerpt": { "raw": "" }, "featured_media": 0, "tags": [], "categories": [] })
    });
    for (name, value) in body.as_object().into_iter().flatten() {
        match name.as_str() {
            "title" | "content" | "excerpt" => item[name] = json!({ "raw": value }),
            _ => item[name] = value.clone(),
        }
    }
    item["link"] = json!(format!("http://{address}/{}/", scalar(item, "/slug")));
    if is_new {
        history.write(HistoryEntry::Created {
            item: number,
            title: scalar(item, "/title/raw"),
        });
    }
    item.clone()
}
