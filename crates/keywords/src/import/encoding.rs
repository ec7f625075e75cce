//! Encodings of files: marked, UTF-16 by its zero bytes, UTF-8, or one of those with eight bits.
//!
//! Spreadsheets save CSV in the encoding of their system and name it nowhere. `chardetng` knows those of the web; the two
//! of Excel that it does not know, of macOS and of DOS, are told from them by what the characters would be: a letter
//! between letters is likelier than a sign.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, MACINTOSH, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes from the beginning by which UTF-16 is known.
const HEAD: usize = 64 * 1024;
/// Bytes of lines outside ASCII by which encodings are compared.
const SAMPLE: usize = 32 * 1024;

/// Characters 80 to FF of code page 850, in which Excel saves "CSV (MS-DOS)" in western Europe.
const CODE_PAGE_850: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤\
    ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";

/// Converts a file to UTF-8, without its byte order mark.
pub(super) fn to_utf8(file: Vec<u8>) -> Vec<u8> {
    if let Some((encoding, mark)) = Encoding::for_bom(&file) {
        let text = encoding.decode_without_bom_handling(&file[mark..]).0;
        return text.into_owned().into_bytes();
    }
    if let Some(encoding) = utf_16(&file[..file.len().min(HEAD)]) {
        return encoding
            .decode_without_bom_handling(&file)
            .0
            .into_owned()
            .into_bytes();
    }
    if is_mostly_utf8(&file) {
        return match String::from_utf8_lossy(&file) {
            Cow::Borrowed(_) => file,
            Cow::Owned(text) => text.into_bytes(),
        };
    }
    match eight_bit(&file) {
        Some(encoding) => encoding
            .decode_without_bom_handling(&file)
            .0
            .into_owned()
            .into_bytes(),
        None => code_page_850(&file).into_bytes(),
    }
}

