//! Structured data of a post: schema.org JSON-LD, of what a reader can see.

use serde_json::{Map, Value, json};

use super::document::{Document, Kind};

/// Question headings from which on a post is a page of questions.
const MIN_QUESTIONS: usize = 2;

/// A question that is asked in a heading and answered below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faq {
    /// The heading.
    pub question: String,
    /// The text up to the next heading.
    pub answer: String,
}

/// Author of a post.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Author {
    /// Name of the person.
    pub name: String,
    /// Page about the person.
    pub url: Option<String>,
    /// Profiles elsewhere.
    pub same_as: Vec<String>,
}

/// An image of a post.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Absolute address.
    pub url: String,
    /// Caption.
    pub caption: Option<String>,
    /// Pixels.
    pub width: Option<u32>,
    /// Pixels.
    pub height: Option<u32>,
    /// Credit line (`creditText` of schema.org).
    pub credit: Option<String>,
}

/// Facts about a post that its structured data states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Posting {
    /// Title.
    pub headline: String,
    /// Meta description or excerpt.
    pub description: Option<String>,
    /// Absolute address of the post; `None` while it has none.
    pub url: Option<String>,
    /// Images of the post, the most telling first.
    pub pictures: Vec<Picture>,
    /// RFC 3339; `None` before the first publication.
    pub published_at: Option<String>,
    /// RFC 3339.
    pub modified_at: Option<String>,
    /// Author of the post.
    pub author: Option<Author>,
    /// Name of the project, and the address of its logo.
    pub publisher: Option<(String, Option<String>)>,
    /// BCP 47.
    pub language: String,
    /// Names and absolute addresses from the home page down to, but without, the post.
    pub breadcrumbs: Vec<(String, String)>,
}

/// The questions a text asks in headings, each with its answer.
pub fn faqs(document: &Document) -> Vec<Faq> {
    let mut found: Vec<Faq> = Vec::new();
    let mut asked = false;
    for block in &document.blocks {
        match block.kind {
            Kind::Heading(level, _) => {
                asked = level > 1 && block.text.ends_with(['?', '？', '؟', '\u{37e}']);
                if asked {
                    found.push(Faq {
                        question: block.text.clone(),
                        answer: String::new(),
                    });
                }
            }
            Kind::Code => {}
            _ if asked => {
                if let Some(faq) = found.last_mut() {
                    if !faq.answer.is_empty() {
                        faq.answer.push(' ');
                    }
                    faq.answer.push_str(&block.text);
                }
            }
            _ => {}
        }
    }
    found.retain(|faq| !faq.answer.is_empty());
    found
}

/// JSON-LD of a post: `BlogPosting`, `BreadcrumbList`, and `FAQPage` where the text asks and answers questions.
pub fn structured_data(posting: &Posting, document: &Document) -> Value {
    let mut graph = vec![blog_posting(posting), breadcrumbs(posting)];
    let faqs = faqs(document);
    if faqs.len() >= MIN_QUESTIONS {
        let questions: Vec<Value> = faqs
            .into_iter()
            .map(|faq| {
                json!({
                    "@type": "Question",
                    "name": faq.question,
                    "acceptedAnswer": { "@type": "Answer", "text": faq.answer },
                })
            })
            .collect();
        graph.push(json!({ "@type": "FAQPage", "mainEntity": questions }));
    }
    json!({ "@context": "https://schema.org", "@graph": graph })
}

fn blog_posting(posting: &Posting) -> Value {
    let mut node = Map::new();
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            node.insert(name.to_owned(), value);
        }
    };
    set("@type", Some("BlogPosting".into()));
    set("headline", Some(posting.headline.as_str().into()));
    set("description", posting.description.as_deref().map(Value::from));
    let pictures: Vec<Value> = posting.pictures.iter().map(image).collect();
    set("image", (!pictures.is_empty()).then(|| json!(pictures)));
    set("datePublished", posting.published_at.as_deref().map(Value::from));
    set("dateModified", posting.modified_at.as_deref().map(Value::from));
    set("author", posting.author.as_ref().map(person));
    set(
        "publisher",
        posting.publisher.as_ref().map(|(name, logo)| {
            let mut organization = json!({ "@type": "Organization", "name": name });
            if let Some(logo) = logo {
                organization["logo"] = json!({ "@type": "ImageObject", "url": logo });
            }
            organization
        }),
    );
    set(
        "mainEntityOfPage",
        posting
            .url
            .as_ref()
            .map(|url| json!({ "@type": "WebPage", "@id": url })),
    );
    set("inLanguage", Some(posting.language.as_str().into()));
    Value::Object(node)
}

fn image(picture: &Picture) -> Value {
    let mut image = json!({ "@type": "ImageObject", "url": picture.url });
    for (name, value) in [
        ("caption", picture.caption.as_ref().map(|text| json!(text))),
        ("width", picture.width.map(|pixels| json!(pixels))),
        ("height", picture.height.map(|pixels| json!(pixels))),
        ("creditText", picture.credit.as_ref().map(|text| json!(text))),
    ] {
        if let Some(value) = value {
            image[name] = value;
        }
    }
    image
}

fn person(author: &Author) -> Value {
    let mut person = json!({ "@type": "Person", "name": author.name });
    if let Some(url) = &author.url {
        person["url"] = json!(url);
    }
    if !author.same_as.is_empty() {
        person["sameAs"] = json!(author.same_as);
    }
    person
}

