//! Records that are collected in any order and read back in the order of their keys.
//!
//! A million pages have millions of findings. They are written in the order of their keys, so that each leaf of a tree in the
//! database is written once. Until then all but some megabytes of them are kept in memory compressed.

use std::{collections::BTreeMap, fmt, marker::PhantomData, mem::take};

use searchwright_failure::{Failure, defect};
use serde::{Serialize, de::DeserializeOwned};

use crate::pipeline::portions;

/// Records, in parts by their keys: every key of a part is lower than those of the parts after it.
pub struct SortedSpill<T> {
    /// Records of each part that are not compressed.
    open: Vec<Vec<u8>>,
    open_bytes: usize,
    max_open_bytes: usize,
    /// Compressed records by their part.
    compressed: Vec<BTreeMap<usize, Vec<u8>>>,
    record: PhantomData<fn(T) -> T>,
}

impl<T: Serialize + DeserializeOwned> SortedSpill<T> {
    /// Makes an empty spill that compresses its records whenever they exceed so many bytes.
    pub const fn new(max_open_bytes: usize) -> Self {
        Self {
            open: Vec::new(),
            open_bytes: 0,
            max_open_bytes,
            compressed: Vec::new(),
            record: PhantomData,
        }
    }

    /// Adds a record to a part.
    pub fn push(&mut self, part: usize, record: &T) -> Result<(), Failure> {
        if self.open.len() <= part {
            self.open.resize_with(part + 1, Vec::new);
        }
        let open = &mut self.open[part];
        let before = open.len();
        *open = postcard::to_extend(record, take(open)).map_err(|e| defect("record", e))?;
        self.open_bytes += open.len() - before;
        if self.open_bytes > self.max_open_bytes {
            self.compress();
        }
        Ok(())
    }

    /// Adds the records of another spill with the same parts.
    pub fn merge(&mut self, other: Self) {
        self.compressed.extend(other.compressed);
        self.open_bytes += other.open_bytes;
        if self.open.len() < other.open.len() {
            self.open.resize_with(other.open.len(), Vec::new);
        }
        for (open, more) in self.open.iter_mut().zip(other.open) {
            open.extend(more);
        }
    }

    fn compress(&mut self) {
        let parts = self.open.iter_mut().enumerate();
        let compressed = parts.filter(|(_, open)| !open.is_empty()).map(|(part, open)| {
            let mut compressed = lz4_flex::compress_prepend_size(open);
            compressed.shrink_to_fit();
            open.clear();
            (part, compressed)
        });
        self.compressed.push(compressed.collect());
        self.open_bytes = 0;
    }

    /// Yields the records of each part, sorted by their keys.
    pub fn into_sorted<K: Ord>(
        mut self,
        key: impl Fn(&T) -> K,
    ) -> impl Iterator<Item = Result<Vec<T>, Failure>> {
        (0..self.open.len()).map(move |part| {
            let mut records = Vec::new();
            for compressed in &mut self.compressed {
                if let Some(compressed) = compressed.remove(&part) {
                    let plain =
                        lz4_flex::decompress_size_prepended(&compressed).map_err(|e| defect("record", e))?;
                    read(&plain, &mut records)?;
                }
            }
            read(&take(&mut self.open[part]), &mut records)?;
            records.sort_by_cached_key(&key);
            Ok(records)
        })
    }
}

fn read<T: DeserializeOwned>(mut plain: &[u8], records: &mut Vec<T>) -> Result<(), Failure> {
    while !plain.is_empty() {
        let (record, rest) = postcard::take_from_bytes(plain).map_err(|e| defect("record", e))?;
        records.push(record);
        plain = rest;
    }
    Ok(())
}

impl<T> fmt::Debug for SortedSpill<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SortedSpill")
            .field("parts", &self.open.len())
            .field("open_bytes", &self.open_bytes)
            .field("compressed", &self.compressed.len())
            .finish_non_exhaustive()
    }
}

/// Regroups the records of parts into portions of at most `limit`, and sends them until the receiver refuses one.
pub fn send_portions<T>(
    parts: impl Iterator<Item = Result<Vec<T>, Failure>>,
    limit: usize,
    send: &mut dyn FnMut(Vec<T>) -> bool,
) -> Result<(), Failure> {
    let mut waiting = Vec::new();
    for part in parts {
        waiting.append(&mut part?);
        if waiting.len() >= limit && !portions(take(&mut waiting), limit).all(&mut *send) {
            return Ok(());
        }
    }
    portions(waiting, limit).all(send);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Number of parts in the tests; a record belongs to the part of its number modulo this.
    const PARTS: u32 = 4;

    type Record = (u32, String);

    fn push(spill: &mut SortedSpill<Record>, number: u32) {
        let part = number % PARTS;
        spill
            .push(part as usize, &(number, "x".repeat(number as usize % 50)))
            .unwrap();
    }

    fn key((number, _): &Record) -> (u32, u32) {
        (number % PARTS, *number)
    }

    proptest! {
        #[test]
        fn records_come_back_sorted_whether_compressed_or_not(
            numbers in proptest::collection::vec(0_u32..1_000, 0..300),
            max_open_bytes in 1_usize..20_000,
            spills in 1_usize..4,
            limit in 1_usize..200,
        ) {
            let mut all: Vec<SortedSpill<Record>> = (0..spills).map(|_| SortedSpill::new(max_open_bytes)).collect();
            for (at, number) in numbers.iter().enumerate() {
                push(&mut all[at % spills], *number);
            }
            let mut spill = all.remove(0);
            all.into_iter().for_each(|other| spill.merge(other));
            let mut sent = Vec::new();
            send_portions(spill.into_sorted(key), limit, &mut |portion| {
                assert!((1..=limit).contains(&portion.len()));
                sent.extend(portion.iter().map(key));
                true
            }).unwrap();
            let mut expected: Vec<(u32, u32)> = numbers.iter().map(|number| (number % PARTS, *number)).collect();
            expected.sort_unstable();
            prop_assert_eq!(sent, expected);
        }
    }

    #[test]
    fn sending_stops_when_the_receiver_refuses() {
        let mut spill = SortedSpill::new(1_000);
        (0..1_000).for_each(|number| push(&mut spill, number));
        assert!(!spill.compressed.is_empty());
        let mut sent = 0;
        let send = &mut |_: Vec<Record>| {
            sent += 1;
            sent < 3
        };
        send_portions(spill.into_sorted(key), 10, send).unwrap();
        assert_eq!(sent, 3);
    }
}
