//! Markdown as the rich text of Contentful: a tree of nodes, texts with marks at its ends.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::{Value, json};

/// A node whose end has not come.
struct Open {
    kind: String,
    data: Value,
    content: Vec<Value>,
}

/// Builds the tree from events.
struct Tree {
    open: Vec<Open>,
    marks: Vec<&'static str>,
    in_table_head: bool,
    /// Images within links that are open: of those only the words stay.
    in_links: usize,
}

pub(super) fn document(markdown: &str) -> Value {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut tree = Tree {
        open: Vec::new(),
        marks: Vec::new(),
        in_table_head: false,
        in_links: 0,
    };
    tree.begin("document", json!({}));
    for event in Parser::new_ext(markdown, options) {
        tree.take(event);
    }
    while tree.open.len() > 1 {
        tree.end();
    }
    tree.open.pop().map_or(Value::Null, node)
}

fn node(open: Open) -> Value {
    json!({ "nodeType": open.kind, "data": open.data, "content": open.content })
}

impl Tree {
    fn begin(&mut self, kind: &str, data: Value) {
        self.open.push(Open {
            kind: kind.to_owned(),
            data,
            content: Vec::new(),
        });
    }

    fn end(&mut self) {
        if let Some(done) = self.open.pop() {
            self.add(node(done));
        }
    }

    fn add(&mut self, node: Value) {
        if let Some(parent) = self.open.last_mut() {
            parent.content.push(node);
        }
    }

    /// Whether texts can stand here.
    fn is_inline(&self) -> bool {
        self.open.last().is_some_and(|open| {
            open.kind == "paragraph" || open.kind == "hyperlink" || open.kind.starts_with("heading")
        })
    }

    /// Begins a paragraph unless a block that may hold text is open: Contentful lets no other block hold text.
    fn inline(&mut self) {
        if !self.is_inline() {
            self.begin("paragraph", json!({}));
        }
    }

    /// Ends a paragraph that nobody began.
    fn block(&mut self) {
        if self.is_inline() {
            self.end();
        }
    }

    fn text(&mut self, text: &str) {
        self.inline();
        let marks: Vec<Value> = self.marks.iter().map(|mark| json!({ "type": mark })).collect();
        self.add(json!({ "nodeType": "text", "value": text, "marks": marks, "data": {} }));
    }

    fn marked(&mut self, mark: &'static str, text: &str) {
        self.marks.push(mark);
        self.text(text);
        self.marks.pop();
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.stop(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => self.marked("code", &text),
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.text("\n"),
            Event::Rule => {
                self.block();
                self.add(json!({ "nodeType": "hr", "data": {}, "content": [] }));
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.begin("paragraph", json!({})),
            Tag::Heading { level, .. } => self.begin(&format!("heading-{}", level as u8), json!({})),
            Tag::BlockQuote(_) => self.begin("blockquote", json!({})),
            Tag::CodeBlock(_) => {
                self.block();
                self.begin("paragraph", json!({}));
                self.marks.push("code");
            }
            Tag::List(first) => {
                self.block();
                let kind = if first.is_some() {
                    "ordered-list"
                } else {
                    "unordered-list"
                };
                self.begin(kind, json!({}));
            }
            Tag::Item => self.begin("list-item", json!({})),
            Tag::Table(_) => self.begin("table", json!({})),
            Tag::TableHead => {
                self.in_table_head = true;
                self.begin("table-row", json!({}));
            }
            Tag::TableRow => self.begin("table-row", json!({})),
            Tag::TableCell => {
                let kind = if self.in_table_head {
                    "table-header-cell"
                } else {
                    "table-cell"
                };
                self.begin(kind, json!({}));
                self.begin("paragraph", json!({}));
            }
            Tag::Emphasis => self.marks.push("italic"),
            Tag::Strong => self.marks.push("bold"),
            Tag::Strikethrough => self.marks.push("strikethrough"),
            Tag::Image { .. } if self.open.last().is_some_and(|open| open.kind == "hyperlink") => {
                self.in_links += 1;
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.inline();
                self.begin("hyperlink", json!({ "uri": &*dest_url }));
            }
            _ => {}
        }
    }

    fn stop(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Image if self.in_links > 0 => self.in_links -= 1,
            TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Link | TagEnd::Image => self.end(),
            TagEnd::CodeBlock => {
                self.marks.pop();
                self.end();
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Table | TagEnd::TableRow => {
                self.block();
                self.end();
            }
            TagEnd::Item => {
                self.block();
                if self.open.last().is_some_and(|item| item.content.is_empty()) {
                    self.begin("paragraph", json!({}));
                    self.end();
                }
                self.end();
            }
            TagEnd::TableHead => {
                self.in_table_head = false;
                self.end();
            }
            TagEnd::TableCell => {
                self.block();
                self.end();
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.marks.pop();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::document;

    /// The tree in short: `kind[…]`, texts with their marks.
    fn short(node: &Value) -> String {
        if node["nodeType"] == "text" {
            let marks = node["marks"].as_array().unwrap().iter();
            let marks: String = marks
                .map(|mark| format!("{}:", mark["type"].as_str().unwrap()))
                .collect();
            return format!("{marks}{}", node["value"].as_str().unwrap());
        }
        let inner: Vec<String> = node["content"].as_array().unwrap().iter().map(short).collect();
        let uri = node["data"]
            .get("uri")
            .and_then(Value::as_str)
            .unwrap_or_default();
        format!("{}{uri}[{}]", node["nodeType"].as_str().unwrap(), inner.join("|"))
    }

    #[test]
    fn every_text_stands_in_a_block_that_may_hold_it() {
        for (markdown, tree) in [
            ("", "document[]"),
            (
                "## A *b*\n\nc\nd",
                "document[heading-2[A |italic:b]|paragraph[c| |d]]",
            ),
            (
                "- a\n- b\n  1. c\n",
                "document[unordered-list[list-item[paragraph[a]]|list-item[paragraph[b]|ordered-list[list-item[paragraph[c]]]]]]",
            ),
            (
                "- a\n\n- b\n",
                "document[unordered-list[list-item[paragraph[a]]|list-item[paragraph[b]]]]",
            ),
            ("-\n", "document[unordered-list[list-item[paragraph[]]]]"),
            (
                "> **a** [b](https://x.example)",
                "document[blockquote[paragraph[bold:a| |hyperlinkhttps://x.example[b]]]]",
            ),
            ("```\nx\n```\n\n---\n", "document[paragraph[code:x\n]|hr[]]"),
            (
                "| A | B |\n|---|---|\n| 1 | `2` |\n",
                "document[table[table-row[table-header-cell[paragraph[A]]|table-header-cell[paragraph[B]]]|table-row[table-cell[paragraph[1]]|table-cell[paragraph[code:2]]]]]",
            ),
            (
                "[![alt](https://x.example/i.png) b](https://y.example)",
                "document[paragraph[hyperlinkhttps://y.example[alt| b]]]",
            ),
            (
                "![alt](https://x.example/i.png)",
                "document[paragraph[hyperlinkhttps://x.example/i.png[alt]]]",
            ),
        ] {
            assert_eq!(short(&document(markdown)), tree, "{markdown}");
        }
    }
}
