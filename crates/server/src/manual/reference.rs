//! The reference: a page for each resource with all of its operations, and pages of errors, scopes and types.

use std::fmt::Write as _;

use searchwright_contract::{Code, Scope};
use searchwright_engine::Endpoint;
use serde_json::Value;

use super::{
    examples::example_request,
    markdown::{Article, shorten},
    schema_text::{escape, kind, prose, resolved},
    website::{Draft, Location},
};
use crate::http::openapi::codes;

const ERRORS: &str = "reference/errors";
const SCOPES: &str = "reference/scopes";
const TYPES: &str = "reference/types";
const INDEX: &str = "reference";

/// Material of the reference.
pub(super) struct Reference<'a> {
    endpoints: &'a [Endpoint],
    openapi: &'a Value,
    location: &'a Location,
    base: String,
}

impl<'a> Reference<'a> {
    pub(super) fn new(endpoints: &'a [Endpoint], openapi: &'a Value, location: &'a Location) -> Self {
        let base = openapi.pointer("/servers/0/url").and_then(Value::as_str);
        Self {
            endpoints,
            openapi,
            location,
            base: base.unwrap_or_default().to_owned(),
        }
    }

    /// All pages, in the order of the table.
    pub(super) fn drafts(&self) -> Vec<Draft> {
        let mut drafts = vec![self.index()];
        drafts.extend(self.resources().into_iter().map(|name| self.resource(name)));
        drafts.extend([self.errors(), self.scopes(), self.types()]);
        drafts
    }

