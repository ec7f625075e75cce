//! Permissions of the caller on a record, so that an agent does not have to try a call to learn that it is refused.

use std::{borrow::Cow, collections::BTreeMap};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Actions by name, each with `true` if it is allowed now, or with the reason it is refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct AllowedActions(pub BTreeMap<Cow<'static, str>, Permission>);

/// `true`, or `{"allowed": false, "code", "reason"}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Permission {
    /// Always `true`.
    Yes(bool),
    /// Refused now.
    No {
        /// Always `false`.
        allowed: bool,
        /// Error code that the call would return.
        code: Cow<'static, str>,
        /// Human-readable explanation.
        reason: Cow<'static, str>,
    },
}

impl Permission {
    /// Creates a refusal with the code and the reason that a call would get.
    pub fn no(code: &'static str, reason: impl Into<Cow<'static, str>>) -> Self {
        Self::No {
            allowed: false,
            code: code.into(),
            reason: reason.into(),
        }
    }
}

impl JsonSchema for Permission {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Permission".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "oneOf": [
                { "type": "boolean", "description": "always `true`" },
                {
                    "type": "object",
                    "properties": {
                        "allowed": { "type": "boolean", "description": "always `false`" },
                        "code": { "type": "string", "description": "error code that the call would return" },
                        "reason": { "type": "string", "description": "human-readable explanation" }
                    },
                    "required": ["allowed", "code", "reason"]
                }
            ],
            "examples": [true]
        })
    }
}

impl AllowedActions {
    /// Adds an action.
    #[must_use]
    pub fn with(mut self, action: &'static str, permission: Permission) -> Self {
        self.0.insert(action.into(), permission);
        self
    }
}
