//! Attempts of programs to connect: which steps they took, where they stopped, and what to do about it.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use searchwright_contract::{Clock, Instant, ids::UserId};
use searchwright_store::connection_steps::{ConnectionStep, KnownStep};

/// Steps that wait to be stored, at most; further ones are dropped.
const MAX_WAITING: usize = 1_000;
/// Steps of which a repetition is recognised, at most.
const MAX_RECENT: usize = 10_000;
/// Time in which the same step of the same program is recorded once.
const SAME_MILLIS: i64 = 60_000;
/// Time in which the calls of a program with its token are recorded once: they are many.
const SAME_CALL_MILLIS: i64 = 3_600_000;
/// Time between two steps of one attempt, at most.
const ATTEMPT_MILLIS: i64 = 30 * 60_000;
/// Characters of a text from outside that are kept.
const MAX_TEXT: usize = 200;

/// A step of a program that connects, in the order in which they are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It called without a token, and was told where to sign in.
    Challenged,
    /// It read the metadata of the resource (RFC 9728).
    ReadResource,
    /// It read the metadata of this server (RFC 8414).
    ReadServer,
    /// Its registration was refused.
    RegistrationRefused,
    /// It registered.
    Registered,
    /// Its authorization request was refused.
    AuthorizationRefused,
    /// A browser came to the sign-in page with its request.
    SignInShown,
    /// The consent page was shown.
    ConsentShown,
    /// A person declined.
    Declined,
    /// A person allowed it.
    Allowed,
    /// It was refused a token.
    TokenRefused,
    /// It received a token.
    TokenIssued,
    /// A call with its token was refused.
    CallRefused,
    /// It called with its token.
    Connected,
}

impl Step {
    const ALL: [Self; 14] = [
        Self::Challenged,
        Self::ReadResource,
        Self::ReadServer,
        Self::RegistrationRefused,
        Self::Registered,
        Self::AuthorizationRefused,
        Self::SignInShown,
        Self::ConsentShown,
        Self::Declined,
        Self::Allowed,
        Self::TokenRefused,
        Self::TokenIssued,
        Self::CallRefused,
        Self::Connected,
    ];

    /// Name in the database.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Challenged => "challenged",
            Self::ReadResource => "read_resource",
            Self::ReadServer => "read_server",
            Self::RegistrationRefused => "registration_refused",
            Self::Registered => "registered",
            Self::AuthorizationRefused => "authorization_refused",
            Self::SignInShown => "sign_in_shown",
            Self::ConsentShown => "consent_shown",
            Self::Declined => "declined",
            Self::Allowed => "allowed",
            Self::TokenRefused => "token_refused",
            Self::TokenIssued => "token_issued",
            Self::CallRefused => "call_refused",
            Self::Connected => "connected",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.as_str() == text)
    }

    /// The step as a person reads it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Challenged => "Called without a token, and was told where to sign in",
            Self::ReadResource => "Read which server signs people in",
            Self::ReadServer => "Read the addresses of this server",
            Self::RegistrationRefused => "Registration refused",
            Self::Registered => "Registered",
            Self::AuthorizationRefused => "Authorization request refused",
            Self::SignInShown => "Opened the sign-in page",
            Self::ConsentShown => "Opened the consent page",
            Self::Declined => "Declined by a person",
            Self::Allowed => "Allowed by a person",
            Self::TokenRefused => "Token refused",
            Self::TokenIssued => "Received a token",
            Self::CallRefused => "Call refused",
            Self::Connected => "Called with its token",
        }
    }

    /// Returns whether the program is connected.
    pub const fn is_connected(self) -> bool {
        matches!(self, Self::Connected)
    }

    /// Next thing to do if the attempt ended with this step.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Challenged => {
                "It did not look for a sign-in page. It may not speak OAuth: update it, or give it an API key as the header Authorization: Bearer …"
            }
            Self::ReadResource => {
                "It could not go on to this server. The address of this server (PUBLIC_URL) has to be reachable from the program, with a certificate that it trusts."
            }
            Self::ReadServer => {
                "It did not register or open a browser. Start the sign-in in the program; some wait for a command of their own."
            }
            Self::Registered => {
                "No browser came. If none opened, copy the address that the program prints into one."
            }
            Self::RegistrationRefused => {
                "The program asked for something that this server does not offer. Report the reason to its maker."
            }
            Self::AuthorizationRefused => {
                "Remove the connection in the program and add it again, so that it registers anew; if the reason stays, report it to its maker."
            }
            Self::SignInShown => "Nobody signed in. Connect again, and sign in on the page that opens.",
            Self::ConsentShown => "Nobody decided. Connect again, and choose Allow.",
            Self::Declined => "Connect again, and choose Allow.",
            Self::Allowed => {
                "It did not come for its token. Where its address is on this computer (127.0.0.1 or localhost), the browser has to run on the same computer as the program."
            }
            Self::TokenRefused => {
                "Connect again. If the reason stays, remove the connection in the program and add it again."
            }
            Self::TokenIssued => {
                "It has a token and has not used it yet. Reload its tools, or start it again."
            }
            Self::CallRefused => "Connect again: the token has ended, or it is for another address.",
            Self::Connected => "",
        }
    }
}

