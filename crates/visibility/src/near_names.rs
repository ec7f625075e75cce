//! Names that look like a spelling of a tracked brand: a letter is wrong, missing, doubled or in another place.

use crate::{brands::Brand, normal::key};

/// Minimum length of a name in characters; in shorter ones a letter makes another name.
const MIN_CHARS: usize = 4;
/// Minimum length of a name in which two letters may differ.
const MIN_CHARS_OF_TWO: usize = 9;

/// Spellings of brands, to be compared with names.
#[derive(Clone, Debug, Default)]
pub struct NearNames {
    spellings: Vec<KnownSpelling>,
}

#[derive(Clone, Debug)]
struct KnownSpelling {
    chars: Vec<char>,
    letters: u64,
    brand: String,
}

impl NearNames {
    /// Collects the names, other spellings and products of brands.
    pub fn new(brands: &[Brand]) -> Self {
        let mut spellings = Vec::new();
        for brand in brands {
            let others = brand.aliases.iter().chain(&brand.products);
            let names = std::iter::once(&brand.name).chain(others.map(|alias| &alias.text));
            for name in names {
                let chars: Vec<char> = key(name).norm.chars().collect();
                if chars.len() >= MIN_CHARS {
                    spellings.push(KnownSpelling {
                        letters: letters(&chars),
                        brand: brand.id.clone(),
                        chars,
                    });
                }
            }
        }
        Self { spellings }
    }

    /// Returns the id of the brand whose spelling is nearest to a normal form; `None` if none is near.
    pub fn find(&self, name_key: &str) -> Option<&str> {
        let chars: Vec<char> = name_key.chars().collect();
        if chars.len() < MIN_CHARS {
            return None;
        }
        let own_letters = letters(&chars);
        let mut best: Option<(usize, &KnownSpelling)> = None;
        for spelling in &self.spellings {
            let limit = 1 + usize::from(chars.len().min(spelling.chars.len()) >= MIN_CHARS_OF_TWO);
            let limit = best.map_or(limit, |(distance, _)| limit.min(distance - 1));
            // a changed letter leaves at most two differences between the sets
            let differing = (own_letters ^ spelling.letters).count_ones() as usize;
            if limit == 0 || differing > 2 * limit || chars.len().abs_diff(spelling.chars.len()) > limit {
                continue;
            }
            let distance = distance(&chars, &spelling.chars);
            if (1..=limit).contains(&distance) {
                best = Some((distance, spelling));
            }
        }
        best.map(|(_, spelling)| &*spelling.brand)
    }
}

/// Set of the letters of a word, several of which share a bit.
fn letters(chars: &[char]) -> u64 {
    chars
        .iter()
        .fold(0, |set, c| set | 1 << (u64::from(u32::from(*c)) % 64))
}

/// Number of changed, missing, added or exchanged letters (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, y) in b.iter().enumerate() {
            let mut least = (last[j] + usize::from(x != y))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_brands_are_near() {
        let brand = |id: &str, name: &str| Brand {
            id: id.to_owned(),
            name: name.to_owned(),
            ..Brand::default()
        };
        let near = NearNames::new(&[
            brand("acme", "Acme Desk"),
            brand("bolt", "Bolt"),
            brand("ox", "Ox"),
            brand("oakworks", "Oakworks Furniture"),
        ]);
        for (name, found) in [
            ("Acme Desks", Some("acme")),
            ("Amce Desk", Some("acme")),
            ("Acme Disc", None),
            ("Bold", Some("bolt")),
            ("Balt!", Some("bolt")),
            ("Volta", None),
            ("Oy", None),
            ("Oakwork Furnitures", Some("oakworks")),
            ("Oakwork Furnitur", Some("oakworks")),
            ("Oakery Furniture", None),
            ("Zolt Office", None),
        ] {
            assert_eq!(near.find(&key(name).norm), found, "{name}");
        }
        assert_eq!(near.find("acmedesk"), None, "the brand itself is no misspelling");
    }
}
