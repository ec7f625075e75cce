//! Lists: one page at a time, in a fixed order, by a cursor that only its own list accepts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::{Answer, Head};

/// Records of a page unless `limit` says otherwise.
pub const DEFAULT_LIMIT: u8 = 25;

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ListOf{T}")]
pub struct List<T> {
    /// The records.
    pub data: Vec<T>,
    /// Pass it as `cursor` for the next page; `null` on the last one.
    pub next_cursor: Option<String>,
}

impl<T> Answer for List<T>
where
    T: Serialize + serde::de::DeserializeOwned + JsonSchema + Send + 'static,
{
    const LIST: bool = true;

    fn head(&self) -> Head {
        Head {
            next_cursor: self.next_cursor.clone(),
            ..Head::default()
        }
    }
}
