//! HTML elements that the reader knows, and their effect on the elements around them.

/// Void element: no content, no end tag.
const VOID: u8 = 1;
/// "Special" in the HTML standard: an inline end tag does not reach past it.
const SPECIAL: u8 = 2;
/// The start tag closes an open paragraph.
const CLOSES_P: u8 = 4;
/// Separates words: text before and after it is not joined.
const BREAK: u8 = 8;
/// Allowed in the head.
const HEAD: u8 = 16;
/// The start tag ends SVG or MathML content.
const LEAVES_FOREIGN: u8 = 32;
/// Limits the upward search for an open paragraph, list item or cell.
const BARRIER: u8 = 64;

const BLOCK: u8 = SPECIAL | CLOSES_P | BREAK;

/// Packs the first eight bytes of a name in lower case. For names of letters, digits and hyphens up to that length, the
/// result is unique.
const fn pack(name: &[u8]) -> u64 {
    let mut packed = 0;
    let mut i = 0;
    while i < name.len() && i < 8 {
        packed |= ((name[i] | 0x20) as u64) << (8 * i);
        i += 1;
    }
    packed
}

/// Size of the hash table, many times the number of names, so that there are no collisions.
const PLACES: usize = 1024;
/// Hash factor: any odd number without collisions.
const SPREAD: u64 = 0x61aa_d474_44e1_ecbb;

const fn place(packed: u64) -> usize {
    (packed.wrapping_mul(SPREAD) >> (u64::BITS - PLACES.ilog2())) as usize
}

macro_rules! tags {
    ($($variant:ident $name:literal $kind:expr;)*) => {
        /// Name of an element. Names that the reader does not use are `Other`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Tag { Other, $($variant,)* }

        const KINDS: &[u8] = &[0, $($kind,)*];
        const NAMES: &[&str] = &["", $($name,)*];
        const TAGS: &[Tag] = &[Tag::Other, $(Tag::$variant,)*];
    };
}

