//! Parsers of structured values on the command line.

use std::{fs, io::Read as _};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use encoding_rs::{Encoding, UTF_8};
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

/// Converts a file whose sender names its encoding to a member of JSON.
pub fn labelled_file_member(bytes: Vec<u8>, charset: &str) -> String {
    if Encoding::for_label(charset.as_bytes()) == Some(UTF_8) {
        return file_member(bytes);
    }
    let is_label = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '+');
    let label: String = charset.chars().filter(is_label).collect();
    format!("data:;charset={label};base64,{}", BASE64_STANDARD.encode(bytes))
}

fn data_url(bytes: &[u8]) -> String {
    format!("data:;base64,{}", BASE64_STANDARD.encode(bytes))
}

/// Reason why a member is no file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileFault {
    /// A `data:` URL without valid base64.
    #[error("is a data: URL without valid base64")]
    NotBase64,
    /// A `data:` URL that names an encoding nobody knows.
    #[error("names the unknown charset {0}; leave it out to have it detected")]
    UnknownCharset(String),
}

impl FileFault {
    /// Returns the code on the wire.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotBase64 => "not_base64",
            Self::UnknownCharset(_) => "unknown_charset",
        }
    }
}

/// Returns the bytes of such a member; in UTF-8 if it names its encoding, else as they are.
pub fn file_bytes(member: String) -> Result<Vec<u8>, FileFault> {
    let Some(url) = member.strip_prefix("data:") else {
        return Ok(member.into_bytes());
    };
    let (head, data) = url.split_once(',').ok_or(FileFault::NotBase64)?;
    let head = head.strip_suffix(";base64").ok_or(FileFault::NotBase64)?;
    let bytes = BASE64_STANDARD
        .decode(data.trim_end())
        .map_err(|_| FileFault::NotBase64)?;
    let Some(label) = charset(head) else {
        return Ok(bytes);
    };
    match Encoding::for_label(label.as_bytes()) {
        Some(encoding) if encoding == UTF_8 => Ok(bytes),
        // a byte order mark is surer than what the sender says
        Some(encoding) => Ok(encoding.decode(&bytes).0.into_owned().into_bytes()),
        None => Err(FileFault::UnknownCharset(label.chars().take(40).collect())),
    }
}

/// Returns the `charset` of a media type.
pub fn charset(media_type: &str) -> Option<&str> {
    media_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches('"');
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then_some(value)
    })
}

/// Reads JSON: the text itself, the file behind `@`, or standard input behind `@-`.
pub fn json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    json::parse(json::without_mark(&bytes(text)?))
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
