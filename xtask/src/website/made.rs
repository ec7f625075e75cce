//! The same website made while it is asked for: the files of a million pages would fill a disk.

use std::collections::HashMap;

use super::{Order, expected::redirects, files, page, plan::Plan};

/// A website without a file.
#[derive(Debug)]
pub struct Made {
    plan: Plan,
    /// Status and target by path.
    redirects: HashMap<String, (u16, String)>,
}

/// Answer at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// 200.
    Found {
        /// Media type without its charset, which is UTF-8.
        media_type: &'static str,
        /// Content.
        body: String,
    },
    /// A redirect.
    Redirect {
        /// 301 or 302.
        status: u16,
        /// Absolute address.
        target: String,
    },
    /// 404.
    Missing,
}

impl Made {
    /// A website that [`super::generate`] would write.
    pub fn new(order: &Order) -> Self {
        let plan = Plan::new(order);
        let origin = plan.origin();
        let redirects = redirects(&plan).into_iter().map(|redirect| {
            let path = redirect.url.replacen(&origin, "", 1);
            (path, (redirect.status, redirect.target))
        });
        Self {
            redirects: redirects.collect(),
            plan,
        }
    }

    /// Scheme, host and port of every URL.
    pub fn origin(&self) -> String {
        self.plan.origin()
    }

    /// Answers at a path, which begins with a slash.
    pub fn answer(&self, path: &str) -> Answer {
        if let Some(page) = self.plan.at(path) {
            let mut body = String::with_capacity(40_000);
            page::write(&self.plan, page, &mut body);
            let media_type = "text/html";
            return Answer::Found { media_type, body };
        }
        if let Some((status, target)) = self.redirects.get(path) {
            let (status, target) = (*status, target.clone());
            return Answer::Redirect { status, target };
        }
        let file = path
            .strip_prefix('/')
            .and_then(|name| files::file(&self.plan, name));
        file.map_or(Answer::Missing, |(media_type, body)| Answer::Found {
            media_type,
            body,
        })
    }
}
