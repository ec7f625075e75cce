//! Operations shared by the four resources of brand data. A change locks the project first, so that the items read
//! before it are still current when it commits.

use std::collections::HashMap;

use searchwright_contract::{
    Code, Fault, Faults, List, MAX_FAULTS, Operation, Problem, Scope,
    brand::{Added, AddedItem, Item, OnDuplicate, Outcome},
    ids::ItemId,
    products::Product,
};
use searchwright_store::{
    Error, Tx,
    access::RecordKind,
    brand::{self, NewItem, Resource},
    projects,
};

use super::brand::own;
use crate::{
    brand::{Check, Record},
    call::{Call, limit},
    failure::{Failure, Result, changed_meanwhile},
    jobs::answer_analysis,
};

/// Items a project may have of each resource.
const MAX_ITEMS: u64 = 2_000;

/// Fails if there are faults.
pub(super) fn refuse(faults: Vec<Fault>) -> Result<()> {
    if faults.is_empty() {
        Ok(())
    } else {
        Err(Problem::faults(faults).into())
    }
}

/// Converts the error of a change of what is no longer as it was read: another transaction of PostgreSQL was faster.
pub(super) fn changed_since_read(error: Error) -> Failure {
    match error {
        Error::Missing => changed_meanwhile(),
        other => other.into(),
    }
}

const fn child(resource: Resource) -> RecordKind {
    match resource {
        Resource::Products => RecordKind::Product,
        Resource::Competitors => RecordKind::Competitor,
        Resource::Faqs => RecordKind::Faq,
        Resource::Ctas => RecordKind::Cta,
    }
}

fn shown<T>(call: &Call, mut item: Item<T>) -> Item<T> {
    item.allowed_actions = call.change_and_delete(Scope::BrandWrite);
    item
}

/// The item of an id that the caller named.
async fn find<T: Record>(call: &Call, tx: &mut Tx, id: &str) -> Result<(ItemId, Item<T>)> {
    let kind = child(T::RESOURCE);
    let id = call.child(kind, id)?;
    let found = brand::get(tx, call.scope()?, T::RESOURCE, id).await;
    Ok((id, call.or_missing(tx, kind, id, found).await?))
}

pub(super) async fn list<O: Operation, T: Record>(
    call: &Call,
    tx: &mut Tx,
    operation: &O,
    most: Option<u8>,
    cursor: Option<&str>,
) -> Result<List<Item<T>>> {
    let limit = limit(most);
    let before: Option<ItemId> = call.after(operation, cursor)?;
    let mut rows: Vec<Item<T>> = brand::list(tx, call.scope()?, T::RESOURCE, before, limit + 1).await?;
    let actions = call.change_and_delete(Scope::BrandWrite);
    for row in &mut rows {
        row.allowed_actions = actions.clone();
    }
    call.page(operation, limit, rows, |last| last.id)
}

pub(super) async fn get<T: Record>(call: &Call, tx: &mut Tx, id: &str) -> Result<Item<T>> {
    Ok(shown(call, find(call, tx, id).await?.1))
}

/// Names a product that the project does not have.
async fn check_product<T: Record>(call: &Call, tx: &mut Tx, record: &T, check: &mut Check<'_>) -> Result<()> {
    let Some(id) = record.product().and_then(|id| ItemId::parse(id).ok()) else {
        return Ok(());
    };
    match brand::get::<Product>(tx, call.scope()?, Resource::Products, id).await {
        Ok(_) => Ok(()),
        Err(Error::Missing) => {
            check.fault("productId", "not_found", "is not a product of this project");
            Ok(())
        }
        Err(other) => Err(other.into()),
    }
}

/// Adds all items or none.
pub(super) async fn create<T: Record>(
    call: &Call,
    tx: &mut Tx,
    items: Vec<T>,
    on_duplicate: Option<OnDuplicate>,
) -> Result<Added<T>> {
    create_from(call, tx, items, on_duplicate, |at| at).await
}

