//! Brand data by resource: how each is listed, added, changed and deleted, and the fields of its form.

use std::sync::Arc;

use axum::routing::MethodRouter;
use searchwright_contract::{
    List,
    brand::{GetBrand, Item, UpdateBrand},
    competitors::{CreateCompetitors, DeleteCompetitor, GetCompetitor, ListCompetitors, UpdateCompetitor},
    ctas::{CreateCtas, DeleteCta, GetCta, ListCtas, UpdateCta},
    faqs::{CreateFaqs, DeleteFaq, GetFaq, ListFaqs, UpdateFaq},
    products::{CreateProducts, DeleteProduct, GetProduct, ListProducts, UpdateProduct},
};
use searchwright_engine::{Failure, failure};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    app::App,
    dashboard::{
        export::CsvFile,
        visit::{SentForm, Visit},
    },
};

/// Form in which a field is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BrandInput {
    /// One line; empty clears it.
    Line,
    /// One line that has to be there.
    Name,
    /// Several lines.
    Area,
    /// Several lines that have to be there.
    Text,
    /// A list, one entry per line.
    Lines,
    /// Yes or no.
    Tick,
    /// One of some words.
    Choice(&'static [(&'static str, &'static str)]),
    /// Some of some words.
    Choices(&'static [(&'static str, &'static str)]),
    /// Whole number.
    Number,
    /// Amount and currency.
    Price,
    /// Day.
    Day,
    /// Statements with their sources, one per line.
    Claims,
    /// A product.
    Product,
}

/// A field of a form.
#[derive(Clone, Copy, Debug)]
pub(super) struct BrandFieldSpec {
    pub name: &'static str,
    pub label: &'static str,
    pub input: BrandInput,
    pub hint: &'static str,
}

const fn field(
    name: &'static str,
    label: &'static str,
    input: BrandInput,
    hint: &'static str,
) -> BrandFieldSpec {
    BrandFieldSpec {
        name,
        label,
        input,
        hint,
    }
}

use BrandInput::{Area, Choice, Choices, Claims, Day, Line, Lines, Name, Number, Price, Product, Text, Tick};

/// Fields of the profile.
pub(super) const PROFILE: &[BrandFieldSpec] = &[
    field("name", "Name", Name, "As people write it."),
    field(
        "aliases",
        "Other spellings and short names",
        Lines,
        "One per line. An answer that holds one of them names the brand.",
    ),
    field(
        "domains",
        "Other domains",
        Lines,
        "One per line, beside the website of the project. Citations of them count as yours.",
    ),
    field(
        "category",
        "Category",
        Line,
        "As the market calls it, such as office furniture.",
    ),
    field("tone", "Tone of voice", Area, "For texts that are written."),
    field(
        "bannedPhrases",
        "Phrases that must not appear",
        Lines,
        "One per line.",
    ),
    field(
        "language",
        "Language",
        Line,
        "Such as en or de; that of the project if empty.",
    ),
    field(
        "ambiguous",
        "The name is also an ordinary word",
        Tick,
        "Then the name alone does not count as a mention.",
    ),
    field(
        "negativeContext",
        "Phrases near the name that mean something else",
        Lines,
        "One per line, such as fern leaf.",
    ),
];

const PRODUCT: &[BrandFieldSpec] = &[
    field("name", "Name", Name, ""),
    field("aliases", "Other names", Lines, "One per line."),
    field("url", "Product page", Line, "URL."),
    field("description", "Description", Area, ""),
    field("category", "Category", Line, ""),
    field(
        "price",
        "Price",
        Price,
        "Answers that claim another price are listed as wrong facts.",
    ),
    field("features", "Features", Lines, "One per line."),
    field("audience", "Audience", Line, ""),
    field("useCases", "Use cases", Lines, "One per line."),
    field("differentiators", "What sets it apart", Lines, "One per line."),
    field(
        "status",
        "Status",
        Choice(&[("active", "On offer"), ("retired", "No longer on offer")]),
        "",
    ),
    field("imageUrl", "Picture", Line, "URL."),
];

const COMPETITOR: &[BrandFieldSpec] = &[
    field("name", "Name", Name, ""),
    field("domain", "Website", Name, "A host, such as oakworks.example."),
    field("aliases", "Other spellings", Lines, "One per line."),
    field("ownedDomains", "Other domains", Lines, "One per line."),
    field(
        "ambiguous",
        "The name is also an ordinary word",
        Tick,
        "Then the name alone does not count as a mention.",
    ),
    field("notes", "Notes", Area, "For people."),
    field(
        "claims",
        "Statements with sources",
        Claims,
        "One per line: the statement, a vertical bar, and the URL of its source.",
    ),
    field("active", "Compare the brand with it", Tick, ""),
];

const FAQ: &[BrandFieldSpec] = &[
    field("question", "Question", Name, ""),
    field("answer", "Answer", Text, "Markdown."),
    field("sourceUrl", "Source", Line, "URL."),
    field("language", "Language", Line, "That of the project if empty."),
    field("tags", "Labels", Lines, "One per line."),
    field("verifiedAt", "Last verified on", Day, ""),
];

const CTA: &[BrandFieldSpec] = &[
    field("label", "Text of the link", Name, ""),
    field("url", "Where it leads", Name, "URL."),
    field("text", "Text beside the link", Area, ""),
    field(
        "placement",
        "Place",
        Choice(&[
            ("end", "At the end"),
            ("inline", "Between two paragraphs"),
            ("banner", "In a box"),
        ]),
        "",
    ),
    field(
        "priority",
        "Priority",
        Number,
        "0 to 100; higher is chosen first.",
    ),
    field(
        "intents",
        "Search intents; none for all",
        Choices(&[
            ("informational", "To learn"),
            ("commercial", "To compare"),
            ("transactional", "To buy"),
            ("navigational", "To reach a site"),
        ]),
        "",
    ),
    field("productId", "Product", Product, ""),
    field("activeFrom", "From", Day, ""),
    field("activeTo", "Until", Day, ""),
    field("language", "Language", Line, "All languages if empty."),
];

/// Tab of the page of the brand, with the resource that it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BrandResource {
    Products,
    Competitors,
    Faqs,
    Ctas,
}

