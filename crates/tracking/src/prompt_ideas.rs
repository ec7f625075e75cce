//! Suggestions of prompts, from the records of a project.

use std::collections::HashSet;

use searchwright_contract::{
    brand::Item,
    faqs::Faq,
    ids::ItemId,
    keywords::{KeywordSort, KeywordStatus},
    products::{Product, ProductStatus},
    projects::Project,
    prompt_ideas::{PromptSource, PromptSourceKind, SuggestedPrompt, SuggestedPrompts},
};
use searchwright_store::{
    Result, Tx,
    access::ProjectScope,
    brand::{self, Resource},
    keywords::{self, KeywordQuery},
    prompts,
};
use searchwright_text::primary;
use searchwright_visibility::prompt_ideas::{
    self as rules, IdeaKind, IdeaMaterial, LANGUAGES, NamedRecord, ProductMaterial, PromptIdea,
};
use serde::de::DeserializeOwned;

use crate::{TrackedBrands, overview::contract_class, tracked_brands::OWN};

/// Records of a kind that are read: the newest items, and the keywords of the highest score.
const MAX_RECORDS: u32 = 200;

/// Suggests prompts.
pub async fn suggest(
    tx: &mut Tx,
    scope: ProjectScope,
    project: &Project,
    brands: &TrackedBrands,
    limit: usize,
) -> Result<SuggestedPrompts> {
    let material = load(tx, scope, project, brands).await?;
    let known = prompts::list_outlines(tx, scope).await?;
    let known: HashSet<String> = known
        .iter()
        .map(|prompt| rules::question_key(&prompt.text))
        .collect();
    let Some(ideas) = rules::suggest(&material, &brands.matcher, known, limit) else {
        let reason = format!(
            "there are no templates in the language {}, only in {}; write the prompts yourself",
            project.language,
            LANGUAGES.join(", ")
        );
        return Ok(SuggestedPrompts {
            data: Vec::new(),
            reason: Some(reason),
        });
    };
    let reason = (ideas.len() < limit).then(|| {
        "the data give no more: add a category, products with use cases and features, questions, competitors, or approve keywords"
            .to_owned()
    });
    Ok(SuggestedPrompts {
        data: ideas.into_iter().map(suggested).collect(),
        reason,
    })
}

fn suggested(idea: PromptIdea) -> SuggestedPrompt {
    SuggestedPrompt {
        text: idea.text,
        class: contract_class(idea.class),
        topic: idea.topic,
        source: PromptSource {
            kind: match idea.source.kind {
                IdeaKind::Category => PromptSourceKind::Category,
                IdeaKind::Product => PromptSourceKind::Product,
                IdeaKind::Keyword => PromptSourceKind::Keyword,
                IdeaKind::Faq => PromptSourceKind::Faq,
                IdeaKind::Competitor => PromptSourceKind::Competitor,
                IdeaKind::Brand => PromptSourceKind::Brand,
            },
            id: idea.source.id,
            name: idea.source.name,
        },
        prompt_id: None,
    }
}

async fn load(
    tx: &mut Tx,
    scope: ProjectScope,
    project: &Project,
    brands: &TrackedBrands,
) -> Result<IdeaMaterial> {
    let language = primary(&project.language);
    let profile = brand::find_profile(tx, scope).await?;
    let products: Vec<Item<Product>> = oldest_first(tx, scope, Resource::Products).await?;
    let faqs: Vec<Item<Faq>> = oldest_first(tx, scope, Resource::Faqs).await?;
    let query = KeywordQuery {
        status: Some(KeywordStatus::Approved),
        sort: Some(KeywordSort::Score),
        limit: MAX_RECORDS,
        ..KeywordQuery::default()
    };
    let keywords = keywords::list(tx, scope, query).await?;
    let competitors = brands.all.iter().filter(|brand| !brand.is_own);
    Ok(IdeaMaterial {
        language: project.language.clone(),
        brand: brands.name(OWN),
        category: profile.and_then(|stored| stored.profile.category),
        products: products
            .into_iter()
            .filter(|item| item.data.status == ProductStatus::Active)
            .map(product)
            .collect(),
        faqs: faqs
            .into_iter()
            .filter(|item| has_language(item.data.language.as_deref(), &language))
            .map(|item| NamedRecord {
                id: item.id.to_string(),
                name: item.data.question,
                topic: item.data.tags.into_iter().next(),
            })
            .collect(),
        keywords: keywords
            .into_iter()
            .filter(|keyword| has_language(Some(&keyword.language), &language))
            .map(|keyword| NamedRecord {
                id: keyword.id.to_string(),
                name: keyword.keyword,
                topic: None,
            })
            .collect(),
        competitors: competitors
            .map(|brand| NamedRecord {
                id: brand.id.clone(),
                name: brand.name.clone(),
                topic: None,
            })
            .collect(),
    })
}

fn has_language(tag: Option<&str>, language: &str) -> bool {
    tag.is_none_or(|tag| primary(tag) == language)
}

async fn oldest_first<T: DeserializeOwned>(
    tx: &mut Tx,
    scope: ProjectScope,
    resource: Resource,
) -> Result<Vec<Item<T>>> {
    let mut items: Vec<Item<T>> = brand::list(tx, scope, resource, None::<ItemId>, MAX_RECORDS).await?;
    items.reverse();
    Ok(items)
}

fn product(item: Item<Product>) -> ProductMaterial {
    let product = item.data;
    let mut features = product.differentiators;
    features.extend(product.features);
    ProductMaterial {
        id: item.id.to_string(),
        name: product.name,
        category: product.category,
        audience: product.audience,
        use_cases: product.use_cases,
        features,
    }
}
