//! What the pages of an audit are called, by their titles and first headings: pages that are called the same compete for it.
//!
//! A large site has millions of names, and as rows each of them cost its place in a tree. A leaf holds neighbouring names: a
//! byte that says so, how many there are in two bytes, the hashes, and the ids of their pages in the same order.

use uuid::Uuid;

use crate::{Error, Result, Tx, access::ProjectScope, sql};

/// Pages kept of a name.
pub const MOST: usize = 10;

/// Names of a leaf; the last name may have more.
const NAMES: usize = 256;
/// Begins a leaf that is packed.
const PACKED: u8 = 1;
/// Bytes of a hash, and of an id.
const KEY: usize = 8;
const ID: usize = 16;

/// Where a portion of so many ascending names ends: one name is in one portion.
pub fn end_of_portion<T>(names: &[(i64, T)], most: usize) -> usize {
    match names.get(most.saturating_sub(1)) {
        Some((last, _)) => names.partition_point(|(key, _)| key <= last),
        None => names.len(),
    }
}

/// Forgets what an audit noted that was interrupted: leaves that begin elsewhere would hide others.
pub async fn forget(tx: &mut Tx, scope: ProjectScope, audit: Uuid) -> Result<()> {
    sql("DELETE FROM page_name_leaves WHERE project_id = $1 AND audit_id = $2")
        .bind(scope.project())
        .bind(audit)
        .execute(tx)
        .await?;
    Ok(())
}

/// Notes pages of an audit by hashes of what they are called, ascending, of which the portion before had the smaller ones.
pub async fn note(tx: &mut Tx, scope: ProjectScope, audit: Uuid, names: Vec<(i64, Uuid)>) -> Result<()> {
    let (mut rows, mut rest) = (Vec::new(), &names[..]);
    while let Some((first, _)) = rest.first() {
        let (leaf, behind) = rest.split_at(end_of_portion(rest, NAMES));
        rows.push(vec![(*first).into(), pack(leaf)?.into()]);
        rest = behind;
    }
    sql(
        "INSERT INTO page_name_leaves (project_id, audit_id, first_key, data) VALUES ($1, $2, $3, $4)
         ON CONFLICT (project_id, audit_id, first_key) DO UPDATE SET data = excluded.data",
    )
    .bind(scope.project())
    .bind(audit)
    .execute_each(tx, rows)
    .await?;
    Ok(())
}

/// Addresses of the pages that an audit found to be called this.
pub async fn called(tx: &mut Tx, scope: ProjectScope, audit: Uuid, key: i64) -> Result<Vec<String>> {
    let leaf: Option<Vec<u8>> = sql(
        "SELECT data FROM page_name_leaves WHERE project_id = $1 AND audit_id = $2 AND first_key <= $3
         ORDER BY first_key DESC LIMIT 1",
    )
    .bind(scope.project())
    .bind(audit)
    .bind(key)
    .fetch_optional(tx, |c| c.take())
    .await?;
    let pages = match leaf {
        Some(data) => find(&data, key)?,
        None => Vec::new(),
    };
    let mut urls: Vec<String> = Vec::with_capacity(pages.len());
    for page in pages {
        let url = sql("SELECT url FROM pages WHERE project_id = $1 AND id = $2")
            .bind(scope.project())
            .bind(page)
            .fetch_optional(tx, |c| c.take())
            .await?;
        urls.extend(url);
    }
    urls.sort_unstable();
    Ok(urls)
}

/// Forgets what older audits noted, so many leaves at most; how many there were. An id is a UUIDv7: what is older has a
/// smaller one.
pub async fn forget_older(tx: &mut Tx, scope: ProjectScope, audit: Uuid, leaves: usize) -> Result<u64> {
    sql(
        "DELETE FROM page_name_leaves WHERE project_id = $1 AND (audit_id, first_key) IN
           (SELECT audit_id, first_key FROM page_name_leaves WHERE project_id = $1 AND audit_id < $2 LIMIT $3)",
    )
    .bind(scope.project())
    .bind(audit)
    .bind(leaves as i64)
    .execute(tx)
    .await
}

fn defect(what: impl ToString) -> Error {
    Error::Defect(format!("a leaf of names: {}", what.to_string()))
}

fn pack(names: &[(i64, Uuid)]) -> Result<Vec<u8>> {
    let count = u16::try_from(names.len()).map_err(defect)?;
    let mut data = Vec::with_capacity(3 + names.len() * (KEY + ID));
    data.push(PACKED);
    data.extend(count.to_le_bytes());
    names.iter().for_each(|(key, _)| data.extend(key.to_le_bytes()));
    names.iter().for_each(|(_, page)| data.extend(page.as_bytes()));
    Ok(data)
}

/// Pages of a name.
fn find(data: &[u8], key: i64) -> Result<Vec<Uuid>> {
    let (count, rest) = data
        .strip_prefix(&[PACKED])
        .and_then(|rest| rest.split_first_chunk())
        .ok_or_else(|| defect("unknown form"))?;
    let count = usize::from(u16::from_le_bytes(*count));
    let (keys, ids) = rest
        .split_at_checked(count * KEY)
        .filter(|(_, ids)| ids.len() == count * ID)
        .ok_or_else(|| defect("cut off"))?;
    let (keys, ids) = (keys.as_chunks::<KEY>().0, ids.as_chunks::<ID>().0);
    let first = keys.partition_point(|of| i64::from_le_bytes(*of) < key);
    let of_name = keys.iter().zip(ids).skip(first);
    Ok(of_name
        .take_while(|(of, _)| i64::from_le_bytes(**of) == key)
        .map(|(_, id)| Uuid::from_bytes(*id))
        .collect())
}
