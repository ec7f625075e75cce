//! Cells of prompts in the form in which they are stored.

use std::collections::{BTreeMap, BTreeSet};

use searchwright_contract::ids::PromptId;
use searchwright_store::{
    Error, Result, Tx,
    access::ProjectScope,
    answer_cells::{self, CellPlace, StoredCells},
};
use searchwright_visibility::cells::{BlockBytes, Cell, CellBlock, CellKey, DamagedCells, block_of};

/// Cells of a prompt.
pub(crate) type PromptCells = BTreeMap<CellKey, Cell>;

/// Returns the bytes of stored cells.
pub(crate) fn bytes(stored: &StoredCells) -> BlockBytes<'_> {
    BlockBytes {
        block: stored.block,
        tallies: &stored.tallies,
        maps: &stored.maps,
        gaps: &stored.gaps,
    }
}

/// Returns the failure to read stored cells.
pub(crate) fn damaged(damaged: DamagedCells) -> Error {
    Error::Defect(damaged.to_string())
}

/// Returns the cells of all blocks to which some days belong.
pub(crate) async fn load(
    tx: &mut Tx,
    scope: ProjectScope,
    prompt: PromptId,
    days: impl IntoIterator<Item = i32>,
) -> Result<PromptCells> {
    let blocks: BTreeSet<i32> = days.into_iter().map(block_of).collect();
    let places = blocks.into_iter().map(|block| CellPlace { prompt, block });
    let mut cells = PromptCells::new();
    for stored in answer_cells::find(tx, scope, places).await? {
        cells.extend(bytes(&stored).cells().map_err(damaged)?);
    }
    Ok(cells)
}

/// Packs cells, which have to be all of their blocks.
pub(crate) fn pack(prompt: PromptId, cells: PromptCells) -> Vec<StoredCells> {
    let mut blocks: BTreeMap<i32, PromptCells> = BTreeMap::new();
    for (key, cell) in cells {
        blocks.entry(block_of(key.day)).or_default().insert(key, cell);
    }
    let packed = blocks.into_iter().map(|(block, cells)| {
        let CellBlock { tallies, maps, gaps } = CellBlock::pack(&cells);
        StoredCells {
            prompt,
            block,
            tallies,
            maps,
            gaps,
        }
    });
    packed.collect()
}
