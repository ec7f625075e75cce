//! Sealing again what older keys sealed, so that they can be forgotten.

use uuid::Uuid;

use super::{CANARY, CANARY_PLACE, CANARY_TEXT, Keyring, Place};
use crate::{Error, Result, Tx, admin, sql};

/// First byte of an answer that is kept as it is: JSON.
const PLAIN: u8 = b'{';

/// What became of what is sealed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Rewrapped {
    /// Values that are sealed with the newest key now.
    pub rewrapped: u64,
    /// Values that were already.
    pub current: u64,
}

/// A sealed value: its project, the row it is bound to, and itself.
type Sealed = (Uuid, Uuid, Vec<u8>);

/// Seals everything with the newest key. One that does not open fails all of it.
pub async fn rewrap(tx: &mut Tx, keyring: &Keyring) -> Result<Rewrapped> {
    let mut done = Rewrapped::default();
    for (table, column, read, write) in TABLES {
        let rows: Vec<Sealed> = sql(read)
            .fetch_all(tx, |c| Ok((c.take()?, c.take()?, c.take()?)))
            .await?;
        for (project, row, sealed) in rows {
            let place = Place {
                table,
                column,
                row,
                project: if table == "oauth_apps" {
                    Uuid::nil()
                } else {
                    project
                },
            };
            if let Some(again) = again(keyring, place, &sealed, &mut done)? {
                sql(write)
                    .bind(project)
                    .bind(row)
                    .bind(sealed)
                    .bind(again)
                    .execute(tx)
                    .await?;
            }
        }
    }
    if let Some(stored) = admin::meta(tx, CANARY).await?
        && again(keyring, CANARY_PLACE, &stored, &mut Rewrapped::default())?.is_some()
    {
        let fresh = keyring.seal(CANARY_PLACE, CANARY_TEXT)?;
        sql("UPDATE meta SET value = $2 WHERE name = $1")
            .bind(CANARY)
            .bind(fresh)
            .execute(tx)
            .await?;
    }
    Ok(done)
}

/// What is sealed: table, column, how all of it is read, and how one is replaced by project, row, what was there and what is to be.
const TABLES: [(&str, &str, &str, &str); 5] = [
    (
        "providers",
        "secret",
        "SELECT project_id, id, secret FROM providers WHERE secret IS NOT NULL",
        "UPDATE providers SET secret = $4 WHERE project_id = $1 AND id = $2 AND secret = $3",
    ),
    (
        "integrations",
        "secret",
        "SELECT project_id, id, secret FROM integrations WHERE secret IS NOT NULL",
        "UPDATE integrations SET secret = $4 WHERE project_id = $1 AND id = $2 AND secret = $3",
    ),
    (
        "webhook_secrets",
        "secret",
        "SELECT project_id, id, secret FROM webhook_secrets",
        "UPDATE webhook_secrets SET secret = $4 WHERE project_id = $1 AND id = $2 AND secret = $3",
    ),
    // They belong to no project; the first column stands for one, so that all statements are alike.
    (
        "oauth_apps",
        "secret",
        "SELECT id, id, secret FROM oauth_apps",
        "UPDATE oauth_apps SET secret = $4 WHERE id = $1 AND id = $2 AND secret = $3",
    ),
    // Only answers with a secret in them are sealed.
    (
        "idempotency",
        "body",
        "SELECT project_id, owner, body FROM idempotency WHERE route IN ('webhooks.create', 'webhooks.rotate', 'integrations.connect') AND status < 300",
        "UPDATE idempotency SET body = $4 WHERE project_id = $1 AND owner = $2 AND body = $3",
    ),
];

/// The value sealed with the newest key; `None` if it is.
fn again(
    keyring: &Keyring,
    place: Place<'_>,
    sealed: &[u8],
    done: &mut Rewrapped,
) -> Result<Option<Vec<u8>>> {
    let newest = keyring
        .newest()
        .ok_or(Error::Seal("no sealing key is configured"))?;
    match sealed.first() {
        Some(first) if *first == newest => {
            done.current += 1;
            Ok(None)
        }
        Some(&PLAIN) | None => Ok(None),
        Some(_) => {
            done.rewrapped += 1;
            let opened = keyring.open(place, sealed)?;
            keyring.seal(place, &opened).map(Some)
        }
    }
}
