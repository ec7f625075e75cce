//! Cells of a prompt in the form in which they are stored: 28 days together, all series.
//!
//! An overview of a quarter reads hundreds of thousands of cells. Three parts are read only where they are needed: the
//! sums over answers, the brands and sources, and the pages that lead to competitors. Names of brands and addresses of
//! pages stand once in a block, and cells refer to them by their place.

use std::{
    collections::{BTreeMap, HashMap},
    ops::RangeInclusive,
};

use super::{
    BrandTally, Cell, DomainCell, SourceTally, Tally,
    packing::{DamagedCells, Packed as _, Unpacker, pack_text},
};
use crate::sources::{SourceClass, SourceType};

/// Days of a block.
pub(crate) const BLOCK_DAYS: i32 = 28;

const CLASSES: [SourceClass; 3] = [
    SourceClass::Owned,
    SourceClass::Competitor,
    SourceClass::ThirdParty,
];
const TYPES: [Option<SourceType>; 10] = [
    None,
    Some(SourceType::Editorial),
    Some(SourceType::Reviews),
    Some(SourceType::Ecommerce),
    Some(SourceType::Social),
    Some(SourceType::Developer),
    Some(SourceType::Pr),
    Some(SourceType::Reference),
    Some(SourceType::Institutional),
    Some(SourceType::Other),
];

/// Returns the block of a day.
pub fn block_of(day: i32) -> i32 {
    day.div_euclid(BLOCK_DAYS)
}

/// Returns the blocks of some days.
pub fn blocks_of(days: &RangeInclusive<i32>) -> RangeInclusive<i32> {
    block_of(*days.start())..=block_of(*days.end())
}

/// A cell of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellKey {
    /// Series.
    pub series: i64,
    /// Day since the Unix epoch.
    pub day: i32,
}

/// The cells of a prompt in a block of days, as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellBlock {
    /// Sums over answers.
    pub tallies: Vec<u8>,
    /// Brands and sources.
    pub maps: Vec<u8>,
    /// Pages of third parties in answers that mention a competitor and not the own brand.
    pub gaps: Vec<u8>,
}

/// The bytes of a block, as far as they were read.
#[derive(Clone, Copy, Debug)]
pub struct BlockBytes<'a> {
    /// Block.
    pub block: i32,
    /// Sums over answers.
    pub tallies: &'a [u8],
    /// Brands and sources.
    pub maps: &'a [u8],
    /// Pages that lead to competitors.
    pub gaps: &'a [u8],
}

/// Texts of a block, by their place.
#[derive(Default)]
struct TextPlaces<'a> {
    brands: HashMap<&'a str, u64>,
    domains: HashMap<&'a str, u64>,
    pages: HashMap<PageText<'a>, u64>,
    texts: [Vec<u8>; 3],
}

/// A page with its domain, by its place.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PageText<'a> {
    pub(crate) domain: usize,
    pub(crate) url: &'a str,
}

impl<'a> TextPlaces<'a> {
    fn brand(&mut self, brand: &'a str) -> u64 {
        let next = self.brands.len() as u64;
        *self.brands.entry(brand).or_insert_with(|| {
            pack_text(brand, &mut self.texts[0]);
            next
        })
    }

    fn domain(&mut self, domain: &'a str) -> u64 {
        let next = self.domains.len() as u64;
        *self.domains.entry(domain).or_insert_with(|| {
            pack_text(domain, &mut self.texts[1]);
            next
        })
    }

