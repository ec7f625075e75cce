//! Events that are told, their kinds and causes, and what ends a cause.

use searchwright_contract::{
    audits::AuditTrigger,
    events::{
        ApprovalData, AuditData, AuditFailure, Event, EventType, IntegrationData, IssueData, PauseData,
        PostData,
    },
    ids::{AuditId, ConnectionId, PostId},
    integrations::Provider,
    posts::PostStatus,
};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::{
    facts::{AuditFigures, FailedPost, FoundIssue, NoticeFacts},
    kinds::NoticeKind,
};

/// Failure code of a post whose time came while no connection was ready.
const NOT_READY: &str = "integration_not_ready";
/// Failure code of a post whose provider refused the credentials.
const CREDENTIAL: &str = "credential_refused";
/// Failure codes that are about a connection and not about the post: all its posts fail alike.
const OF_CONNECTION: [&str; 11] = [
    "permission_refused",
    "address_denied",
    "unreadable_answer",
    "firewall",
    "schema_changed",
    "dns",
    "connect",
    "tls",
    "timeout",
    "broken",
    "status",
];

/// Record that has to be looked up before an event is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Post, with its failure and whether its connection is lost.
    Post(PostId),
    /// Audit.
    Audit(AuditId),
    /// Connection.
    Connection(ConnectionId),
}

/// Facts of the record that was looked up.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Failure of the post: its code and its reason.
    pub failure: Option<KnownFailure>,
    /// Connection that is lost: that of the post or of the event.
    pub lost: Option<LostConnection>,
    /// Connection by which the post was last sent.
    pub connection: Option<ConnectionId>,
    /// The audit.
    pub audit: Option<KnownAudit>,
}

/// Failure of a post.
#[derive(Clone, Debug)]
pub struct KnownFailure {
    /// Stable code.
    pub code: String,
    /// Reason.
    pub detail: String,
}

/// Connection whose provider no longer accepts the credentials.
#[derive(Clone, Copy, Debug)]
pub struct LostConnection {
    /// Id.
    pub id: ConnectionId,
    /// Provider.
    pub provider: Provider,
}

/// Audit of an event.
#[derive(Clone, Debug)]
pub struct KnownAudit {
    /// Start of the audit.
    pub trigger: AuditTrigger,
    /// Figures, as far as it has them.
    pub figures: AuditFigures,
    /// Reason of its failure.
    pub error: String,
}

/// Cause of a notice, and what an event adds to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// Kind.
    pub kind: NoticeKind,
    /// Key: while a cause stands, it is told once.
    pub key: String,
    /// Record that the page of the notice shows, and whose change ends the cause.
    pub subject: Uuid,
    /// Facts.
    pub facts: NoticeFacts,
    /// It is told when its audit ends, and not before.
    pub is_held: bool,
}

/// Effect of an event on notices.
#[derive(Clone, Debug, PartialEq)]
pub enum NoticeStep {
    /// A cause began or goes on.
    Tell(Box<Cause>),
    /// Notices of an audit that waited for its end are due; with its figures.
    Release(Uuid, AuditFigures),
    /// The causes that concern a record are over.
    End(Uuid),
}

fn data<T: DeserializeOwned>(event: &Event) -> Option<T> {
    serde_json::from_value(event.data.clone()).ok()
}

/// Returns the record that has to be looked up; `None` for events that need none or are not told.
pub fn lookup(event: &Event) -> Option<Lookup> {
    match event.kind {
        EventType::PostPublishFailed
        | EventType::PostPublished
        | EventType::PostUnpublished
        | EventType::PostUpdated => data(event)
            .filter(|post: &PostData| event.kind != EventType::PostUpdated || is_seen(post))
            .map(|post| Lookup::Post(post.post_id)),
        EventType::IssueOpened | EventType::IssueReopened => data(event)
            .and_then(|issue: IssueData| issue.audit_id)
            .map(Lookup::Audit),
        EventType::AuditCompleted => data(event).map(|audit: AuditData| Lookup::Audit(audit.audit_id)),
        EventType::AuditFailed => data(event).map(|audit: AuditFailure| Lookup::Audit(audit.audit_id)),
        EventType::IntegrationDisconnected => {
            data(event).map(|lost: IntegrationData| Lookup::Connection(lost.connection_id))
        }
        _ => None,
    }
}

