//! Facts of a page, read from its bytes.

mod answers;
mod concealed;
mod elements;
mod hostile;
mod links;
mod markup;
mod microdata;
mod texts;

use url::Url;

use super::{At, HtmlFacts, Intern, Limits, PageFacts, UrlId, read};
use crate::{fetch::Response, url_key::url_key};

/// Assigns ids in the order in which URLs are met; the page itself is 0.
struct Table(Vec<String>);

impl Intern for Table {
    fn intern(&mut self, url: &Url) -> Option<UrlId> {
        let key = url_key(url).into_owned();
        self.intern_key(&key)
    }

    fn intern_key(&mut self, key: &str) -> Option<UrlId> {
        let at = self.0.iter().position(|known| known == key);
        let at = at.unwrap_or_else(|| {
            self.0.push(key.to_owned());
            self.0.len() - 1
        });
        Some(UrlId(at as u32))
    }
}

const PAGE: &str = "https://e.example/dir/page";

fn answer(status: u16, headers: &[(&'static str, &str)], body: &[u8]) -> (PageFacts, Vec<String>) {
    let response = Response::new(status, headers, body);
    let mut table = Table(vec![PAGE.to_owned()]);
    let facts = read(
        &response,
        &Url::parse(PAGE).unwrap(),
        At::default(),
        &mut table,
        &Limits {
            links: 1_000,
            ..Limits::default()
        },
    );
    (facts, table.0)
}

fn html(body: &str) -> HtmlFacts {
    *answer(
        200,
        &[("content-type", "text/html; charset=utf-8")],
        body.as_bytes(),
    )
    .0
    .html
    .unwrap()
}

fn texts(list: &[Box<str>]) -> Vec<&str> {
    list.iter().map(|text| &**text).collect()
}