    fn resources(&self) -> Vec<&'static str> {
        let mut names: Vec<&'static str> = Vec::new();
        for endpoint in self.endpoints {
            let name = resource_of(endpoint);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn index(&self) -> Draft {
        let mut html = format!(
            "<h1>API reference</h1><p>Every operation of the HTTP API, grouped by resource, with its arguments, answer, errors and an example in \
             curl, TypeScript (<code>fetch</code>) and Python (standard library). The same as <a href=\"{}\">OpenAPI 3.1</a>; what holds for \
             all operations is in <a href=\"{}\">API, MCP and command line</a>.</p>\
             <p>Base address: <code>{base}</code>. The examples take the key and the id of its project from the environment:</p>\
             <pre tabindex=\"0\"><code>export SEARCHWRIGHT_KEY=swk_…\n\
             export PROJECT=$(curl -s -H \"Authorization: Bearer $SEARCHWRIGHT_KEY\" {base}/me | jq -r .project.id)</code></pre>",
            self.location.openapi(INDEX),
            self.location.href(INDEX, "api"),
            base = escape(&self.base),
        );
        html.push_str("<div class=\"wide\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">Operation</th><th scope=\"col\">Purpose</th></tr></thead><tbody>");
        for endpoint in self.endpoints {
            let _ = write!(
                html,
                "<tr><td><a href=\"{}#{1}\">{1}</a></td><td>{2}</td></tr>",
                self.location.href(INDEX, &path_of(resource_of(endpoint))),
                endpoint.meta.name,
                prose(&first_sentence(endpoint)),
            );
        }
        html.push_str("</tbody></table></div>");
        draft(
            INDEX,
            "Operations",
            "API reference",
            "Every operation of the HTTP API, grouped by resource, with arguments, answers, errors and examples in curl, TypeScript and Python.",
            html,
        )
    }

    fn resource(&self, name: &str) -> Draft {
        let path = path_of(name);
        let operations: Vec<&Endpoint> = self
            .endpoints
            .iter()
            .filter(|endpoint| resource_of(endpoint) == name)
            .collect();
        let mut html = format!(
            "<h1>{}: operations</h1><p>The operations of the HTTP API on this resource. What holds for all of them, such as lists, errors, \
             repeated requests and limits, is in <a href=\"{}\">API, MCP and command line</a>; the examples take the key and the id of its \
             project from the environment, as <a href=\"{}\">the overview</a> shows.</p><ul>",
            capital(name),
            self.location.href(&path, "api"),
            self.location.href(&path, INDEX),
        );
        for endpoint in &operations {
            let _ = write!(
                html,
                "<li><a href=\"#{0}\">{0}</a>: {1}</li>",
                endpoint.meta.name,
                prose(&first_sentence(endpoint))
                    .replace("<p>", "")
                    .replace("</p>", ""),
            );
        }
        html.push_str("</ul>");
        for endpoint in &operations {
            self.operation(&mut html, endpoint, &path);
        }
        let verbs: Vec<&str> = operations
            .iter()
            .map(|endpoint| endpoint.meta.name.split_once('.').unwrap_or_default().1)
            .collect();
        let summary = shorten(&format!(
            "Operations on {name} in the HTTP API of Searchwright ({}): arguments, answers, errors and examples in curl, TypeScript and Python.",
            verbs.join(", ")
        ));
        draft(
            &path,
            &capital(name),
            &format!("{}: API reference", capital(name)),
            &summary,
            html,
        )
    }

    fn operation(&self, html: &mut String, endpoint: &Endpoint, page: &str) {
        let meta = &endpoint.meta;
        let document = self
            .openapi
            .get("paths")
            .and_then(|paths| paths.get(meta.path))
            .and_then(|item| item.get(meta.method.as_str().to_lowercase()))
            .unwrap_or(&Value::Null);
        let scope = match meta.scope {
            Scope::Any | Scope::OfRecord => meta.scope.help().to_owned(),
            scope => format!(
                "<a href=\"{}\"><code>{}</code></a>",
                self.location.href(page, SCOPES),
                scope.as_str()
            ),
        };
        let status = meta.effect.status().to_string();
        let responses = document.get("responses").unwrap_or(&Value::Null);
        let success = responses.get(&status).unwrap_or(&Value::Null);
        let _ = write!(
            html,
            "<section id=\"{0}\"><h2>{0}</h2>{1}<p><b>{2}</b> <code>{3}</code></p><dl><dt>Scope</dt><dd>{4}</dd>\
             <dt>Success</dt><dd>{5}: {6}</dd><dt>Command</dt><dd><code>searchwright {7}</code></dd>\
             <dt>MCP tool</dt><dd><code>{8}</code></dd></dl>",
            meta.name,
            prose(&endpoint.description),
            meta.method.as_str(),
            escape(meta.path),
            scope,
            status,
            success["description"].as_str().unwrap_or_default().to_lowercase(),
            meta.name.replace('.', " "),
            meta.name.replace('.', "_"),
        );
        self.arguments(html, document, page);
        self.answer(html, success, page);
        self.failures(html, endpoint, page);
        let request = example_request(endpoint);
        let _ = write!(
            html,
            "<h3>Example</h3><pre tabindex=\"0\"><code class=\"language-sh\">{}</code></pre>\
             <details><summary>TypeScript</summary><pre tabindex=\"0\"><code class=\"language-typescript\">{}</code></pre></details>\
             <details><summary>Python</summary><pre tabindex=\"0\"><code class=\"language-python\">{}</code></pre></details></section>",
            escape(&request.curl(&self.base)),
            escape(&request.typescript(&self.base)),
            escape(&request.python(&self.base)),
        );
    }

    fn arguments(&self, html: &mut String, document: &Value, page: &str) {
        let mut rows = String::new();
        let parameters = document.get("parameters").and_then(Value::as_array);
        for parameter in parameters.into_iter().flatten() {
            let parameter = resolved(parameter, self.openapi);
            let name = parameter["name"].as_str().unwrap_or_default();
            let is_required = parameter["required"] == true;
            let place = parameter["in"].as_str().unwrap_or_default();
            let description = parameter["description"].as_str().unwrap_or_default();
            let kind = kind(
                &parameter["schema"],
                self.openapi,
                &self.location.href(page, TYPES),
            );
            write_row(
                &mut rows,
                name,
                &[place_text(place, is_required), &kind, &prose(description)],
            );
        }
        let body = &document["requestBody"]["content"]["application/json"]["schema"];
        for (name, member) in body
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let is_required = names(&body["required"], name);
            let kind = kind(member, self.openapi, &self.location.href(page, TYPES));
            let description = member["description"].as_str().unwrap_or_default();
            write_row(
                &mut rows,
                name,
                &[place_text("body", is_required), &kind, &prose(description)],
            );
        }
        if !rows.is_empty() {
            let _ = write!(
                html,
                "<h3>Arguments</h3><div class=\"wide\" tabindex=\"0\"><table class=\"stack\"><thead><tr><th scope=\"col\">Name</th><th scope=\"col\">In</th>\
                 <th scope=\"col\">Type</th><th scope=\"col\">Meaning</th></tr></thead><tbody>{rows}</tbody></table></div>"
            );
        }
    }