tags! {
    A "a" 0; Address "address" BLOCK; Applet "applet" SPECIAL | BARRIER; Area "area" VOID | SPECIAL;
    Article "article" BLOCK; Aside "aside" BLOCK; Audio "audio" 0; B "b" LEAVES_FOREIGN;
    Base "base" VOID | SPECIAL | HEAD; Basefont "basefont" VOID | SPECIAL | HEAD;
    Bgsound "bgsound" VOID | SPECIAL | HEAD; Big "big" LEAVES_FOREIGN;
    Blockquote "blockquote" BLOCK | LEAVES_FOREIGN; Body "body" SPECIAL | BREAK | LEAVES_FOREIGN;
    Br "br" VOID | SPECIAL | BREAK | LEAVES_FOREIGN; Button "button" SPECIAL | BARRIER;
    Caption "caption" SPECIAL | BREAK | BARRIER; Center "center" BLOCK | LEAVES_FOREIGN;
    Code "code" LEAVES_FOREIGN; Col "col" VOID | SPECIAL; Colgroup "colgroup" SPECIAL;
    Dd "dd" BLOCK | LEAVES_FOREIGN; Desc "desc" 0; Details "details" BLOCK; Dialog "dialog" CLOSES_P | BREAK;
    Div "div" BLOCK | LEAVES_FOREIGN; Dl "dl" BLOCK | LEAVES_FOREIGN; Dt "dt" BLOCK | LEAVES_FOREIGN;
    Em "em" LEAVES_FOREIGN; Embed "embed" VOID | SPECIAL | LEAVES_FOREIGN; Fieldset "fieldset" BLOCK;
    Figcaption "figcaption" BLOCK; Figure "figure" BLOCK; Font "font" 0; Footer "footer" BLOCK;
    ForeignObject "foreignobject" SPECIAL | BARRIER; Form "form" BLOCK;
    Frame "frame" VOID | SPECIAL; Frameset "frameset" SPECIAL;
    H1 "h1" BLOCK | LEAVES_FOREIGN; H2 "h2" BLOCK | LEAVES_FOREIGN; H3 "h3" BLOCK | LEAVES_FOREIGN;
    H4 "h4" BLOCK | LEAVES_FOREIGN; H5 "h5" BLOCK | LEAVES_FOREIGN; H6 "h6" BLOCK | LEAVES_FOREIGN;
    Head "head" SPECIAL | LEAVES_FOREIGN; Header "header" BLOCK; Hgroup "hgroup" BLOCK;
    Hr "hr" VOID | BLOCK | LEAVES_FOREIGN; Html "html" SPECIAL | BARRIER; I "i" LEAVES_FOREIGN;
    Iframe "iframe" SPECIAL; Img "img" VOID | SPECIAL | LEAVES_FOREIGN; Input "input" VOID | SPECIAL;
    Kbd "kbd" 0; Label "label" 0; Legend "legend" BREAK; Li "li" BLOCK | LEAVES_FOREIGN;
    Link "link" VOID | SPECIAL | HEAD; Listing "listing" BLOCK | LEAVES_FOREIGN; Main "main" BLOCK;
    Marquee "marquee" SPECIAL | BARRIER; Math "math" 0; Menu "menu" BLOCK | LEAVES_FOREIGN;
    Meta "meta" VOID | SPECIAL | HEAD | LEAVES_FOREIGN; Mi "mi" 0; Mn "mn" 0; Mo "mo" 0; Ms "ms" 0; Mtext "mtext" 0;
    Nav "nav" BLOCK; Nobr "nobr" LEAVES_FOREIGN; Noembed "noembed" SPECIAL;
    Noframes "noframes" SPECIAL | HEAD; Noscript "noscript" SPECIAL | HEAD; Object "object" SPECIAL | BARRIER;
    Ol "ol" BLOCK | LEAVES_FOREIGN; Optgroup "optgroup" BREAK; Option "option" BREAK;
    P "p" BLOCK | LEAVES_FOREIGN; Param "param" VOID | SPECIAL; Picture "picture" 0;
    Plaintext "plaintext" BLOCK; Pre "pre" BLOCK | LEAVES_FOREIGN; Q "q" 0; Ruby "ruby" LEAVES_FOREIGN;
    S "s" LEAVES_FOREIGN; Samp "samp" 0; Script "script" SPECIAL | HEAD; Search "search" BLOCK;
    Section "section" BLOCK; Select "select" SPECIAL | BREAK | BARRIER; Small "small" LEAVES_FOREIGN;
    Source "source" VOID | SPECIAL; Span "span" LEAVES_FOREIGN; Strike "strike" LEAVES_FOREIGN;
    Strong "strong" LEAVES_FOREIGN; Style "style" SPECIAL | HEAD; Sub "sub" LEAVES_FOREIGN;
    Summary "summary" BLOCK; Sup "sup" LEAVES_FOREIGN; Svg "svg" 0;
    Table "table" BLOCK | BARRIER | LEAVES_FOREIGN; Tbody "tbody" SPECIAL | BREAK;
    Td "td" SPECIAL | BREAK | BARRIER; Template "template" SPECIAL | HEAD | BARRIER;
    Textarea "textarea" SPECIAL | BREAK; Tfoot "tfoot" SPECIAL | BREAK; Th "th" SPECIAL | BREAK | BARRIER;
    Thead "thead" SPECIAL | BREAK; Time "time" 0; Title "title" SPECIAL | BREAK | HEAD; Tr "tr" SPECIAL | BREAK;
    Track "track" VOID | SPECIAL; Tt "tt" LEAVES_FOREIGN; U "u" LEAVES_FOREIGN; Ul "ul" BLOCK | LEAVES_FOREIGN;
    Var "var" LEAVES_FOREIGN; Video "video" 0; Wbr "wbr" VOID | SPECIAL; Xmp "xmp" BLOCK;
}

