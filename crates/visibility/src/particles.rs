//! Particles of Korean, which are written together with the noun before them: `노션은`, `Notion을`, `notion.com에서`.

use std::ops::RangeInclusive;

const HANGUL: RangeInclusive<char> = '\u{ac00}'..='\u{d7a3}';
/// Syllables that a Korean noun must have for its particle to be parted from it: shorter words often end like one.
const MIN_SYLLABLES: usize = 2;

/// Case particles, auxiliary ones and their usual pairs, and forms of the copula.
const PARTICLES: [&str; 79] = [
    "은",
    "는",
    "이",
    "가",
    "을",
    "를",
    "의",
    "에",
    "와",
    "과",
    "도",
    "만",
    "로",
    "나",
    "랑",
    "께",
    "뿐",
    "인",
    "란",
    "며",
    "고",
    "으로",
    "에서",
    "에게",
    "한테",
    "하고",
    "이나",
    "이랑",
    "부터",
    "까지",
    "보다",
    "처럼",
    "조차",
    "마저",
    "밖에",
    "마다",
    "대로",
    "이란",
    "이며",
    "이고",
    "라는",
    "라고",
    "라면",
    "이다",
    "인데",
    "예요",
    "에는",
    "에도",
    "와는",
    "과는",
    "와도",
    "과도",
    "와의",
    "과의",
    "로는",
    "로도",
    "만의",
    "만은",
    "만을",
    "으로는",
    "으로도",
    "에서는",
    "에서도",
    "에서의",
    "에게는",
    "에게도",
    "까지는",
    "까지도",
    "까지의",
    "보다는",
    "보다도",
    "부터는",
    "이라는",
    "이라고",
    "이라면",
    "이에요",
    "입니다",
    "입니까",
    "뿐만",
];

/// Returns the length in bytes of the particle at the end of a word; 0 if it has none.
pub(crate) fn particle_length(word: &str) -> usize {
    if !word.ends_with(|c| HANGUL.contains(&c)) {
        return 0;
    }
    let is_noun = |stem: &str| {
        let syllables = stem.chars().rev().take_while(|c| HANGUL.contains(c)).count();
        syllables >= MIN_SYLLABLES || syllables == 0 && !stem.is_empty()
    };
    let found = PARTICLES
        .iter()
        .filter(|particle| word.strip_suffix(**particle).is_some_and(is_noun));
    found.map(|particle| particle.len()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::particle_length;

    #[test]
    fn particles_are_parted_from_nouns() {
        for (noun, particle) in [
            ("노션", "은"),
            ("네이버", "에서는"),
            ("Notion", "을"),
            ("notion.com", "에서"),
            ("3M", "입니다"),
            ("토스트", ""),
            ("오이", ""),
            ("가은", ""),
            ("은", ""),
            ("Notion", ""),
            ("", ""),
        ] {
            assert_eq!(
                particle_length(&format!("{noun}{particle}")),
                particle.len(),
                "{noun}"
            );
        }
    }
}
