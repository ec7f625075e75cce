//! Operations and their metadata, as every surface needs them.

use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde::{Serialize, de::DeserializeOwned};

use crate::Code;

/// HTTP method of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    GET,
    /// Creates, starts or performs an action.
    POST,
    /// Changes the given members (RFC 7396 merge patch).
    PATCH,
    /// Deletes.
    DELETE,
}

impl Method {
    /// Text form, as in HTTP.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::GET => "GET",
            Self::POST => "POST",
            Self::PATCH => "PATCH",
            Self::DELETE => "DELETE",
        }
    }
}

/// Effect of a call. Decides status codes, idempotency, MCP annotations, and which calls need consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing changes. 200.
    Read,
    /// A record is created. 201 with `Location`.
    Create,
    /// A record changes. 200.
    Change,
    /// A file is imported, which may be larger than other bodies. 200.
    Import,
    /// A job is started. 202 with the `Location` of the job.
    Start,
    /// Like `Start`, and a provider may charge for it.
    Spend,
    /// Something becomes public.
    Publish,
    /// A record is deleted. 204.
    Delete,
}

impl Effect {
    /// Status of success.
    pub const fn status(self) -> u16 {
        match self {
            Self::Read | Self::Change | Self::Import => 200,
            Self::Create => 201,
            Self::Start | Self::Spend | Self::Publish => 202,
            Self::Delete => 204,
        }
    }

    /// Returns whether it runs in a write transaction.
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Read)
    }

    /// Returns whether it counts against the stricter `run` rate limit.
    pub const fn runs(self) -> bool {
        matches!(self, Self::Import | Self::Start | Self::Spend | Self::Publish)
    }
}

impl Effect {
    /// Maximum size of a request body, in bytes.
    pub const fn largest_body(self) -> usize {
        match self {
            Self::Import => 16 << 20,
            _ => 1 << 20,
        }
    }
}

macro_rules! scopes {
    ($($variant:ident $text:literal $help:literal,)*) => {
        /// Scope of a credential. A write scope implies reading the same resource.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Scope {
            /// Any valid credential.
            Any,
            /// The scope that the record at hand requires, decided by the handler; never granted to read-only
            /// credentials.
            OfRecord,
            $(#[doc = $help] $variant,)*
        }

        impl Scope {
            /// Every scope a credential can carry.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Text form, as in JSON; empty for [`Scope::Any`] and [`Scope::OfRecord`].
            pub const fn as_str(self) -> &'static str {
                match self {
                    Self::Any | Self::OfRecord => "",
                    $(Self::$variant => $text,)*
                }
            }

            /// Parses the text form.
            pub fn parse(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Description for documents and consent pages.
            pub const fn help(self) -> &'static str {
                match self {
                    Self::Any => "any valid credential",
                    Self::OfRecord => "depends on the record",
                    $(Self::$variant => $help,)*
                }
            }
        }
    };
}
scopes! {
    ProjectsRead "projects:read" "read the project, its jobs, usage and activity",
    KeywordsRead "keywords:read" "read keywords",
    KeywordsWrite "keywords:write" "add, change and delete keywords",
    PostsRead "posts:read" "read posts",
    PostsWrite "posts:write" "add and change posts",
    IntegrationsRead "integrations:read" "read integrations",
    IntegrationsWrite "integrations:write" "change integrations",
    WebhooksRead "webhooks:read" "read webhooks and deliveries",
    WebhooksWrite "webhooks:write" "add and delete webhooks",
    AuditsRead "audits:read" "read audits, issues and pages",
    AuditsWrite "audits:write" "start audits and rechecks, mark occurrences",
    VisibilityRead "visibility:read" "read visibility figures and answers",
    VisibilityWrite "visibility:write" "change tracked prompts",
    BrandRead "brand:read" "read brand data",
    BrandWrite "brand:write" "change brand data",
    AutopilotRead "autopilot:read" "read autopilot settings",
    AutopilotWrite "autopilot:write" "change autopilot settings",
    ContentGenerate "content:generate" "generate keywords and posts, refresh metrics",
    ContentPublish "content:publish" "publish and unpublish posts",
    VisibilityTrack "visibility:track" "run tracked prompts, which may cost money",
}

