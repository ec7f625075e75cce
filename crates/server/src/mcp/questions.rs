//! Questions to a person: what would happen, where, and what it costs, in a sentence and as the facts of a card.

use searchwright_contract::{Code, Scope};
use searchwright_engine::{Credential, Endpoint, Failure};
use serde_json::{Map, Value, json};

use super::{
    shaping::visible,
    tools::{Caller, Tools},
};

/// Characters of a title or a prompt in a question.
const MAX_QUOTED: usize = 200;

/// Question to a person, which holds text of others: it is for a form or a card, and never part of a refusal.
#[derive(Debug)]
pub(super) struct Question {
    /// The sentence: a consent is to these very words.
    pub(super) words: String,
    title: &'static str,
    facts: Vec<(&'static str, String)>,
}

impl Question {
    /// Returns what a card shows.
    pub(super) fn card(&self) -> Value {
        let facts = self.facts.iter();
        let facts: Vec<Value> = facts
            .map(|(name, value)| json!({ "name": name, "value": value }))
            .collect();
        json!({ "title": self.title, "facts": facts })
    }
}

/// Returns whether a person is asked about an operation by its client.
pub(super) const fn is_asked(endpoint: &Endpoint) -> bool {
    matches!(
        endpoint.meta.scope,
        Scope::ContentPublish | Scope::VisibilityTrack
    )
}

impl Tools {
    /// Words what a person is asked.
    pub(super) async fn question(
        &self,
        endpoint: &Endpoint,
        arguments: &Map<String, Value>,
        caller: &Caller,
    ) -> Result<Question, Failure> {
        let project = arguments.get("projectId").cloned().unwrap_or_default();
        let me = self.read("me.get", Map::new(), caller).await?.unwrap_or_default();
        let mut projects = me["projects"].as_array().into_iter().flatten();
        let own = projects.find(|other| other["id"] == project);
        let site = plain(own.map_or(&Value::Null, |own| &own["name"]));
        if endpoint.meta.scope == Scope::VisibilityTrack {
            self.tracking(endpoint, arguments, site, caller).await
        } else {
            self.publication(endpoint, arguments, site, caller).await
        }
    }

    async fn tracking(
        &self,
        endpoint: &Endpoint,
        arguments: &Map<String, Value>,
        site: String,
        caller: &Caller,
    ) -> Result<Question, Failure> {
        let prompt = self
            .record_of("prompts.get", "promptId", arguments, caller)
            .await?;
        let mut plan = arguments.clone();
        plan.insert("dryRun".to_owned(), true.into());
        let plan = self
            .invoke_as(endpoint, plan, caller, None, true)
            .await?
            .unwrap_or_default();
        let cost = &plan["estimatedCost"];
        let cost = match (cost["low"].as_f64(), cost["high"].as_f64()) {
            (Some(low), Some(high)) => format!("an estimated US$ {low:.4} to {high:.4}"),
            _ => "an unknown amount".to_owned(),
        };
        let engines = arguments.get("engines").and_then(Value::as_array);
        let engines: Vec<&str> = engines.into_iter().flatten().filter_map(Value::as_str).collect();
        let asked = (!engines.is_empty()).then(|| engines.join(", "));
        let engines = asked.as_deref().unwrap_or("its engines");
        let samples = arguments.get("samples").and_then(Value::as_u64).unwrap_or(1);
        let prompt = plain(&prompt["text"]);
        let words =
            format!("Ask {engines} {samples} time(s): “{prompt}” for the project “{site}”? It costs {cost}.");
        Ok(Question {
            words,
            title: "Ask assistants",
            facts: vec![
                ("Project", site),
                ("Prompt", prompt),
                (
                    "Engines",
                    asked.unwrap_or_else(|| "those of the prompt".to_owned()),
                ),
                ("Times", samples.to_string()),
                ("Cost", cost),
            ],
        })
    }