    fn page(&mut self, domain: u64, url: &'a str) -> u64 {
        let next = self.pages.len() as u64;
        let page = PageText {
            domain: domain as usize,
            url,
        };
        *self.pages.entry(page).or_insert_with(|| {
            domain.pack(&mut self.texts[2]);
            pack_text(url, &mut self.texts[2]);
            next
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        let counts = [self.brands.len(), self.domains.len(), self.pages.len()];
        for (count, texts) in counts.into_iter().zip(&self.texts) {
            (count as u64).pack(out);
            out.extend_from_slice(texts);
        }
    }
}

impl CellBlock {
    /// Packs cells, all of one block.
    pub fn pack(cells: &BTreeMap<CellKey, Cell>) -> Self {
        let mut of_series: BTreeMap<i64, u64> = BTreeMap::new();
        for key in cells.keys() {
            *of_series.entry(key.series).or_default() += 1;
        }
        let mut packed = Self::default();
        (of_series.len() as u64).pack(&mut packed.tallies);
        for (id, count) in &of_series {
            packed.tallies.extend_from_slice(&id.to_le_bytes());
            count.pack(&mut packed.tallies);
        }
        let mut places = TextPlaces::default();
        let mut bodies = Vec::new();
        for (key, cell) in cells {
            (key.day.rem_euclid(BLOCK_DAYS) as u64).pack(&mut packed.tallies);
            cell.tally.pack(&mut packed.tallies);
            let body = pack_maps(cell, &mut places, &mut packed.gaps);
            (body.len() as u64).pack(&mut bodies);
            bodies.extend_from_slice(&body);
        }
        places.write(&mut packed.maps);
        packed.maps.extend_from_slice(&bodies);
        packed
    }

    /// Returns the bytes to be read.
    pub fn bytes(&self, block: i32) -> BlockBytes<'_> {
        BlockBytes {
            block,
            tallies: &self.tallies,
            maps: &self.maps,
            gaps: &self.gaps,
        }
    }
}

/// Packs brands, domains and pages.
fn pack_maps<'c>(cell: &'c Cell, places: &mut TextPlaces<'c>, gaps: &mut Vec<u8>) -> Vec<u8> {
    let mut body = Vec::new();
    (cell.brands.len() as u64).pack(&mut body);
    for (id, tally) in &cell.brands {
        places.brand(id).pack(&mut body);
        tally.pack(&mut body);
    }
    let (mut pages, mut missed) = (Vec::new(), Vec::new());
    (cell.domains.len() as u64).pack(&mut body);
    for (name, domain) in &cell.domains {
        let place = places.domain(name);
        place.pack(&mut body);
        body.push(kind_byte(domain));
        domain.tally.pack(&mut body);
        pages.extend(
            domain
                .urls
                .iter()
                .map(|(url, count)| (places.page(place, url), *count)),
        );
        missed.extend(
            domain
                .gaps
                .iter()
                .map(|(url, count)| (places.page(place, url), *count)),
        );
    }
    pack_counts(&pages, &mut body);
    pack_counts(&missed, gaps);
    body
}

fn pack_counts(counts: &[(u64, u64)], out: &mut Vec<u8>) {
    (counts.len() as u64).pack(out);
    for (place, count) in counts {
        place.pack(out);
        count.pack(out);
    }
}

fn kind_byte(domain: &DomainCell) -> u8 {
    let class = CLASSES.iter().position(|class| *class == domain.class);
    let kind = TYPES.iter().position(|kind| *kind == domain.source_type);
    (class.unwrap_or(0) * TYPES.len() + kind.unwrap_or(0)) as u8
}

/// The sums over answers of the cells of a block.
#[derive(Debug)]
pub struct TallyCells {
    /// Series.
    pub series: Vec<i64>,
    /// Cells by series and day.
    pub cells: Vec<TallyCell>,
}

/// The sums over the answers of a cell.
#[derive(Clone, Copy, Debug)]
pub struct TallyCell {
    /// Place of the series.
    pub series: usize,
    /// Day since the Unix epoch.
    pub day: i32,
    /// Sums.
    pub tally: Tally,
}

impl<'a> BlockBytes<'a> {
    /// Reads the sums over answers.
    pub fn tallies(&self) -> Result<TallyCells, DamagedCells> {
        let mut from = Unpacker::new(self.tallies);
        let mut counts = Vec::new();
        let mut series = Vec::new();
        for _ in 0..from.count()? {
            series.push(from.id()?);
            counts.push(from.count()?);
        }
        let first = self.block.checked_mul(BLOCK_DAYS).ok_or(DamagedCells)?;
        let mut cells = Vec::with_capacity(counts.iter().sum::<usize>().min(self.tallies.len()));
        for (series, count) in counts.into_iter().enumerate() {
            for _ in 0..count {
                cells.push(TallyCell {
                    series,
                    day: first + from.place(BLOCK_DAYS as usize)? as i32,
                    tally: Tally::unpack(&mut from)?,
                });
            }
        }
        if from.is_empty() {
            Ok(TallyCells { series, cells })
        } else {
            Err(DamagedCells)
        }
    }

