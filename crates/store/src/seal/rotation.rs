//! Rotation of the sealing key: values of older keys are sealed with the newest, so that the older keys can be removed.

use uuid::Uuid;

use super::{CANARY, CANARY_CONTEXT, CANARY_TEXT, Keyring, SealContext};
use crate::{Error, Result, Tx, admin, sql};

/// First byte of a stored response that is not sealed: JSON.
const UNSEALED: u8 = b'{';

/// Numbers of sealed values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RewrapCounts {
    /// Values that were sealed again with the newest key.
    pub rewrapped: u64,
    /// Values that were sealed with the newest key before.
    pub current: u64,
}

/// A sealed value with its project and the row it is bound to.
type SealedRow = (Uuid, Uuid, Vec<u8>);

/// Seals all values with the newest key. An error, which must roll the transaction back, if one of them does not open.
pub async fn rewrap(tx: &mut Tx, keyring: &Keyring) -> Result<RewrapCounts> {
    let mut counts = RewrapCounts::default();
    for SealedColumn {
        table,
        column,
        select,
        update,
    } in COLUMNS
    {
        let rows: Vec<SealedRow> = sql(select)
            .fetch_all(tx, |c| Ok((c.take()?, c.take()?, c.take()?)))
            .await?;
        for (project, row, sealed) in rows {
            let context = SealContext {
                table,
                column,
                row,
                project: match table {
                    "oauth_apps" | "totp_secrets" => Uuid::nil(),
                    _ => project,
                },
            };
            if let Some(resealed) = reseal(keyring, context, &sealed, &mut counts)? {
                sql(update)
                    .bind(project)
                    .bind(row)
                    .bind(sealed)
                    .bind(resealed)
                    .execute(tx)
                    .await?;
            }
        }
    }
    if let Some(stored) = admin::get_meta(tx, CANARY).await?
        && reseal(keyring, CANARY_CONTEXT, &stored, &mut RewrapCounts::default())?.is_some()
    {
        let canary = keyring.seal(CANARY_CONTEXT, CANARY_TEXT)?;
        sql("UPDATE meta SET value = $2 WHERE name = $1")
            .bind(CANARY)
            .bind(canary)
            .execute(tx)
            .await?;
    }
    Ok(counts)
}

/// A column with sealed values.
struct SealedColumn {
    table: &'static str,
    column: &'static str,
    /// Selects project, row and value of all rows.
    select: &'static str,
    /// Replaces a value. Parameters: project, row, current value, new value.
    update: &'static str,
}

const COLUMNS: [SealedColumn; 7] = [
    SealedColumn {
        table: "providers",
        column: "secret",
        select: "SELECT project_id, id, secret FROM providers WHERE secret IS NOT NULL",
        update: "UPDATE providers SET secret = $4 WHERE project_id = $1 AND id = $2 AND secret = $3",
    },
    SealedColumn {
        table: "integrations",
        column: "secret",
        select: "SELECT project_id, id, secret FROM integrations WHERE secret IS NOT NULL",
        update: "UPDATE integrations SET secret = $4 WHERE project_id = $1 AND id = $2 AND secret = $3",
    },
    SealedColumn {
        table: "webhook_secrets",
        column: "secret",
        select: "SELECT project_id, id, secret FROM webhook_secrets",
        update: "UPDATE webhook_secrets SET secret = $4 WHERE project_id = $1 AND id = $2 AND secret = $3",
    },
    SealedColumn {
        table: "notice_chats",
        column: "url",
        select: "SELECT project_id, id, url FROM notice_chats",
        update: "UPDATE notice_chats SET url = $4 WHERE project_id = $1 AND id = $2 AND url = $3",
    },
    // These two belong to no project; their ids stand for one, so that all statements take the same parameters.
    SealedColumn {
        table: "oauth_apps",
        column: "secret",
        select: "SELECT id, id, secret FROM oauth_apps",
        update: "UPDATE oauth_apps SET secret = $4 WHERE id = $1 AND id = $2 AND secret = $3",
    },
    SealedColumn {
        table: "totp_secrets",
        column: "secret",
        select: "SELECT user_id, user_id, secret FROM totp_secrets",
        update: "UPDATE totp_secrets SET secret = $4 WHERE user_id = $1 AND user_id = $2 AND secret = $3",
    },
    // Only responses that contain a secret are sealed.
    SealedColumn {
        table: "idempotency",
        column: "body",
        select: "SELECT project_id, owner, body FROM idempotency WHERE route IN ('webhooks.create', 'webhooks.rotate', 'integrations.connect') AND status < 300",
        update: "UPDATE idempotency SET body = $4 WHERE project_id = $1 AND owner = $2 AND body = $3",
    },
];

/// Seals a value with the newest key; `None` if it is already, or is not sealed.
fn reseal(
    keyring: &Keyring,
    context: SealContext<'_>,
    sealed: &[u8],
    counts: &mut RewrapCounts,
) -> Result<Option<Vec<u8>>> {
    let newest = keyring
        .newest()
        .ok_or(Error::Seal("no sealing key is configured"))?;
    match sealed.first() {
        Some(first) if *first == newest => {
            counts.current += 1;
            Ok(None)
        }
        Some(&UNSEALED) | None => Ok(None),
        Some(_) => {
            counts.rewrapped += 1;
            let opened = keyring.open(context, sealed)?;
            keyring.seal(context, &opened).map(Some)
        }
    }
}