/// One page of the items of a resource, as JSON.
pub(super) struct BrandItems {
    pub data: Vec<Value>,
    pub next_cursor: Option<String>,
}

fn arguments<O: DeserializeOwned>(arguments: Value) -> Result<O, Failure> {
    serde_json::from_value(arguments).map_err(|e| failure::fault("", "invalid", e.to_string()))
}

fn to_json(answer: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(answer).map_err(|e| failure::defect("brand", e))
}

fn items<T: Serialize>(list: &List<Item<T>>) -> Result<BrandItems, Failure> {
    let data: Result<Vec<Value>, Failure> = list.data.iter().map(to_json).collect();
    Ok(BrandItems {
        data: data?,
        next_cursor: list.next_cursor.clone(),
    })
}

/// Calls the operation of a resource.
macro_rules! call {
    ($resource:expr, $door:expr, $how:ident, $arguments:expr, $products:ty, $competitors:ty, $faqs:ty, $ctas:ty) => {
        match $resource {
            BrandResource::Products => to_json(&$door.$how(&arguments::<$products>($arguments)?).await?),
            BrandResource::Competitors => {
                to_json(&$door.$how(&arguments::<$competitors>($arguments)?).await?)
            }
            BrandResource::Faqs => to_json(&$door.$how(&arguments::<$faqs>($arguments)?).await?),
            BrandResource::Ctas => to_json(&$door.$how(&arguments::<$ctas>($arguments)?).await?),
        }
    };
}

impl BrandResource {
    pub const ALL: [Self; 4] = [Self::Products, Self::Competitors, Self::Faqs, Self::Ctas];

