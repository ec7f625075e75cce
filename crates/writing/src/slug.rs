//! Slugs: the part of an address that names a post.

use deunicode::deunicode_with_tofu;
use searchwright_keywords::words::primary;

/// Bytes of a slug, all of them ASCII.
pub const MAX_SLUG: usize = 75;

/// A slug in kebab case, cut between words; `None` when no letter or digit is left of the text.
///
/// German umlauts become two letters in German and lose their dots elsewhere.
pub fn slugify(text: &str, language: &str) -> Option<String> {
    let german = primary(language) == "de";
    let mut spelled = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'ä' | 'Ä' if german => spelled.push_str("ae"),
            'ö' | 'Ö' if german => spelled.push_str("oe"),
            'ü' | 'Ü' if german => spelled.push_str("ue"),
            // what stands within a word ends none
            '\'' | '’' | '\u{ad}' => {}
            '&' => spelled.push(' '),
            _ => spelled.push(c),
        }
    }
    let ascii = deunicode_with_tofu(&spelled, "");
    let mut slug = String::with_capacity(ascii.len());
    for word in ascii
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        let gap = usize::from(!slug.is_empty());
        if slug.len() + gap + word.len() > MAX_SLUG {
            if slug.is_empty() {
                slug.push_str(&word[..MAX_SLUG]);
            }
            break;
        }
        if gap == 1 {
            slug.push('-');
        }
        slug.push_str(word);
    }
    slug.make_ascii_lowercase();
    (!slug.is_empty()).then_some(slug)
}

/// Whether a text is a slug as [`slugify`] makes them.
pub fn is_slug(text: &str) -> bool {
    text.len() <= MAX_SLUG
        && text.split('-').all(|word| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
}

/// The slug, or the first of `slug-2`, `slug-3`, … that is not taken, shortened where it would be too long.
pub fn unique(slug: &str, mut is_taken: impl FnMut(&str) -> bool) -> String {
    let mut candidate = slug.to_owned();
    let mut number = 2u64;
    while is_taken(&candidate) {
        let suffix = format!("-{number}");
        let start = &slug[..slug.len().min(MAX_SLUG - suffix.len())];
        candidate = format!("{}{suffix}", start.trim_end_matches('-'));
        number += 1;
    }
    candidate
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::{MAX_SLUG, is_slug, slugify, unique};

    #[test]
    fn slugs_of_many_scripts() {
        let cases = [
            ("What's New & Next?", "en", Some("whats-new-next")),
            ("Größe ändern", "de", Some("groesse-aendern")),
            ("Ünder", "en", Some("under")),
            ("Привет, мир", "ru", Some("privet-mir")),
            ("北京", "zh", Some("bei-jing")),
            ("C++ / C# 2.0", "en", Some("c-c-2-0")),
            ("¿?—", "es", None),
        ];
        for (text, language, expected) in cases {
            assert_eq!(slugify(text, language).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_long_one_is_cut_between_words() {
        let slug = slugify(&"word ".repeat(30), "en").unwrap();
        assert!(slug.len() <= MAX_SLUG && slug.ends_with("-word"));
        assert_eq!(slugify(&"a".repeat(100), "en").unwrap().len(), MAX_SLUG);
    }

    #[test]
    fn a_taken_one_gets_a_number() {
        let taken = ["tea", "tea-2"];
        assert_eq!(unique("tea", |slug| taken.contains(&slug)), "tea-3");
        assert_eq!(unique("new", |slug| taken.contains(&slug)), "new");
        let long = "a".repeat(MAX_SLUG);
        let next = unique(&long, |slug| slug == long);
        assert!(next.len() == MAX_SLUG && next.ends_with("-2"));
    }

    proptest! {
        #[test]
        fn whatever_is_made_is_a_slug(text in ".{0,200}") {
            if let Some(slug) = slugify(&text, "de") {
                prop_assert!(is_slug(&slug), "{slug}");
                prop_assert_eq!(slugify(&slug, "de"), Some(slug));
            }
        }
    }
}
