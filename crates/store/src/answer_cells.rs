//! Counts of the answers to a prompt in a block of days, packed by their owner.

use std::ops::RangeInclusive;

use searchwright_contract::ids::PromptId;

use crate::{Cells, Param, Result, Tx, access::ProjectScope, sql};

/// Counts of the answers to a prompt in a block of days.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCells {
    /// Prompt.
    pub prompt: PromptId,
    /// Number of the block.
    pub block: i32,
    /// Sums over answers.
    pub tallies: Vec<u8>,
    /// Brands and sources; empty if they were not read.
    pub maps: Vec<u8>,
    /// Pages that lead to competitors; empty if they were not read.
    pub gaps: Vec<u8>,
}

/// Place of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellPlace {
    /// Prompt.
    pub prompt: PromptId,
    /// Number of the block.
    pub block: i32,
}

fn read(c: &mut Cells<'_>) -> Result<StoredCells> {
    Ok(StoredCells {
        prompt: c.take()?,
        block: c.take::<i64>()? as i32,
        tallies: c.take()?,
        maps: c.take::<Option<Vec<u8>>>()?.unwrap_or_default(),
        gaps: c.take::<Option<Vec<u8>>>()?.unwrap_or_default(),
    })
}

/// Writes counts.
pub async fn save(tx: &mut Tx, scope: ProjectScope, cells: Vec<StoredCells>) -> Result<()> {
    let rows = cells.into_iter().map(|cells| {
        vec![
            i64::from(cells.block).into(),
            cells.prompt.into(),
            cells.tallies.into(),
            cells.maps.into(),
            cells.gaps.into(),
        ]
    });
    sql(
        "INSERT INTO answer_cells (project_id, block, prompt_id, tallies, maps, gaps) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (project_id, block, prompt_id) DO UPDATE SET
           tallies = excluded.tallies, maps = excluded.maps, gaps = excluded.gaps",
    )
    .bind(scope.project())
    .execute_each(tx, rows.collect())
    .await
    .map(drop)
}

/// Returns the sums over answers of some blocks, with brands and sources from one of them on.
pub async fn list_sums(
    tx: &mut Tx,
    scope: ProjectScope,
    blocks: RangeInclusive<i32>,
    maps_from: i32,
) -> Result<Vec<StoredCells>> {
    sql(
        "SELECT prompt_id, block, tallies, CASE WHEN block >= $4 THEN maps END, NULL FROM answer_cells
         WHERE project_id = $1 AND block BETWEEN $2 AND $3",
    )
    .bind(scope.project())
    .bind(i64::from(*blocks.start()))
    .bind(i64::from(*blocks.end()))
    .bind(i64::from(maps_from))
    .fetch_all(tx, read)
    .await
}

/// Returns all counts of some blocks.
pub async fn list(tx: &mut Tx, scope: ProjectScope, blocks: RangeInclusive<i32>) -> Result<Vec<StoredCells>> {
    sql("SELECT prompt_id, block, tallies, maps, gaps FROM answer_cells
         WHERE project_id = $1 AND block BETWEEN $2 AND $3")
    .bind(scope.project())
    .bind(i64::from(*blocks.start()))
    .bind(i64::from(*blocks.end()))
    .fetch_all(tx, read)
    .await
}

/// Returns all counts at some places.
pub async fn find(
    tx: &mut Tx,
    scope: ProjectScope,
    places: impl IntoIterator<Item = CellPlace>,
) -> Result<Vec<StoredCells>> {
    let found = sql("SELECT prompt_id, block, tallies, maps, gaps FROM answer_cells
         WHERE project_id = $1 AND block = $2 AND prompt_id = $3")
    .bind(scope.project())
    .fetch_optional_each(tx, params(places), read)
    .await?;
    Ok(found.into_iter().flatten().collect())
}

/// Returns the sums over answers at some places.
pub async fn find_sums(
    tx: &mut Tx,
    scope: ProjectScope,
    places: impl IntoIterator<Item = CellPlace>,
) -> Result<Vec<StoredCells>> {
    let found = sql("SELECT prompt_id, block, tallies, NULL, NULL FROM answer_cells
         WHERE project_id = $1 AND block = $2 AND prompt_id = $3")
    .bind(scope.project())
    .fetch_optional_each(tx, params(places), read)
    .await?;
    Ok(found.into_iter().flatten().collect())
}

fn params(places: impl IntoIterator<Item = CellPlace>) -> Vec<Vec<Param>> {
    let row = |place: CellPlace| vec![i64::from(place.block).into(), place.prompt.into()];
    places.into_iter().map(row).collect()
}