    fn answer(&self, html: &mut String, success: &Value, page: &str) {
        let schema = resolved(&success["content"]["application/json"]["schema"], self.openapi);
        let rows = self.member_rows(schema, page);
        if !rows.is_empty() {
            let _ = write!(html, "<h3>Answer</h3>{}", member_table(&rows));
        }
    }

    fn member_rows(&self, schema: &Value, page: &str) -> String {
        let mut rows = String::new();
        for (name, member) in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let kind = kind(member, self.openapi, &self.location.href(page, TYPES));
            let own = member.get("description").and_then(Value::as_str);
            write_row(&mut rows, name, &[&kind, &prose(own.unwrap_or_default())]);
        }
        rows
    }

    /// Errors that say something about this operation, and the way to those of all.
    fn failures(&self, html: &mut String, endpoint: &Endpoint, page: &str) {
        let errors = self.location.href(page, ERRORS);
        let common = [Code::MalformedRequest, Code::ValidationFailed];
        let own: Vec<String> = codes(&endpoint.meta)
            .filter(|code| endpoint.meta.errors.contains(code) || is_of_the_caller(*code))
            .chain(common)
            .map(|code| {
                format!(
                    "<a href=\"{errors}#{0}\"><code>{0}</code></a> ({1})",
                    code.as_str(),
                    code.status()
                )
            })
            .collect();
        let _ = write!(
            html,
            "<h3>Errors</h3><p>{}, and <a href=\"{errors}\">those that any call can answer</a>.</p>",
            own.join(", ")
        );
    }

    fn errors(&self) -> Draft {
        let mut rows = String::new();
        for code in Code::ALL {
            let _ = write!(
                rows,
                "<tr id=\"{0}\"><td><code>{0}</code></td><td>{1}</td><td>{2}</td></tr>",
                code.as_str(),
                code.status(),
                escape(code.title())
            );
        }
        let problem = self
            .openapi
            .pointer("/components/schemas/Problem")
            .unwrap_or(&Value::Null);
        let html = format!(
            "<h1>Errors</h1><p>Every error is an <code>application/problem+json</code> document (RFC 9457). Programs decide by \
             <code>code</code>, which is stable; <code>detail</code> and <code>hint</code> are for people, and <code>type</code> is the \
             address of its row on this page.</p><div class=\"wide\" tabindex=\"0\"><table class=\"stack\"><thead><tr><th scope=\"col\">Code</th>\
             <th scope=\"col\">Status</th><th scope=\"col\">Meaning</th></tr></thead><tbody>{rows}</tbody></table></div>\
             <h2>The document</h2>{}",
            member_table(&self.member_rows(problem, ERRORS))
        );
        draft(
            ERRORS,
            "Errors",
            "Errors of the API",
            "Every error code of the HTTP API with its status and meaning, and the members of the problem document (RFC 9457) that carries it.",
            html,
        )
    }

    fn scopes(&self) -> Draft {
        let mut rows = String::new();
        for scope in Scope::ALL {
            let held: Vec<String> = self
                .endpoints
                .iter()
                .filter(|endpoint| endpoint.meta.scope == *scope)
                .map(|endpoint| {
                    let page = self.location.href(SCOPES, &path_of(resource_of(endpoint)));
                    format!("<a href=\"{page}#{0}\">{0}</a>", endpoint.meta.name)
                })
                .collect();
            let _ = write!(
                rows,
                "<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>",
                scope.as_str(),
                escape(scope.help()),
                held.join(", ")
            );
        }
        let html = format!(
            "<h1>Scopes</h1><p>A key or a token can do what its scopes allow. A scope to write includes the scope to read the same \
             resource.</p><div class=\"wide\" tabindex=\"0\"><table class=\"stack\"><thead><tr><th scope=\"col\">Scope</th><th scope=\"col\">Lets a caller</th>\
             <th scope=\"col\">Operations</th></tr></thead><tbody>{rows}</tbody></table></div>"
        );
        draft(
            SCOPES,
            "Scopes",
            "Scopes of keys and tokens",
            "The scopes that an API key or an OAuth token can have, what each lets a caller do, and the operations that need it.",
            html,
        )
    }

    /// Objects that stand inside arguments and answers, each once.
    fn types(&self) -> Draft {
        let mut html = "<h1>Types</h1><p>Objects that stand inside the arguments and answers of several operations, by name.</p>".to_owned();
        let schemas = self
            .openapi
            .pointer("/components/schemas")
            .and_then(Value::as_object);
        let mut schemas: Vec<(&String, &Value)> = schemas.into_iter().flatten().collect();
        schemas.sort_by_key(|(name, _)| *name);
        for (name, schema) in schemas {
            let rows = self.member_rows(schema, TYPES);
            if !rows.is_empty() {
                let _ = write!(
                    html,
                    "<h2 id=\"{0}\">{0}</h2>{1}{2}",
                    escape(name),
                    prose(schema["description"].as_str().unwrap_or_default()),
                    member_table(&rows)
                );
            }
        }
        draft(
            TYPES,
            "Types",
            "Types of the API",
            "Objects that stand inside the arguments and answers of the HTTP API, with the type, range and meaning of each of their members.",
            html,
        )
    }
}

