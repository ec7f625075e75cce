//! Budget of an answer: what a call may take of a model's context, and the members that it asks for.

use searchwright_contract::{Problem, columns::Columns};
use serde_json::{Map, Value};

/// Bytes of JSON that count as a token.
const BYTES_OF_A_TOKEN: usize = 4;
/// Bytes of a result beside what carries the answer.
const FRAME: usize = 120;
/// Tokens of an answer, unless the call says otherwise.
const DEFAULT_TOKENS: u64 = 8_000;
/// Most tokens of an answer.
const MAX_TOKENS: u64 = 20_000;
/// Argument of every tool: most tokens of its answer.
const TOKENS: &str = "maxTokens";
/// Argument of every tool: names of the members to answer with.
const FIELDS: &str = "fields";

/// Arguments that every tool takes besides its own.
#[derive(Debug)]
pub(super) struct Budget {
    /// Most bytes of the whole result.
    bytes: usize,
    /// Members to answer with; `None` for all.
    fields: Option<Vec<String>>,
}

impl Budget {
    /// Takes what belongs to every tool out of the arguments of one.
    pub(super) fn take(arguments: &mut Map<String, Value>) -> Result<Self, Problem> {
        let tokens = match arguments.remove(TOKENS) {
            None | Some(Value::Null) => DEFAULT_TOKENS,
            Some(value) => value
                .as_u64()
                .filter(|tokens| (1..=MAX_TOKENS).contains(tokens))
                .ok_or_else(|| {
                    let detail =
                        format!("is a whole number from 1 to {MAX_TOKENS}; {DEFAULT_TOKENS} without it");
                    Problem::fault("/maxTokens", "out_of_range", detail)
                })?,
        };
        let wrong = || Problem::fault("/fields", "wrong_type", "is a list of names of members");
        let fields = match arguments.remove(FIELDS) {
            None | Some(Value::Null) => None,
            Some(Value::String(names)) => Some(names.split(',').map(|name| name.trim().to_owned()).collect()),
            Some(Value::Array(names)) => {
                let names = names.into_iter().map(|name| match name {
                    Value::String(name) => Ok(name),
                    _ => Err(wrong()),
                });
                Some(names.collect::<Result<Vec<_>, _>>()?)
            }
            Some(_) => return Err(wrong()),
        };
        Ok(Self {
            bytes: usize::try_from(tokens)
                .unwrap_or(usize::MAX)
                .saturating_mul(BYTES_OF_A_TOKEN),
            fields: fields.filter(|fields| !fields.is_empty()),
        })
    }

    /// Bytes of the members that carry the answer; the rest is for those that the protocol writes.
    pub(super) const fn room(&self) -> usize {
        self.bytes.saturating_sub(FRAME)
    }

    /// Returns the columns that are asked for; `None` for all. The refusal of an unknown one names the others.
    pub(super) fn columns(&self, all: Option<&Columns>) -> Result<Option<Columns>, Problem> {
        let Some(fields) = &self.fields else {
            return Ok(None);
        };
        let none = || Problem::fault("/fields", "not_allowed", "does not apply to this tool");
        let all = all.ok_or_else(none)?;
        let chosen = all.select(fields.iter().map(String::as_str));
        chosen.map(Some).map_err(|unknown| {
            const LONGEST: usize = 60;
            let unknown: String = unknown.chars().take(LONGEST).collect();
            let known: Vec<&str> = all.iter().map(|column| column.name.as_str()).collect();
            let detail = format!("has no {unknown:?}; known are {}", known.join(", "));
            Problem::fault("/fields", "unknown_field", detail)
        })
    }
}