/// Returns the effects of an event, with what was looked up for it.
pub fn read(event: &Event, known: Known) -> Vec<NoticeStep> {
    let steps = match event.kind {
        EventType::PostPublishFailed => publish_failed(event, known),
        EventType::PostPublished | EventType::PostUnpublished => {
            data(event).map(|post: PostData| works(post.post_id, &known))
        }
        EventType::PostUpdated => data(event)
            .filter(is_seen)
            .map(|post| works(post.post_id, &known)),
        EventType::IssueOpened | EventType::IssueReopened => found(event, &known),
        EventType::AuditCompleted => data(event).zip(known.audit).map(|(audit, known)| {
            let audit: AuditData = audit;
            vec![NoticeStep::Release(audit.audit_id.uuid(), known.figures)]
        }),
        EventType::AuditFailed => audit_failed(event, known),
        EventType::IntegrationDisconnected => known.lost.map(|lost| {
            let cause = lost_connection(lost);
            vec![NoticeStep::Tell(Box::new(cause))]
        }),
        EventType::IntegrationConnected => data(event).map(|connected: IntegrationData| {
            let all = event.project_id.uuid();
            vec![
                NoticeStep::End(connected.connection_id.uuid()),
                NoticeStep::End(all),
            ]
        }),
        EventType::AutopilotPaused => paused(event),
        EventType::ApprovalRequested => approval(event),
        EventType::ApprovalDecided => {
            data(event).map(|approval: ApprovalData| vec![NoticeStep::End(approval.approval_id.uuid())])
        }
        _ => None,
    };
    steps.unwrap_or_default()
}

/// Returns whether readers see a post. It is updated when it is sent, too, which ends no failure.
fn is_seen(post: &PostData) -> bool {
    post.status == PostStatus::Published
}

/// A post went through: its failures are over, and those of its connection.
fn works(post: PostId, known: &Known) -> Vec<NoticeStep> {
    let connection = known.connection.map(|id| NoticeStep::End(id.uuid()));
    std::iter::once(NoticeStep::End(post.uuid()))
        .chain(connection)
        .collect()
}

fn lost_connection(lost: LostConnection) -> Cause {
    Cause {
        kind: NoticeKind::IntegrationLost,
        key: format!("lost:{}", lost.id),
        subject: lost.id.uuid(),
        facts: NoticeFacts {
            name: provider_name(lost.provider),
            ..NoticeFacts::default()
        },
        is_held: false,
    }
}

/// Name of a provider as people write it.
fn provider_name(provider: Provider) -> String {
    match provider {
        Provider::Wordpress => "WordPress".to_owned(),
        other => {
            let mut letters = other.as_str().chars();
            let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
            first + letters.as_str()
        }
    }
}

fn publish_failed(event: &Event, known: Known) -> Option<Vec<NoticeStep>> {
    let post: PostData = data(event)?;
    let failure = known.failure?;
    let failed = FailedPost {
        id: post.post_id.uuid(),
        title: post.title.unwrap_or_default(),
    };
    let is_of_connection = matches!(failure.code.as_str(), NOT_READY | CREDENTIAL);
    // One lost connection makes many posts fail: they are counted in its notice.
    if let Some(lost) = known.lost.filter(|_| is_of_connection) {
        let mut cause = lost_connection(lost);
        cause.facts.add(NoticeFacts {
            posts: vec![failed],
            ..NoticeFacts::default()
        });
        return Some(vec![NoticeStep::Tell(Box::new(cause))]);
    }
    let mut facts = NoticeFacts {
        name: failed.title.clone(),
        detail: failure.detail,
        ..NoticeFacts::default()
    };
    let subject = match failure.code.as_str() {
        NOT_READY => event.project_id.uuid(),
        code if OF_CONNECTION.contains(&code) => known.connection.map_or(failed.id, ConnectionId::uuid),
        _ => failed.id,
    };
    facts.add(NoticeFacts {
        posts: vec![failed],
        ..NoticeFacts::default()
    });
    Some(vec![NoticeStep::Tell(Box::new(Cause {
        kind: NoticeKind::PublicationFailed,
        key: format!("{}:{subject}", failure.code),
        subject,
        facts,
        is_held: false,
    }))])
}