static PACKED: [u64; Tag::COUNT] = {
    let mut all = [0; Tag::COUNT];
    let mut i = 1;
    while i < all.len() {
        all[i] = pack(NAMES[i].as_bytes());
        i += 1;
    }
    all
};

static PLACED: [Tag; PLACES] = {
    let mut all = [Tag::Other; PLACES];
    let mut i = 1;
    while i < TAGS.len() {
        let place = place(pack(NAMES[i].as_bytes()));
        assert!(
            matches!(all[place], Tag::Other),
            "two names have one place: take another SPREAD"
        );
        all[place] = TAGS[i];
        i += 1;
    }
    all
};

impl Tag {
    /// Number of tags, including `Other`.
    pub const COUNT: usize = KINDS.len();

    /// Returns the element of a name in any case.
    pub fn from_name(name: &[u8]) -> Self {
        let tag = Self::packed(pack(name));
        // a name beyond eight bytes shares its packed form with others
        if name.len() == tag.name().len()
            && (name.len() <= 8 || name.eq_ignore_ascii_case(tag.name().as_bytes()))
        {
            tag
        } else {
            Self::Other
        }
    }

    /// Returns the element with a name of fewer than eight letters, which begin the eight bytes.
    pub fn of_short(eight: u64, letters: u32) -> Self {
        const SMALL: u64 = u64::from_le_bytes([0x20; 8]);
        Self::packed((eight | SMALL) & ((1 << (8 * letters)) - 1))
    }

    /// Returns the element whose packed name this is.
    fn packed(packed: u64) -> Self {
        let tag = PLACED[place(packed)];
        if PACKED[tag as usize] == packed {
            tag
        } else {
            Self::Other
        }
    }

    /// Returns the name in lower case; empty for `Other`.
    pub fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    const fn is(self, kind: u8) -> bool {
        KINDS[self as usize] & kind != 0
    }

    pub const fn is_void(self) -> bool {
        self.is(VOID)
    }

    pub const fn is_special(self) -> bool {
        self.is(SPECIAL)
    }

    pub const fn closes_paragraph(self) -> bool {
        self.is(CLOSES_P)
    }

    pub const fn breaks_words(self) -> bool {
        self.is(BREAK)
    }

    pub const fn may_stand_in_head(self) -> bool {
        self.is(HEAD)
    }

    pub const fn leaves_foreign_content(self) -> bool {
        self.is(LEAVES_FOREIGN)
    }

    pub const fn is_barrier(self) -> bool {
        self.is(BARRIER)
    }

    /// Returns 1 to 6 for `h1` to `h6`.
    pub const fn heading_level(self) -> Option<u8> {
        match self {
            Self::H1 | Self::H2 | Self::H3 | Self::H4 | Self::H5 | Self::H6 => {
                Some(self as u8 - Self::H1 as u8 + 1)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NAMES, Tag};

    #[test]
    fn every_name_finds_its_tag() {
        for name in &NAMES[1..] {
            let large = name.to_ascii_uppercase();
            assert_eq!(Tag::from_name(large.as_bytes()).name(), *name);
            if let Some(eight) = format!("{large}>behind it").as_bytes().first_chunk() {
                let letters = name.len() as u32;
                let found = Tag::of_short(u64::from_le_bytes(*eight), letters.min(7)).name();
                assert_eq!(found, if letters < 8 { name } else { "" });
            }
        }
    }

    #[test]
    fn names_that_only_begin_alike_are_other_names() {
        for name in [
            "blockquotes",
            "blockqu",
            "b1",
            "h7",
            "divx",
            "x-div",
            "",
            "noscript2",
            "h\u{1}",
        ] {
            assert_eq!(Tag::from_name(name.as_bytes()), Tag::Other, "{name}");
        }
    }

    #[test]
    fn headings_have_levels() {
        assert_eq!(Tag::H1.heading_level(), Some(1));
        assert_eq!(Tag::H6.heading_level(), Some(6));
        assert_eq!(Tag::Head.heading_level(), None);
    }
}
