//! YAKE: the phrases that a text is about, by how its words stand in it.
//!
//! Campos et al., "YAKE! Keyword extraction from single documents using multiple local features",
//! Information Sciences 509 (2020), with phrases of up to three words and a window of one. Sentences and
//! words are those of UAX #29.

use std::collections::HashMap;

use unicode_segmentation::UnicodeSegmentation as _;

use crate::words::Lexicon;

/// Most words of a phrase.
const MAX_PHRASE_WORDS: usize = 3;
/// Fills the places of a phrase with fewer words.
const NONE: u32 = u32::MAX;

/// A phrase of a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Phrase {
    /// Phrase in lower case.
    pub text: String,
    /// The lower the better.
    pub score: f64,
}

/// A term: words in lower case, plural `s` cut.
#[derive(Default)]
struct Term {
    stop: bool,
    count: f64,
    acronyms: f64,
    proper: f64,
    /// Numbers of the sentences it is in, ascending.
    sentences: Vec<u32>,
    /// Different terms before and behind, and how often any.
    left: (f64, f64),
    right: (f64, f64),
    score: f64,
}

#[derive(Default)]
struct Candidate {
    count: f64,
    valid: bool,
}

/// A word of a sentence.
#[derive(Clone, Copy)]
struct Token {
    word: u32,
    term: u32,
    /// Neither number nor odd mixture.
    plain: bool,
}

#[derive(Default)]
struct Text {
    words: Vec<String>,
    word_ids: HashMap<String, u32>,
    /// Term of each word.
    word_terms: Vec<u32>,
    terms: Vec<Term>,
    term_ids: HashMap<String, u32>,
    follows: HashMap<(u32, u32), f64>,
    candidates: HashMap<[u32; MAX_PHRASE_WORDS], Candidate>,
}

/// The best phrases of a text, best first.
pub(super) fn phrases(text: &str, lexicon: &Lexicon, most: usize) -> Vec<Phrase> {
    let mut read = Text::default();
    let mut sentences = 0;
    for sentence in text.unicode_sentences() {
        read.sentence(sentence, sentences, lexicon);
        sentences += 1;
    }
    read.weigh_terms(f64::from(sentences));
    let mut found: Vec<(f64, [u32; MAX_PHRASE_WORDS])> = read
        .candidates
        .iter()
        .filter_map(|(words, candidate)| Some((read.score(words, candidate)?, *words)))
        .collect();
    // ids grow with the place in the text, so equals come in its order
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    found.truncate(most);
    let text = |words: [u32; MAX_PHRASE_WORDS]| {
        let words = words.iter().filter(|w| **w != NONE);
        let words: Vec<&str> = words.map(|w| read.words[*w as usize].as_str()).collect();
        words.join(" ")
    };
    found
        .into_iter()
        .map(|(score, words)| Phrase {
            text: text(words),
            score,
        })
        .collect()
}

impl Text {
    fn sentence(&mut self, sentence: &str, number: u32, lexicon: &Lexicon) {
        // words without punctuation between them
        let mut block: Vec<Token> = Vec::new();
        for (position, token) in tokens(sentence).into_iter().enumerate() {
            if !token.chars().any(char::is_alphanumeric) {
                block.clear();
                continue;
            }
            let token = self.token(token, position, number, lexicon);
            if let Some(before) = block.last().filter(|before| before.plain && token.plain) {
                self.follow(before.term, token.term);
            }
            block.push(token);
            for length in 1..=MAX_PHRASE_WORDS.min(block.len()) {
                let phrase = &block[block.len() - length..];
                let mut key = [NONE; MAX_PHRASE_WORDS];
                for (place, token) in key.iter_mut().zip(phrase) {
                    *place = token.word;
                }
                let candidate = self.candidates.entry(key).or_default();
                candidate.count += 1.0;
                candidate.valid |= phrase.iter().all(|token| token.plain);
            }
        }
    }

    fn token(&mut self, token: &str, position: usize, sentence: u32, lexicon: &Lexicon) -> Token {
        let lower = token.to_lowercase();
        let word = match self.word_ids.get(&lower) {
            Some(word) => *word,
            None => self.new_word(lower, lexicon),
        };
        let id = self.word_terms[word as usize];
        let term = &mut self.terms[id as usize];
        let kind = kind(token, position);
        term.count += 1.0;
        term.acronyms += f64::from(kind == TokenKind::Acronym);
        term.proper += f64::from(kind == TokenKind::Proper);
        if term.sentences.last() != Some(&sentence) {
            term.sentences.push(sentence);
        }
        Token {
            word,
            term: id,
            plain: kind != TokenKind::Odd,
        }
    }

    fn new_word(&mut self, lower: String, lexicon: &Lexicon) -> u32 {
        let word = self.words.len() as u32;
        let singular = match lower.strip_suffix('s') {
            Some(singular) if lower.chars().count() > 3 => singular,
            _ => &lower,
        };
        let term = match self.term_ids.get(singular) {
            Some(term) => *term,
            None => {
                let term = self.terms.len() as u32;
                let letters = singular.chars().filter(|c| !c.is_ascii_punctuation()).count();
                self.terms.push(Term {
                    stop: letters < 3 || lexicon.is_stop(&lower) || lexicon.is_stop(singular),
                    ..Term::default()
                });
                self.term_ids.insert(singular.to_owned(), term);
                term
            }
        };
        self.word_terms.push(term);
        self.words.push(lower.clone());
        self.word_ids.insert(lower, word);
        word
    }

