//! Validation of brand data. Pure: a record and the facts about the project go in, faults come out.

use icu_locale_core::LanguageIdentifier;
use searchwright_contract::{
    Fault, brand::Profile, competitors::Competitor, ctas::Cta, faqs::Faq, products::Product,
};
use searchwright_keywords::normalize;
use searchwright_store::brand::Resource;
use searchwright_visibility::domains;
use serde::{Serialize, de::DeserializeOwned};
use url::Url;
use uuid::Uuid;

/// Facts about the project that its brand data are checked against.
#[derive(Clone, Debug)]
pub(crate) struct Own {
    /// Owners of its domains.
    pub(crate) owners: Vec<String>,
    /// Its language.
    pub(crate) language: String,
}

/// Returns a language tag of BCP 47 as it is stored; `None` if it is none.
pub fn language_tag(text: &str) -> Option<String> {
    let language = LanguageIdentifier::try_from_str(text).ok()?;
    (!language.language.is_unknown()).then(|| language.to_string())
}

/// A unique key: no two items of a resource may share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// The member it comes from.
    pub(crate) member: &'static str,
    /// The text that is compared.
    pub(crate) text: String,
}

impl Key {
    fn new(member: &'static str, parts: &[&str]) -> Self {
        // No part holds a line break once it is normalised, so two lists of parts never read alike.
        let text = [&[member], parts].concat().join("\n");
        Self { member, text }
    }
}

/// The key of a competitor by its domain.
pub(crate) fn domain_key(domain: &str) -> String {
    Key::new("domain", &[&domains::owner(domain)]).text
}

/// An item of brand data.
pub(crate) trait Record:
    Serialize + DeserializeOwned + Clone + PartialEq + Send + Sync + 'static
{
    /// Resource under which it is stored.
    const RESOURCE: Resource;

    /// Brings its members into the one form that is kept, and names the faults of those that have none.
    fn check(&mut self, own: &Own, check: &mut Check<'_>);

    /// Returns the keys that make it unique. Call after [`Self::check`].
    fn keys(&self) -> Vec<Key>;

    /// The product it is about, by id.
    fn product(&self) -> Option<&str> {
        None
    }
}

/// Gathers the faults of one record.
#[derive(Debug)]
pub(crate) struct Check<'a> {
    at: String,
    faults: &'a mut Vec<Fault>,
}

impl<'a> Check<'a> {
    /// Of the record at this pointer.
    pub(crate) fn new(at: String, faults: &'a mut Vec<Fault>) -> Self {
        Self { at, faults }
    }

    /// Names a fault of a member.
    pub(crate) fn fault(&mut self, member: &str, code: &str, detail: impl Into<String>) {
        self.faults.push(Fault {
            pointer: format!("{}/{member}", self.at),
            code: code.to_owned(),
            detail: detail.into(),
        });
    }

    /// A text that has to say something; spaces around it go.
    pub(crate) fn said(&mut self, member: &str, text: &mut String) {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            self.fault(member, "blank", "has nothing but spaces");
        } else if trimmed.len() != text.len() {
            *text = trimmed.to_owned();
        }
    }

    pub(crate) fn said_if_any(&mut self, member: &str, text: &mut Option<String>) {
        if let Some(text) = text {
            self.said(member, text);
        }
    }

    pub(crate) fn all_said(&mut self, member: &str, texts: &mut [String]) {
        for (at, text) in texts.iter_mut().enumerate() {
            self.said(&format!("{member}/{at}"), text);
        }
    }

    fn url(&mut self, member: &str, text: &str) {
        let why = match Url::parse(text) {
            Err(e) => format!("is not an absolute URL: {e}"),
            Ok(url) if !matches!(url.scheme(), "http" | "https") => "is neither http nor https".to_owned(),
            Ok(url) if !url.username().is_empty() || url.password().is_some() => {
                "carries a user name or a password".to_owned()
            }
            Ok(_) => return,
        };
        self.fault(member, "not_a_url", why);
    }

    pub(crate) fn url_if_any(&mut self, member: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.url(member, text);
        }
    }

    fn domain(&mut self, member: &str, text: &mut String) -> bool {
        match domains::read(text.trim()) {
            Ok(read) => {
                *text = read;
                true
            }
            Err(why) => {
                self.fault(member, "not_a_domain", why);
                false
            }
        }
    }

    pub(crate) fn language(&mut self, member: &str, tag: &mut Option<String>) {
        let Some(text) = tag else { return };
        match language_tag(text) {
            Some(known) => *text = known,
            None => self.fault(member, "not_a_language", "is not a language tag of BCP 47"),
        }
    }
}

