//! The HTML of one page: head, navigation, `main` with headings, prose, a table and a list, and
//! lists of links around it, 50 in all.

use std::fmt::Write;

use super::{
    plan::{Fault, Plan, TEXT_LINKS, fault},
    prose,
};

/// Words in the `main` of a page, lowest and highest.
const WORDS: (usize, usize) = (600, 2_400);

/// Styles in the page itself, as many real sites have them.
const STYLE: &str = include_str!("style.css");

/// A drawing in the page itself, likewise.
const LOGO: &str = include_str!("logo.svg");

/// Appends page number `page`. Writing to a string cannot fail, so results of `write!` are dropped.
pub fn write(plan: &Plan, page: usize, out: &mut String) {
    head(plan, page, out);
    out.push_str("<body>\n<header>");
    out.push_str(LOGO);
    out.push_str("<nav aria-label=\"Sections\"><ul>\n");
    list(plan, plan.navigation(), out);
    out.push_str("</ul></nav>\n<p class=\"trail\">");
    anchor(plan, 0, out);
    out.push_str(" / ");
    anchor(plan, plan.parent(page), out);
    out.push_str("</p></header>\n<main>\n<article>\n");
    body(plan, plan.body_of(page), out);
    out.push_str("</article>\n</main>\n<aside aria-label=\"Related pages\"><h2>Related pages</h2><ul>\n");
    list(plan, plan.related(page).into_iter(), out);
    out.push_str("</ul></aside>\n<footer><ul>\n");
    list(plan, plan.footer(), out);
    out.push_str("</ul><p>The Fernleigh Almanac, kept by its readers.</p></footer>\n</body>\n</html>\n");
}

/// Title of a page: unique by its number, 30 to 60 characters.
pub fn title(plan: &Plan, page: usize) -> String {
    let kind = prose::kind(&mut plan.random(page, 3));
    let name = capitalised(&plan.name(page));
    let title = format!("{name}: {kind} {page}");
    if title.len() > 60 {
        return format!("{name}, part {page}");
    }
    if title.len() < 30 {
        format!("{name}: {kind} for readers {page}")
    } else {
        title
    }
}

fn head(plan: &Plan, page: usize, out: &mut String) {
    let title = title(plan, plan.title_of(page));
    let name = plan.name(page);
    let url = plan.url(page);
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    );
    if fault(page) != Some(Fault::NoDescription) {
        let _ = writeln!(
            out,
            "<meta name=\"description\" content=\"{}\">",
            description(&name, page)
        );
    }
    if fault(page) == Some(Fault::NoIndex) {
        out.push_str("<meta name=\"robots\" content=\"noindex\">\n");
    }
    let _ = write!(
        out,
        "<link rel=\"canonical\" href=\"{url}\">\n<link rel=\"icon\" href=\"/favicon.svg\" type=\"image/svg+xml\">\n\
         <meta property=\"og:title\" content=\"{title}\">\n<meta property=\"og:type\" content=\"article\">\n\
         <meta property=\"og:url\" content=\"{url}\">\n<meta name=\"twitter:card\" content=\"summary\">\n\
         <script type=\"application/ld+json\">{{\"@context\":\"https://schema.org\",\"@type\":\"WebPage\",\"@id\":\"{url}\",\
         \"url\":\"{url}\",\"name\":\"{title}\",\"inLanguage\":\"en\",\"isPartOf\":{{\"@type\":\"WebSite\",\
         \"@id\":\"{origin}/#site\",\"name\":\"The Fernleigh Almanac\",\"url\":\"{origin}/\"}}}}</script>\n\
         <style>\n{STYLE}</style>\n</head>\n",
        origin = plan.origin(),
    );
}

fn description(name: &str, page: usize) -> String {
    format!(
        "What readers of the almanac know about the {name}: how to begin, what it costs, what to avoid. Page {page}."
    )
}

/// Heading, paragraphs under further headings, a table and the links in the text. It depends on the
/// page alone, so that another page can repeat it exactly.
fn body(plan: &Plan, page: usize, out: &mut String) {
    let mut random = plan.random(page, 4);
    let goal = random.between(WORDS.0, WORDS.1);
    let _ = write!(
        out,
        "<h1>{} {page}</h1>\n<p class=\"lead\">",
        capitalised(&plan.name(page))
    );
    let mut words = prose::sentence(&mut random, out);
    out.push_str("</p>\n");
    let mut links = Vec::with_capacity(TEXT_LINKS);
    links.extend(
        plan.planted_link(page)
            .map(|path| (path, "an earlier edition of this text".to_owned())),
    );
    while links.len() < TEXT_LINKS {
        let other = plan.other(&mut random, page);
        links.push((plan.path(other).to_owned(), plan.name(other)));
    }
    let mut links = links.into_iter();
    let mut paragraph = 0;
    // a short text goes on until every link has found its place
    while words < goal || links.len() > 0 {
        if paragraph % 4 == 0 {
            let level = if paragraph % 8 == 4 { 3 } else { 2 };
            let _ = writeln!(
                out,
                "<h{level}>{}</h{level}>",
                capitalised(&prose::name(&mut random))
            );
        }
        out.push_str("<p>");
        for _ in 0..random.between(2, 5) {
            words += prose::sentence(&mut random, out);
            out.push(' ');
        }
        if let Some((path, text)) = links.next() {
            let _ = write!(out, "Compare <a class=\"reference\" href=\"{path}\">{text}</a>");
            if let Some((path, text)) = links.next() {
                let _ = write!(out, " with <a class=\"reference\" href=\"{path}\">{text}</a>");
            }
            out.push('.');
        }
        out.push_str("</p>\n");
        paragraph += 1;
        if paragraph == 3 {
            words += table(&mut random, out);
        }
    }
}

fn table(random: &mut crate::random::Random, out: &mut String) -> usize {
    out.push_str(
        "<table><caption>Figures of the year</caption>\n<tr><th>Item</th><th>Days</th><th>Cost</th></tr>\n",
    );
    let rows = random.between(3, 8);
    for _ in 0..rows {
        let name = prose::name(random);
        let _ = writeln!(
            out,
            "<tr><td>{name}</td><td>{}</td><td>{}</td></tr>",
            random.between(1, 90),
            random.between(5, 900)
        );
    }
    out.push_str("</table>\n");
    rows * 5 + 7
}

fn list(plan: &Plan, pages: impl Iterator<Item = usize>, out: &mut String) {
    for page in pages {
        out.push_str("<li class=\"entry\">");
        anchor(plan, page, out);
        out.push_str("</li>\n");
    }
}

fn anchor(plan: &Plan, page: usize, out: &mut String) {
    let name = if page == 0 {
        "almanac home".to_owned()
    } else {
        plan.name(page)
    };
    let _ = write!(
        out,
        "<a class=\"entry-link\" href=\"{}\">{}</a>",
        plan.path(page),
        capitalised(&name)
    );
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
