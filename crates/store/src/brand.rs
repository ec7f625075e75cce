//! Brand data: a profile per project, and items of four resources that are stored alike. The unique keys of
//! an item are rows of `brand_keys`; an item may have several.

use searchwright_contract::{
    Instant,
    actions::AllowedActions,
    brand::{Item, Profile},
    ids::ItemId,
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{Cells, Error, Json, Param, Result, Tx, access::ProjectScope, sql};

/// A kind of item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Products.
    Products,
    /// Competitors.
    Competitors,
    /// Questions with answers.
    Faqs,
    /// Calls to action.
    Ctas,
}

impl Resource {
    /// Name in paths.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Products => "products",
            Self::Competitors => "competitors",
            Self::Faqs => "faqs",
            Self::Ctas => "ctas",
        }
    }
}

/// A profile as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredProfile {
    /// Content.
    pub profile: Profile,
    /// Number of changes.
    pub version: i64,
    /// Time of the last change.
    pub updated_at: Instant,
}

/// Returns the profile, if one was set.
pub async fn find_profile(tx: &mut Tx, scope: ProjectScope) -> Result<Option<StoredProfile>> {
    sql("SELECT data, version, updated_at FROM brand_profiles WHERE project_id = $1")
        .bind(scope.project())
        .fetch_optional(tx, read_profile)
        .await
}

fn read_profile(c: &mut Cells<'_>) -> Result<StoredProfile> {
    Ok(StoredProfile {
        profile: c.take_json()?,
        version: c.take()?,
        updated_at: c.take()?,
    })
}

/// Writes the profile and increments its version; [`Error::Missing`] if its version is not `version` (0 if there
/// is no profile).
pub async fn set_profile(
    tx: &mut Tx,
    scope: ProjectScope,
    profile: &Profile,
    version: i64,
    now: Instant,
) -> Result<StoredProfile> {
    sql(
        "INSERT INTO brand_profiles (project_id, data, version, updated_at) VALUES ($1, $2, $3 + 1, $4)
         ON CONFLICT (project_id) DO UPDATE SET data = $2, version = $3 + 1, updated_at = $4
         WHERE brand_profiles.version = $3 RETURNING data, version, updated_at",
    )
    .bind(scope.project())
    .bind(Json::encode(profile)?)
    .bind(version)
    .bind(now)
    .fetch_one(tx, read_profile)
    .await
}

fn read_item<T: DeserializeOwned>(c: &mut Cells<'_>) -> Result<Item<T>> {
    Ok(Item {
        id: c.take()?,
        data: c.take_json()?,
        version: c.take()?,
        created_at: c.take()?,
        updated_at: c.take()?,
        allowed_actions: AllowedActions::default(),
    })
}