impl Record for Product {
    const RESOURCE: Resource = Resource::Products;

    fn check(&mut self, _: &Own, check: &mut Check<'_>) {
        check.said("name", &mut self.name);
        check.all_said("aliases", &mut self.aliases);
        check.url_if_any("url", self.url.as_deref());
        check.said_if_any("description", &mut self.description);
        check.said_if_any("category", &mut self.category);
        check.all_said("features", &mut self.features);
        check.said_if_any("audience", &mut self.audience);
        check.all_said("useCases", &mut self.use_cases);
        check.all_said("differentiators", &mut self.differentiators);
        check.url_if_any("imageUrl", self.image_url.as_deref());
        if let Some(price) = &mut self.price {
            price.currency.make_ascii_uppercase();
            if !price.currency.bytes().all(|b| b.is_ascii_uppercase()) {
                check.fault("price/currency", "not_a_currency", "is not a code of ISO 4217");
            }
        }
    }

    fn keys(&self) -> Vec<Key> {
        vec![Key::new("name", &[&normalize(&self.name)])]
    }
}

impl Record for Competitor {
    const RESOURCE: Resource = Resource::Competitors;

    fn check(&mut self, own: &Own, check: &mut Check<'_>) {
        check.said("name", &mut self.name);
        check.all_said("aliases", &mut self.aliases);
        check.said_if_any("notes", &mut self.notes);
        let further = self.owned_domains.iter_mut().enumerate();
        let further = further.map(|(at, domain)| (format!("ownedDomains/{at}"), domain));
        for (member, domain) in std::iter::once(("domain".to_owned(), &mut self.domain)).chain(further) {
            if check.domain(&member, domain) && own.owners.contains(&domains::owner(domain)) {
                check.fault(&member, "own_domain", "is a domain of the brand itself");
            }
        }
        for (at, claim) in self.claims.iter_mut().enumerate() {
            check.said(&format!("claims/{at}/text"), &mut claim.text);
            check.url(&format!("claims/{at}/sourceUrl"), &claim.source_url);
        }
    }

    fn keys(&self) -> Vec<Key> {
        vec![
            Key::new("name", &[&normalize(&self.name)]),
            Key {
                member: "domain",
                text: domain_key(&self.domain),
            },
        ]
    }
}

impl Record for Faq {
    const RESOURCE: Resource = Resource::Faqs;

    fn check(&mut self, own: &Own, check: &mut Check<'_>) {
        check.said("question", &mut self.question);
        check.said("answer", &mut self.answer);
        check.url_if_any("sourceUrl", self.source_url.as_deref());
        self.language.get_or_insert_with(|| own.language.clone());
        check.language("language", &mut self.language);
        check.all_said("tags", &mut self.tags);
    }

    fn keys(&self) -> Vec<Key> {
        let language = self.language.as_deref().unwrap_or_default();
        vec![Key::new("question", &[language, &normalize(&self.question)])]
    }
}

impl Record for Cta {
    const RESOURCE: Resource = Resource::Ctas;

    fn check(&mut self, _: &Own, check: &mut Check<'_>) {
        check.said("label", &mut self.label);
        check.url("url", &self.url);
        check.said_if_any("text", &mut self.text);
        check.language("language", &mut self.language);
        if let (Some(from), Some(to)) = (self.active_from, self.active_to)
            && to <= from
        {
            check.fault(
                "activeTo",
                "not_after_active_from",
                "has to be later than activeFrom",
            );
        }
        if let Some(id) = &mut self.product_id {
            match Uuid::try_parse(id) {
                Ok(uuid) => *id = uuid.to_string(),
                Err(_) => check.fault("productId", "not_a_uuid", "is not a UUID"),
            }
        }
    }

    fn keys(&self) -> Vec<Key> {
        let url = Url::parse(&self.url).map_or_else(|_| self.url.clone(), String::from);
        vec![Key::new("label", &[&normalize(&self.label), &url])]
    }

    fn product(&self) -> Option<&str> {
        self.product_id.as_deref()
    }
}

/// Brings a profile into the form that is kept, and names its faults.
pub(crate) fn check_profile(profile: &mut Profile, check: &mut Check<'_>) {
    check.said("name", &mut profile.name);
    check.all_said("aliases", &mut profile.aliases);
    for (at, domain) in profile.domains.iter_mut().enumerate() {
        check.domain(&format!("domains/{at}"), domain);
    }
    check.said_if_any("category", &mut profile.category);
    check.said_if_any("tone", &mut profile.tone);
    check.all_said("bannedPhrases", &mut profile.banned_phrases);
    check.language("language", &mut profile.language);
    check.all_said("negativeContext", &mut profile.negative_context);
}
