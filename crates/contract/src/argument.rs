//! How structured members are written on a command line.

use std::{fs, io::Read as _};

use serde::de::DeserializeOwned;

use crate::{Patch, json};

/// `T`, named so that the derive of the command line takes it as one value, whatever it holds.
pub type Json<T> = T;

/// Reads JSON: the text itself, the file behind `@`, or standard input behind `@-`.
pub fn json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let bytes = match text.strip_prefix('@') {
        None => text.as_bytes().to_vec(),
        Some("-") => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().read_to_end(&mut bytes);
            read.map_err(|e| format!("cannot read standard input: {e}"))?;
            bytes
        }
        Some(path) => fs::read(path).map_err(|e| format!("cannot read {path}: {e}"))?,
    };
    json::parse(&bytes)
        .and_then(serde_json::from_value)
        .map_err(|e| e.to_string())
}

/// Makes a reader of values one of nullable members: nothing leaves the member out, `null` clears it.
pub fn patch<T, E>(
    read: impl Fn(&str) -> Result<T, E> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<Patch<T>, E> + Clone + Send + Sync + 'static {
    move |text| match text {
        "" => Ok(Patch::Absent),
        "null" => Ok(Patch::Null),
        _ => read(text).map(Patch::Value),
    }
}
