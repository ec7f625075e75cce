//! Abbreviations that end in a full stop without ending a sentence, by language.
//!
//! Only abbreviations that are always followed by something: a sentence may well end after `etc.`, and if it does not,
//! the next word is in lower case, which UAX #29 recognizes itself.

use std::sync::LazyLock;

use hashbrown::{HashMap, HashSet};

const EN: &str = "mr mrs ms dr prof st vs e.g i.e cf fig figs no nos vol approx gen sen rep gov capt col lt sgt rev hon pp \
    eds resp al ca viz";
const DE: &str = "z.b d.h u.a o.ä i.d.r bzw ca dr prof hr fr nr str abs art vgl evtl inkl exkl ggf sog st bd abb aufl dipl \
    ing mind max min tel zzgl hrsg kap";
const FR: &str = "m mm dr pr p.ex cf av art chap env fig vol éd st ste boul pp tél";
const ES: &str =
    "sr sra srta dr dra dña p.ej núm pág págs av avda art ud uds vol fig cap prof gral aprox tel";
const IT: &str = "sig dott dr prof ing avv p.es pag pagg art cfr fig vol cap tel ca on geom arch";
const NL: &str =
    "dhr mevr mw dr prof bijv bv blz d.w.z o.a m.b.t t.a.v nr ca ing ir drs mr st jl max min incl excl";
const PT: &str = "sr sra dr dra prof p.ex av núm pág art vol fig cap tel aprox eng exmo";
const RU: &str = "ул стр см рис им проф акад т.е напр ср гл табл доц корп обл просп пер";
const PL: &str = "np dr prof ul tzn tj św ok nr str m.in al pl inż mgr rys tab ww";

/// Length in bytes of the longest abbreviation.
const MAX_BYTES: usize = 10;

static KNOWN: LazyLock<HashMap<&'static str, HashSet<&'static str>>> = LazyLock::new(|| {
    let lists = [
        ("en", EN),
        ("de", DE),
        ("fr", FR),
        ("es", ES),
        ("it", IT),
        ("nl", NL),
        ("pt", PT),
        ("ru", RU),
        ("pl", PL),
    ];
    let words = lists.map(|(language, list)| (language, list.split_whitespace().collect()));
    words.into_iter().collect()
});

/// Whether the word before a full stop is an abbreviation; `word` excludes its last full stop.
pub(crate) fn is_abbreviation(word: &str, language: &str) -> bool {
    if word.len() > MAX_BYTES {
        return false;
    }
    let Some(words) = KNOWN.get(language) else {
        return false;
    };
    // most are ASCII, and words that end a sentence need not be copied to the heap
    let mut room = [0; MAX_BYTES];
    room[..word.len()].copy_from_slice(word.as_bytes());
    room.make_ascii_lowercase();
    match std::str::from_utf8(&room[..word.len()]) {
        Ok(lower) if lower.is_ascii() => words.contains(lower),
        _ => words.contains(&*word.to_lowercase()),
    }
}

/// Whether a language writes an ordinal number as digits and a full stop.
pub(crate) fn has_stopped_ordinals(language: &str) -> bool {
    matches!(
        language,
        "de" | "da"
            | "nb"
            | "no"
            | "nn"
            | "fi"
            | "pl"
            | "cs"
            | "sk"
            | "hu"
            | "hr"
            | "sl"
            | "sr"
            | "et"
            | "lv"
            | "tr"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_is_known() {
        let longest = KNOWN.values().flatten().map(|word| word.len()).max();
        assert_eq!(longest, Some(MAX_BYTES));
        assert!(is_abbreviation("Просп", "ru") && !is_abbreviation("abbreviations", "en"));
    }
}