fn draft(path: &str, label: &str, title: &str, description: &str, html: String) -> Draft {
    Draft {
        path: path.to_owned(),
        label: label.to_owned(),
        article: Article {
            title: title.to_owned(),
            description: description.to_owned(),
            html,
        },
    }
}

fn member_table(rows: &str) -> String {
    format!(
        "<div class=\"wide\" tabindex=\"0\"><table class=\"stack\"><thead><tr><th scope=\"col\">Member</th><th scope=\"col\">Type</th>\
         <th scope=\"col\">Meaning</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )
}

fn write_row(rows: &mut String, name: &str, cells: &[&str]) {
    let _ = write!(rows, "<tr><td><code>{}</code></td>", escape(name));
    for cell in cells {
        let _ = write!(rows, "<td>{cell}</td>");
    }
    rows.push_str("</tr>");
}

fn place_text(place: &str, is_required: bool) -> &'static str {
    match (place, is_required) {
        ("path", _) => "path",
        ("query", true) => "query, required",
        ("query", false) => "query",
        ("header", _) => "header",
        (_, true) => "body, required",
        (_, false) => "body",
    }
}

fn names(list: &Value, name: &str) -> bool {
    list.as_array()
        .is_some_and(|list| list.iter().any(|known| known == name))
}

/// Returns whether an error depends on who asks.
fn is_of_the_caller(code: Code) -> bool {
    matches!(
        code,
        Code::ProjectForbidden
            | Code::InsufficientScope
            | Code::InsufficientRole
            | Code::AgentAutonomyRequired
    )
}

fn resource_of(endpoint: &Endpoint) -> &'static str {
    endpoint.meta.name.split('.').next().unwrap_or_default()
}

fn path_of(resource: &str) -> String {
    format!("{INDEX}/{resource}")
}

fn first_sentence(endpoint: &Endpoint) -> String {
    let paragraph = endpoint.description.split("\n\n").next().unwrap_or_default();
    let text = paragraph.replace('\n', " ");
    match text.find(". ") {
        Some(end) => text[..=end].to_owned(),
        None => text,
    }
}

/// A name as a heading begins; abbreviations are written large.
fn capital(name: &str) -> String {
    match name {
        "faqs" => return "FAQs".to_owned(),
        "ctas" => return "Calls to action".to_owned(),
        _ => {}
    }
    let mut letters = name.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}