/// Returns at most `limit` items older than `before`, newest first.
pub async fn list<T: DeserializeOwned>(
    tx: &mut Tx,
    scope: ProjectScope,
    resource: Resource,
    before: Option<ItemId>,
    limit: u32,
) -> Result<Vec<Item<T>>> {
    sql("SELECT id, data, version, created_at, updated_at FROM brand_items
         WHERE project_id = $1 AND resource = $2 AND id < $3 ORDER BY id DESC LIMIT $4")
    .bind(scope.project())
    .bind(resource.as_str())
    .bind(before.unwrap_or(ItemId::MAX))
    .bind(limit)
    .fetch_all(tx, read_item)
    .await
}

/// Returns an item; [`Error::Missing`] if the project has none of this id.
pub async fn get<T: DeserializeOwned>(
    tx: &mut Tx,
    scope: ProjectScope,
    resource: Resource,
    id: ItemId,
) -> Result<Item<T>> {
    sql("SELECT id, data, version, created_at, updated_at FROM brand_items
         WHERE project_id = $1 AND resource = $2 AND id = $3")
    .bind(scope.project())
    .bind(resource.as_str())
    .bind(id)
    .fetch_one(tx, read_item)
    .await
}

/// Counts the items of a resource.
pub async fn count(tx: &mut Tx, scope: ProjectScope, resource: Resource) -> Result<u64> {
    sql("SELECT count(*) FROM brand_items WHERE project_id = $1 AND resource = $2")
        .bind(scope.project())
        .bind(resource.as_str())
        .fetch_one(tx, |c| c.take())
        .await
}

/// Returns the item that has this key.
pub async fn find_by_key(
    tx: &mut Tx,
    scope: ProjectScope,
    resource: Resource,
    key: &str,
) -> Result<Option<ItemId>> {
    sql("SELECT item_id FROM brand_keys WHERE project_id = $1 AND resource = $2 AND key = $3")
        .bind(scope.project())
        .bind(resource.as_str())
        .bind(key)
        .fetch_optional(tx, |c| c.take())
        .await
}

/// An item to be written, with its keys.
#[derive(Clone, Debug)]
pub struct NewItem<T> {
    /// Identifier, UUIDv7 of now.
    pub id: ItemId,
    /// Content.
    pub data: T,
    /// Keys that no other item of the resource may have.
    pub keys: Vec<String>,
}

/// Creates items; [`Error::Duplicate`] if another item has one of their keys.
pub async fn create<T: Serialize>(
    tx: &mut Tx,
    scope: ProjectScope,
    resource: Resource,
    new: &[NewItem<T>],
    now: Instant,
) -> Result<()> {
    let mut rows = Vec::with_capacity(new.len());
    for item in new {
        rows.push(vec![item.id.into(), Json::encode(&item.data)?.into()]);
    }
    sql(
        "INSERT INTO brand_items (project_id, resource, created_at, updated_at, version, id, data)
         VALUES ($1, $2, $3, $3, 1, $4, $5)",
    )
    .bind(scope.project())
    .bind(resource.as_str())
    .bind(now)
    .execute_each(tx, rows)
    .await?;
    let keys = new.iter().flat_map(|item| key_rows(item.id, &item.keys));
    insert_keys(tx, scope, resource, keys.collect()).await
}

fn key_rows(id: ItemId, keys: &[String]) -> impl Iterator<Item = Vec<Param>> {
    keys.iter().map(move |key| vec![key.into(), id.into()])
}

async fn insert_keys(
    tx: &mut Tx,
    scope: ProjectScope,
    resource: Resource,
    rows: Vec<Vec<Param>>,
) -> Result<()> {
    sql("INSERT INTO brand_keys (project_id, resource, key, item_id) VALUES ($1, $2, $3, $4)")
        .bind(scope.project())
        .bind(resource.as_str())
        .execute_each(tx, rows)
        .await?;
    Ok(())
}

/// Updates an item and increments its version; [`Error::Missing`] if its version is not `version`,
/// [`Error::Duplicate`] if another item has one of its keys.
pub async fn update<T: Serialize + DeserializeOwned>(
    tx: &mut Tx,
    scope: ProjectScope,
    resource: Resource,
    changed: &NewItem<T>,
    version: i64,
    now: Instant,
) -> Result<Item<T>> {
    let written = sql(
        "UPDATE brand_items SET data = $4, version = version + 1, updated_at = $6
         WHERE project_id = $1 AND resource = $2 AND id = $3 AND version = $5
         RETURNING id, data, version, created_at, updated_at",
    )
    .bind(scope.project())
    .bind(resource.as_str())
    .bind(changed.id)
    .bind(Json::encode(&changed.data)?)
    .bind(version)
    .bind(now)
    .fetch_one(tx, read_item)
    .await?;
    sql("DELETE FROM brand_keys WHERE project_id = $1 AND resource = $2 AND item_id = $3")
        .bind(scope.project())
        .bind(resource.as_str())
        .bind(changed.id)
        .execute(tx)
        .await?;
    let keys = key_rows(changed.id, &changed.keys).collect();
    insert_keys(tx, scope, resource, keys).await?;
    Ok(written)
}

/// Deletes an item with its keys; [`Error::Missing`] if the project has none of this id.
pub async fn delete(tx: &mut Tx, scope: ProjectScope, resource: Resource, id: ItemId) -> Result<()> {
    let gone = sql("DELETE FROM brand_items WHERE project_id = $1 AND resource = $2 AND id = $3")
        .bind(scope.project())
        .bind(resource.as_str())
        .bind(id)
        .execute(tx)
        .await?;
    if gone == 0 { Err(Error::Missing) } else { Ok(()) }
}

/// Counts the calls to action of a product.
pub async fn count_ctas_of_product(tx: &mut Tx, scope: ProjectScope, product: ItemId) -> Result<u64> {
    sql("SELECT count(*) FROM brand_items
         WHERE project_id = $1 AND resource = 'ctas' AND data ->> 'productId' = $2")
    .bind(scope.project())
    .bind(product.to_string())
    .fetch_one(tx, |c| c.take())
    .await
}