/// Adds all items or none. `place` returns the place in the request of the item at a place in the list.
pub(super) async fn create_from<T: Record>(
    call: &Call,
    tx: &mut Tx,
    mut items: Vec<T>,
    on_duplicate: Option<OnDuplicate>,
    place: impl Fn(usize) -> usize + Send,
) -> Result<Added<T>> {
    let scope = call.scope()?;
    projects::lock(tx, scope).await?;
    let own = own(call, tx).await?;
    let mut faults = Vec::new();
    for (at, item) in items.iter_mut().enumerate() {
        let mut check = Check::new(format!("/items/{}", place(at)), &mut faults);
        item.check(&own, &mut check);
        check_product(call, tx, item, &mut check).await?;
    }
    refuse(faults)?;
    let skips = on_duplicate == Some(OnDuplicate::Skip);
    let mut taken: HashMap<String, ItemId> = HashMap::new();
    let (mut new, mut data) = (Vec::new(), Vec::with_capacity(items.len()));
    let mut duplicates = Vec::new();
    for (at, item) in items.into_iter().enumerate() {
        let keys = item.keys();
        let mut held = None;
        for key in &keys {
            let holder = match taken.get(&key.text) {
                Some(earlier) => Some(*earlier),
                None => brand::find_by_key(tx, scope, T::RESOURCE, &key.text).await?,
            };
            held = held.or(holder.map(|id| (key.member, id)));
        }
        if let Some((member, existing)) = held {
            duplicates.push((format!("/items/{}/{member}", place(at)), existing));
            data.push(AddedItem {
                outcome: Outcome::Skipped,
                item: None,
                existing_id: Some(existing),
            });
            continue;
        }
        let id = call.engine.clock.id();
        let keys: Vec<String> = keys.into_iter().map(|key| key.text).collect();
        taken.extend(keys.iter().map(|key| (key.clone(), id)));
        let added = Item {
            id,
            data: item.clone(),
            version: 1,
            created_at: call.now,
            updated_at: call.now,
            allowed_actions: Default::default(),
        };
        data.push(AddedItem {
            outcome: Outcome::Created,
            item: Some(shown(call, added)),
            existing_id: None,
        });
        new.push(NewItem { id, data: item, keys });
    }
    if !skips && !duplicates.is_empty() {
        let fresh: Vec<ItemId> = new.iter().map(|n| n.id).collect();
        return Err(already_there(duplicates, &fresh).into());
    }
    let kept = brand::count(tx, scope, T::RESOURCE).await?;
    if kept + new.len() as u64 > MAX_ITEMS {
        let detail = format!("a project has at most {MAX_ITEMS} {}", T::RESOURCE.as_str());
        return Err(Problem::new(Code::TooManyItems, detail)
            .hint("delete some that are no longer needed")
            .with("limit", MAX_ITEMS)
            .with("used", kept)
            .into());
    }
    brand::create(tx, scope, T::RESOURCE, &new, call.now).await?;
    analyse_answers_again(call, tx, T::RESOURCE).await?;
    Ok(Added { data })
}

/// `409 already_exists` with a pointer per item, and the ids of those that were there before the request.
fn already_there(duplicates: Vec<(String, ItemId)>, fresh: &[ItemId]) -> Problem {
    let mut existing = Vec::new();
    let mut faults = Faults::default();
    for (pointer, id) in duplicates {
        let detail = match fresh.iter().position(|f| *f == id) {
            Some(_) => "is the same as that of an earlier item".to_owned(),
            None => {
                if existing.len() < MAX_FAULTS {
                    existing.push(serde_json::json!({ "pointer": pointer, "existingId": id }));
                }
                format!("is already used by {id}")
            }
        };
        faults.add(&pointer, "already_exists", || detail);
    }
    let detail = format!("{} items already exist", faults.count());
    Problem::new(Code::AlreadyExists, detail)
        .with_faults(faults)
        .hint("leave these items out, change the existing ones, or send onDuplicate: skip")
        .with("existing", existing)
}

