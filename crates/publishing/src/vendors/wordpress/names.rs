//! Labels and authors, which a post has by name and WordPress by number.

use http::Method;
use serde_json::{Value, json};

use super::{WordPress, interface::code};
use crate::{
    error::{Trouble, Why},
    http::{escaped, json_body},
    values::{list, text},
};

impl WordPress {
    /// The user of this name, if there is one that writes posts.
    pub(super) async fn author(&self, name: &str) -> Result<Option<Value>, Trouble> {
        match self.named("/wp/v2/users", "who=authors&", name).await {
            // Who may not list users leaves the author alone.
            Err(Trouble::Refused { .. }) => Ok(None),
            author => author,
        }
    }

    /// Ids of labels, made where there are none. WordPress itself makes no name twice, so asking again is harmless.
    pub(super) async fn terms(&self, taxonomy: &str, names: &[String]) -> Result<Vec<Value>, Trouble> {
        let route = format!("/wp/v2/{}", escaped(taxonomy));
        let mut ids = Vec::new();
        for name in names {
            let body = json_body(&json!({ "name": name }));
            let made = self
                .interface
                .answer(Method::POST, (&route, "_fields=id"), Some(body), false)
                .await?;
            let term = match (made.status, code(&made)) {
                (_, Some("term_exists")) => made.body.pointer("/data/term_id").cloned(),
                // It may be there all the same.
                (401 | 403, _) => self.named(&route, "", name).await?,
                _ => None,
            };
            let term = match term {
                Some(term) => term,
                None => self.interface.judged(made, false)?.json()?["id"].clone(),
            };
            if !term.is_u64() {
                return Err(Trouble::refused(Why::Unreadable));
            }
            if !ids.contains(&term) {
                ids.push(term);
            }
        }
        Ok(ids)
    }

    /// The number of what has this name.
    async fn named(&self, route: &str, query: &str, name: &str) -> Result<Option<Value>, Trouble> {
        let query = format!("{query}per_page=100&_fields=id,name&search={}", escaped(name));
        let all = self.interface.get(route, &query).await?;
        let is_it = |one: &&Value| text(one, "/name").is_some_and(|given| is_same(given, name));
        Ok(list(&all, "").iter().find(is_it).map(|one| one["id"].clone()))
    }
}

/// Whether a name as WordPress gives it, with its special characters escaped, is this one.
fn is_same(given: &str, name: &str) -> bool {
    let plain = given
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#039;", "'")
        .replace("&amp;", "&");
    plain.to_lowercase() == name.trim().to_lowercase()
}
