//! Index of the pages of an audit by hashes of their titles and first headings. Pages of the same name compete for a keyword.
//!
//! A large site has millions of names, and rows would cost each of them a place in a tree. So a leaf packs neighbouring names:
//! a byte that names the form, their number (u16, little-endian), the hashes (8 bytes each, ascending), and the ids of their
//! pages (16 bytes each) in the same order.

use searchwright_contract::ids::{AuditId, PageId};
use uuid::Uuid;

use crate::{Error, Result, Tx, access::ProjectScope, sql};

/// Maximum number of pages per name.
pub const MAX_PAGES_PER_NAME: usize = 10;

/// Number of entries per leaf; more if the last name has several pages.
const LEAF_ENTRIES: usize = 256;
/// First byte of a leaf: version of the form.
const FORMAT: u8 = 1;
/// Length of a hash in bytes.
const KEY_LEN: usize = 8;
/// Length of an id in bytes.
const ID_LEN: usize = 16;

/// Returns the end of a chunk of about `target` ascending names. All entries of a name are in one chunk.
pub fn chunk_end<T>(names: &[(i64, T)], target: usize) -> usize {
    match names.get(target.saturating_sub(1)) {
        Some((last, _)) => names.partition_point(|(key, _)| key <= last),
        None => names.len(),
    }
}

/// Deletes the names of an audit. To be called when it starts again: leaves with other first names would hide new ones.
pub async fn delete(tx: &mut Tx, scope: ProjectScope, audit: AuditId) -> Result<()> {
    sql("DELETE FROM page_name_leaves WHERE project_id = $1 AND audit_id = $2")
        .bind(scope.project())
        .bind(audit)
        .execute(tx)
        .await?;
    Ok(())
}

/// Inserts pages of an audit by the hashes of their names, ascending, and larger than those of earlier calls.
pub async fn insert(
    tx: &mut Tx,
    scope: ProjectScope,
    audit: AuditId,
    names: Vec<(i64, PageId)>,
) -> Result<()> {
    let (mut rows, mut rest) = (Vec::new(), &names[..]);
    while let Some((first, _)) = rest.first() {
        let (leaf, behind) = rest.split_at(chunk_end(rest, LEAF_ENTRIES));
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

/// Returns the URLs of the pages of an audit with this name, sorted.
pub async fn find_urls(tx: &mut Tx, scope: ProjectScope, audit: AuditId, key: i64) -> Result<Vec<String>> {
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
        Some(data) => find_pages(&data, key)?,
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

/// Deletes at most `limit` leaves of older audits, which have smaller ids (UUIDv7), and returns their number.
pub async fn delete_older(tx: &mut Tx, scope: ProjectScope, audit: AuditId, limit: usize) -> Result<u64> {
    sql(
        "DELETE FROM page_name_leaves WHERE project_id = $1 AND (audit_id, first_key) IN
           (SELECT audit_id, first_key FROM page_name_leaves WHERE project_id = $1 AND audit_id < $2 LIMIT $3)",
    )
    .bind(scope.project())
    .bind(audit)
    .bind(limit as i64)
    .execute(tx)
    .await
}

fn defect(reason: impl ToString) -> Error {
    Error::Defect(format!("a leaf of names: {}", reason.to_string()))
}

fn pack(names: &[(i64, PageId)]) -> Result<Vec<u8>> {
    let count = u16::try_from(names.len()).map_err(defect)?;
    let mut data = Vec::with_capacity(3 + names.len() * (KEY_LEN + ID_LEN));
    data.push(FORMAT);
    data.extend(count.to_le_bytes());
    names.iter().for_each(|(key, _)| data.extend(key.to_le_bytes()));
    names
        .iter()
        .for_each(|(_, page)| data.extend(page.uuid().as_bytes()));
    Ok(data)
}

/// Returns the pages of a name in a leaf.
fn find_pages(data: &[u8], key: i64) -> Result<Vec<PageId>> {
    let (count, rest) = data
        .strip_prefix(&[FORMAT])
        .and_then(|rest| rest.split_first_chunk())
        .ok_or_else(|| defect("unknown form"))?;
    let count = usize::from(u16::from_le_bytes(*count));
    let (keys, ids) = rest
        .split_at_checked(count * KEY_LEN)
        .filter(|(_, ids)| ids.len() == count * ID_LEN)
        .ok_or_else(|| defect("cut off"))?;
    let (keys, ids) = (keys.as_chunks::<KEY_LEN>().0, ids.as_chunks::<ID_LEN>().0);
    let first = keys.partition_point(|k| i64::from_le_bytes(*k) < key);
    let entries = keys.iter().zip(ids).skip(first);
    Ok(entries
        .take_while(|(k, _)| i64::from_le_bytes(**k) == key)
        .map(|(_, id)| Uuid::from_bytes(*id).into())
        .collect())
}
