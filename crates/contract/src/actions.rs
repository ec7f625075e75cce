//! What a caller may do with a record now, so that an agent does not learn by refusal.

use std::{borrow::Cow, collections::BTreeMap};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// From the name of an action to `true`, or to why not.
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
        /// The code that the call would answer.
        code: Cow<'static, str>,
        /// For people.
        reason: Cow<'static, str>,
    },
}

impl Permission {
    /// Refused, with the code and the reason a call would get.
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
                { "const": true },
                {
                    "type": "object",
                    "properties": {
                        "allowed": { "const": false },
                        "code": { "type": "string", "description": "the code that the call would answer" },
                        "reason": { "type": "string", "description": "for people" }
                    },
                    "required": ["allowed", "code", "reason"]
                }
            ],
            "examples": [true]
        })
    }
}

impl AllowedActions {
    /// With one more action.
    #[must_use]
    pub fn with(mut self, action: &'static str, permission: Permission) -> Self {
        self.0.insert(action.into(), permission);
        self
    }
}
