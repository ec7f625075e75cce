//! A tree as Markdown. What it means is checked afterwards; here it only has to look right.

use super::{NotFaithful, folded, has_end, own_href, tree::Node};
use crate::html::is_block;
use crate::html::{Piece, write};

/// Blocks, parted by empty lines.
pub fn blocks(nodes: &[Node<'_>]) -> Result<String, NotFaithful> {
    let mut out: Vec<String> = Vec::new();
    let mut list_before = false;
    for node in nodes.iter().filter(|node| !node.is_blank()) {
        let list = matches!(node.name(), "ul" | "ol");
        if list && list_before {
            // two lists in a row would be read as one
            return Err(NotFaithful::Element(node.name().to_owned()));
        }
        list_before = list;
        out.push(block(node)?);
    }
    Ok(out.join("\n\n"))
}

fn block(node: &Node<'_>) -> Result<String, NotFaithful> {
    let children = node.children();
    match node.name() {
        "p" => inline(children, true),
        name @ ("h1" | "h2" | "h3" | "h4" | "h5" | "h6") => {
            let level = usize::from(name.as_bytes()[1] - b'0');
            Ok(format!("{} {}", "#".repeat(level), inline(children, false)?))
        }
        "hr" => Ok("---".to_owned()),
        "blockquote" => Ok(prefixed(&blocks(children)?, "> ", "> ")),
        "ul" => list(node, None),
        "ol" => {
            let start = node
                .attribute("start")
                .map_or(Some(1), |start| start.parse().ok());
            let start: u32 = start.ok_or_else(|| NotFaithful::Element("ol".to_owned()))?;
            list(node, Some(start))
        }
        "pre" => code_block(node),
        "table" => table(node),
        name => Err(NotFaithful::Element(
            if name.is_empty() { "text" } else { name }.to_owned(),
        )),
    }
}

/// Lines with something before the first and something before the others.
fn prefixed(text: &str, first: &str, rest: &str) -> String {
    let line = |(at, line): (usize, &str)| {
        let prefix = if at == 0 { first } else { rest };
        format!("{prefix}{line}").trim_end_matches(' ').to_owned()
    };
    text.split('\n')
        .enumerate()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

fn list(node: &Node<'_>, start: Option<u32>) -> Result<String, NotFaithful> {
    let items: Vec<&Node<'_>> = node.children().iter().filter(|child| !child.is_blank()).collect();
    let loose = items
        .iter()
        .any(|item| item.children().iter().any(|child| child.name() == "p"));
    let mut out = Vec::new();
    for (at, item) in items.iter().enumerate() {
        if item.name() != "li" || item.attributes().next().is_some() {
            return Err(NotFaithful::Element("li".to_owned()));
        }
        let marker = match start {
            None => "- ".to_owned(),
            Some(start) => format!("{}. ", start as usize + at),
        };
        let indent = " ".repeat(marker.len());
        let content = if loose {
            blocks(item.children())?
        } else {
            tight(item.children())?
        };
        out.push(prefixed(&content, &marker, &indent));
    }
    Ok(out.join(if loose { "\n\n" } else { "\n" }))
}

/// Content of an item without paragraphs: text, then blocks.
fn tight(children: &[Node<'_>]) -> Result<String, NotFaithful> {
    let split = children
        .iter()
        .position(|child| child.name() != "br" && is_block(child.name()));
    let (text, rest) = children.split_at(split.unwrap_or(children.len()));
    let mut out = vec![inline(text, true)?];
    for node in rest.iter().filter(|node| !node.is_blank()) {
        out.push(block(node)?);
    }
    out.retain(|part| !part.is_empty());
    Ok(out.join("\n"))
}

fn code_block(node: &Node<'_>) -> Result<String, NotFaithful> {
    let [code @ Node::Element { name: "code", .. }] = node.children() else {
        return Err(NotFaithful::Element("pre".to_owned()));
    };
    let text = match code.children() {
        [] => "",
        [Node::Text(text)] => text,
        _ => return Err(NotFaithful::Element("code".to_owned())),
    };
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    let class = code.attribute("class").unwrap_or_default();
    let language = class.strip_prefix("language-").unwrap_or_default();
    Ok(format!("{fence}{language}\n{text}{fence}"))
}

fn longest_run(text: &str, mark: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == mark { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

fn table(node: &Node<'_>) -> Result<String, NotFaithful> {
    let not = || NotFaithful::Element("table".to_owned());
    let parts: Vec<&Node<'_>> = node.children().iter().filter(|child| !child.is_blank()).collect();
    let (head, body) = match parts.as_slice() {
        [head] if head.name() == "thead" => (head, None),
        [head, body] if head.name() == "thead" && body.name() == "tbody" => (head, Some(body)),
        _ => return Err(not()),
    };
    let rows = |part: &Node<'_>, cell: &str| -> Result<Vec<String>, NotFaithful> {
        let rows = part.children().iter().filter(|row| !row.is_blank());
        rows.map(|row| {
            let cells = row.children().iter().filter(|cell| !cell.is_blank());
            let cells: Result<Vec<String>, NotFaithful> = cells
                .map(|found| match found.name() == cell && row.name() == "tr" {
                    true => Ok(inline(found.children(), false)?.replace('|', "\\|")),
                    false => Err(not()),
                })
                .collect();
            Ok(format!("| {} |", cells?.join(" | ")))
        })
        .collect()
    };
    let [heading] = &rows(head, "th")?[..] else {
        return Err(not());
    };
    let columns = head
        .children()
        .iter()
        .find(|row| !row.is_blank())
        .map_or(&[][..], Node::children);
    let rule: Vec<&str> = columns
        .iter()
        .filter(|cell| !cell.is_blank())
        .map(|cell| match cell.attribute("align") {
            Some("left") => ":--",
            Some("center") => ":-:",
            Some("right") => "--:",
            _ => "---",
        })
        .collect();
    let mut out = vec![heading.clone(), format!("| {} |", rule.join(" | "))];
    out.extend(body.map(|body| rows(body, "td")).transpose()?.unwrap_or_default());
    Ok(out.join("\n"))
}

/// Text and what is in it. `lines`: whether it may take more than one line.
fn inline(nodes: &[Node<'_>], lines: bool) -> Result<String, NotFaithful> {
    let mut out = String::new();
    for node in nodes {
        match node {
            Node::Text(text) => {
                let text = folded(text);
                // the space after the box of a task is there already
                let task = matches!(out.as_str(), "[x] " | "[ ] ");
                escape(&mut out, if task { text.trim_start_matches(' ') } else { &text });
            }
            Node::Element { name, .. } if *name != "br" && is_block(name) => {
                return Err(NotFaithful::Element((*name).to_owned()));
            }
            element => span(&mut out, element, lines)?,
        }
    }
    Ok(if lines {
        at_line_start(out.trim_matches(' '))
    } else {
        out.trim_matches(' ').to_owned()
    })
}

fn span(out: &mut String, node: &Node<'_>, lines: bool) -> Result<(), NotFaithful> {
    let plain = node.attributes().next().is_none();
    let only = |known: &[&str]| node.attributes().all(|name| known.contains(&name));
    let mut within = |around: &str| -> Result<(), NotFaithful> {
        let text = inner(node, lines)?;
        out.push_str(&format!("{around}{text}{around}"));
        Ok(())
    };
    match node.name() {
        "br" if lines => {
            out.truncate(out.trim_end_matches(' ').len());
            out.push_str("\\\n");
        }
        "strong" if plain => within("**")?,
        "em" if plain => within("*")?,
        "del" if plain => within("~~")?,
        "code" if plain => out.push_str(&code(node)?),
        "input" if out.is_empty() && lines => {
            let checked = node.attribute("checked").is_some();
            out.push_str(if checked { "[x] " } else { "[ ] " });
        }
        "a" if only(&["href", "title", "rel"]) => {
            let href = own_href(node.attribute("href").unwrap_or_default());
            let text = inner(node, lines)?;
            out.push_str(&format!("[{text}]({})", target(&href, node.attribute("title"))));
        }
        "img" if only(&["src", "alt", "title"]) => {
            let mut alt = String::new();
            escape(&mut alt, node.attribute("alt").unwrap_or_default());
            let src = node.attribute("src").unwrap_or_default();
            out.push_str(&format!("![{alt}]({})", target(src, node.attribute("title"))));
        }
        // Markdown takes other inline elements as they are
        name => {
            if let Node::Element { tag, .. } = node {
                out.push_str(&write(&[(*tag).clone()]));
            }
            if has_end(name) {
                out.push_str(&inner(node, lines)?);
                out.push_str(&write(&[Piece::Close(name.to_owned())]));
            }
        }
    }
    Ok(())
}

/// Writes the content of an element, with the white space at its ends.
fn inner(node: &Node<'_>, lines: bool) -> Result<String, NotFaithful> {
    let mut out = String::new();
    for child in node.children() {
        match child {
            Node::Text(text) => escape(&mut out, &folded(text)),
            Node::Element { name, .. } if *name != "br" && is_block(name) => {
                return Err(NotFaithful::Element((*name).to_owned()));
            }
            // only at the start of an item is a box a task
            element if element.name() == "input" => return Err(NotFaithful::Element("input".to_owned())),
            element => span(&mut out, element, lines)?,
        }
    }
    Ok(out)
}

fn code(node: &Node<'_>) -> Result<String, NotFaithful> {
    let text = match node.children() {
        [Node::Text(text)] => folded(text),
        _ => return Err(NotFaithful::Element("code".to_owned())),
    };
    let fence = "`".repeat(longest_run(&text, '`') + 1);
    let edge = text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    let gap = if edge { " " } else { "" };
    Ok(format!("{fence}{gap}{text}{gap}{fence}"))
}

/// Address and title of a link or image.
fn target(address: &str, title: Option<&str>) -> String {
    let simple = !address.is_empty()
        && !address.contains(|c: char| c.is_ascii_control() || " <>()\\*_[]`&".contains(c));
    let address = if simple {
        address.to_owned()
    } else {
        let escaped = address
            .replace('\\', "\\\\")
            .replace('<', "\\<")
            .replace('>', "\\>");
        format!("<{}>", escaped.replace('&', "&amp;"))
    };
    match title {
        None => address,
        Some(title) => {
            let title = title
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('&', "&amp;");
            format!("{address} \"{title}\"")
        }
    }
}

/// Text with everything escaped that would be markup within a line.
fn escape(out: &mut String, text: &str) {
    let chars: Vec<char> = text.chars().collect();
    for (at, c) in chars.iter().copied().enumerate() {
        let before = at.checked_sub(1).map(|at| chars[at]);
        let after = chars.get(at + 1).copied();
        let within_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let markup = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '~' => true,
            '_' => !(within_word(before) && within_word(after)),
            '&' => after.is_none_or(|c| c == '#' || c.is_ascii_alphabetic()),
            '!' => after.is_none(),
            _ => false,
        };
        if markup {
            out.push('\\');
        }
        out.push(c);
    }
}

/// Lines with what would begin a block escaped.
fn at_line_start(text: &str) -> String {
    let line = |line: &str| {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let starts = line.starts_with(['#', '>', '+', '-', '=', '|', ':']);
        if starts {
            format!("\\{line}")
        } else if digits > 0 && line[digits..].starts_with(['.', ')']) {
            format!("{}\\{}", &line[..digits], &line[digits..])
        } else {
            line.to_owned()
        }
    };
    let lines: Vec<String> = text
        .split('\n')
        .map(|part| line(part.trim_start_matches(' ')))
        .collect();
    lines.join("\n")
}