/// Returns the cause of a post about which it is not known whether its provider has it. No event tells of it.
pub fn uncertain(post: PostId, title: &str) -> Cause {
    let mut facts = NoticeFacts {
        name: title.to_owned(),
        detail: "It could not be determined whether the post is at the provider. Look there, then publish it again: that looks for it first, and never publishes it twice.".to_owned(),
        is_uncertain: true,
        ..NoticeFacts::default()
    };
    facts.add(NoticeFacts {
        posts: vec![FailedPost {
            id: post.uuid(),
            title: title.to_owned(),
        }],
        ..NoticeFacts::default()
    });
    Cause {
        kind: NoticeKind::PublicationFailed,
        key: format!("uncertain:{post}"),
        subject: post.uuid(),
        facts,
        is_held: false,
    }
}

/// Subject of the cause of backups that fail, of which there is one.
pub const BACKUPS: Uuid = Uuid::from_u128(0x5357_5247_0000_8000_8000_0000_0000_0001);

/// Returns the cause of backups that fail. No event tells of it.
pub fn backup_failed(why: &str) -> Cause {
    Cause {
        kind: NoticeKind::BackupFailed,
        key: "backup".to_owned(),
        subject: BACKUPS,
        facts: NoticeFacts {
            detail: why.to_owned(),
            ..NoticeFacts::default()
        },
        is_held: false,
    }
}

fn found(event: &Event, known: &Known) -> Option<Vec<NoticeStep>> {
    let issue: IssueData = data(event)?;
    let audit = issue.audit_id?;
    known
        .audit
        .as_ref()
        .filter(|known| known.trigger == AuditTrigger::Scheduled)?;
    let facts = NoticeFacts {
        issues: vec![FoundIssue {
            id: issue.issue_id.uuid(),
            is_back: event.kind == EventType::IssueReopened,
            title: String::new(),
            severity: None,
            pages: 0,
        }],
        ..NoticeFacts::default()
    };
    Some(vec![NoticeStep::Tell(Box::new(Cause {
        kind: NoticeKind::AuditFound,
        key: format!("found:{audit}"),
        subject: audit.uuid(),
        facts,
        is_held: true,
    }))])
}

fn audit_failed(event: &Event, known: Known) -> Option<Vec<NoticeStep>> {
    let failure: AuditFailure = data(event)?;
    let known = known.audit?;
    let cause = Cause {
        kind: NoticeKind::AuditFailed,
        key: format!("failed:{}", failure.audit_id),
        subject: failure.audit_id.uuid(),
        facts: NoticeFacts {
            detail: known.error,
            ..NoticeFacts::default()
        },
        is_held: false,
    };
    Some(vec![
        NoticeStep::Release(failure.audit_id.uuid(), known.figures),
        NoticeStep::Tell(Box::new(cause)),
    ])
}

fn paused(event: &Event) -> Option<Vec<NoticeStep>> {
    let pause: PauseData = data(event)?;
    Some(vec![NoticeStep::Tell(Box::new(Cause {
        kind: NoticeKind::AutopilotPaused,
        // It pauses once until a person resumes it: each event is a cause.
        key: format!("paused:{}", event.id),
        subject: event.id.uuid(),
        facts: NoticeFacts {
            detail: pause.detail,
            ..NoticeFacts::default()
        },
        is_held: false,
    }))])
}

fn approval(event: &Event) -> Option<Vec<NoticeStep>> {
    let approval: ApprovalData = data(event)?;
    Some(vec![NoticeStep::Tell(Box::new(Cause {
        kind: NoticeKind::ApprovalWaits,
        key: format!("approval:{}", approval.approval_id),
        subject: approval.approval_id.uuid(),
        facts: NoticeFacts {
            name: approval.title.unwrap_or_default(),
            until: approval.expires_at,
            ..NoticeFacts::default()
        },
        is_held: false,
    }))])
}

#[cfg(test)]
mod tests {
    use searchwright_contract::Instant;
    use serde_json::{Value, json};

    use super::*;

    fn event(kind: EventType, data: Value) -> Event {
        Event {
            id: Uuid::from_u128(9).into(),
            kind,
            timestamp: Instant::from_millis(0),
            project_id: Uuid::from_u128(1).into(),
            data,
        }
    }

    fn post(number: u128, status: &str) -> Value {
        json!({ "postId": Uuid::from_u128(number), "version": 1, "status": status, "title": "Oak", "url": null })
    }

    fn told(steps: &[NoticeStep]) -> Vec<(NoticeKind, &str)> {
        let told = steps.iter().filter_map(|step| match step {
            NoticeStep::Tell(cause) => Some((cause.kind, cause.key.as_str())),
            _ => None,
        });
        told.collect()
    }

