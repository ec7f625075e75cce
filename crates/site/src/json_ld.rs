//! JSON-LD with the plain names of schema.org: a context may give them a prefix (`schema:name`) or other names, and they
//! may be written as whole URLs.

use std::borrow::Cow;

use hashbrown::HashMap;

use crate::json::{Json, Object};

/// Maximum nesting depth of objects whose names are replaced.
const MAX_DEPTH: usize = 32;
/// Maximum number of terms of a context that are used.
const MAX_TERMS: usize = 500;
/// Usual prefix of schema.org, which many use without declaring it.
const USUAL: &str = "schema";

/// Names that a context defines.
#[derive(Clone, Debug)]
struct Terms {
    /// Prefixes that stand for schema.org.
    prefixes: Vec<String>,
    /// Terms with the name of schema.org, or the keyword, that they stand for.
    terms: HashMap<String, String>,
}

/// Parses a block; `None` if it is not JSON, or nested too deeply.
pub(crate) fn read(source: &str) -> Option<Json<'_>> {
    let value = Json::parse(source)?;
    if is_plain(&value, 0) {
        return Some(value);
    }
    let terms = Terms {
        prefixes: vec![USUAL.to_owned()],
        terms: HashMap::new(),
    };
    Some(plain(value, &terms, 0))
}

/// Whether no name needs to be replaced, as in nearly all blocks.
fn is_plain(value: &Json<'_>, depth: usize) -> bool {
    match value {
        Json::Array(values) => values.iter().all(|value| is_plain(value, depth)),
        Json::Object(object) => {
            depth >= MAX_DEPTH
                || object.iter().all(|(name, value)| match name {
                    "@context" => is_bare(value),
                    "@value" => false,
                    name => !name.contains(':') && is_plain(value, depth + 1),
                })
        }
        _ => true,
    }
}

/// Whether a context defines no terms.
fn is_bare(context: &Json<'_>) -> bool {
    match context {
        Json::Array(parts) => parts.iter().all(is_bare),
        Json::Object(terms) => terms.keys().all(|name| name.starts_with('@')),
        _ => true,
    }
}

fn plain<'a>(value: Json<'a>, outer: &Terms, depth: usize) -> Json<'a> {
    match value {
        Json::Array(values) => Json::Array(
            values
                .into_iter()
                .map(|value| plain(value, outer, depth))
                .collect(),
        ),
        Json::Object(mut object) if depth < MAX_DEPTH => {
            // the value of a property with a language or a type
            if object.keys().all(|name| name.starts_with('@'))
                && let Some(value) = object.remove("@value")
            {
                return value;
            }
            let own = object.get("@context").map(|context| outer.with(context));
            let terms = own.as_ref().unwrap_or(outer);
            let mut named = Object::default();
            for (name, value) in object {
                if name == "@context" {
                    named.put(name, value);
                    continue;
                }
                let name = match terms.name(&name) {
                    Some(plain) => Cow::Owned(plain.to_owned()),
                    None => name,
                };
                let value = plain(value, terms, depth + 1);
                let value = if name == "@type" {
                    terms.types(value)
                } else {
                    value
                };
                named.put(name, value);
            }
            Json::Object(named)
        }
        value => value,
    }
}

/// Returns the name in a URL of schema.org; empty for the URL of the vocabulary itself.
fn of_schema_org(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    let rest = rest.strip_prefix("schema.org")?;
    let name = rest
        .strip_prefix(['/', '#'])
        .or(rest.is_empty().then_some(rest))?;
    (matches!(scheme, "http" | "https") && !name.contains('/')).then_some(name)
}

impl Terms {
    /// Returns these terms with those of a context within.
    fn with(&self, context: &Json<'_>) -> Self {
        let mut terms = self.clone();
        for part in context.each() {
            for (term, meaning) in part.as_object().iter().flat_map(|terms| terms.iter()) {
                let meaning = meaning.as_str().or_else(|| meaning.get("@id")?.as_str());
                let meaning = meaning.filter(|_| !term.starts_with('@') && terms.terms.len() < MAX_TERMS);
                if let Some(meaning) = meaning {
                    terms.define(term, meaning);
                }
            }
        }
        terms
    }