fn breadcrumbs(posting: &Posting) -> Value {
    let above = posting.breadcrumbs.iter().map(|(name, url)| (name, Some(url)));
    let items: Vec<Value> = above
        .chain([(&posting.headline, posting.url.as_ref())])
        .zip(1..)
        .map(|((name, url), position)| {
            let mut item = json!({ "@type": "ListItem", "position": position, "name": name });
            if let Some(url) = url {
                item["item"] = json!(url);
            }
            item
        })
        .collect();
    json!({ "@type": "BreadcrumbList", "itemListElement": items })
}

/// The script element that carries it. No string in it can end the element or open a comment.
pub fn script(data: &Value) -> String {
    let mut json = String::new();
    for c in data.to_string().chars() {
        match c {
            '<' => json.push_str("\\u003c"),
            '>' => json.push_str("\\u003e"),
            '&' => json.push_str("\\u0026"),
            '\u{2028}' => json.push_str("\\u2028"),
            '\u{2029}' => json.push_str("\\u2029"),
            _ => json.push(c),
        }
    }
    format!("<script type=\"application/ld+json\">{json}</script>")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn posting() -> Posting {
        Posting {
            headline: "Tea".into(),
            url: Some("https://x.example/blog/tea".into()),
            published_at: Some("2026-01-02T03:04:05Z".into()),
            author: Some(Author {
                name: "Ada".into(),
                ..Author::default()
            }),
            publisher: Some(("X".into(), Some("https://x.example/logo.png".into()))),
            language: "en".into(),
            breadcrumbs: vec![("Home".into(), "https://x.example/".into())],
            ..Posting::default()
        }
    }

    #[test]
    fn a_post_is_described() {
        let data = structured_data(&posting(), &Document::of_markdown("Text.").unwrap());
        let graph = data["@graph"].as_array().unwrap();
        assert_eq!(graph.len(), 2);
        assert_eq!(graph[0]["author"]["name"], "Ada");
        assert_eq!(graph[0]["publisher"]["logo"]["url"], "https://x.example/logo.png");
        assert!(graph[0].get("image").is_none() && graph[0].get("dateModified").is_none());
        assert_eq!(graph[1]["itemListElement"][1]["name"], "Tea");
        assert_eq!(graph[1]["itemListElement"][1]["position"], 2);
    }

    #[test]
    fn a_picture_is_told_with_what_is_known_of_it() {
        let bare = Picture {
            url: "https://x.example/a.png".into(),
            ..Picture::default()
        };
        let whole = Picture {
            url: "https://x.example/b.png".into(),
            caption: Some("A cup".into()),
            width: Some(1200),
            height: Some(630),
            credit: Some("Ada".into()),
        };
        let posting = Posting {
            pictures: vec![bare, whole],
            ..posting()
        };
        let data = structured_data(&posting, &Document::of_markdown("Text.").unwrap());
        assert_eq!(
            data["@graph"][0]["image"],
            json!([
                { "@type": "ImageObject", "url": "https://x.example/a.png" },
                { "@type": "ImageObject", "url": "https://x.example/b.png", "caption": "A cup", "width": 1200, "height": 630, "creditText": "Ada" },
            ])
        );
    }

    #[test]
    fn a_post_without_an_address_names_none() {
        let posting = Posting {
            url: None,
            ..posting()
        };
        let data = structured_data(&posting, &Document::of_markdown("Text.").unwrap());
        assert!(data["@graph"][0].get("mainEntityOfPage").is_none());
        let last = &data["@graph"][1]["itemListElement"][1];
        assert_eq!(
            last,
            &json!({ "@type": "ListItem", "position": 2, "name": "Tea" })
        );
    }

    #[test]
    fn questions_that_are_visible_are_told() {
        let text = "# Why tea?\n\nIntro.\n\n## What is it?\n\nA *leaf*.\n\n- green\n\n### Is it hot?\n\nYes.\n\n## Empty?\n\n## End\n\nBye.";
        let document = Document::of_markdown(text).unwrap();
        let found = faqs(&document);
        let answers: Vec<&str> = found.iter().map(|faq| faq.answer.as_str()).collect();
        assert_eq!(answers, ["A leaf. green", "Yes."]);
        let data = structured_data(&posting(), &document);
        assert_eq!(data["@graph"][2]["mainEntity"][0]["name"], "What is it?");
        let one = Document::of_markdown("## What is it?\n\nA leaf.").unwrap();
        assert_eq!(
            structured_data(&posting(), &one)["@graph"]
                .as_array()
                .unwrap()
                .len(),
            2
        );
    }

    proptest! {
        #[test]
        fn no_string_leaves_the_script(text in "(</script>|<!--|<script|]]>|&lt;|\u{2028}|\"|\\\\|[a-z]){0,12}") {
            let data = json!({ "headline": text });
            let html = script(&data);
            let inner = html.strip_prefix("<script type=\"application/ld+json\">").and_then(|rest| rest.strip_suffix("</script>")).unwrap();
            let ends = inner.contains(['<', '>', '&', '\u{2028}']);
            prop_assert!(!ends, "{}", inner);
            prop_assert_eq!(serde_json::from_str::<Value>(inner).unwrap(), data);
        }
    }
}
