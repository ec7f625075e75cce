use super::{drafts::*, *};
use crate::brands::Brand;

fn record(id: &str, name: &str) -> NamedRecord {
    NamedRecord {
        id: id.to_owned(),
        name: name.to_owned(),
        topic: None,
    }
}

fn material(language: &str) -> IdeaMaterial {
    IdeaMaterial {
        language: language.to_owned(),
        brand: "Acme Desk".to_owned(),
        category: Some("office furniture".to_owned()),
        products: vec![ProductMaterial {
            id: "p".to_owned(),
            name: "Oak desk 160".to_owned(),
            category: Some("standing desk".to_owned()),
            audience: Some("people who work at home".to_owned()),
            use_cases: vec!["two heavy monitors".to_owned()],
            features: vec!["two motors".to_owned(), "{brand}".to_owned()],
        }],
        faqs: vec![record("f", "How high does the desk go?")],
        keywords: vec![
            record("k", "quiet standing desk"),
            record("q", "how loud is a standing desk"),
        ],
        competitors: vec![record("c", "Bolt Desks"), record("d", "Oakworks")],
    }
}

fn matcher() -> BrandMatcher {
    let brand = |id: &str, name: &str| Brand {
        id: id.to_owned(),
        name: name.to_owned(),
        is_own: id == "own",
        ..Brand::default()
    };
    BrandMatcher::new(&[
        brand("own", "Acme Desk"),
        brand("c", "Bolt Desks"),
        brand("d", "Oakworks"),
    ])
}

fn suggestions(material: &IdeaMaterial, limit: usize) -> Vec<PromptIdea> {
    suggest(material, &matcher(), HashSet::new(), limit).unwrap()
}

#[test]
fn every_language_has_every_kind_of_template() {
    let first_person: [&[&str]; 4] = [
        &["i", "me", "my", "myself"],
        &["ich", "mir", "mich", "mein", "meiner"],
        &["je", "j", "me", "mon", "ma", "moi"],
        &[
            "me",
            "mi",
            "mí",
            "busco",
            "debo",
            "necesito",
            "he",
            "estoy",
            "sé",
            "debería",
            "explícamelo",
        ],
    ];
    for (language, person) in LANGUAGES.iter().zip(first_person) {
        for kind in [
            "category",
            "use",
            "audience",
            "feature",
            "keyword",
            "question",
            "competitor",
            "versus",
            "brand",
        ] {
            let of_kind = templates(language, kind);
            assert!(!of_kind.is_empty(), "{language} {kind}");
            for template in of_kind {
                let words = if kind == "question" {
                    "a b c d e f"
                } else {
                    "oak desk"
                };
                let parts = [
                    "category",
                    "use",
                    "audience",
                    "feature",
                    "keyword",
                    "question",
                    "competitor",
                    "brand",
                ]
                .map(|name| (name, words));
                let text = fill(template, &parts);
                assert!(has_length(&text), "{text}");
                assert!(!text.contains(['{', '}']), "{text}");
                let text = text.to_lowercase();
                let mut said = text.split(|c: char| !c.is_alphabetic());
                assert!(said.any(|word| person.contains(&word)), "{text}");
            }
        }
    }
}

#[test]
fn all_material_is_used_and_at_most_a_fifth_names_the_brand() {
    for language in LANGUAGES {
        for limit in [1, 4, 5, 10, 20, 50] {
            let all = suggestions(&material(language), limit);
            let branded = all
                .iter()
                .filter(|idea| idea.class == PromptClass::Branded)
                .count();
            assert!(
                branded * 5 <= all.len() && all.len() <= limit,
                "{language} {limit}: {all:#?}"
            );
            assert!(
                all.iter()
                    .all(|idea| has_length(&idea.text) && idea.topic.is_some())
            );
        }
        let all = suggestions(&material(language), 20);
        assert_eq!(all.len(), 20);
        for kind in [
            IdeaKind::Category,
            IdeaKind::Product,
            IdeaKind::Keyword,
            IdeaKind::Faq,
            IdeaKind::Competitor,
        ] {
            assert!(
                all.iter().any(|idea| idea.source.kind == kind),
                "{language} {kind:?}: {all:#?}"
            );
        }
        assert!(all.iter().any(|idea| idea.class == PromptClass::Branded));
        assert!(
            all.iter()
                .any(|idea| idea.class == PromptClass::CompetitorBranded)
        );
        assert_eq!(all, suggestions(&material(language), 20), "the order is fixed");
    }
}

#[test]
fn known_prompts_are_left_out_however_they_are_written() {
    let all = suggestions(&material("en-GB"), 20);
    let shouted = all[0].text.to_uppercase().replace([':', ','], " -");
    let known = HashSet::from([question_key(&shouted)]);
    let rest = suggest(&material("en-GB"), &matcher(), known, 20).unwrap();
    assert!(!rest.iter().any(|idea| idea.text == all[0].text));
    let keys: HashSet<String> = rest.iter().map(|idea| question_key(&idea.text)).collect();
    assert_eq!(keys.len(), rest.len());
}

#[test]
fn without_material_nothing_is_made_up() {
    let nothing = IdeaMaterial {
        language: "en".to_owned(),
        brand: "Acme Desk".to_owned(),
        ..IdeaMaterial::default()
    };
    assert_eq!(suggestions(&nothing, 20), []);
    let only_brand = IdeaMaterial {
        competitors: vec![record("c", "Bolt Desks")],
        ..nothing
    };
    let all = suggestions(&only_brand, 20);
    assert!(!all.is_empty() && all.iter().all(|idea| idea.class != PromptClass::Branded));
    assert_eq!(suggest(&material("ja"), &matcher(), HashSet::new(), 20), None);
}

#[test]
fn material_is_never_read_as_a_template() {
    let all = suggestions(&material("en"), 50);
    assert!(
        all.iter().any(|idea| idea.text.contains("with {brand}")),
        "{all:#?}"
    );
    let text = |name: &str| {
        let mut material = material("en");
        material.products.clear();
        material.category = Some(name.to_owned());
        suggestions(&material, 1)[0].text.clone()
    };
    assert_eq!(
        text(" office\n furniture?! "),
        "I am looking for office furniture and feel lost: which brands would you recommend, and why?"
    );
}
