//! Arguments that operations on keywords share: brand names and countries.

use searchwright_contract::{brand::Item, competitors::Competitor};
use searchwright_keywords::intent::Brands;
use searchwright_store::{
    Tx,
    brand::{self, Resource},
};

use crate::{
    call::{Call, fault},
    failure::Result,
};

/// Upper bound of items of one kind of brand data.
const MAX_ITEMS: u32 = 2_000;

/// Loads the own names and those of competitors, by which branded keywords are recognised.
pub(crate) async fn load_brands(call: &Call, tx: &mut Tx) -> Result<Brands> {
    let scope = call.scope()?;
    let access = call.project()?;
    let profile = brand::find_profile(tx, scope).await?.map(|stored| stored.profile);
    let competitors: Vec<Item<Competitor>> =
        brand::list(tx, scope, Resource::Competitors, None, MAX_ITEMS).await?;
    let project = access.project.name.as_str();
    let own = profile.iter().flat_map(|p| {
        let name = Some(p.name.as_str()).filter(|name| !name.is_empty());
        name.into_iter().chain(p.aliases.iter().map(String::as_str))
    });
    let theirs = competitors
        .iter()
        .flat_map(|c| std::iter::once(c.data.name.as_str()).chain(c.data.aliases.iter().map(String::as_str)));
    Ok(Brands::new(own.chain([project]), theirs))
}

/// Returns a country code in upper case, the project's own where none is named; 422 when it is no ISO 3166-1 alpha-2 code.
pub(crate) fn country_code(named: Option<String>, own: &str) -> Result<String> {
    let country = named.map_or_else(|| own.to_owned(), |c| c.to_ascii_uppercase());
    if country.bytes().all(|b| b.is_ascii_uppercase()) {
        return Ok(country);
    }
    Err(fault(
        "/country",
        "not_a_country",
        "is not an ISO 3166-1 alpha-2 code",
    ))
}
