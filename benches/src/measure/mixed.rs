//! Mixed load of many callers: lists, single records, durable writes, starts of audits, and tools over MCP.

use std::net::SocketAddr;

use anyhow::{Context as _, Result};
use serde_json::json;
use xtask::random::Random;

use super::isolation::percentile;
use crate::{
    open_load::{AnswerKind, Requests, Sample},
    product::{Access, Api, Installation, prepared_keywords, text},
    website,
};

/// Projects, and keys of each: no single caller's limits decide.
const PROJECTS: usize = 8;
const KEYS: usize = 2;
/// Keywords of a project.
const KEYWORDS: usize = 500;
/// Pages of the audited site.
const PAGES: u32 = 200;

/// Kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `GET keywords?limit=50`.
    List,
    /// `GET keywords/{id}`.
    One,
    /// `POST keywords`.
    Create,
    /// `POST audits`.
    Start,
    /// `tools/call` of `keywords_list`.
    Tool,
}

impl Class {
    /// Every class, its name, and how many of a hundred requests are of it.
    pub const ALL: [(Self, &str, usize); 5] = [
        (Self::List, "GET keywords?limit=50", 30),
        (Self::One, "GET keywords/{id}", 30),
        (Self::Create, "POST keywords", 20),
        (Self::Start, "POST audits", 2),
        (Self::Tool, "tools/call over MCP", 18),
    ];
}

/// Projects with their callers.
#[derive(Clone, Debug)]
pub struct Mix {
    api: SocketAddr,
    mcp: SocketAddr,
    callers: Vec<MixCaller>,
    is_steady: bool,
}

#[derive(Clone, Debug)]
struct MixCaller {
    access: Access,
    keyword: String,
}

impl Mix {
    /// A running installation with projects, keys, keywords, and a website for the audits of the first project.
    pub fn prepare(installation: &Installation, origin: &str) -> Result<Self> {
        let mut callers = Vec::new();
        for number in 0..PROJECTS {
            let domain = format!("mix-{number}.example.com");
            let first = installation.project(if number == 0 { origin } else { &domain })?;
            let api = Api::new(installation.origin(), first.clone())?;
            api.post_all("keywords", &prepared_keywords()[..KEYWORDS])?;
            let list = api.get("keywords?limit=1")?;
            let keyword = text(list.pointer("/data/0").context("the list is empty")?, "id")?;
            let mut keys = vec![first];
            for _ in 1..KEYS {
                keys.push(installation.key(&keys[0].project)?);
            }
            callers.extend(keys.into_iter().map(|access| MixCaller {
                access,
                keyword: keyword.clone(),
            }));
        }
        Ok(Self {
            api: installation.api_address(),
            mcp: installation.mcp_address(),
            callers,
            is_steady: false,
        })
    }

    /// A load of the same mix that makes no new records, for as long as one likes: changes of a keyword instead of new ones, and no audits.
    #[must_use]
    pub fn steady(self) -> Self {
        Self {
            is_steady: true,
            ..self
        }
    }

    /// Serves a website for the audits and lets an installation reach it; its origin.
    pub fn site(installation: &mut Installation) -> Result<String> {
        let (origin, port) = website::serve(PAGES)?;
        installation.allow_crawl(port);
        Ok(origin)
    }

    /// First of the projects, the one with a website.
    pub fn audited(&self) -> &Access {
        &self.callers[0].access
    }

    /// A request for one keyword with the last key.
    pub fn single_read(&self, buffer: &mut Vec<u8>) -> SocketAddr {
        self.write(1, self.callers.len() as u64 - 1, buffer)
    }
}

impl Requests for Mix {
    fn class(&self, random: &mut Random) -> usize {
        let mut drawn = random.below(100);
        for (index, (_, _, share)) in Class::ALL.iter().enumerate() {
            if drawn < *share {
                return index;
            }
            drawn -= share;
        }
        0
    }

    fn write(&self, class: usize, number: u64, buffer: &mut Vec<u8>) -> SocketAddr {
        let class = Class::ALL[class].0;
        let caller = match class {
            Class::Start => &self.callers[0],
            _ => &self.callers[number as usize % self.callers.len()],
        };
        let Access {
            project,
            authorization,
        } = &caller.access;
        let project = format!("/v1/projects/{project}");
        let (method, path, body) = match class {
            Class::Create if self.is_steady => {
                let change = json!({ "searchVolume": number % 1_000 });
                (
                    "PATCH",
                    format!("{project}/keywords/{}", caller.keyword),
                    Some(change),
                )
            }
            Class::Start if self.is_steady => ("GET", format!("{project}/audits?limit=5"), None),
            Class::List => ("GET", format!("{project}/keywords?limit=50"), None),
            Class::One => ("GET", format!("{project}/keywords/{}", caller.keyword), None),
            Class::Create => {
                let keyword = format!("mixed keyword {number}");
                (
                    "POST",
                    format!("{project}/keywords"),
                    Some(json!({ "keyword": keyword })),
                )
            }
            Class::Start => (
                "POST",
                format!("{project}/audits"),
                Some(json!({ "maxPages": 3 })),
            ),
            Class::Tool => {
                let params = json!({ "name": "keywords_list", "arguments": { "limit": 20 } });
                let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
                ("POST", "/mcp".to_owned(), Some(call))
            }
        };
        let address = if class == Class::Tool { self.mcp } else { self.api };
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: {authorization}\r\n");
        if class == Class::Tool {
            head.push_str(
                "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n",
            );
        }
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        if !body.is_empty() {
            head.push_str(&format!(
                "Content-Type: application/json\r\nContent-Length: {}\r\n",
                body.len()
            ));
        }
        buffer.extend_from_slice(head.as_bytes());
        buffer.extend_from_slice(b"\r\n");
        buffer.extend_from_slice(body.as_bytes());
        address
    }
}

/// Milliseconds of the samples of a class, or of all, with an outcome.
pub fn millis(samples: &[Sample], class: Option<usize>, outcome: AnswerKind) -> Vec<f64> {
    samples
        .iter()
        .filter(|sample| class.is_none_or(|class| sample.class == class) && sample.outcome == outcome)
        .map(|sample| sample.millis)
        .collect()
}

/// Answers that are neither carried out nor refused as they should be.
pub fn unexpected(samples: &[Sample]) -> Vec<Sample> {
    samples
        .iter()
        .filter(|sample| !matches!(sample.outcome, AnswerKind::Done | AnswerKind::Refused))
        .copied()
        .collect()
}

/// Says what became of the requests of each class, in lines.
pub fn summary(samples: &[Sample]) -> String {
    let line = |(index, (_, name, _)): (usize, &(Class, &str, usize))| {
        let (done, refused) = (
            millis(samples, Some(index), AnswerKind::Done),
            millis(samples, Some(index), AnswerKind::Refused),
        );
        let of = |values: &[f64], share| percentile(values, share).unwrap_or(f64::NAN);
        format!(
            "  {name:24}{:>8} done, {:>7.1} / {:>7.1} ms{:>8} refused, {:>7.1} / {:>7.1} ms\n",
            done.len(),
            of(&done, 0.5),
            of(&done, 0.99),
            refused.len(),
            of(&refused, 0.5),
            of(&refused, 0.99),
        )
    };
    Class::ALL.iter().enumerate().map(line).collect()
}
