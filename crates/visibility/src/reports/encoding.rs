//! Encodings of files: UTF-8, and UTF-16 as spreadsheets save it.

use std::borrow::Cow;

use super::refusal::ReportRefusal;

/// Signatures of files that people mistake for CSV: ZIP and workbooks, old workbooks, gzip, PDF.
const ARCHIVES: [&[u8]; 4] = [b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x1f\x8b", b"%PDF"];

/// Decodes a file, without its byte order mark.
pub(super) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, ReportRefusal> {
    if ARCHIVES.iter().any(|magic| bytes.starts_with(magic)) {
        return Err(ReportRefusal::Archive);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return decode_utf16(rest, u16::from_le_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return decode_utf16(rest, u16::from_be_bytes);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|_| ReportRefusal::NotText)?;
    if text.contains('\0') {
        // UTF-16 without a mark
        return Err(ReportRefusal::NotText);
    }
    Ok(Cow::Borrowed(text))
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Cow<'_, str>, ReportRefusal> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(ReportRefusal::NotText);
    }
    char::decode_utf16(pairs.iter().map(|pair| unit(*pair)))
        .collect::<Result<String, _>>()
        .map(Cow::Owned)
        .map_err(|_| ReportRefusal::NotText)
}
