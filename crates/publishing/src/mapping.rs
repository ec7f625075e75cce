//! Fields of a post and fields of a provider: which fit, which are suggested, what a mapping lacks.

use std::collections::{BTreeMap, BTreeSet};

use searchwright_contract::{
    Fault,
    integrations::{Field, FieldType, PostField},
};

/// Names under which providers have the fields of a post, without case, spaces and punctuation; the likeliest first.
const NAMES: &[(PostField, &[&str])] = &[
    (PostField::Title, &["title", "name", "headline", "posttitle"]),
    (
        PostField::Content,
        &[
            "content",
            "body",
            "html",
            "postbody",
            "bodyhtml",
            "richcontent",
            "markdown",
            "text",
            "article",
        ],
    ),
    (PostField::Slug, &["slug", "handle", "permalink", "urlslug"]),
    (
        PostField::Excerpt,
        &[
            "excerpt",
            "customexcerpt",
            "summary",
            "summaryhtml",
            "postsummary",
            "teaser",
            "description",
            "intro",
        ],
    ),
    (
        PostField::MetaTitle,
        &[
            "metatitle",
            "seotitle",
            "titletag",
            "globaltitletag",
            "metayoastwpseotitle",
            "metarankmathtitle",
        ],
    ),
    (
        PostField::MetaDescription,
        &[
            "metadescription",
            "seodescription",
            "descriptiontag",
            "globaldescriptiontag",
            "metayoastwpseometadesc",
            "metarankmathdescription",
        ],
    ),
    (
        PostField::FeaturedImage,
        &[
            "featuredmedia",
            "featureimage",
            "featuredimage",
            "mainimage",
            "coverimage",
            "cover",
            "heroimage",
            "image",
            "thumbnail",
            "media",
        ],
    ),
    (
        PostField::Author,
        &["author", "authors", "authorname", "byline", "writer"],
    ),
    (
        PostField::Tags,
        &["tags", "keywords", "labels", "topics", "tagids"],
    ),
    (
        PostField::PublishedAt,
        &[
            "publishedat",
            "publishdate",
            "publisheddate",
            "datepublished",
            "date",
            "firstpublisheddate",
            "publishedon",
        ],
    ),
    (
        PostField::CanonicalUrl,
        &["canonicalurl", "canonical", "canonicallink"],
    ),
];

/// Types of a provider's field that can take a field of a post.
const fn fits(field: PostField, kind: FieldType) -> bool {
    use FieldType::{Date, Image, List, Markdown, Reference, Richtext, Slug, Text};
    match field {
        PostField::Title | PostField::MetaTitle | PostField::CanonicalUrl => {
            matches!(kind, Text | Richtext | Markdown)
        }
        PostField::Content => matches!(kind, Richtext | Markdown | Text),
        PostField::Slug => matches!(kind, Slug | Text),
        PostField::Excerpt | PostField::MetaDescription => matches!(kind, Text | Richtext | Markdown),
        PostField::FeaturedImage => matches!(kind, Image | Text | Reference),
        PostField::Author => matches!(kind, Text | Reference | List),
        PostField::Tags => matches!(kind, List | Reference | Text),
        PostField::PublishedAt => matches!(kind, Date | Text),
    }
}

fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Says of each field which field of a post it is for, by name and type; each field of a post is suggested once.
pub fn suggest(fields: &mut [Field]) {
    for (post, names) in NAMES {
        let place = |field: &Field| {
            let (id, name) = (plain(&field.id), plain(&field.name));
            names.iter().position(|known| *known == id || *known == name)
        };
        let best = fields
            .iter_mut()
            .filter(|field| field.suggested_for.is_none() && fits(*post, field.kind))
            .filter_map(|field| Some((place(field)?, field)))
            .min_by_key(|(place, _)| *place);
        if let Some((_, field)) = best {
            field.suggested_for = Some(*post);
        }
    }
}

