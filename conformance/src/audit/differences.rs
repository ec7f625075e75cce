//! Known differences between checks and peers. The signs are found by rule in the pages of the site (`verdicts.py`, `validators.mjs`).

use std::fmt;

/// The side that sees a fault that the other does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Ours,
    Theirs,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ours => "ours",
            Self::Theirs => "theirs",
        })
    }
}

/// Pages with a sign, and the reason why the two sides differ there.
pub(super) struct Difference {
    pub(super) check: &'static str,
    pub(super) peer: &'static str,
    pub(super) side: Side,
    pub(super) sign: &'static str,
    pub(super) reason: &'static str,
}

const fn ours(
    check: &'static str,
    peer: &'static str,
    sign: &'static str,
    reason: &'static str,
) -> Difference {
    Difference {
        check,
        peer,
        side: Side::Ours,
        sign,
        reason,
    }
}

const fn theirs(
    check: &'static str,
    peer: &'static str,
    sign: &'static str,
    reason: &'static str,
) -> Difference {
    Difference {
        side: Side::Theirs,
        ..ours(check, peer, sign, reason)
    }
}

/// Every known difference.
pub(super) const DIFFERENCES: &[Difference] = &[
    theirs(
        "broken-fragment",
        "linkinator",
        "more than 5,000 links",
        "of the rest of a page's links only those to other pages than before are kept",
    ),
    ours(
        "heading-skip",
        "html-validate",
        "several h1",
        "the rule forgets the level after a second h1",
    ),
    ours(
        "lang-missing",
        "html-validate",
        "no html tag",
        "the rule looks at tags as they are written, not at the tree they make",
    ),
    ours(
        "title-missing",
        "html-validate",
        "no html tag",
        "the rule looks at tags as they are written, not at the tree they make",
    ),
    ours(
        "thin-content",
        "lexbor, regex",
        "fewer than 400 words and no landmark around the main text",
        "the peer counts the whole body then, and we its dense blocks: no contents, and no ways to other pages",
    ),
    theirs(
        "description-missing",
        "lighthouse",
        "another page is canonical",
        "search results show the page that is named as canonical, and its description",
    ),
    ours(
        "image-dimensions-missing",
        "lighthouse",
        "images sized by style sheets",
        "a style sheet that comes later than the page moves what is below the image",
    ),
    ours(
        "readability-very-hard",
        "syllapy",
        "not English",
        "the peer has the formula for English only",
    ),
    ours(
        "readability-very-hard",
        "syllapy",
        "reading ease near the limit",
        "syllables of names in program text are guessed by both, which is worth up to fifteen points",
    ),
    theirs(
        "readability-very-hard",
        "syllapy",
        "reading ease near the limit",
        "syllables of names in program text are guessed by both, which is worth up to fifteen points",
    ),
    ours(
        "readability-very-hard",
        "syllapy",
        "about as little running text as can be judged",
        "both ask for 100 words, and do not count the same",
    ),
    theirs(
        "title-long",
        "lexbor, fonttools",
        "as wide as the limit but for a pixel",
        "widths are whole pixels",
    ),
    ours(
        "title-long",
        "lexbor, fonttools",
        "letters that the font has not",
        "such a letter counts as wide as a digit",
    ),
    theirs(
        "title-long",
        "lexbor, fonttools",
        "letters that the font has not",
        "such a letter counts as wide as a digit",
    ),
    ours(
        "duplicate-near",
        "datasketch",
        "nearly as alike as the limit",
        "likeness is estimated from 64 bytes of each text, give or take three hundredths",
    ),
    theirs(
        "duplicate-near",
        "datasketch",
        "nearly as alike as the limit",
        "likeness is estimated from 64 bytes of each text, give or take three hundredths",
    ),
    theirs(
        "og-incomplete",
        "lexbor",
        "not for search results",
        "a page that names another one as canonical is shared as that one",
    ),
    theirs(
        "twitter-card-missing",
        "lexbor",
        "not for search results",
        "a page that names another one as canonical is shared as that one",
    ),
    ours(
        "link-malformed",
        "ada",
        "mistyped scheme",
        "http:/, http// and http://http:// are URLs to a parser, and nobody means them",
    ),
];
