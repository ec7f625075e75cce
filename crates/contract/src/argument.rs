//! Parsers of structured values on the command line.

use std::{fs, io::Read as _};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::de::DeserializeOwned;

use crate::{Patch, json};

/// Alias of `T` that makes the derive of the command line take it as one value, even if it is a list or an option.
pub type Json<T> = T;

/// Reads the text itself, the file behind `@`, or standard input behind `@-`.
fn bytes(text: &str) -> Result<Vec<u8>, String> {
    match text.strip_prefix('@') {
        None => Ok(text.as_bytes().to_vec()),
        Some("-") => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().read_to_end(&mut bytes);
            read.map_err(|e| format!("cannot read standard input: {e}"))?;
            Ok(bytes)
        }
        Some(path) => fs::read(path).map_err(|e| format!("cannot read {path}: {e}")),
    }
}

/// Reads UTF-8 text: the text itself, the file behind `@`, or standard input behind `@-`.
pub fn text(text: &str) -> Result<String, String> {
    String::from_utf8(bytes(text)?).map_err(|_| "is not UTF-8".to_owned())
}

/// Reads a file into a form that JSON can hold: its text, or a `data:` URL if it is not UTF-8.
pub fn file(text: &str) -> Result<String, String> {
    Ok(file_member(bytes(text)?))
}

/// Converts a file to a member of JSON.
pub fn file_member(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) if !text.starts_with("data:") => text,
        Ok(text) => data_url(text.as_bytes()),
        Err(error) => data_url(error.as_bytes()),
    }
}

fn data_url(bytes: &[u8]) -> String {
    format!("data:;base64,{}", BASE64_STANDARD.encode(bytes))
}

/// Returns the bytes of such a member; `None` if it is an invalid `data:` URL.
pub fn file_bytes(member: String) -> Option<Vec<u8>> {
    let Some(url) = member.strip_prefix("data:") else {
        return Some(member.into_bytes());
    };
    let (head, data) = url.split_once(',')?;
    head.ends_with(";base64")
        .then(|| BASE64_STANDARD.decode(data.trim_end()).ok())
        .flatten()
}

/// Reads JSON: the text itself, the file behind `@`, or standard input behind `@-`.
pub fn json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    json::parse(&bytes(text)?)
        .and_then(serde_json::from_value)
        .map_err(|e| e.to_string())
}

/// Turns a parser of values into one of nullable fields: an empty text leaves the field out, `null` clears it.
pub fn patch<T, E>(
    read: impl Fn(&str) -> Result<T, E> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<Patch<T>, E> + Clone + Send + Sync + 'static {
    move |text| match text {
        "" => Ok(Patch::Absent),
        "null" => Ok(Patch::Null),
        _ => read(text).map(Patch::Value),
    }
}