pub(super) async fn update<T: Record>(
    call: &Call,
    tx: &mut Tx,
    id: &str,
    apply: impl FnOnce(&mut T) + Send,
) -> Result<Item<T>> {
    let scope = call.scope()?;
    projects::lock(tx, scope).await?;
    let (id, item) = find::<T>(call, tx, id).await?;
    call.check_match(item.id, item.version)?;
    let mut data = item.data.clone();
    apply(&mut data);
    let own = own(call, tx).await?;
    let mut faults = Vec::new();
    let mut check = Check::new(String::new(), &mut faults);
    data.check(&own, &mut check);
    check_product(call, tx, &data, &mut check).await?;
    refuse(faults)?;
    if data == item.data {
        return Ok(shown(call, item));
    }
    let keys = data.keys();
    for key in &keys {
        let holder = brand::find_by_key(tx, scope, T::RESOURCE, &key.text).await?;
        if let Some(existing) = holder.filter(|holder| *holder != id) {
            let pointer = format!("/{}", key.member);
            return Err(already_there(vec![(pointer, existing)], &[])
                .hint("change or delete the existing one first")
                .with("existingId", existing.to_string())
                .into());
        }
    }
    let keys = keys.into_iter().map(|key| key.text).collect();
    let changed = NewItem { id, data, keys };
    let written = brand::update(tx, scope, T::RESOURCE, &changed, item.version, call.now)
        .await
        .map_err(changed_since_read)?;
    analyse_answers_again(call, tx, T::RESOURCE).await?;
    Ok(shown(call, written))
}

/// Queues the analysis of stored answers after a change of the names that are looked for in them.
async fn analyse_answers_again(call: &Call, tx: &mut Tx, changed: Resource) -> Result<()> {
    match changed {
        Resource::Products | Resource::Competitors => answer_analysis::enqueue(call, tx).await.map(drop),
        Resource::Faqs | Resource::Ctas => Ok(()),
    }
}

pub(super) async fn delete<T: Record>(call: &Call, tx: &mut Tx, id: &str) -> Result<()> {
    let scope = call.scope()?;
    projects::lock(tx, scope).await?;
    let (id, item) = find::<T>(call, tx, id).await?;
    call.check_match(item.id, item.version)?;
    if T::RESOURCE == Resource::Products {
        let ctas = brand::count_ctas_of_product(tx, scope, id).await?;
        if ctas > 0 {
            return Err(Problem::new(
                Code::InvalidState,
                format!("{ctas} calls to action are about this product"),
            )
            .hint("change or delete those first, or set its status to retired")
            .with("ctas", ctas)
            .into());
        }
    }
    brand::delete(tx, scope, T::RESOURCE, id).await?;
    analyse_answers_again(call, tx, T::RESOURCE).await
}

/// The five handlers of a resource.
macro_rules! handle_items {
    ($module:ident::$record:ident by $id:ident: $list:ident $create:ident $get:ident $update:ident $delete:ident) => {
        use searchwright_contract::{
            List,
            brand::{Added, Item},
            $module::{$create, $delete, $get, $list, $record, $update},
        };
        use searchwright_store::Tx;

        use super::items;
        use crate::{Engine, call::Call, endpoint::Handle, failure::Result};

        impl Handle<$list> for Engine {
            async fn handle(call: &Call, tx: &mut Tx, operation: $list) -> Result<List<Item<$record>>> {
                let (limit, cursor) = (operation.limit, operation.cursor.as_deref());
                items::list(call, tx, &operation, limit, cursor).await
            }
        }

        impl Handle<$create> for Engine {
            async fn handle(call: &Call, tx: &mut Tx, operation: $create) -> Result<Added<$record>> {
                items::create(call, tx, operation.items, operation.on_duplicate).await
            }
        }

        impl Handle<$get> for Engine {
            async fn handle(call: &Call, tx: &mut Tx, operation: $get) -> Result<Item<$record>> {
                items::get(call, tx, &operation.$id).await
            }
        }

        impl Handle<$update> for Engine {
            async fn handle(call: &Call, tx: &mut Tx, operation: $update) -> Result<Item<$record>> {
                let id = operation.$id.clone();
                items::update(call, tx, &id, |record| operation.apply(record)).await
            }
        }

        impl Handle<$delete> for Engine {
            async fn handle(call: &Call, tx: &mut Tx, operation: $delete) -> Result<()> {
                items::delete::<$record>(call, tx, &operation.$id).await
            }
        }
    };
}
pub(super) use handle_items;