    fn define(&mut self, term: &str, meaning: &str) {
        self.prefixes.retain(|prefix| prefix != term);
        match of_schema_org(meaning) {
            Some("") => self.prefixes.push(term.to_owned()),
            Some(name) => {
                self.terms.insert(term.to_owned(), name.to_owned());
            }
            None if meaning.starts_with('@') => {
                self.terms.insert(term.to_owned(), meaning.to_owned());
            }
            None => {
                if let Some(name) = self.without_prefix(meaning).map(str::to_owned) {
                    self.terms.insert(term.to_owned(), name);
                }
            }
        }
    }

    fn without_prefix<'n>(&self, name: &'n str) -> Option<&'n str> {
        let (prefix, rest) = name.split_once(':')?;
        let is_known = self.prefixes.iter().any(|known| known == prefix);
        (is_known && !rest.is_empty() && !rest.starts_with("//")).then_some(rest)
    }

    /// Returns the plain name; `None` if it is plain, or of another vocabulary.
    fn name<'n>(&'n self, name: &'n str) -> Option<&'n str> {
        if let Some(known) = self.terms.get(name) {
            return Some(known);
        }
        let of_url = of_schema_org(name).filter(|name| !name.is_empty());
        self.without_prefix(name).or(of_url)
    }

    /// Replaces names of types.
    fn types<'a>(&self, value: Json<'a>) -> Json<'a> {
        match value {
            Json::Array(types) => Json::Array(types.into_iter().map(|one| self.types(one)).collect()),
            Json::String(name) => match self.name(&name) {
                // a type of schema.org that a term stands for; whole URLs stay, as they say whose type it is
                Some(plain) if !name.contains("://") => Json::String(Cow::Owned(plain.to_owned())),
                _ => Json::String(name),
            },
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::json::Json;

    fn same(source: &str, plain: &str) {
        assert_eq!(read(source), Json::parse(plain), "{source}");
    }

    #[test]
    fn names_lose_their_prefix() {
        let product = |context: &str| {
            format!(
                r#"{{"@context":{context},"@type":"Product","name":"x","offers":{{"@type":"Offer","price":"1"}}}}"#
            )
        };
        let with = |context: &str, p: &str| {
            format!(
                r#"{{"@context":{context},"@type":"{p}Product","{p}name":"x","{p}offers":{{"@type":"{p}Offer","{p}price":"1"}}}}"#
            )
        };
        for (context, prefix) in [
            (r#"{"schema":"https://schema.org/"}"#, "schema:"),
            (r#"{"s":"http://www.schema.org/"}"#, "s:"),
            (
                r#"["https://schema.org",{"so":{"@id":"https://schema.org/","@prefix":"x"}}]"#,
                "so:",
            ),
            (r#""https://schema.org""#, "schema:"),
        ] {
            same(&with(context, prefix), &product(context));
        }
        let other = with(r#"{"schema":"https://other.example/"}"#, "schema:");
        same(&other, &other);
        same(
            r#"{"http://schema.org/name":[{"@value":"x","@language":"en"}],"gs1:netContent":"1"}"#,
            r#"{"name":["x"],"gs1:netContent":"1"}"#,
        );
    }

    #[test]
    fn terms_stand_for_names() {
        same(
            r#"{"@context":{"s":"https://schema.org/","label":"s:name","kind":"@type","Thing2":"https://schema.org/Product"},"kind":"Thing2","label":"x"}"#,
            r#"{"@context":{"s":"https://schema.org/","label":"s:name","kind":"@type","Thing2":"https://schema.org/Product"},"@type":"Product","name":"x"}"#,
        );
        let plain = r#"{"@context":"https://schema.org","@graph":[{"@type":"Product","name":"x"}]}"#;
        same(plain, plain);
        assert_eq!(read("{"), None);
    }
}