/// A step to be recorded.
#[derive(Clone, Copy, Debug)]
pub struct NewStep<'a> {
    /// The step.
    pub step: Step,
    /// Network address of the caller.
    pub address: &'a str,
    /// `User-Agent` of the caller.
    pub user_agent: &'a str,
    /// OAuth client, if it said which it is.
    pub client: Option<&'a str>,
    /// Person concerned.
    pub user: Option<UserId>,
    /// Reason or further detail.
    pub detail: Option<&'a str>,
}

/// Steps that wait to be stored. Recording one writes nothing, so that programs without a credential cannot make this server
/// write without end.
#[derive(Debug, Default)]
pub struct ConnectionLog(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    steps: Vec<ConnectionStep>,
    /// Time of the last equal step.
    recent: HashMap<String, Instant>,
    order: VecDeque<String>,
}

fn cut(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect()
}

impl ConnectionLog {
    /// Records a step, unless the same was recorded just before.
    pub fn record(&self, clock: &Clock, new: NewStep<'_>) {
        let now = clock.now();
        let step = ConnectionStep {
            id: clock.id(),
            step: new.step.as_str().to_owned(),
            address: new.address.to_owned(),
            user_agent: cut(new.user_agent),
            client: new.client.map(cut),
            user: new.user,
            detail: new.detail.map(cut),
            created_at: now,
        };
        let key = format!(
            "{}|{}|{}|{:?}|{:?}",
            step.step, step.address, step.user_agent, step.client, step.detail
        );
        let same = match new.step {
            Step::Connected => SAME_CALL_MILLIS,
            _ => SAME_MILLIS,
        };
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.steps.len() >= MAX_WAITING
            || waiting
                .recent
                .get(&key)
                .is_some_and(|at| now.millis() - at.millis() < same)
        {
            return;
        }
        if waiting.recent.insert(key.clone(), now).is_none() {
            waiting.order.push_back(key);
        }
        while waiting.order.len() > MAX_RECENT {
            if let Some(oldest) = waiting.order.pop_front() {
                waiting.recent.remove(&oldest);
            }
        }
        waiting.steps.push(step);
    }

    /// Takes the steps that wait.
    pub fn take(&self) -> Vec<ConnectionStep> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut waiting.steps)
    }
}

/// A step as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownStep {
    /// The step.
    pub step: Step,
    /// Time.
    pub at: Instant,
    /// Reason or further detail.
    pub detail: Option<String>,
}

/// An attempt to connect.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Name of the program: that which it gives itself, or its `User-Agent`.
    pub program: String,
    /// Network address of its first step.
    pub address: String,
    /// Name of the person who signed in.
    pub person: Option<String>,
    /// The steps, oldest first.
    pub steps: Vec<ShownStep>,
    /// Whether one of its people is a member of the workspace for which was asked.
    pub is_of_member: bool,
    /// The people who signed in.
    pub people: Vec<UserId>,
}

impl Attempt {
    /// The last step that counts: a program that called with its token is connected, whatever it reads afterwards.
    pub fn outcome(&self) -> Step {
        let last = self.steps.iter().rev().find(|shown| {
            !matches!(
                shown.step,
                Step::Challenged | Step::ReadResource | Step::ReadServer
            )
        });
        last.or(self.steps.last())
            .map_or(Step::Challenged, |shown| shown.step)
    }
}

/// Returns whether two steps are not too far apart to be of one attempt.
fn is_near(a: &ConnectionStep, b: &ConnectionStep) -> bool {
    (a.created_at.millis() - b.created_at.millis()).abs() <= ATTEMPT_MILLIS
}

