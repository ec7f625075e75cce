//! Lists: pages in a fixed order, addressed by a cursor that is valid only for its own list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::{Answer, Head};

/// Default number of records per page.
pub const DEFAULT_LIMIT: u8 = 25;

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ListOf{T}")]
pub struct List<T> {
    /// The records.
    pub data: Vec<T>,
    /// Cursor of the next page, to be passed as `cursor`; `null` on the last page.
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