    async fn publication(
        &self,
        endpoint: &Endpoint,
        arguments: &Map<String, Value>,
        site: String,
        caller: &Caller,
    ) -> Result<Question, Failure> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let post = self.record_of("posts.get", "postId", arguments, caller).await?;
        let (title, version) = (plain(&post["title"]), &post["version"]);
        let place = self.place(arguments, caller).await?;
        let free = ("Cost", "none".to_owned());
        if endpoint.meta.name == "posts.unpublish" {
            return Ok(Question {
                words: format!("Take “{title}” of the project “{site}” offline at {place}?"),
                title: "Take a post offline",
                facts: vec![("Project", site), ("Post", title), ("Place", place), free],
            });
        }
        let (mode, readers) = if text("mode") == Some("draft") {
            ("as a draft", "nobody yet: a draft")
        } else {
            ("so that everybody can read it", "everybody")
        };
        let force = arguments.get("force") == Some(&Value::Bool(true));
        let overwrites = if force {
            " What others changed there is overwritten."
        } else {
            ""
        };
        let words = format!(
            "Publish “{title}” (version {version}) of the project “{site}” through {place}, {mode}?{overwrites}"
        );
        let mut facts = vec![
            ("Project", site),
            ("Post", title),
            ("Version", version.to_string()),
            ("Place", place),
            ("Readers", readers.to_owned()),
            free,
        ];
        if force {
            facts.push(("Overwritten", "what others changed there".to_owned()));
        }
        Ok(Question {
            words,
            title: "Publish a post",
            facts,
        })
    }

    /// Names the place at which a call publishes: the one that it names, else the only one that is ready.
    async fn place(&self, arguments: &Map<String, Value>, caller: &Caller) -> Result<String, Failure> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let (named, connection) = (text("provider"), text("connectionId"));
        let project = text("projectId").and_then(|id| id.parse().ok());
        let mut places = Vec::new();
        if let (Credential::Token(token), Some(project)) = (&caller.credential, project) {
            places = self.app.people.publishing_places(token.user, project).await?;
        }
        places.retain(|place| {
            place.is_ready
                && named.is_none_or(|named| named == place.provider)
                && connection.is_none_or(|id| id == place.connection.to_string())
        });
        Ok(match (places.as_slice(), named) {
            ([one], _) => format!("{} (“{}”)", one.provider, plain(&one.site.as_str().into())),
            (_, Some(provider)) => format!("“{}”", plain(&provider.into())),
            _ => "the connected place".to_owned(),
        })
    }

    /// Reads the record that a call names.
    async fn record_of(
        &self,
        operation: &str,
        name: &str,
        arguments: &Map<String, Value>,
        caller: &Caller,
    ) -> Result<Value, Failure> {
        let of = |name: &str| (name.to_owned(), arguments.get(name).cloned().unwrap_or_default());
        let about = Map::from_iter([of("projectId"), of(name)]);
        Ok(self.read(operation, about, caller).await?.unwrap_or_default())
    }

    /// Reads for a question what the credential may read; what it may not is left out.
    async fn read(
        &self,
        operation: &str,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Option<Value>, Failure> {
        let Some(endpoint) = self.operation(operation) else {
            return Ok(None);
        };
        match self.invoke(endpoint, arguments, caller).await {
            Err(failure) if failure.0.code == Code::InsufficientScope => Ok(None),
            read => read,
        }
    }
}

/// Text of others in one line, without the quotation marks that a question puts around it.
fn plain(text: &Value) -> String {
    let text = visible(text.as_str().unwrap_or("(unknown)"));
    let words: Vec<&str> = text.split_whitespace().collect();
    let text: String = words
        .join(" ")
        .chars()
        .filter(|letter| !matches!(letter, '“' | '”' | '"'))
        .collect();
    let cut: String = text.chars().take(MAX_QUOTED).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("{cut}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_does_not_leave_its_quotation_marks() {
        let title = json!("Desk”? Yes.\u{202e}\n\n Publish \"everything");
        assert_eq!(plain(&title), "Desk? Yes. Publish everything");
        assert_eq!(plain(&json!("x".repeat(300))).chars().count(), MAX_QUOTED + 1);
        assert_eq!(plain(&Value::Null), "(unknown)");
    }
}
