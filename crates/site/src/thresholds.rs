//! The numbers in the conditions. A project may set its own ([`Settings`](crate::checks::Settings)).

/// Description of a number in the conditions.
#[derive(Clone, Copy, Debug)]
pub struct Threshold {
    key: &'static str,
    /// The checks concerned, in backticks, and what is compared with it.
    pub about: &'static str,
    /// Its value unless a project sets another.
    pub default: u64,
    /// The smallest value.
    pub least: u64,
    /// The largest value.
    pub most: u64,
    /// Unit.
    pub unit: &'static str,
}

macro_rules! thresholds {
    ($(#[doc = $doc:literal] $name:ident: $kind:ty = $value:expr, $least:literal..=$most:literal $unit:literal;)*) => {
        /// Numbers in the conditions of checks; lengths are extended grapheme clusters.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Thresholds {
            $(#[doc = $doc] pub $name: $kind,)*
        }

        impl Default for Thresholds {
            fn default() -> Self {
                Self { $($name: $value,)* }
            }
        }

        impl Thresholds {
            /// Descriptions, in the order of the catalogue.
            pub const ALL: &[Threshold] = &[$(Threshold {
                key: stringify!($name),
                about: $doc.trim_ascii(),
                default: $value,
                least: $least,
                most: $most,
                unit: $unit,
            },)*];

            /// The value of one.
            pub fn get(&self, threshold: &Threshold) -> u64 {
                match threshold.key {
                    $(stringify!($name) => self.$name.into(),)*
                    _ => threshold.default,
                }
            }

            /// Sets one; what its range does not allow changes nothing.
            pub(crate) fn set(&mut self, threshold: &Threshold, value: u64) {
                if !(threshold.least..=threshold.most).contains(&value) {
                    return;
                }
                match threshold.key {
                    $(stringify!($name) => self.$name = <$kind>::try_from(value).unwrap_or(self.$name),)*
                    _ => {}
                }
            }
        }
    };
}

impl Threshold {
    /// Its name, in kebab case.
    pub fn name(&self) -> String {
        self.key.replace('_', "-")
    }

    /// The one of a name, in kebab, camel or snake case.
    pub fn find(name: &str) -> Option<&'static Self> {
        let mut key = String::with_capacity(name.len() + 3);
        for c in name.chars() {
            match c {
                '-' => key.push('_'),
                'A'..='Z' => key.extend(['_', c.to_ascii_lowercase()]),
                _ => key.push(c),
            }
        }
        Thresholds::ALL.iter().find(|threshold| threshold.key == key)
    }

    /// The ids of the checks concerned.
    pub fn checks(&self) -> impl Iterator<Item = &'static str> {
        self.about.split('`').skip(1).step_by(2)
    }
}