/// Returns whether two steps are of the same client, or of the same program at the same address.
fn is_same_program(a: &ConnectionStep, b: &ConnectionStep) -> bool {
    match (&a.client, &b.client) {
        (Some(one), Some(other)) => one == other,
        _ => a.address == b.address && a.user_agent == b.user_agent && !is_of_browser(a) && !is_of_browser(b),
    }
}

/// Returns whether two steps are of different clients or of different people.
fn is_of_others(a: &ConnectionStep, b: &ConnectionStep) -> bool {
    matches!((&a.client, &b.client), (Some(one), Some(other)) if one != other)
        || matches!((a.user, b.user), (Some(one), Some(other)) if one != other)
}

/// Returns whether one of two steps may be of the browser that the program of the other opened: from the same address, where
/// only one of them says which client it is.
fn may_be_browser_of(a: &ConnectionStep, b: &ConnectionStep) -> bool {
    a.client.is_some() != b.client.is_some()
        && a.address == b.address
        && (is_of_browser(a) || is_of_browser(b))
}

/// Returns whether a step was taken by a person's browser, and not by the program.
fn is_of_browser(step: &ConnectionStep) -> bool {
    matches!(
        Step::parse(&step.step),
        Some(
            Step::AuthorizationRefused
                | Step::SignInShown
                | Step::ConsentShown
                | Step::Declined
                | Step::Allowed
        )
    )
}

/// Groups steps, oldest first, to attempts, newest first.
pub fn group(steps: &[KnownStep]) -> Vec<Attempt> {
    let mut groups: Vec<Vec<&KnownStep>> = Vec::new();
    for step in steps {
        let newest = |rule: fn(&ConnectionStep, &ConnectionStep) -> bool| {
            groups.iter().rposition(|group| {
                let mut steps = group.iter().map(|known| &known.step);
                steps.any(|known| is_near(known, &step.step) && rule(known, &step.step))
                    // An attempt is of one client and one person, and a step that does not say of which never joins two.
                    // Many people share a client: its id is the same for all who use the same program.
                    && group.iter().all(|known| !is_of_others(&known.step, &step.step))
            })
        };
        // The surer rule first: several programs may be on one computer.
        let found = newest(is_same_program).or_else(|| {
            let found = newest(may_be_browser_of)?;
            let is_open = groups[found].iter().all(|known| known.step.client.is_none());
            is_open.then_some(found)
        });
        match found.and_then(|found| groups.get_mut(found)) {
            Some(group) => group.push(step),
            None => groups.push(vec![step]),
        }
    }
    groups.sort_by_key(|group| group.last().map(|last| last.step.id));
    groups.iter().rev().filter_map(|group| attempt(group)).collect()
}

fn attempt(group: &[&KnownStep]) -> Option<Attempt> {
    let first = group.first()?;
    let program = group
        .iter()
        .find_map(|known| known.client_name.clone())
        .or_else(|| group.iter().find_map(|known| known.step.client.clone()))
        .unwrap_or_else(|| first.step.user_agent.clone());
    Some(Attempt {
        program: if program.is_empty() {
            "A program without a name".to_owned()
        } else {
            program
        },
        address: first.step.address.clone(),
        person: group.iter().find_map(|known| known.user_name.clone()),
        steps: group
            .iter()
            .filter_map(|known| {
                Some(ShownStep {
                    step: Step::parse(&known.step.step)?,
                    at: known.step.created_at,
                    detail: known.step.detail.clone(),
                })
            })
            .collect(),
        is_of_member: group.iter().any(|known| known.is_member),
        people: group.iter().filter_map(|known| known.step.user).collect(),
    })
}

#[cfg(test)]
mod tests {
    use searchwright_contract::ids::ActivityId;

    use super::*;

    fn step(minute: i64, step: Step, address: &str, agent: &str, client: Option<&str>) -> KnownStep {
        KnownStep {
            step: ConnectionStep {
                id: ActivityId::MIN,
                step: step.as_str().to_owned(),
                address: address.to_owned(),
                user_agent: agent.to_owned(),
                client: client.map(str::to_owned),
                user: None,
                detail: None,
                created_at: Instant::from_millis(1_790_000_000_000 + minute * 60_000),
            },
            client_name: client.map(|_| "Claude".to_owned()),
            user_name: None,
            is_member: false,
        }
    }

