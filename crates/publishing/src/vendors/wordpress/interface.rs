//! The REST interface of a site, at whichever of its two addresses it answers.

use http::Method;
use searchwright_contract::Clock;
use serde_json::Value;
use tokio::sync::OnceCell;
use uuid::Uuid;

use crate::{
    error::{Trouble, Why},
    http::{Answer, Body, Server},
    values::{list, text},
};

const FRONT: &str = "_fields=name,home,namespaces,authentication";

#[derive(Debug)]
pub(super) struct Interface {
    server: Server,
    clock: Clock,
    front: OnceCell<Front>,
}

/// Description that the interface gives of itself.
#[derive(Debug)]
pub(super) struct Front {
    /// Whether its addresses begin with `/wp-json`.
    is_pretty: bool,
    pub name: Option<String>,
    pub home: Option<String>,
    /// Whether application passwords are accepted.
    pub passwords: bool,
}

impl Front {
    fn read(answer: &Answer, is_pretty: bool) -> Option<Self> {
        let body = &answer.body;
        let speaks = list(body, "/namespaces")
            .iter()
            .any(|name| name.as_str() == Some("wp/v2"));
        (answer.status == 200 && speaks).then(|| Self {
            is_pretty,
            name: text(body, "/name").map(str::to_owned),
            home: text(body, "/home").map(str::to_owned),
            passwords: body.pointer("/authentication/application-passwords").is_some(),
        })
    }
}

impl Interface {
    pub fn new(server: Server, clock: Clock) -> Self {
        Self {
            server,
            clock,
            front: OnceCell::new(),
        }
    }

    pub fn base(&self) -> &str {
        self.server.base()
    }

    pub async fn front(&self) -> Result<&Front, Trouble> {
        self.front.get_or_try_init(|| self.look()).await
    }

    async fn look(&self) -> Result<Front, Trouble> {
        let ask = |path: String| async move { self.server.exchange(Method::GET, &path, None, false).await };
        let pretty = ask(format!("/wp-json/?{FRONT}")).await?;
        if let Some(front) = Front::read(&pretty, true) {
            return Ok(front);
        }
        let plain = ask(format!("/?rest_route=/&{FRONT}")).await?;
        match Front::read(&plain, false) {
            Some(front) => Ok(front),
            None => Err(self.silence(pretty, &plain)),
        }
    }

    /// Returns the reason why neither address answers as WordPress does.
    fn silence(&self, pretty: Answer, plain: &Answer) -> Trouble {
        let unreadable = |said: String| self.server.refusal(Why::Unreadable, &said);
        // Turned away by a firewall, in maintenance, or asked too often.
        if pretty.wall.is_some() || matches!(pretty.status, 429 | 500..=599) {
            return match self.server.judged(pretty, false) {
                Err(trouble) => trouble,
                Ok(_) => Trouble::refused(Why::Unreadable),
            };
        }
        if let Some(said) = [&pretty, plain]
            .iter()
            .find_map(|answer| code(answer).and_then(|_| text(&answer.body, "/message")))
        {
            return unreadable(format!("WordPress keeps its REST interface closed: {said}"));
        }
        match pretty.status {
            300..=399 => match self.server.judged(pretty, false) {
                Err(trouble) => trouble,
                Ok(_) => Trouble::refused(Why::Unreadable),
            },
            401 => unreadable("the web server asks for a password of its own before WordPress answers".to_owned()),
            _ => unreadable(
                "no REST interface of WordPress is at this address: it is switched off, or the address is that of something else"
                    .to_owned(),
            ),
        }
    }

    /// The answer whatever its status.
    pub async fn answer(
        &self,
        method: Method,
        (route, query): (&str, &str),
        body: Option<Body>,
        writes: bool,
    ) -> Result<Answer, Trouble> {
        let path = if self.front().await?.is_pretty {
            format!("/wp-json{route}?{query}")
        } else {
            format!("/?rest_route={route}&{query}")
        };
        // Caches keep answers whatever the request says; one that was never asked for they cannot have.
        let path = if method == Method::GET && !writes {
            let and = if query.is_empty() { "" } else { "&" };
            format!("{path}{and}_={}", self.clock.id::<Uuid>().simple())
        } else {
            path
        };
        self.server.exchange(method, &path, body, writes).await
    }

    /// A success, or what WordPress means by its status and its own codes.
    pub fn judged(&self, answer: Answer, writes: bool) -> Result<Answer, Trouble> {
        let because = |why| match text(&answer.body, "/message") {
            Some(said) => self.server.refusal(why, said),
            None => Trouble::refused(why),
        };
        match code(&answer) {
            Some("rest_no_route") => Err(because(Why::Schema)),
            // A file that it does not take is answered with 500.
            Some(code) if code.starts_with("rest_upload") => Err(because(Why::Invalid)),
            _ => self.server.judged(answer, writes),
        }
    }

    pub async fn send(
        &self,
        method: Method,
        target: (&str, &str),
        body: Option<Body>,
        writes: bool,
    ) -> Result<Answer, Trouble> {
        let answer = self.answer(method, target, body, writes).await?;
        self.judged(answer, writes)
    }

    pub async fn get(&self, route: &str, query: &str) -> Result<Value, Trouble> {
        self.send(Method::GET, (route, query), None, false).await?.json()
    }
}

/// The code of an error of WordPress.
pub(super) fn code(answer: &Answer) -> Option<&str> {
    (answer.status >= 400)
        .then(|| text(&answer.body, "/code"))
        .flatten()
}
