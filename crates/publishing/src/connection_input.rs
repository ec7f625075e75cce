//! Input of a person who connects a provider: open and secret values, and the faults in them.

use std::collections::BTreeMap;

use searchwright_contract::{Fault, Problem};
use secrecy::SecretString;
use serde_json::Value;
use url::Url;

use super::vendors::{Input, Vendor, git};

/// Longest value that a person can enter, in bytes.
const MAX_VALUE_BYTES: usize = 16 << 10;

/// Open and secret values of what was entered, or every fault of it by the name of its input.
pub type SortedInput = (BTreeMap<String, String>, BTreeMap<String, String>);

/// Sorts what a person entered into settings and secrets, or names every fault of it.
pub fn sort_input(
    vendor: &Vendor,
    known: &BTreeMap<String, String>,
    entered: BTreeMap<String, String>,
) -> Result<SortedInput, Box<Problem>> {
    let mut faults: Vec<Fault> = Vec::new();
    let wrong = |name: &str, code: &str, detail: &str| Fault {
        pointer: format!("/{name}"),
        code: code.to_owned(),
        detail: detail.to_owned(),
    };
    let mut settings = known.clone();
    let mut secrets = BTreeMap::new();
    for (name, value) in entered {
        let value = value.trim().to_owned();
        let input = vendor.inputs.iter().find(|input| input.name == name);
        match input {
            // An address of the interface is for those who run their own, and for tests: no form offers it.
            None if name == API_URL => {}
            None => {
                faults.push(wrong(&name, "unknown_field", "is nothing this provider asks for"));
                continue;
            }
            Some(_) => {}
        }
        if value.is_empty() {
            continue;
        }
        if value.len() > MAX_VALUE_BYTES
            || (value.chars().any(char::is_control) && !input.is_some_and(|i| i.secret || i.lines))
        {
            let why = "is too long, or holds characters that nobody can see";
            faults.push(wrong(&name, "invalid", why));
            continue;
        }
        let read = match name.as_str() {
            "repository" => git::address::Address::parse(&value).map(drop),
            name if name.ends_with("Url") => address(&value),
            _ => Ok(()),
        };
        if let Err(why) = read {
            faults.push(wrong(&name, "not_a_url", why));
            continue;
        }
        if input.is_some_and(|input| input.secret) {
            secrets.insert(name, value);
        } else {
            settings.insert(name, value);
        }
    }
    let is_given = |input: &Input| settings.contains_key(input.name) || secrets.contains_key(input.name);
    let is_faulty = |input: &Input, faults: &[Fault]| faults.iter().any(|f| f.pointer[1..] == *input.name);
    let missing = vendor
        .inputs
        .iter()
        .filter(|input| input.required && !is_given(input));
    for input in missing {
        if !is_faulty(input, &faults) {
            faults.push(wrong(input.name, "required", "is needed"));
        }
    }
    if faults.is_empty() {
        Ok((settings, secrets))
    } else {
        Err(Problem::faults(faults).into())
    }
}

/// The hidden setting for the address of a vendor's interface.
pub const API_URL: &str = "apiUrl";

fn address(text: &str) -> Result<(), &'static str> {
    let Ok(url) = Url::parse(text) else {
        return Err("is no address such as https://example.com");
    };
    if !matches!(url.scheme(), "http" | "https") {
        return Err("has to begin with https://");
    }
    if !url.username().is_empty()
        || url.password().is_some()
        || url.query().is_some()
        || url.fragment().is_some()
    {
        return Err("must hold no user, password, query or fragment");
    }
    Ok(())
}

/// The secrets of a connection by the names of their inputs.
pub fn secrets(text: &str) -> BTreeMap<String, SecretString> {
    let Ok(Value::Object(members)) = serde_json::from_str(text) else {
        return BTreeMap::new();
    };
    members
        .into_iter()
        .filter_map(|(name, value)| Some((name, SecretString::from(value.as_str()?.to_owned()))))
        .collect()
}
