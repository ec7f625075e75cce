//! Queries that Shopify is sent, and the fields that every article has.

use searchwright_contract::integrations::FieldType::{self, Date, Image, List, Richtext, Slug, Text};

/// Fields of an article: id, label, type.
pub(super) const FIELDS: &[(&str, &str, FieldType)] = &[
    ("title", "Title", Text),
    ("body", "Content", Richtext),
    ("handle", "Handle", Slug),
    ("summary", "Excerpt", Richtext),
    ("author", "Author", Text),
    ("tags", "Tags", List),
    ("image", "Image", Image),
    ("publishDate", "Publish date", Date),
    ("metafield.global.title_tag", "Page title", Text),
    ("metafield.global.description_tag", "Meta description", Text),
];

/// Selection of the fields that are read of an article.
macro_rules! article {
    () => {
        " { id title handle body summary tags isPublished publishedAt author { name } blog { handle }
            metafields(first: 12, keys: $keys) { nodes { namespace key value } } }"
    };
}

pub(super) const CHECK: &str =
    "query { shop { name myshopifyDomain } currentAppInstallation { accessScopes { handle } } }";

pub(super) const SHOP: &str = "query { shop { name primaryDomain { url } } }";

pub(super) const BLOGS: &str = "query { blogs(first: 250) { nodes { id title } } }";

pub(super) const METAFIELDS: &str = "query { metafieldDefinitions(ownerType: ARTICLE, first: 250) {
    nodes { namespace key name type { name } } } }";

pub(super) const FIND: &str = concat!(
    "query($id: ID!, $blog: ID!, $query: String!, $keys: [String!]) { article(id: $id)",
    article!(),
    " articles(first: 10, query: $query) { nodes",
    article!(),
    " } blog(id: $blog) { articles(first: 15, reverse: true) { nodes",
    article!(),
    " } } }"
);

pub(super) const CREATE: &str = concat!(
    "mutation($article: ArticleCreateInput!, $keys: [String!]) { articleCreate(article: $article) { article",
    article!(),
    " userErrors { code field message } } }"
);

pub(super) const UPDATE: &str = concat!(
    "mutation($id: ID!, $article: ArticleUpdateInput!, $keys: [String!]) { articleUpdate(id: $id, article: $article) { article",
    article!(),
    " userErrors { code field message } } }"
);
