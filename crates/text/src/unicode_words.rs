//! Counts the words of text in any script, character by character.
//!
//! `unicode-segmentation` looks every character up by bisection and returns the words; here they are only counted, by
//! classes from the trie of ICU4X. Emoji with joiners, flags, and underscores between letters are rare, so these are
//! left to `unicode-segmentation`.

use icu_properties::{CodePointMapData, CodePointMapDataBorrowed, props::WordBreak};
use unicode_segmentation::UnicodeSegmentation;

use crate::{
    scripts::{is_alphanumeric, is_cjk},
    word_count::WordCount,
};

const CLASSES: CodePointMapDataBorrowed<'static, WordBreak> = CodePointMapData::<WordBreak>::new();

/// Counts the words of a text.
pub(crate) fn count(text: &str) -> WordCount {
    let mut words = WordCount::default();
    let mut rest = text;
    while !rest.is_empty() {
        let (end, found) = walk(rest);
        words.join(found);
        rest = &rest[end..];
        // the token that stopped the walk
        let token = &rest[..rest.find(' ').unwrap_or(rest.len())];
        words.join(segmented(token));
        rest = rest.get(token.len() + 1..).unwrap_or_default();
    }
    words
}

fn segmented(token: &str) -> WordCount {
    let mut words = WordCount::default();
    for word in token.unicode_words() {
        words.begin(word.starts_with(is_cjk));
        words.extend(word.chars().count() as u32 - 1, word.starts_with(is_cjk));
    }
    words
}

/// Context of the next character.
#[derive(Clone, Copy, Debug)]
enum Last {
    /// Nothing that joins the next character.
    Apart,
    /// The last character of a word.
    Word(WordBreak),
    /// The last character of a word, and a character that may join it to the next one.
    Joint(WordBreak, WordBreak),
}

/// Counts the words before the first token with something rare in it, and returns where that begins. A token ends at a
/// space, across which no rule joins two words.
fn walk(text: &str) -> (usize, WordCount) {
    let (mut words, mut before_token) = (WordCount::default(), (0, WordCount::default()));
    let mut last = Last::Apart;
    let mut is_cjk_word = false;
    for (at, c) in text.char_indices() {
        let class = CLASSES.get(c);
        last = match class {
            WordBreak::WSegSpace if c == ' ' => {
                before_token = (at + 1, words);
                Last::Apart
            }
            WordBreak::WSegSpace | WordBreak::CR | WordBreak::LF | WordBreak::Newline => Last::Apart,
            WordBreak::ALetter | WordBreak::HebrewLetter | WordBreak::Numeric | WordBreak::Katakana => {
                match joined(last, class) {
                    0 if is_alphanumeric(c) => {
                        is_cjk_word = is_cjk(c);
                        words.begin(is_cjk_word);
                    }
                    0 => return before_token,
                    _ if is_cjk_word && !is_cjk(c) => return before_token,
                    more => words.extend(more, is_cjk_word),
                }
                Last::Word(class)
            }
            WordBreak::Other if is_alphanumeric(c) => {
                is_cjk_word = is_cjk(c);
                words.begin(is_cjk_word);
                Last::Word(class)
            }
            WordBreak::Other => Last::Apart,
            // WB4
            WordBreak::Extend | WordBreak::Format if matches!(last, Last::Word(_)) => {
                words.extend(1, is_cjk_word);
                last
            }
            WordBreak::MidLetter
            | WordBreak::MidNum
            | WordBreak::MidNumLet
            | WordBreak::SingleQuote
            | WordBreak::DoubleQuote => match last {
                Last::Word(before) => Last::Joint(before, class),
                _ => Last::Apart,
            },
            _ => return before_token,
        };
    }
    (text.len(), words)
}

/// Returns by how many characters the next one extends a word: 2 across a joint, 0 if it begins another word.
fn joined(last: Last, next: WordBreak) -> u32 {
    let is_letter = |class| matches!(class, WordBreak::ALetter | WordBreak::HebrewLetter);
    match last {
        Last::Apart => 0,
        // WB13
        Last::Word(WordBreak::Katakana) => u32::from(next == WordBreak::Katakana),
        // WB5, WB8 to WB10
        Last::Word(before) => {
            u32::from(before != WordBreak::Other && (is_letter(next) || next == WordBreak::Numeric))
        }
        Last::Joint(before, joint) => {
            let over = match joint {
                // WB7b, WB7c
                WordBreak::DoubleQuote => {
                    before == WordBreak::HebrewLetter && next == WordBreak::HebrewLetter
                }
                // WB6, WB7
                WordBreak::MidLetter => is_letter(before) && is_letter(next),
                // WB11, WB12
                WordBreak::MidNum => before == WordBreak::Numeric && next == WordBreak::Numeric,
                _ => {
                    is_letter(before) && is_letter(next)
                        || before == WordBreak::Numeric && next == WordBreak::Numeric
                }
            };
            2 * u32::from(over)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};

    use super::{WordCount, count, segmented};

    #[test]
    fn each_character_alone_and_between_others() {
        for c in ' '..='\u{1ffff}' {
            for text in [format!("{c}"), format!("a{c}ב1{c}2カ{c}カ漢{c}漢.{c}")] {
                assert_eq!(count(&text), segmented(&text), "{c:?}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]
        #[test]
        fn words_of_every_script_are_those_of_uax_29(text in "([aéЯα1٣_'’\":.,،;ـא-גאب-ثऀ-औा-्ก-ฅ์가-각ぁ-うゝーカ々人-今、。 \u{301}\u{3099}\u{200c}\u{200d}\u{ad}👍\u{1f3fd}🇩]| ){0,60}") {
            let tokens: Vec<&str> = text.split(' ').collect();
            let mut theirs = WordCount::default();
            tokens.iter().for_each(|token| theirs.join(segmented(token)));
            prop_assert_eq!(count(&text), theirs);
        }
    }
}