    #[test]
    fn steps_of_one_program_are_one_attempt() {
        // A vendor's cloud, a browser elsewhere, and another program in between.
        let steps = [
            step(0, Step::Challenged, "192.0.2.1", "Claude-User", None),
            step(0, Step::ReadServer, "192.0.2.1", "Claude-User", None),
            step(0, Step::Challenged, "192.0.2.9", "other", None),
            step(1, Step::Registered, "192.0.2.1", "Claude-User", Some("c1")),
            step(2, Step::ConsentShown, "198.51.100.7", "Firefox", Some("c1")),
            step(3, Step::Allowed, "198.51.100.7", "Firefox", Some("c1")),
            step(3, Step::TokenIssued, "192.0.2.2", "Claude-User", Some("c1")),
        ];
        let attempts = group(&steps);
        assert_eq!(attempts.len(), 2);
        let claude = attempts
            .iter()
            .find(|attempt| attempt.program == "Claude")
            .unwrap();
        assert_eq!((claude.steps.len(), claude.outcome()), (6, Step::TokenIssued));
        let other = attempts
            .iter()
            .find(|attempt| attempt.program == "other")
            .unwrap();
        assert_eq!(other.outcome(), Step::Challenged);
    }

    #[test]
    fn attempts_of_two_clients_stay_apart() {
        // Two clients with the same program at one address, and steps that do not say of which they are.
        let steps = [
            step(0, Step::Registered, "192.0.2.1", "Claude-User", Some("c1")),
            step(1, Step::CallRefused, "192.0.2.1", "Claude-User", None),
            step(2, Step::Registered, "192.0.2.1", "Claude-User", Some("c2")),
            step(3, Step::TokenIssued, "192.0.2.1", "Claude-User", Some("c2")),
        ];
        let attempts = group(&steps);
        assert_eq!(attempts.len(), 2, "{attempts:?}");
        assert_eq!(attempts[0].outcome(), Step::TokenIssued);
        assert_eq!(attempts[0].steps.len(), 2);
    }

    #[test]
    fn people_with_the_same_program_do_not_see_each_other() {
        let of = |number: u128, mut known: KnownStep| {
            known.step.user = Some(UserId::from(uuid::Uuid::from_u128(number)));
            known
        };
        let steps = [
            of(
                1,
                step(
                    0,
                    Step::ConsentShown,
                    "192.0.2.1",
                    "Firefox",
                    Some("https://a.example/c"),
                ),
            ),
            of(
                2,
                step(
                    1,
                    Step::ConsentShown,
                    "192.0.2.1",
                    "Firefox",
                    Some("https://a.example/c"),
                ),
            ),
            of(
                1,
                step(
                    2,
                    Step::Allowed,
                    "192.0.2.1",
                    "Firefox",
                    Some("https://a.example/c"),
                ),
            ),
        ];
        let attempts = group(&steps);
        assert_eq!(attempts.len(), 2, "{attempts:?}");
        for attempt in attempts {
            assert!(attempt.people.iter().all(|person| *person == attempt.people[0]));
        }
    }

    #[test]
    fn browsers_belong_to_the_program_at_their_address() {
        let steps = [
            step(0, Step::ReadServer, "127.0.0.1", "claude-code/2", None),
            step(
                1,
                Step::AuthorizationRefused,
                "127.0.0.1",
                "Firefox",
                Some("https://a.example/c"),
            ),
            step(90, Step::Challenged, "127.0.0.1", "claude-code/2", None),
        ];
        let attempts = group(&steps);
        assert_eq!(attempts.len(), 2, "{attempts:?}");
        assert!(
            attempts
                .iter()
                .any(|attempt| attempt.outcome() == Step::AuthorizationRefused)
        );
    }

    #[test]
    fn repeated_steps_and_floods_are_dropped() {
        let log = ConnectionLog::default();
        let clock = Clock::system();
        let new = NewStep {
            step: Step::Challenged,
            address: "192.0.2.1",
            user_agent: "x\u{7}y",
            client: None,
            user: None,
            detail: None,
        };
        log.record(&clock, new);
        log.record(&clock, new);
        let steps = log.take();
        assert_eq!(steps.len(), 1);
        assert_eq!(steps[0].user_agent, "xy");
        for n in 0..2 * MAX_WAITING {
            let address = n.to_string();
            log.record(
                &clock,
                NewStep {
                    address: &address,
                    ..new
                },
            );
        }
        assert_eq!(log.take().len(), MAX_WAITING);
    }
}