/// UTF-16 without a mark: nearly every character of these files is ASCII, so that one half of the bytes is zero.
fn utf_16(head: &[u8]) -> Option<&'static Encoding> {
    let (pairs, _) = head.as_chunks::<2>();
    let zeros = |i: usize| pairs.iter().filter(|pair| pair[i] == 0).count();
    if zeros(1) * 2 > pairs.len() && zeros(0) * 8 < pairs.len() {
        Some(UTF_16LE)
    } else if zeros(0) * 2 > pairs.len() && zeros(1) * 8 < pairs.len() {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Returns whether a file is UTF-8, a few broken characters apart.
fn is_mostly_utf8(file: &[u8]) -> bool {
    let (mut sound, mut broken) = (0_usize, 0_usize);
    for chunk in file.utf8_chunks() {
        sound += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    broken <= sound
}

/// The likeliest encoding of bytes that are no UTF-8; `None` for code page 850.
fn eight_bit(file: &[u8]) -> Option<&'static Encoding> {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(file, true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    let sample = sample(file);
    let decoded = |encoding: &'static Encoding| encoding.decode_without_bom_handling(&sample).0;
    // the first of equals stays
    let mut best = (likelihood(&decoded(guess)), Some(guess));
    // of encodings with Latin letters the detector knows more than this
    let others = if is_latin(guess) {
        &[MACINTOSH][..]
    } else {
        &[WINDOWS_1252, MACINTOSH]
    };
    for other in others {
        let likelihood = likelihood(&decoded(other));
        if likelihood > best.0 {
            best = (likelihood, Some(other));
        }
    }
    if likelihood(&code_page_850(&sample)) > best.0 {
        return None;
    }
    best.1
}

fn is_latin(encoding: &'static Encoding) -> bool {
    let name = encoding.name();
    let windows = [
        "windows-1250",
        "windows-1252",
        "windows-1254",
        "windows-1257",
        "windows-1258",
    ];
    let cyrillic_to_hebrew = [
        "ISO-8859-5",
        "ISO-8859-6",
        "ISO-8859-7",
        "ISO-8859-8",
        "ISO-8859-8-I",
    ];
    windows.contains(&name) || name.starts_with("ISO-8859-") && !cyrillic_to_hebrew.contains(&name)
}

/// Lines that are not ASCII alone.
fn sample(file: &[u8]) -> Vec<u8> {
    let lines = file.split(|byte| matches!(byte, b'\n' | b'\r'));
    let mut sample = Vec::new();
    for line in lines.filter(|line| !line.is_ascii()) {
        sample.extend_from_slice(&line[..line.len().min(SAMPLE)]);
        sample.push(b'\n');
        if sample.len() > SAMPLE {
            break;
        }
    }
    sample
}

fn code_page_850(file: &[u8]) -> String {
    let upper: Vec<char> = CODE_PAGE_850.chars().collect();
    let decode = |byte: &u8| match byte {
        0..=0x7f => char::from(*byte),
        _ => upper[usize::from(byte - 0x80)],
    };
    file.iter().map(decode).collect()
}

/// Sum of how likely each character outside ASCII is where it stands.
fn likelihood(text: &str) -> i64 {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: Option<usize>| i.and_then(|i| chars.get(i)).copied().unwrap_or(' ');
    let each = |(i, c): (usize, &char)| {
        if c.is_ascii() {
            return 0;
        }
        likelihood_between(at(i.checked_sub(1)), *c, at(Some(i + 1)))
    };
    chars.iter().enumerate().map(each).sum()
}

fn likelihood_between(before: char, c: char, after: char) -> i64 {
    let beside_ascii = before.is_ascii_alphabetic() || after.is_ascii_alphabetic();
    match c {
        _ if c.is_lowercase() && after.is_ascii_uppercase() => -3,
        '\u{fffd}' | '\u{80}'..='\u{9f}' => -10,
        // letters that western languages use most
        'ä' | 'ö' | 'ü' | 'ß' | 'é' | 'è' | 'à' | 'ç' | 'ê' | 'ñ' | 'á' | 'í' | 'ó' | 'ú' | 'ã' | 'å'
        | 'ø' | 'æ' => {
            if beside_ascii {
                4
            } else {
                1
            }
        }
        'ƒ' | 'ª' | 'º' | 'µ' => {
            if beside_ascii {
                -3
            } else {
                -1
            }
        }
        '\u{c0}'..='\u{24f}' if c.is_lowercase() => {
            if beside_ascii {
                3
            } else {
                1
            }
        }
        '\u{c0}'..='\u{24f}' if c.is_alphabetic() => {
            if before.is_lowercase() {
                -6
            } else {
                1
            }
        }
        '’' if before.is_alphabetic() => 3,
        '“' | '„' | '«' if after.is_alphanumeric() && !before.is_alphanumeric() => 2,
        '”' | '“' | '»' | '…' if before.is_alphanumeric() && !after.is_alphanumeric() => 2,
        '–' | '—' if before == ' ' && after == ' ' => 2,
        _ if c.is_alphabetic() && beside_ascii => -3,
        // a character of two bytes
        '\u{2e80}'.. => 4,
        _ if c.is_alphabetic() => 2,
        _ => {
            if before.is_alphabetic() && after.is_alphabetic() {
                -3
            } else {
                -1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::Encoding;

    use super::{CODE_PAGE_850, to_utf8};

    fn in_code_page_850(text: &str) -> Vec<u8> {
        let byte = |c: char| {
            if c.is_ascii() {
                return c as u8;
            }
            0x80 + CODE_PAGE_850.chars().position(|known| known == c).unwrap() as u8
        };
        text.chars().map(byte).collect()
    }

    #[test]
    fn eight_bits_are_told_apart() {
        assert_eq!(CODE_PAGE_850.chars().count(), 128);
        for (labels, text) in [
            (
                &["windows-1252", "macintosh", "850"][..],
                "Keyword;Volume\nbüro für größe;10\nschreibtisch höhe;5\n",
            ),
            (
                &["windows-1252", "macintosh", "850"],
                "Keyword;Volume\ncafé crème à paris;10\n",
            ),
            (
                &["windows-1252", "macintosh", "850"],
                "Keyword;Volume\nniño pequeño canción;10\n",
            ),
            (
                &["windows-1250"],
                "Keyword;Volume\nłóżko dla dziecka ściana żółta;10\n",
            ),
            (&["windows-1251"], "Keyword;Volume\nкупить письменный стол;10\n"),
            (
                &["windows-1254"],
                "Keyword;Volume\nçalışma masası yüksekliği;10\n",
            ),
            (&["shift_jis"], "Keyword;Volume\nオフィス 賃貸 東京;10\n"),
            (&["shift_jis"], "Keyword;Volume\nオフィス机;10\n"),
            (&["windows-1250"], "Keyword;Volume\npříčka dveře;10\n"),
            (&["euc-kr"], "Keyword;Volume\n사무용 책상;10\n"),
            (&["gbk"], "Keyword;Volume\n办公室租赁 北京;10\n"),
            (
                &["windows-1252", "macintosh"],
                "Keyword;Volume\ntoday’s café – “best”;10\n",
            ),
        ] {
            for label in labels {
                let bytes = match Encoding::for_label(label.as_bytes()) {
                    Some(encoding) => encoding.encode(text).0.into_owned(),
                    None => in_code_page_850(text),
                };
                let read = String::from_utf8(to_utf8(bytes)).unwrap();
                assert_eq!(read, text, "{label}");
            }
        }
    }

    #[test]
    fn one_broken_character_does_not_change_the_encoding() {
        let file = [b"b\xc3\xbcro h\xc3\xb6he\n".as_slice(), b"x\xff\n"].concat();
        assert_eq!(to_utf8(file), "büro höhe\nx\u{fffd}\n".as_bytes());
    }
}
