//! Ids of records. Each kind has its own type, so that an id of one kind does not compile where another is expected, and a text
//! that is no id is an error where it is read.
//!
//! Arguments of operations are texts: a malformed one is answered like one that names nothing.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Error for a text that is not a UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an id of the form 01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c")]
pub struct NotAnId;

/// Types of ids: expands `$then! { rows }` with each of them.
#[macro_export]
macro_rules! ids {
    ($then:ident) => {
        $then! {
            /// Id of a project.
            ProjectId;
            /// Id of a workspace.
            WorkspaceId;
            /// Id of a person who signs in.
            UserId;
            /// Id of a session of a browser.
            SessionId;
            /// Id of a passkey.
            PasskeyId;
            /// Id of an invitation to a workspace.
            InvitationId;
            /// Id of an API key, of an OAuth grant or of another credential.
            CredentialId;
            /// Id of an entry of the activity log.
            ActivityId;
            /// Id of a job.
            JobId;
            /// Id of an audit.
            AuditId;
            /// Id of an issue.
            IssueId;
            /// Id of a page.
            PageId;
            /// Id of a recheck.
            RecheckId;
            /// Id of the API key, person, audit or recheck that changed an occurrence.
            ActorId;
            /// Id of a keyword.
            KeywordId;
            /// Id of a cluster of keywords.
            ClusterId;
            /// Id of a post.
            PostId;
            /// Id of an attempt to publish a post.
            AttemptId;
            /// Id of a connection to a publishing provider.
            ConnectionId;
            /// Id of an event.
            EventId;
            /// Id of a webhook.
            WebhookId;
            /// Id of a delivery, which is that of its event.
            DeliveryId;
            /// Id of an item of brand data.
            ItemId;
            /// Id of a prompt.
            PromptId;
            /// Id of an answer to a prompt.
            AnswerId;
            /// Id of a run of prompts.
            RunId;
            /// Id of a run of the autopilot.
            AutopilotRunId;
            /// Id of an approval of a post.
            ApprovalId;
        }
    };
}

macro_rules! declare {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
            #[serde(transparent)]
            pub struct $name(Uuid);

            impl $name {
                /// Lower bound of all ids.
                pub const MIN: Self = Self(Uuid::nil());
                /// Upper bound of all ids.
                pub const MAX: Self = Self(Uuid::max());

                /// Parses the text form.
                pub fn parse(text: &str) -> Result<Self, NotAnId> {
                    Uuid::try_parse(text).map(Self).map_err(|_| NotAnId)
                }

                /// Returns the id without its kind.
                pub const fn uuid(self) -> Uuid {
                    self.0
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.pad(self.0.hyphenated().encode_lower(&mut Uuid::encode_buffer()))
                }
            }

            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    fmt::Display::fmt(self, f)
                }
            }

            impl FromStr for $name {
                type Err = NotAnId;

                fn from_str(text: &str) -> Result<Self, NotAnId> {
                    Self::parse(text)
                }
            }

            impl From<Uuid> for $name {
                fn from(id: Uuid) -> Self {
                    Self(id)
                }
            }

            impl From<$name> for Uuid {
                fn from(id: $name) -> Self {
                    id.0
                }
            }

            impl From<$name> for serde_json::Value {
                fn from(id: $name) -> Self {
                    Self::String(id.to_string())
                }
            }

            impl JsonSchema for $name {
                fn inline_schema() -> bool {
                    true
                }

                fn schema_name() -> Cow<'static, str> {
                    String::schema_name()
                }

                fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                    String::json_schema(generator)
                }
            }
        )*
    };
}
ids!(declare);

impl From<EventId> for DeliveryId {
    fn from(event: EventId) -> Self {
        Self(event.0)
    }
}

impl From<DeliveryId> for EventId {
    fn from(delivery: DeliveryId) -> Self {
        Self(delivery.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "01936f2e-7b7a-7c3e-9d2a-3f0f5a1c2b4c";

    #[test]
    fn json_form_is_the_hyphenated_text() {
        let id = PostId::parse(TEXT).unwrap();
        assert_eq!(id.to_string(), TEXT);
        assert_eq!(serde_json::to_value(id).unwrap(), TEXT);
        assert_eq!(serde_json::Value::from(id), TEXT);
        assert_eq!(serde_json::from_value::<PostId>(TEXT.into()).unwrap(), id);
    }

    #[test]
    fn malformed_id_is_an_error() {
        for text in ["", "post", &TEXT[1..]] {
            assert_eq!(text.parse::<PostId>(), Err(NotAnId));
            assert!(serde_json::from_value::<PostId>(text.into()).is_err());
        }
    }

    #[test]
    fn schema_is_that_of_a_text() {
        let schema = |generate: fn(&mut SchemaGenerator) -> Schema| generate(&mut SchemaGenerator::default());
        assert_eq!(
            schema(SchemaGenerator::subschema_for::<PostId>),
            schema(SchemaGenerator::subschema_for::<String>)
        );
        assert_eq!(
            schema(SchemaGenerator::subschema_for::<Option<PostId>>),
            schema(SchemaGenerator::subschema_for::<Option<String>>)
        );
    }
}