    /// Reads the texts of brands, domains and pages; the maps of the cells follow, in the order of [`Self::tallies`].
    pub(crate) fn maps(&self) -> Result<MapCells<'a>, DamagedCells> {
        let mut from = Unpacker::new(self.maps);
        let brands: Result<Vec<&str>, _> = (0..from.count()?).map(|_| from.text()).collect();
        let domains: Result<Vec<&str>, _> = (0..from.count()?).map(|_| from.text()).collect();
        let (brands, domains) = (brands?, domains?);
        let mut pages = Vec::new();
        for _ in 0..from.count()? {
            pages.push(PageText {
                domain: from.place(domains.len())?,
                url: from.text()?,
            });
        }
        Ok(MapCells {
            brands,
            domains,
            pages,
            bodies: from,
        })
    }

    /// Reads all cells.
    pub fn cells(&self) -> Result<BTreeMap<CellKey, Cell>, DamagedCells> {
        let days = i32::MIN..=i32::MAX;
        let read = self.sums(&days, |cell| cell.day)?;
        Ok(read.into_iter().collect())
    }

    /// Reads the sums of some days by series.
    pub fn sums_by_series(&self, days: &RangeInclusive<i32>) -> Result<Vec<(i64, Cell)>, DamagedCells> {
        let read = self.sums(days, |_| 0)?;
        Ok(read.into_iter().map(|(key, cell)| (key.series, cell)).collect())
    }

    /// Adds up neighbouring cells of a series for which a function returns the same day.
    fn sums(
        &self,
        days: &RangeInclusive<i32>,
        day: fn(&TallyCell) -> i32,
    ) -> Result<Vec<(CellKey, Cell)>, DamagedCells> {
        let tallies = self.tallies()?;
        let mut maps = self.maps()?;
        let mut gaps = Unpacker::new(self.gaps);
        let mut found: Vec<(CellKey, Cell)> = Vec::new();
        let mut sums = PlacedSums::new(&maps);
        for cell in &tallies.cells {
            let body = maps.next_cell()?;
            let is_wanted = days.contains(&cell.day);
            let key = CellKey {
                series: tallies.series[cell.series],
                day: day(cell),
            };
            if is_wanted && found.last().is_none_or(|(last, _)| *last != key) {
                if let Some((_, last)) = found.last_mut() {
                    sums.take(&maps, last);
                }
                found.push((key, Cell::default()));
            }
            if is_wanted && let Some((_, last)) = found.last_mut() {
                last.tally.merge(&cell.tally);
                sums.add(&maps, body)?;
            }
            maps.counts(&mut gaps, |page, count| {
                sums.gaps[page] += if is_wanted { count } else { 0 };
            })?;
        }
        if let Some((_, last)) = found.last_mut() {
            sums.take(&maps, last);
        }
        Ok(found)
    }
}

/// The brands and sources of the cells of a block.
pub(crate) struct MapCells<'a> {
    pub(crate) brands: Vec<&'a str>,
    pub(crate) domains: Vec<&'a str>,
    pub(crate) pages: Vec<PageText<'a>>,
    bodies: Unpacker<'a>,
}

/// A domain in a cell.
#[derive(Clone, Copy)]
pub(crate) struct DomainEntry {
    pub(crate) domain: usize,
    pub(crate) class: SourceClass,
    pub(crate) source_type: Option<SourceType>,
    pub(crate) tally: SourceTally,
}