    fn follow(&mut self, left: u32, right: u32) {
        let count = self.follows.entry((left, right)).or_default();
        let first = f64::from(*count == 0.0);
        *count += 1.0;
        let behind = &mut self.terms[left as usize].right;
        *behind = (behind.0 + first, behind.1 + 1.0);
        let before = &mut self.terms[right as usize].left;
        *before = (before.0 + first, before.1 + 1.0);
    }

    fn weigh_terms(&mut self, sentences: f64) {
        let counts: Vec<f64> = self.terms.iter().filter(|t| !t.stop).map(|t| t.count).collect();
        let n = counts.len().max(1) as f64;
        let mean = counts.iter().sum::<f64>() / n;
        let deviation = (counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / n).sqrt();
        let largest = self.terms.iter().map(|t| t.count).fold(1.0, f64::max);
        for term in &mut self.terms {
            let variety = |(different, all): (f64, f64)| if all > 0.0 { different / all } else { 0.0 };
            let relatedness = 1.0 + (variety(term.left) + variety(term.right)) * term.count / largest;
            let frequency = term.count / (mean + deviation).max(f64::MIN_POSITIVE);
            let spread = term.sentences.len() as f64 / sentences;
            let case = term.acronyms.max(term.proper) / (1.0 + term.count.ln());
            let position = (3.0 + median(&term.sentences)).ln().ln();
            term.score = position * relatedness / (case + frequency / relatedness + spread / relatedness);
        }
    }

    /// The score of a phrase; `None` when it is none.
    fn score(&self, words: &[u32; MAX_PHRASE_WORDS], candidate: &Candidate) -> Option<f64> {
        let words: Vec<u32> = words.iter().copied().filter(|w| *w != NONE).collect();
        let terms: Vec<u32> = words.iter().map(|w| self.word_terms[*w as usize]).collect();
        let of = |id: u32| &self.terms[id as usize];
        let (first, last) = (of(*terms.first()?), of(*terms.last()?));
        if !candidate.valid || first.stop || last.stop {
            return None;
        }
        let (mut sum, mut product) = (0.0, 1.0);
        for (i, id) in terms.iter().enumerate() {
            if !of(*id).stop {
                sum += of(*id).score;
                product *= of(*id).score;
                continue;
            }
            // a stop word counts by how firmly it joins its neighbours
            let (before, behind) = (terms[i - 1], terms[i + 1]);
            let tie = |pair| self.follows.get(&pair).copied().unwrap_or(0.0);
            let firm = tie((before, *id)) / of(before).count * tie((*id, behind)) / of(behind).count;
            product *= 2.0 - firm;
            sum -= 1.0 - firm;
        }
        let score = product / ((sum + 1.0) * candidate.count);
        score.is_finite().then_some(score)
    }
}

/// Words and punctuation of a sentence. Parts joined by hyphens are one word; what an apostrophe adds
/// behind a word (`we'll`, `maker's`) is dropped, what it joins before one (`l'eau`) stands alone.
pub(super) fn tokens(sentence: &str) -> Vec<&str> {
    let bounds: Vec<(usize, &str)> = sentence.split_word_bound_indices().collect();
    let is_word = |at: usize| {
        bounds
            .get(at)
            .is_some_and(|(_, b)| b.starts_with(char::is_alphanumeric))
    };
    let mut words = Vec::with_capacity(bounds.len());
    let mut at = 0;
    while let Some((start, bound)) = bounds.get(at) {
        at += 1;
        if bound.trim().is_empty() {
            continue;
        }
        if is_word(at - 1) {
            while bounds.get(at).is_some_and(|(_, bound)| *bound == "-") && is_word(at + 1) {
                at += 2;
            }
        }
        let end = bounds.get(at).map_or(sentence.len(), |(end, _)| *end);
        let token = &sentence[*start..end];
        match token.split_once(['\'', '\u{2019}']) {
            Some((before, behind)) if !before.is_empty() && !behind.is_empty() => {
                words.push(before);
                if before.chars().count() == 1 || behind.chars().count() > 2 {
                    words.push(behind);
                }
            }
            _ => words.push(token),
        }
    }
    words
}

#[derive(Clone, Copy, PartialEq)]
enum TokenKind {
    /// A number, or a mixture of letters, digits and signs.
    Odd,
    /// Capitals only.
    Acronym,
    /// Capitalised within a sentence.
    Proper,
    Plain,
}

