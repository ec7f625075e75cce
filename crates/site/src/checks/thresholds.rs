//! The numbers in the conditions. A project may set its own.

use serde::{Deserialize, Serialize};

macro_rules! thresholds {
    ($($(#[doc = $doc:literal])+ $name:ident: $kind:ty = $value:expr;)*) => {
        /// Numbers in the conditions of checks; lengths are extended grapheme clusters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", default, deny_unknown_fields)]
        pub struct Thresholds {
            $($(#[doc = $doc])+ pub $name: $kind,)*
        }

        impl Default for Thresholds {
            fn default() -> Self {
                Self { $($name: $value,)* }
            }
        }
    };
}

thresholds! {
    /// `title-short`: fewer characters.
    title_min: u32 = 30;
    /// `title-long`: more characters, and more pixels than the next.
    title_max: u32 = 60;
    /// `title-long`: more pixels (Arial, 20 px).
    title_max_pixels: u32 = 561;
    /// `title-long` where East Asian characters prevail: more characters.
    title_max_cjk: u32 = 30;
    /// `description-short`: fewer characters.
    description_min: u32 = 70;
    /// `description-long`: more characters.
    description_max: u32 = 155;
    /// `h1-long`: more characters.
    h1_max: u32 = 70;
    /// `image-alt-long`: more characters.
    alt_max: u32 = 100;
    /// `image-large`: more bytes.
    image_bytes: u64 = 500_000;
    /// `image-legacy-format`: more bytes.
    image_legacy_bytes: u64 = 100_000;
    /// `no-cache-header`: may be kept for fewer days.
    cache_days: u32 = 7;
    /// `depth-high`: more clicks from the start.
    depth_max: u16 = 3;
    /// `url-long`: more characters of path and query.
    url_max: u32 = 115;
    /// `url-many-params`: more query parameters.
    params_max: u32 = 3;
    /// `url-repetitive-path`: a segment this often.
    repeated_segments: u32 = 3;
    /// `many-links`: more links.
    links_max: u32 = 1_000;
    /// `thin-content`: fewer words of main text.
    thin_words: u32 = 200;
    /// `text-ratio-low`: at most this share of the source is text, percent.
    text_ratio_percent: u32 = 10;
    /// `content-stale`: older, months.
    stale_months: u32 = 24;
    /// `readability-very-hard`: fewer words are not judged.
    readability_words: u32 = 300;
    /// `readability-very-hard`: a lower score, at most 40.
    readability_min: u32 = 30;
    /// `subheadings-missing`: more words.
    subheading_words: u32 = 300;
    /// Articles are held to the standards of answer engines from this many words.
    article_words: u32 = 600;
    /// `direct-answer-missing`: an answer has at least this many words.
    answer_min_words: u32 = 20;
    /// `direct-answer-missing`: an answer has at most this many words.
    answer_max_words: u32 = 80;
    /// `paragraphs-long`: a larger share of paragraphs is long, percent.
    long_paragraphs_percent: u32 = 25;
    /// `js-dependent-content`: fewer words before scripts run.
    unrendered_words: u32 = 50;
    /// `ttfb-slow`: more milliseconds.
    ttfb_ms: u32 = 800;
    /// `html-large`: more bytes.
    html_large_bytes: u64 = 1 << 20;
    /// `html-over-2mb`: more bytes, which Google does not read.
    html_max_bytes: u64 = 2 << 20;
    /// `dom-large`: more elements.
    dom_max: u32 = 1_500;
    /// `no-compression`: a text of more bytes.
    compress_min_bytes: u64 = 1_024;
    /// `tls-expiring`: fewer days left.
    certificate_days: u32 = 14;
    /// `many-resources`: more scripts and stylesheets.
    resources_max: u32 = 100;
    /// `redirect-chain`: this many hops.
    chain_hops: u32 = 2;
    /// `redirect-mass-home`: this many URLs.
    mass_home: u32 = 5;
}