impl<'a> MapCells<'a> {
    /// Returns the maps of the next cell, which are read in the order of the following functions.
    pub(crate) fn next_cell(&mut self) -> Result<Unpacker<'a>, DamagedCells> {
        let len = self.bodies.count()?;
        self.bodies.bytes(len).map(Unpacker::new)
    }

    pub(crate) fn brands(
        &self,
        body: &mut Unpacker<'_>,
        mut each: impl FnMut(usize, &BrandTally),
    ) -> Result<(), DamagedCells> {
        for _ in 0..body.number()? {
            let place = body.place(self.brands.len())?;
            each(place, &BrandTally::unpack(body)?);
        }
        Ok(())
    }

    pub(crate) fn domains(
        &self,
        body: &mut Unpacker<'_>,
        mut each: impl FnMut(DomainEntry),
    ) -> Result<(), DamagedCells> {
        for _ in 0..body.number()? {
            let domain = body.place(self.domains.len())?;
            let kind = body.place(CLASSES.len() * TYPES.len())?;
            each(DomainEntry {
                domain,
                class: CLASSES[kind / TYPES.len()],
                source_type: TYPES[kind % TYPES.len()],
                tally: SourceTally::unpack(body)?,
            });
        }
        Ok(())
    }

    /// Reads counts of pages.
    pub(crate) fn counts(
        &self,
        body: &mut Unpacker<'_>,
        mut each: impl FnMut(usize, u64),
    ) -> Result<(), DamagedCells> {
        for _ in 0..body.number()? {
            let place = body.place(self.pages.len())?;
            each(place, body.number()?);
        }
        Ok(())
    }
}

/// Sums by the places of texts.
struct PlacedSums {
    brands: Vec<Option<BrandTally>>,
    domains: Vec<Option<DomainEntry>>,
    pages: Vec<u64>,
    gaps: Vec<u64>,
}

impl PlacedSums {
    fn new(maps: &MapCells<'_>) -> Self {
        Self {
            brands: vec![None; maps.brands.len()],
            domains: vec![None; maps.domains.len()],
            pages: vec![0; maps.pages.len()],
            gaps: vec![0; maps.pages.len()],
        }
    }

    fn add(&mut self, maps: &MapCells<'_>, mut body: Unpacker<'_>) -> Result<(), DamagedCells> {
        maps.brands(&mut body, |place, tally| {
            self.brands[place].get_or_insert_default().merge(tally);
        })?;
        maps.domains(&mut body, |entry| match &mut self.domains[entry.domain] {
            Some(sum) => {
                sum.class = sum.class.min(entry.class);
                sum.source_type = sum.source_type.min(entry.source_type);
                sum.tally.merge(&entry.tally);
            }
            none => *none = Some(entry),
        })?;
        maps.counts(&mut body, |place, count| self.pages[place] += count)
    }

    /// Moves the sums to a cell.
    fn take(&mut self, maps: &MapCells<'_>, cell: &mut Cell) {
        for (name, sum) in maps.brands.iter().zip(&mut self.brands) {
            if let Some(tally) = sum.take() {
                cell.brands.insert((*name).to_owned(), tally);
            }
        }
        let mut domains: Vec<Option<DomainCell>> = Vec::with_capacity(self.domains.len());
        domains.extend(self.domains.iter_mut().map(|sum| {
            sum.take().map(|entry| DomainCell {
                class: entry.class,
                source_type: entry.source_type,
                tally: entry.tally,
                urls: BTreeMap::new(),
                gaps: BTreeMap::new(),
            })
        }));
        let counts = self.pages.iter_mut().zip(&mut self.gaps);
        for (page, (count, gap)) in maps.pages.iter().zip(counts) {
            let (count, gap) = (std::mem::take(count), std::mem::take(gap));
            if let Some(domain) = &mut domains[page.domain] {
                if count > 0 {
                    domain.urls.insert(page.url.to_owned(), count);
                }
                if gap > 0 {
                    domain.gaps.insert(page.url.to_owned(), gap);
                }
            }
        }
        for (name, domain) in maps.domains.iter().zip(domains) {
            if let Some(domain) = domain {
                cell.domains.insert((*name).to_owned(), domain);
            }
        }
    }
}
