//! Ideas from brand data and patterns.

use super::{Brand, Draft, Material, Source, patterns::Patterns};

/// Products and their categories, questions as they are, and what is asked about competitors.
pub(super) fn draft_ideas(brand: &Brand<'_>, patterns: &Patterns) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for faq in &brand.faqs {
        let question = faq.trim().trim_end_matches(['?', '？']).trim_end();
        let question = question.trim_start_matches('¿');
        let mut draft = Draft::new(question, Source::BrandData, "faqs", *faq);
        draft.verbatim = true;
        drafts.push(draft);
    }
    for product in &brand.products {
        let mut draft = Draft::new(product.name.trim(), Source::BrandData, "products", product.name);
        draft.one_word = true;
        drafts.push(draft);
        if let Some(category) = product.category {
            let found = format!("category of {}", product.name);
            drafts.push(Draft::new(category.trim(), Source::BrandData, "products", found));
        }
    }
    let own = brand.names.first().copied();
    for names in &brand.competitors {
        let Some(competitor) = names.first() else { continue };
        for pattern in &patterns.competitors {
            let text = match own {
                Some(own) => pattern.replace("{own}", own),
                None if pattern.contains("{own}") => continue,
                None => (*pattern).to_owned(),
            };
            let text = text.replace("{competitor}", competitor).to_lowercase();
            drafts.push(Draft::new(text, Source::BrandData, "competitors", *pattern));
        }
    }
    drafts
}

/// Questions about the seeds; without any, about the products' categories.
pub(super) fn questions(material: &Material<'_>, patterns: &Patterns) -> Vec<Draft> {
    let mut terms: Vec<(&str, &str)> = material.seeds.iter().map(|seed| ("seeds", *seed)).collect();
    if terms.is_empty() {
        let categories = material.brand.products.iter().filter_map(|p| p.category);
        terms = categories.map(|category| ("products", category)).collect();
        terms.dedup();
    }
    let mut drafts = Vec::new();
    for pattern in &patterns.questions {
        for (place, term) in &terms {
            let text = pattern.replace("{term}", &term.trim().to_lowercase());
            drafts.push(Draft::new(text, Source::QuestionPattern, place, *pattern));
        }
    }
    drafts
}
