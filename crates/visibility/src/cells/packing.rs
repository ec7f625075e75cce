//! Numbers and texts in few bytes.

use std::{error::Error, fmt};

/// Counts of cells that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DamagedCells;

impl fmt::Display for DamagedCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stored counts of cells are damaged")
    }
}

impl Error for DamagedCells {}

/// A number that is packed: small ones take one byte (LEB128).
pub(crate) trait Packed: Sized {
    fn pack(self, out: &mut Vec<u8>);
    fn unpack(from: &mut Unpacker<'_>) -> Result<Self, DamagedCells>;

    /// Returns the byte in a row of bytes, which are read faster than numbers one by one; `None` if it is too large for that.
    fn small(self) -> Option<u8>;
    /// Packs what follows that row.
    fn pack_rest(self, out: &mut Vec<u8>);
    fn unpack_rest(small: u8, from: &mut Unpacker<'_>) -> Result<Self, DamagedCells>;
}

/// First byte of numbers that are not a row of bytes.
pub(crate) const IS_LARGE: u8 = u8::MAX;

/// Returns a row of bytes, unless it would begin as large numbers do.
pub(crate) fn all_small<const N: usize>(numbers: [Option<u8>; N]) -> Option<[u8; N]> {
    let mut row = [0; N];
    for (byte, number) in row.iter_mut().zip(numbers) {
        *byte = number?;
    }
    (row.first() != Some(&IS_LARGE)).then_some(row)
}

impl Packed for u64 {
    fn pack(mut self, out: &mut Vec<u8>) {
        while self >= 0x80 {
            out.push(self as u8 | 0x80);
            self >>= 7;
        }
        out.push(self as u8);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self, DamagedCells> {
        from.number()
    }

    fn small(self) -> Option<u8> {
        u8::try_from(self).ok()
    }

    fn pack_rest(self, _: &mut Vec<u8>) {}

    #[inline]
    fn unpack_rest(small: u8, _: &mut Unpacker<'_>) -> Result<Self, DamagedCells> {
        Ok(small.into())
    }
}

impl Packed for i64 {
    fn pack(self, out: &mut Vec<u8>) {
        // negative numbers beside small ones: 0, −1, 1, −2, …
        (((self << 1) ^ (self >> 63)) as u64).pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Result<Self, DamagedCells> {
        let packed = from.number()?;
        Ok((packed >> 1) as Self ^ -((packed & 1) as Self))
    }

    fn small(self) -> Option<u8> {
        Some(0)
    }

    fn pack_rest(self, out: &mut Vec<u8>) {
        self.pack(out);
    }

    #[inline]
    fn unpack_rest(_: u8, from: &mut Unpacker<'_>) -> Result<Self, DamagedCells> {
        Self::unpack(from)
    }
}

/// Writes a text with its length.
pub(crate) fn pack_text(text: &str, out: &mut Vec<u8>) {
    (text.len() as u64).pack(out);
    out.extend_from_slice(text.as_bytes());
}

/// Reads packed values in order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unpacker<'a> {
    rest: &'a [u8],
}

impl<'a> Unpacker<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Result<u64, DamagedCells> {
        let (first, rest) = self.rest.split_first().ok_or(DamagedCells)?;
        self.rest = rest;
        if *first < 0x80 {
            return Ok((*first).into());
        }
        self.long_number(*first)
    }

    fn long_number(&mut self, first: u8) -> Result<u64, DamagedCells> {
        let mut number = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or(DamagedCells)?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                return Ok(number);
            }
        }
        Err(DamagedCells)
    }

    /// Reads a number of things that follow, each of which takes a byte at least.
    pub(crate) fn count(&mut self) -> Result<usize, DamagedCells> {
        let count = self.number()? as usize;
        if count > self.rest.len() {
            return Err(DamagedCells);
        }
        Ok(count)
    }

    /// Reads a place in a list of some length.
    #[inline]
    pub(crate) fn place(&mut self, len: usize) -> Result<usize, DamagedCells> {
        let place = self.number()? as usize;
        if place < len { Ok(place) } else { Err(DamagedCells) }
    }

    pub(crate) fn is_large(&self) -> bool {
        self.rest.first() == Some(&IS_LARGE)
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], DamagedCells> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(DamagedCells)?;
        self.rest = rest;
        Ok(*array)
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Result<&'a [u8], DamagedCells> {
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or(DamagedCells)?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, DamagedCells> {
        let len = self.count()?;
        std::str::from_utf8(self.bytes(len)?).map_err(|_| DamagedCells)
    }

    pub(crate) fn id(&mut self) -> Result<i64, DamagedCells> {
        self.array().map(i64::from_le_bytes)
    }
}