impl Scope {
    /// Returns whether the scope allows to change, spend or publish; such scopes are refused to read-only keys.
    pub fn writes(self) -> bool {
        let text = self.as_str();
        text.ends_with(":write")
            || matches!(
                self,
                Self::OfRecord | Self::ContentGenerate | Self::ContentPublish | Self::VisibilityTrack
            )
    }

    /// Returns whether holding `self` grants `needed`: the same scope, or write for read of the same resource.
    pub fn grants(self, needed: Self) -> bool {
        if matches!(needed, Self::Any | Self::OfRecord) || self == needed {
            return true;
        }
        match (
            self.as_str().strip_suffix(":write"),
            needed.as_str().strip_suffix(":read"),
        ) {
            (Some(held), Some(wanted)) => held == wanted,
            _ => false,
        }
    }
}

/// Reach of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It reads and writes records of this server.
    Local,
    /// It crawls a website, asks a provider or calls a webhook, at once or by a job.
    Outbound,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Meta {
    /// `resource.verb`: MCP tool (with `_`), command line (two words), operationId.
    pub name: &'static str,
    /// HTTP method.
    pub method: Method,
    /// Path template relative to the versioned root, with `{camelCase}` parameters.
    pub path: &'static str,
    /// Scope that the caller needs.
    pub scope: Scope,
    /// Effect of a call.
    pub effect: Effect,
    /// Whether a call reaches outside this server.
    pub reach: Reach,
    /// Errors of this operation, besides those that any call can answer.
    pub errors: &'static [Code],
}

impl Meta {
    /// Names of the path parameters, in order.
    pub fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path
            .split('/')
            .filter_map(|s| s.strip_prefix('{')?.strip_suffix('}'))
    }

    /// Returns whether it works on one project.
    pub fn in_project(&self) -> bool {
        self.path.starts_with("/projects/{projectId}")
    }
}

/// An operation of the API. Path, query and body are one flat object.
pub trait Operation:
    Clone + Serialize + DeserializeOwned + JsonSchema + clap::Args + Send + Sync + 'static
{
    /// Type of the answer.
    type Answer: Answer;
    /// Metadata from its row of the table.
    const META: Meta;
}

/// Called once per operation by [`crate::visit`].
pub trait Visitor {
    /// One operation of the table.
    fn operation<O: Operation>(&mut self);
}

/// Header values that follow from an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Strong entity tag without quotes.
    pub etag: Option<String>,
    /// Path of the created record or started job, relative to the versioned root.
    pub location: Option<String>,
    /// Seconds to wait before asking again.
    pub retry_after: Option<u32>,
    /// Cursor of the next page.
    pub next_cursor: Option<String>,
    /// Whether nothing was done: see [`Answer::DRY_RUN`].
    pub is_dry_run: bool,
    /// Whether what was asked for was under way already, so that this call changed nothing.
    pub is_under_way: bool,
}

/// An answer. Its members are chosen for callers: never a database row.
pub trait Answer: Serialize + DeserializeOwned + JsonSchema + Send + 'static {
    /// Whether it may hold a secret, so that it is encrypted when stored for idempotent replay.
    const SECRET: bool = false;
    /// Whether it is a page of a list instead of a record.
    const LIST: bool = false;
    /// Whether a dry run answers at once, with 200, where the operation otherwise starts a job.
    const DRY_RUN: bool = false;

    /// Header values that follow from it.
    fn head(&self) -> Head {
        Head::default()
    }
}

impl Answer for () {}

/// Returns the JSON Schema 2020-12 of the input of an operation, as shown on every surface and enforced by the
/// server.
pub fn input_schema<O: Operation>() -> Schema {
    let mut schema = generator(false).into_root_schema_for::<O>();
    crate::shape::forbid_null(&mut schema);
    if O::META.method == Method::PATCH {
        schema.insert(crate::shape::MERGES.to_owned(), true.into());
    }
    schema
}

/// Returns the JSON Schema 2020-12 of the answer of an operation.
pub fn answer_schema<O: Operation>() -> Schema {
    generator(true).into_root_schema_for::<O::Answer>()
}

fn generator(answer: bool) -> schemars::SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|s| s.meta_schema = None);
    if answer {
        settings.for_serialize()
    } else {
        settings
    }
    .into_generator()
}