fn kind(token: &str, position: usize) -> TokenKind {
    let (mut digits, mut letters, mut signs, mut capitals, mut all) = (0, 0, 0, 0, 0);
    for c in token.chars() {
        all += 1;
        digits += usize::from(c.is_numeric());
        letters += usize::from(c.is_alphabetic());
        signs += usize::from(c.is_ascii_punctuation());
        capitals += usize::from(c.is_uppercase());
    }
    if digits > 0 || letters == 0 || signs > 1 {
        TokenKind::Odd
    } else if capitals == letters {
        TokenKind::Acronym
    } else if all > 1 && capitals == 1 && position > 0 && token.starts_with(char::is_uppercase) {
        TokenKind::Proper
    } else {
        TokenKind::Plain
    }
}

fn median(ascending: &[u32]) -> f64 {
    let middle = ascending.len() / 2;
    match ascending.len() {
        0 => 0.0,
        n if n % 2 == 1 => f64::from(ascending[middle]),
        _ => f64::from(ascending[middle - 1] + ascending[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::{phrases, tokens};
    use crate::words::Lexicon;

    /// Compares with what the authors' program (yake 0.7.3 for Python) gives for the same text and stop
    /// words, `n=3, window_size=1, dedup_lim=2`.
    fn like_the_reference(language: &str, text: &str, reference: &[(&str, f64)]) {
        let found = phrases(text, &Lexicon::for_language(language), 400);
        for (place, (phrase, score)) in reference.iter().enumerate() {
            let ours = found.iter().find(|p| p.text == *phrase);
            let ours = ours.unwrap_or_else(|| panic!("no {phrase}"));
            assert!(
                (ours.score - score).abs() < 1e-9,
                "{phrase}: {} is not {score}",
                ours.score
            );
            assert!(
                found[place].score <= score + 1e-9,
                "{phrase} is not at place {place}"
            );
        }
    }

    #[test]
    fn english_as_the_reference() {
        like_the_reference(
            "en",
            "this is a keyword",
            &[("keyword", 0.158_316_928_779_987_26)],
        );
        like_the_reference(
            "en",
            "Do you need an Apple laptop?",
            &[
                ("apple laptop", 0.023_458_380_875_189_744),
                ("need an apple", 0.044_988_628_765_408_02),
                ("apple", 0.144_777_305_742_203_2),
                ("laptop", 0.158_316_928_779_987_26),
                ("need", 0.297_365_582_560_216_05),
            ],
        );
        like_the_reference(
            "en",
            "A standing desk lets office workers change posture during the day. Cheap standing desks wobble \
             at full height, while a good standing desk frame stays firm. Before you buy, measure the desk \
             height that suits your body. Most office workers need a desk height between 95 and 115 \
             centimetres. Acme Frames, a small maker from Oslo, sells a standing desk frame with a USB \
             port. The memory of the controller stores four heights.",
            &[
                ("workers change posture", 0.030_549_310_124_381_154),
                ("standing desk lets", 0.037_925_173_898_215_245),
                ("standing desk frame", 0.040_183_706_040_763_91),
                ("standing desk", 0.048_064_913_646_902_75),
                ("change posture", 0.056_196_195_869_004_74),
                ("desk lets office", 0.061_391_039_611_813_03),
                ("lets office workers", 0.068_993_656_582_562_43),
                ("office workers change", 0.068_993_656_582_562_43),
                ("standing", 0.076_341_496_948_673_52),
                ("desk", 0.082_538_924_679_100_96),
                ("cheap standing desks", 0.083_780_578_096_882_68),
            ],
        );
    }

    #[test]
    fn german_as_the_reference() {
        like_the_reference(
            "de",
            "Ein Stehtisch entlastet den Rücken. Wer einen Stehtisch kaufen will, misst zuerst die Höhe der \
             Arbeitsfläche. Elektrische Gestelle heben die Arbeitsfläche ohne Kraft. Die Höhe der \
             Arbeitsfläche hängt von der Körpergröße ab.",
            &[
                ("entlastet den rücken", 0.018_385_664_501_467_68),
                ("stehtisch entlastet", 0.057_710_332_510_567_29),
                ("rücken", 0.072_885_314_459_369_41),
                ("höhe der arbeitsfläche", 0.085_461_103_300_523_98),
                ("stehtisch", 0.110_136_130_054_693_69),
                ("arbeitsfläche", 0.117_791_900_175_253_55),
                ("stehtisch kaufen", 0.133_158_626_212_112_1),
                ("höhe", 0.135_510_609_377_514_97),
                ("zuerst die höhe", 0.169_022_696_425_566_17),
            ],
        );
    }

    #[test]
    fn words_and_punctuation() {
        let split = |text| tokens(text).join(" ");
        assert_eq!(split("We'll sit-stand, at l'eau."), "We sit-stand , at l eau .");
        assert_eq!(split("a-b-c - d- -e"), "a-b-c - d - - e");
        assert_eq!(split("maker’s"), "maker");
        // a hyphen that carries a combining mark is none
        assert_eq!(tokens("V-\u{11a54}a").len(), 3);
    }

    proptest! {
        #[test]
        fn any_text_has_finite_scores(text in "[a-cA-C0-9 .,'’\n-]{0,200}|\\PC{0,200}") {
            for phrase in phrases(&text, &Lexicon::for_language("en"), 50) {
                prop_assert!(phrase.score.is_finite() && !phrase.text.is_empty());
            }
        }
    }
}
