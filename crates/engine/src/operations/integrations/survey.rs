//! Sites, collections and fields of a provider, requested before the transaction, and the faults of the saved mapping
//! against these.

use searchwright_contract::integrations::{Fields, Place};
use searchwright_publishing::{Publisher, Trouble, Why, mapping};
use searchwright_store::{
    access::ProjectScope,
    integrations::{self, IntegrationRecord},
};

use super::not_connected;
use crate::{
    Engine,
    call::{Call, Prepared, fault},
    connect::{refused, vendor},
    failure::Result,
    jobs::publish::{opened, record_outcome},
};

/// Asks the provider for its sites, its collections and the fields of the chosen collection.
async fn survey(
    record: &IntegrationRecord,
    publisher: &dyn Publisher,
    site_id: Option<&str>,
    collection_id: Option<&str>,
) -> Result<Fields, Trouble> {
    let only = |places: &[Place]| match places {
        [one] => Some(one.id.clone()),
        _ => None,
    };
    let mut fields = Fields {
        provider: record.provider,
        connection_id: record.id,
        site_id: site_id.map(str::to_owned).or_else(|| record.site_id.clone()),
        collection_id: collection_id.map(str::to_owned),
        sites: Vec::new(),
        collections: Vec::new(),
        data: Vec::new(),
    };
    // Collections belong to a site: with another site the saved one does not apply.
    if fields.collection_id.is_none() && (site_id.is_none() || site_id == record.site_id.as_deref()) {
        fields.collection_id.clone_from(&record.collection_id);
    }
    let is_none_of = |chosen: Option<&str>, places: &[Place]| {
        !places.is_empty() && chosen.is_some_and(|chosen| places.iter().all(|place| place.id != chosen))
    };
    if fields.site_id.is_none() || site_id.is_some() {
        fields.sites = publisher.sites().await?;
        if is_none_of(site_id, &fields.sites) {
            return Ok(fields);
        }
        fields.site_id = fields.site_id.or_else(|| only(&fields.sites));
    }
    if fields.site_id.is_none() {
        return Ok(fields);
    }
    let site = fields.site_id.clone();
    if fields.collection_id.is_none() || collection_id.is_some() {
        fields.collections = publisher.collections(site.as_deref()).await?;
        if is_none_of(collection_id, &fields.collections) {
            return Ok(fields);
        }
        fields.collection_id = fields.collection_id.or_else(|| only(&fields.collections));
        if fields.collection_id.is_none() && !fields.collections.is_empty() {
            return Ok(fields);
        }
    }
    fields.data = publisher
        .fields(site.as_deref(), fields.collection_id.as_deref())
        .await?;
    mapping::suggest(&mut fields.data);
    Ok(fields)
}

/// Asks the provider, with no transaction open, and stores the outcome at the connection.
pub(super) async fn ask_fields(
    call: &Call,
    word: &str,
    site_id: Option<&str>,
    collection_id: Option<&str>,
) -> Result<Fields> {
    let (scope, vendor) = (call.scope()?, vendor(word)?);
    let engine = call.engine.clone();
    let record = integrations::find_by_provider(&mut engine.db.read().await?, scope, vendor.provider).await?;
    let Some(record) = record else {
        return Err(not_connected(vendor.provider).into());
    };
    let asked = match opened(&engine, scope, &record, uuid::Uuid::nil()).await? {
        Ok(publisher) => survey(&record, &*publisher, site_id, collection_id).await,
        Err(trouble) => Err(trouble),
    };
    record_outcome(&engine, scope, &record, asked.as_ref().err()).await?;
    match asked {
        Ok(fields) => {
            choose("/siteId", site_id, &fields.sites)?;
            choose("/collectionId", collection_id, &fields.collections)?;
            keep_missing(&engine, scope, &record, &fields).await?;
            Ok(fields)
        }
        Err(Trouble::Refused {
            why: Why::Missing, ..
        }) if site_id.is_some() || collection_id.is_some() => Err(fault(
            if collection_id.is_some() {
                "/collectionId"
            } else {
                "/siteId"
            },
            "unknown_value",
            "the provider has none with this id; leave it out to list the choices",
        )),
        Err(trouble) => Err(refused(&trouble)),
    }
}

/// Stores the faults of the saved mapping (required fields without a source, mapped fields that are gone), because the fields of
/// the provider may have changed: so they are shown before a post fails.
async fn keep_missing(
    engine: &Engine,
    scope: ProjectScope,
    record: &IntegrationRecord,
    fields: &Fields,
) -> Result<()> {
    let is_of_mapping = fields.site_id == record.site_id && fields.collection_id == record.collection_id;
    if record.field_map.is_empty() || !is_of_mapping {
        return Ok(());
    }
    let missing = mapping::missing(&record.field_map, &fields.data);
    if missing == record.missing {
        return Ok(());
    }
    let (record, now) = (record.clone(), engine.clock.now());
    let write = engine.db.write(move |tx| {
        Box::pin(async move { integrations::update_missing(tx, scope, &record, &missing, now).await })
    });
    Ok(write.await?)
}

/// Returns the fields that [`ask_fields`] has learned.
pub(super) fn asked_fields(call: &Call) -> Result<Fields> {
    match &call.prepared {
        Prepared::Fields(fields) => Ok(fields.clone()),
        _ => Err(crate::failure::defect("fields", "the provider was not asked")),
    }
}

/// Lists the ids that exist, for a message.
fn known(places: &[Place]) -> String {
    let ids: Vec<&str> = places.iter().map(|place| place.id.as_str()).take(50).collect();
    ids.join(", ")
}

/// Refuses an id that the provider does not have.
fn choose(pointer: &str, chosen: Option<&str>, places: &[Place]) -> Result<()> {
    match chosen {
        Some(id) if !places.is_empty() && places.iter().all(|place| place.id != id) => Err(fault(
            pointer,
            "unknown_value",
            format!("the provider has none of this id, but {}", known(places)),
        )),
        _ => Ok(()),
    }
}

/// Refuses a missing choice where one is needed or places can be listed, and an id that the provider does not have.
pub(super) fn decided(pointer: &str, chosen: Option<&str>, places: &[Place], is_needed: bool) -> Result<()> {
    if chosen.is_none() && (is_needed || !places.is_empty()) {
        let why = format!("has to be one of {}", known(places));
        return Err(fault(pointer, "required", why));
    }
    choose(pointer, chosen, places)
}