thresholds! {
    /// `title-short`: fewer characters.
    title_min: u32 = 30, 0..=1_000 "characters";
    /// `title-long`: more characters, and more pixels than the next.
    title_max: u32 = 60, 1..=1_000 "characters";
    /// `title-long`: more pixels (Arial, 20 px).
    title_max_pixels: u32 = 561, 1..=20_000 "pixels";
    /// `title-long` where East Asian characters prevail: more characters.
    title_max_cjk: u32 = 30, 1..=1_000 "characters";
    /// `description-short`: fewer characters.
    description_min: u32 = 70, 0..=1_000 "characters";
    /// `description-long`: more characters.
    description_max: u32 = 155, 1..=5_000 "characters";
    /// `h1-long`: more characters.
    h1_max: u32 = 70, 1..=1_000 "characters";
    /// `image-alt-long`: more characters.
    alt_max: u32 = 100, 1..=5_000 "characters";
    /// `image-large`: more bytes.
    image_bytes: u64 = 500_000, 1..=1_000_000_000 "bytes";
    /// `image-legacy-format`: more bytes.
    image_legacy_bytes: u64 = 100_000, 0..=1_000_000_000 "bytes";
    /// `no-cache-header`: may be kept for fewer days.
    cache_days: u32 = 7, 1..=365 "days";
    /// `depth-high`: more clicks from the start.
    depth_max: u16 = 3, 1..=1_000 "clicks";
    /// `url-long`: more characters of path and query.
    url_max: u32 = 115, 1..=8_000 "characters";
    /// `url-many-params`: more query parameters.
    params_max: u32 = 3, 0..=1_000 "parameters";
    /// `url-repetitive-path`: a segment this often.
    repeated_segments: u32 = 3, 2..=1_000 "times";
    /// `many-links`: more links.
    links_max: u32 = 1_000, 1..=1_000_000 "links";
    /// `thin-content`: fewer words of main text.
    thin_words: u32 = 200, 0..=100_000 "words";
    /// `text-ratio-low`: at most this share of the source is text.
    text_ratio_percent: u32 = 10, 0..=100 "percent";
    /// `content-stale`: older.
    stale_months: u32 = 24, 1..=1_200 "months";
    /// `readability-very-hard`: fewer words are not judged.
    readability_words: u32 = 300, 0..=100_000 "words";
    /// `readability-very-hard`: a lower score.
    readability_min: u32 = 30, 0..=40 "points";
    /// `subheadings-missing`: more words.
    subheading_words: u32 = 300, 1..=100_000 "words";
    /// `question-heading-missing` and `evidence-missing`: articles of at least this many words.
    article_words: u32 = 600, 0..=100_000 "words";
    /// `direct-answer-missing`: an answer has at least this many words.
    answer_min_words: u32 = 20, 0..=10_000 "words";
    /// `direct-answer-missing`: an answer has at most this many words.
    answer_max_words: u32 = 80, 1..=10_000 "words";
    /// `paragraphs-long`: a larger share of paragraphs is long.
    long_paragraphs_percent: u32 = 25, 0..=100 "percent";
    /// `js-dependent-content`: fewer words before scripts run.
    unrendered_words: u32 = 50, 0..=100_000 "words";
    /// `ttfb-slow`: more milliseconds until the first byte.
    ttfb_ms: u32 = 800, 1..=60_000 "milliseconds";
    /// `cwv-lcp-poor`: later.
    lcp_ms: u32 = 2_500, 1..=60_000 "milliseconds";
    /// `cwv-inp-poor`: slower.
    inp_ms: u32 = 200, 1..=60_000 "milliseconds";
    /// `cwv-cls-poor`: more.
    cls_thousandths: u32 = 100, 0..=10_000 "thousandths";
    /// `html-large`: more bytes.
    html_large_bytes: u64 = 1 << 20, 1..=1_000_000_000 "bytes";
    /// `html-over-2mb`: more bytes, which Google does not read.
    html_max_bytes: u64 = 2 << 20, 1..=1_000_000_000 "bytes";
    /// `dom-large`: more elements.
    dom_max: u32 = 1_500, 1..=10_000_000 "elements";
    /// `no-compression`: a text of more bytes.
    compress_min_bytes: u64 = 1_024, 0..=1_000_000_000 "bytes";
    /// `tls-expiring`: fewer days left.
    certificate_days: u32 = 14, 0..=365 "days";
    /// `many-resources`: more scripts and stylesheets.
    resources_max: u32 = 100, 1..=100_000 "files";
    /// `redirect-chain`: this many hops.
    chain_hops: u32 = 2, 1..=10 "hops";
    /// `redirect-chain`: this many hops are an error, fewer a warning.
    chain_error_hops: u32 = 5, 1..=10 "hops";
    /// `thin-content` where East Asian characters prevail: fewer characters of main text.
    thin_characters_cjk: u32 = 350, 0..=1_000_000 "characters";
    /// `canonical-to-home`: less than this share of the text in common.
    home_likeness_percent: u32 = 50, 0..=100 "percent";
    /// `viewport-zoom-off`: a smaller maximum-scale.
    zoom_min: u32 = 5, 1..=10 "times";
    /// `og-image-small`: fewer pixels wide.
    card_width: u32 = 1_200, 1..=100_000 "pixels";
    /// `og-image-small`: fewer pixels high.
    card_height: u32 = 630, 1..=100_000 "pixels";
    /// `og-image-small`: fewer pixels wide or high are a warning, more a notice.
    card_least: u32 = 200, 0..=100_000 "pixels";
    /// `redirect-mass-home`: this many URLs.
    mass_home: u32 = 5, 1..=1_000_000 "URLs";
    /// `duplicate-near`: at least this share of word runs in common.
    near_percent: u32 = 90, 80..=100 "percent";
    /// `duplicate-near`: texts of fewer words are not compared.
    near_words: u32 = 50, 50..=100_000 "words";
    /// `cannibalisation`: at least this share of the words of title and first heading in common.
    topic_percent: u32 = 80, 50..=100 "percent";
    /// `soft-404`: what says that it was not found has fewer words.
    not_found_words: u32 = 200, 0..=100_000 "words";
    /// `paragraphs-long`: a paragraph of more words is long.
    long_paragraph_words: u32 = 150, 1..=10_000 "words";
    /// `language-detected-mismatch`: at least this sure of the language.
    language_percent: u32 = 90, 90..=100 "percent";
    /// `language-detected-mismatch`: texts of fewer words are not judged.
    language_words: u32 = 50, 50..=100_000 "words";
    /// `sitemap-lastmod-bad`: the same date on at least this many URLs, and on all.
    same_dates: u32 = 20, 2..=50_000 "URLs";
}