    /// Word in the address.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Products => "products",
            Self::Competitors => "competitors",
            Self::Faqs => "faqs",
            Self::Ctas => "ctas",
        }
    }

    pub const fn title(self) -> &'static str {
        match self {
            Self::Products => "Products",
            Self::Competitors => "Competitors",
            Self::Faqs => "FAQs",
            Self::Ctas => "Calls to action",
        }
    }

    /// Name of one of them.
    pub const fn one(self) -> &'static str {
        match self {
            Self::Products => "product",
            Self::Competitors => "competitor",
            Self::Faqs => "question",
            Self::Ctas => "call to action",
        }
    }

    /// Use of the resource.
    pub const fn purpose(self) -> &'static str {
        match self {
            Self::Products => {
                "Facts for texts, and for checking what assistants say. An answer that names a product names the brand."
            }
            Self::Competitors => {
                "Brands that are counted beside yours in answers. Three or more make the share of voice mean something."
            }
            Self::Faqs => "Questions with your answers: facts for texts, and ideas for prompts.",
            Self::Ctas => "Invitations that texts may hold, chosen by intent and language.",
        }
    }

    pub const fn fields(self) -> &'static [BrandFieldSpec] {
        match self {
            Self::Products => PRODUCT,
            Self::Competitors => COMPETITOR,
            Self::Faqs => FAQ,
            Self::Ctas => CTA,
        }
    }

    const fn id_name(self) -> &'static str {
        match self {
            Self::Products => "productId",
            Self::Competitors => "competitorId",
            Self::Faqs => "faqId",
            Self::Ctas => "ctaId",
        }
    }

    /// Answers with the file of the items.
    pub fn file(self) -> MethodRouter<Arc<App>> {
        let file = CsvFile::of_list(self.word());
        macro_rules! list {
            ($list:ident) => {
                file.route(|visit| $list {
                    project_id: visit.project_id(),
                    limit: Some(100),
                    cursor: None,
                })
            };
        }
        match self {
            Self::Products => list!(ListProducts),
            Self::Competitors => list!(ListCompetitors),
            Self::Faqs => list!(ListFaqs),
            Self::Ctas => list!(ListCtas),
        }
    }

    /// Reads one page of the items.
    pub async fn list(self, visit: &Visit, limit: u8, cursor: Option<&str>) -> Result<BrandItems, Failure> {
        let query = json!({ "projectId": visit.project_id(), "limit": limit, "cursor": cursor });
        match self {
            Self::Products => items(&visit.read(&arguments::<ListProducts>(query)?).await?),
            Self::Competitors => items(&visit.read(&arguments::<ListCompetitors>(query)?).await?),
            Self::Faqs => items(&visit.read(&arguments::<ListFaqs>(query)?).await?),
            Self::Ctas => items(&visit.read(&arguments::<ListCtas>(query)?).await?),
        }
    }

    /// Reads an item.
    pub async fn get(self, visit: &Visit, id: &str) -> Result<Value, Failure> {
        let query = json!({ "projectId": visit.project_id(), self.id_name(): id });
        call!(
            self,
            visit,
            read,
            query,
            GetProduct,
            GetCompetitor,
            GetFaq,
            GetCta
        )
    }

    /// Adds an item.
    pub async fn create(self, sent: &SentForm, item: Value) -> Result<Value, Failure> {
        let made = json!({ "projectId": sent.visit.project_id(), "items": [item] });
        call!(
            self,
            sent,
            change,
            made,
            CreateProducts,
            CreateCompetitors,
            CreateFaqs,
            CreateCtas
        )
    }

    /// Changes an item.
    pub async fn update(self, sent: &SentForm, id: &str, mut item: Value) -> Result<Value, Failure> {
        item["projectId"] = sent.visit.project_id().into();
        item[self.id_name()] = id.into();
        call!(
            self,
            sent,
            change,
            item,
            UpdateProduct,
            UpdateCompetitor,
            UpdateFaq,
            UpdateCta
        )
    }

    /// Deletes an item.
    pub async fn delete(self, sent: &SentForm, id: &str) -> Result<Value, Failure> {
        let gone = json!({ "projectId": sent.visit.project_id(), self.id_name(): id });
        call!(
            self,
            sent,
            change,
            gone,
            DeleteProduct,
            DeleteCompetitor,
            DeleteFaq,
            DeleteCta
        )
    }
}

/// Reads the profile.
pub(super) async fn profile(visit: &Visit) -> Result<Value, Failure> {
    let query = GetBrand {
        project_id: visit.project_id(),
    };
    to_json(&visit.read(&query).await?)
}

/// Changes the profile.
pub(super) async fn update_profile(sent: &SentForm, mut item: Value) -> Result<Value, Failure> {
    item["projectId"] = sent.visit.project_id().into();
    to_json(&sent.change(&arguments::<UpdateBrand>(item)?).await?)
}
