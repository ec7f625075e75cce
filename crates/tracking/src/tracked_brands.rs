//! Brands that are looked for in answers: the own one and its competitors, from the brand data.

use std::collections::HashMap;

use searchwright_contract::{
    brand::Item,
    competitors::Competitor,
    ids::ItemId,
    products::{Product, ProductStatus},
    projects::Project,
};
use searchwright_store::{
    Result, Tx,
    access::ProjectScope,
    brand::{self, Resource},
    projects,
};
use searchwright_visibility::{
    brands::{Alias, Brand, BrandMatcher},
    citations::registrable_domain,
    facts::{FactChecker, ProductFacts, ProductPrice},
    near_names::NearNames,
    overview::BrandInfo,
};

/// Id of the own brand in analyses.
pub const OWN: &str = "own";
/// Items of a kind of brand data.
const MAX_ITEMS: u32 = 2_000;

/// The tracked brands of a project.
#[derive(Debug)]
pub struct TrackedBrands {
    /// Finds them in texts.
    pub matcher: BrandMatcher,
    /// Finds the ones that a name may be a misspelling of.
    pub(crate) near_names: NearNames,
    /// Finds sentences that contradict the brand data.
    pub facts: FactChecker,
    /// The own brand first.
    pub all: Vec<BrandInfo>,
    /// Names of products by id.
    pub products: HashMap<ItemId, String>,
    ids: HashMap<String, ItemId>,
    /// Number of changes of names before these.
    pub(crate) names_version: i64,
    /// Whether the own brand has a name and another spelling or domain.
    pub has_profile: bool,
}

impl TrackedBrands {
    /// Loads the brands of a project.
    pub async fn load(tx: &mut Tx, scope: ProjectScope, project: &Project) -> Result<Self> {
        // Read first: names that change meanwhile are newer than the version, never older.
        let names_version = projects::names_version(tx, scope).await?;
        let profile = brand::find_profile(tx, scope).await?.map(|stored| stored.profile);
        let products: Vec<Item<Product>> =
            brand::list(tx, scope, Resource::Products, None, MAX_ITEMS).await?;
        let competitors: Vec<Item<Competitor>> =
            brand::list(tx, scope, Resource::Competitors, None, MAX_ITEMS).await?;
        let has_profile = profile.is_some();
        let mut own = Brand {
            id: OWN.to_owned(),
            name: project.name.clone(),
            is_own: true,
            domains: vec![project.domain.clone()],
            ..Brand::default()
        };
        if let Some(profile) = profile {
            if !profile.name.is_empty() {
                own.name = profile.name;
            }
            own.ambiguous = profile.ambiguous;
            own.aliases = profile
                .aliases
                .iter()
                .map(|alias| Alias::from(alias.as_str()))
                .collect();
            own.domains.extend(profile.domains);
            own.category_terms = profile.category.into_iter().collect();
            own.negative_context = profile.negative_context;
        }
        for product in &products {
            let names = std::iter::once(&product.data.name).chain(&product.data.aliases);
            own.products.extend(names.map(|name| Alias::from(name.as_str())));
        }
        let mut brands = vec![own];
        let mut ids = HashMap::new();
        for item in competitors.into_iter().filter(|item| item.data.active) {
            ids.insert(item.id.to_string(), item.id);
            brands.push(competitor(item));
        }
        Ok(Self {
            matcher: BrandMatcher::new(&brands),
            near_names: NearNames::new(&brands),
            products: products
                .iter()
                .map(|item| (item.id, item.data.name.clone()))
                .collect(),
            facts: FactChecker::new(products.into_iter().map(product_facts).collect()),
            all: brands.into_iter().map(info).collect(),
            ids,
            names_version,
            has_profile,
        })
    }

    /// Returns the id of a competitor; `None` for the own brand.
    pub fn competitor(&self, brand: &str) -> Option<ItemId> {
        self.ids.get(brand).copied()
    }

    /// Returns the name of a brand.
    pub fn name(&self, brand: &str) -> String {
        let found = self.all.iter().find(|info| info.id == brand);
        found.map_or_else(|| brand.to_owned(), |info| info.name.clone())
    }

    /// Returns whether a competitor is tracked.
    pub fn has_competitors(&self) -> bool {
        self.all.iter().any(|brand| !brand.is_own)
    }
}

fn product_facts(item: Item<Product>) -> ProductFacts {
    let product = item.data;
    ProductFacts {
        id: item.id.to_string(),
        names: std::iter::once(product.name).chain(product.aliases).collect(),
        price: product.price.map(|price| ProductPrice {
            amount: price.amount,
            currency: price.currency.clone(),
        }),
        is_retired: product.status == ProductStatus::Retired,
        features: product
            .features
            .into_iter()
            .chain(product.differentiators)
            .collect(),
    }
}

fn competitor(item: Item<Competitor>) -> Brand {
    let mut domains = vec![item.data.domain];
    domains.extend(item.data.owned_domains);
    Brand {
        id: item.id.to_string(),
        name: item.data.name,
        ambiguous: item.data.ambiguous,
        aliases: item
            .data
            .aliases
            .iter()
            .map(|alias| Alias::from(alias.as_str()))
            .collect(),
        domains,
        ..Brand::default()
    }
}

fn info(brand: Brand) -> BrandInfo {
    BrandInfo {
        domain: brand.domains.first().map(|domain| owner(domain)),
        id: brand.id,
        name: brand.name,
        is_own: brand.is_own,
    }
}

/// Returns the registrable part of a domain, which may carry a scheme and a port.
fn owner(domain: &str) -> String {
    let host = domain.split_once("://").map_or(domain, |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or_default();
    registrable_domain(host).to_owned()
}
