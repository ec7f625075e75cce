//! The interface of every CMS to the comparison, beside the product.

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Status of an item at the CMS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemStatus {
    Draft,
    Live,
    /// In the bin, or anything else.
    Other,
}

/// A post as a CMS has it.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) slug: String,
    pub(crate) status: ItemStatus,
    /// As it is stored: HTML or Markdown.
    pub(crate) content: String,
    pub(crate) excerpt: String,
    /// Address or id of its main image.
    pub(crate) image: Option<String>,
    pub(crate) tags: Vec<String>,
}

/// A CMS that runs until the value is dropped and is empty at its start.
pub(crate) trait Cms: Sync {
    /// Name in the table of results.
    fn name(&self) -> &'static str;
    /// Name of the provider in the product's interface.
    fn provider(&self) -> &'static str;
    /// Host and port.
    fn address(&self) -> &str;
    /// The secret that the product is given, as it is typed in.
    fn secret(&self) -> Value;
    /// Body of the mapping, without the connection.
    fn mapping(&self) -> Value;
    /// All posts of every status.
    fn list_items(&self) -> Result<Vec<Item>>;
    /// Number of uploaded files.
    fn count_files(&self) -> Result<usize>;
    /// Adds a live post by somebody else and returns its id.
    fn add_post(&self, title: &str, slug: &str) -> Result<String>;
    /// Adds a sentence to the text of a post, as a person would.
    fn edit_post(&self, item: &Item) -> Result<()>;
    /// Removes a post for ever.
    fn delete_post(&self, id: &str) -> Result<()>;
    /// Revokes the product's secret.
    fn revoke_secret(&mut self) -> Result<()>;
    /// Gives the product a new secret.
    fn renew_secret(&mut self) -> Result<()>;
    /// Leaves the product's secret valid but not allowed to write; false where the CMS has no such thing.
    fn forbid_writing(&self) -> Result<bool> {
        Ok(false)
    }
    /// Reverts [`Self::forbid_writing`].
    fn allow_writing(&self) -> Result<()> {
        Ok(())
    }
    /// Removes the field of the excerpt for ever; false where the CMS has no such thing.
    fn remove_field(&mut self) -> Result<bool> {
        Ok(false)
    }
    /// Adds a field that every post has to have; false where the CMS has no such thing.
    fn require_field(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// The post of this title, which must be there once.
    fn find_only_post(&self, title: &str) -> Result<Item> {
        let mut found: Vec<Item> = self.list_items()?;
        found.retain(|item| item.title == title);
        match found.len() {
            1 => found.pop().context("nothing"),
            count => bail!("{count} posts are called {title:?}"),
        }
    }
}

/// The sentence that people add.
pub(crate) const ADDED: &str = "Changed by somebody else.";

/// A member that has to be text.
pub(crate) fn text(value: &Value, pointer: &str) -> Result<String> {
    let text = value.pointer(pointer).and_then(Value::as_str);
    Ok(text
        .with_context(|| format!("no {pointer} in {value}"))?
        .to_owned())
}

/// A member that is text, or a number as text; empty where it is neither.
pub(crate) fn scalar(value: &Value, pointer: &str) -> String {
    match value.pointer(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// Members of a list; empty where it is none.
pub(crate) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}