    #[test]
    fn posts_of_one_lost_connection_are_one_cause() {
        let lost = LostConnection {
            id: Uuid::from_u128(5).into(),
            provider: Provider::Wordpress,
        };
        let key = format!("lost:{}", Uuid::from_u128(5));
        for code in [NOT_READY, CREDENTIAL] {
            for number in 10..12 {
                let known = Known {
                    failure: Some(KnownFailure {
                        code: code.to_owned(),
                        detail: String::new(),
                    }),
                    lost: Some(lost),
                    ..Known::default()
                };
                let steps = read(
                    &event(EventType::PostPublishFailed, post(number, "failed")),
                    known,
                );
                assert_eq!(told(&steps), [(NoticeKind::IntegrationLost, key.as_str())]);
            }
        }
        let known = Known {
            lost: Some(lost),
            ..Known::default()
        };
        let data = json!({ "provider": "wordpress", "connectionId": lost.id });
        let steps = read(&event(EventType::IntegrationDisconnected, data.clone()), known);
        assert_eq!(told(&steps), [(NoticeKind::IntegrationLost, key.as_str())]);
        // A person who disconnects knows it.
        assert!(read(&event(EventType::IntegrationDisconnected, data), Known::default()).is_empty());
    }

    #[test]
    fn posts_of_a_provider_that_is_down_are_one_cause_until_one_goes_through() {
        let connection = Uuid::from_u128(5);
        let known = |code: &str| Known {
            failure: Some(KnownFailure {
                code: code.to_owned(),
                detail: String::new(),
            }),
            connection: Some(connection.into()),
            ..Known::default()
        };
        let key = format!("timeout:{connection}");
        for number in 10..12 {
            let failed = event(EventType::PostPublishFailed, post(number, "failed"));
            let steps = read(&failed, known("timeout"));
            assert_eq!(told(&steps), [(NoticeKind::PublicationFailed, key.as_str())]);
        }
        let went = event(EventType::PostPublished, post(12, "published"));
        assert_eq!(
            read(&went, known("")),
            [NoticeStep::End(Uuid::from_u128(12)), NoticeStep::End(connection)]
        );
    }

    #[test]
    fn a_post_that_fails_by_itself_is_a_cause_of_its_own_until_readers_see_it() {
        let known = || Known {
            failure: Some(KnownFailure {
                code: "rejected".to_owned(),
                detail: "the provider does not take what was sent".to_owned(),
            }),
            ..Known::default()
        };
        let steps = read(&event(EventType::PostPublishFailed, post(10, "failed")), known());
        let key = format!("rejected:{}", Uuid::from_u128(10));
        assert_eq!(told(&steps), [(NoticeKind::PublicationFailed, key.as_str())]);
        let ended = |kind, status| read(&event(kind, post(10, status)), Known::default());
        assert!(ended(EventType::PostUpdated, "publishing").is_empty());
        for (kind, status) in [
            (EventType::PostUpdated, "published"),
            (EventType::PostPublished, "published"),
            (EventType::PostUnpublished, "draft"),
        ] {
            assert_eq!(ended(kind, status), [NoticeStep::End(Uuid::from_u128(10))]);
        }
    }

    #[test]
    fn only_scheduled_audits_tell_what_they_found_and_when_they_end() {
        let audit = Uuid::from_u128(7);
        let known = |trigger| Known {
            audit: Some(KnownAudit {
                trigger,
                figures: AuditFigures {
                    health: Some(80),
                    health_before: None,
                },
                error: String::new(),
            }),
            ..Known::default()
        };
        let opened = event(
            EventType::IssueOpened,
            json!({ "issueId": Uuid::from_u128(8), "checkId": "title-missing", "auditId": audit }),
        );
        assert_eq!(lookup(&opened), Some(Lookup::Audit(audit.into())));
        assert!(read(&opened, known(AuditTrigger::Manual)).is_empty());
        let steps = read(&opened, known(AuditTrigger::Scheduled));
        assert!(
            matches!(&steps[..], [NoticeStep::Tell(cause)] if cause.is_held && cause.facts.issues.len() == 1)
        );
        let data = json!({ "auditId": audit, "status": "completed", "healthScore": 80 });
        let steps = read(
            &event(EventType::AuditCompleted, data),
            known(AuditTrigger::Scheduled),
        );
        assert!(
            matches!(&steps[..], [NoticeStep::Release(id, figures)] if *id == audit && figures.health == Some(80))
        );
    }
}
