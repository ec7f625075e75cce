//! Cards for clients that show them (MCP Apps, SEP-1865): a document beside the answer of a tool.
//!
//! The one card shows what waits for a person, and opens the dashboard, where the person decides. It takes its facts from the answer,
//! loads nothing, and can do nothing that its host does not do for it.

use rmcp::model::{ClientCapabilities, MetaObject, Resource, ResourceContents};
use serde_json::{Map, Value, json};

/// Name of the extension.
pub(super) const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// Address of the card.
pub(super) const ADDRESS: &str = "ui://searchwright/approval";
/// Member of the metadata of an answer with what the card shows.
pub(super) const FACTS: &str = "searchwright/approval";
/// Kind of document that hosts show.
const KIND: &str = "text/html;profile=mcp-app";
const DOCUMENT: &str = include_str!("../../assets/approval.html");

/// Returns whether a client shows cards.
pub(super) fn are_shown(capabilities: &ClientCapabilities) -> bool {
    let extensions = capabilities.extensions.as_ref();
    let settings = extensions.and_then(|extensions| extensions.get(EXTENSION));
    let kinds = settings.and_then(|settings| settings.get("mimeTypes"));
    let mut kinds = kinds.and_then(Value::as_array).into_iter().flatten();
    kinds.any(|kind| kind == KIND)
}

/// Returns the metadata of a tool whose answers the card goes with.
pub(super) fn tool_meta() -> MetaObject {
    meta(json!({ "resourceUri": ADDRESS }))
}

/// Returns the card as it is listed.
pub(super) fn listed() -> Resource {
    Resource::new(ADDRESS, "approval")
        .with_title("Waiting for approval")
        .with_description(
            "Shows what would be published or paid for, and opens the dashboard, where a person decides",
        )
        .with_mime_type(KIND)
        .with_size(DOCUMENT.len() as u64)
        .with_meta(bounds())
}

/// Returns the card.
pub(super) fn document() -> ResourceContents {
    ResourceContents::text(DOCUMENT, ADDRESS)
        .with_mime_type(KIND)
        .with_meta(bounds())
}

/// Bounds within which a host shows it: no other host at all.
fn bounds() -> MetaObject {
    let none = json!([]);
    let csp = json!({ "connectDomains": none, "resourceDomains": none, "frameDomains": none, "baseUriDomains": none });
    meta(json!({ "csp": csp, "prefersBorder": true }))
}

fn meta(ui: Value) -> MetaObject {
    MetaObject(Map::from_iter([("ui".to_owned(), ui)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_small_and_names_no_other_host() {
        assert!(DOCUMENT.len() <= 8_192, "{} bytes", DOCUMENT.len());
        for word in [
            "://",
            "src=",
            "href=",
            "url(",
            "import",
            "fetch",
            "XMLHttp",
            "WebSocket",
        ] {
            assert!(!DOCUMENT.contains(word), "{word}");
        }
        for word in [
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval(",
        ] {
            assert!(!DOCUMENT.contains(word), "{word}: everything shown is text");
        }
    }

    #[test]
    fn a_client_names_the_documents_that_it_shows() {
        for (extensions, shows) in [
            (json!({}), false),
            (json!({ EXTENSION: {} }), false),
            (
                json!({ EXTENSION: { "mimeTypes": "text/html;profile=mcp-app" } }),
                false,
            ),
            (json!({ EXTENSION: { "mimeTypes": ["text/plain"] } }), false),
            (json!({ EXTENSION: { "mimeTypes": ["text/plain", KIND] } }), true),
        ] {
            let capabilities = serde_json::from_value(json!({ "extensions": extensions })).unwrap();
            assert_eq!(are_shown(&capabilities), shows, "{extensions}");
        }
    }
}