/// Returns the faults of a mapping, each with a JSON pointer.
pub fn faults(map: &BTreeMap<String, String>, fields: &[Field]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |name: &str, code: &str, detail: String| {
        faults.push(Fault {
            pointer: format!("/fieldMap/{}", name.replace('~', "~0").replace('/', "~1")),
            code: code.to_owned(),
            detail,
        });
    };
    let known: Vec<&str> = fields.iter().map(|field| field.id.as_str()).collect();
    let mut taken = BTreeSet::new();
    for (name, id) in map {
        let Ok(post) = name.parse::<PostField>() else {
            let all: Vec<&str> = PostField::ALL.iter().map(|field| field.as_str()).collect();
            fault(
                name,
                "unknown_field",
                format!("is no field of a post: {}", all.join(", ")),
            );
            continue;
        };
        match fields.iter().find(|field| field.id == *id) {
            None => fault(
                name,
                "unknown_provider_field",
                format!("the provider has no such field; it has {}", known.join(", ")),
            ),
            Some(field) if !fits(post, field.kind) => {
                fault(
                    name,
                    "type_mismatch",
                    format!("a field of type {} cannot take it", field.kind),
                );
            }
            Some(_) if !taken.insert(id) => {
                fault(
                    name,
                    "mapped_twice",
                    "another field of the post goes into the same field of the provider".to_owned(),
                );
            }
            Some(_) => {}
        }
    }
    for needed in [PostField::Title, PostField::Content] {
        if !map.contains_key(needed.as_str()) {
            fault(needed.as_str(), "required", format!("{needed} has to be mapped"));
        }
    }
    faults
}

/// Returns the fields that keep a mapping from being used: required fields of the provider that nothing is mapped to,
/// and mapped fields that are gone.
pub fn missing(map: &BTreeMap<String, String>, fields: &[Field]) -> Vec<String> {
    let gone = map
        .iter()
        .filter(|(_, id)| fields.iter().all(|field| field.id != **id))
        .map(|(name, _)| format!("fieldMap.{name}"));
    let unmapped = fields
        .iter()
        .filter(|field| field.required && !map.values().any(|id| *id == field.id))
        .map(|field| format!("fields.{}", field.id));
    gone.chain(unmapped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> Vec<Field> {
        vec![
            Field::new("name", "Name", FieldType::Text).required(),
            Field::new("post-body", "Post Body", FieldType::Richtext),
            Field::new("html", "HTML", FieldType::Boolean),
            Field::new("main-image", "Main image", FieldType::Image),
            Field::new("region", "Region", FieldType::Text).required(),
        ]
    }

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
            .collect()
    }

    #[test]
    fn fields_are_suggested_by_name_and_type() {
        let mut all = fields();
        suggest(&mut all);
        let suggested: Vec<_> = all.iter().map(|field| field.suggested_for).collect();
        assert_eq!(
            suggested,
            [
                Some(PostField::Title),
                Some(PostField::Content),
                None,
                Some(PostField::FeaturedImage),
                None
            ]
        );
    }

    #[test]
    fn every_fault_has_its_pointer() {
        let bad = map(&[
            ("title", "name"),
            ("slug", "name"),
            ("content", "html"),
            ("colour", "region"),
            ("excerpt", "gone"),
            ("a/b", "x"),
        ]);
        let codes: Vec<(String, String)> = faults(&bad, &fields())
            .into_iter()
            .map(|f| (f.pointer, f.code))
            .collect();
        let expected = [
            ("/fieldMap/a~1b", "unknown_field"),
            ("/fieldMap/colour", "unknown_field"),
            ("/fieldMap/content", "type_mismatch"),
            ("/fieldMap/excerpt", "unknown_provider_field"),
            ("/fieldMap/title", "mapped_twice"),
        ];
        assert_eq!(codes, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
        let codes: Vec<String> = faults(&map(&[]), &fields())
            .into_iter()
            .map(|f| f.pointer)
            .collect();
        assert_eq!(codes, ["/fieldMap/title", "/fieldMap/content"]);
        assert!(faults(&map(&[("title", "name"), ("content", "post-body")]), &fields()).is_empty());
    }

    #[test]
    fn what_a_mapping_lacks_is_named() {
        let good = map(&[("title", "name"), ("content", "post-body")]);
        assert_eq!(missing(&good, &fields()), ["fields.region"]);
        assert_eq!(missing(&good, &fields()[1..4]), ["fieldMap.title"]);
    }
}
