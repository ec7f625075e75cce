//! Thresholds of checks. A project may set its own ([`Settings`](crate::checks::Settings)).

/// Description of a threshold.
#[derive(Clone, Copy, Debug)]
pub struct Threshold {
    key: &'static str,
    /// Ids of the checks in backticks, and the meaning of the value.
    pub about: &'static str,
    /// Default value.
    pub default: u64,
    /// Minimum value.
    pub least: u64,
    /// Maximum value.
    pub most: u64,
    /// Unit of the value.
    pub unit: &'static str,
    /// Ids of the checks that use it.
    pub checks: &'static [&'static str],
    /// Whether it decides that there is a problem, and not only its severity.
    pub(crate) is_condition: bool,
}

macro_rules! thresholds {
    ($(#[doc = $doc:literal] $name:ident: $kind:ty = $value:expr, $least:literal..=$most:literal $unit:literal, $role:ident of [$($check:literal),*];)*) => {
        /// Thresholds of checks; lengths are in extended grapheme clusters.
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
            /// Descriptions of all thresholds, in the order of the catalogue.
            pub const ALL: &[Threshold] = &[$(Threshold {
                key: stringify!($name),
                about: $doc.trim_ascii(),
                default: $value,
                least: $least,
                most: $most,
                unit: $unit,
                checks: &[$($check),*],
                is_condition: thresholds!(@$role),
            },)*];

            /// Returns the value of a threshold.
            pub fn get(&self, threshold: &Threshold) -> u64 {
                match threshold.key {
                    $(stringify!($name) => self.$name.into(),)*
                    _ => threshold.default,
                }
            }

            /// Sets a threshold; a value outside its range is ignored.
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
    (@condition) => { true };
    (@severity) => { false };
}

impl Threshold {
    /// Returns the name in kebab case.
    pub fn name(&self) -> String {
        self.key.replace('_', "-")
    }

    /// Returns the threshold of a name in kebab, camel or snake case.
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
}

thresholds! {
    /// `title-short`: minimum length of the title tag.
    title_min: u32 = 30, 0..=1_000 "characters", condition of ["title-short"];
    /// `title-long`: maximum length of the title tag; reported only if it also exceeds the maximum width.
    title_max: u32 = 60, 1..=1_000 "characters", condition of ["title-long"];
    /// `title-long`: maximum width of the title tag (Arial, 20 px).
    title_max_pixels: u32 = 561, 1..=20_000 "pixels", condition of ["title-long"];
    /// `title-long`: maximum length of a mostly Chinese, Japanese or Korean title tag.
    title_max_cjk: u32 = 30, 1..=1_000 "characters", condition of ["title-long"];
    /// `description-short`: minimum length of the meta description.
    description_min: u32 = 70, 0..=1_000 "characters", condition of ["description-short"];
    /// `description-long`: maximum length of the meta description.
    description_max: u32 = 155, 1..=5_000 "characters", condition of ["description-long"];
    /// `h1-long`: maximum length of the H1.
    h1_max: u32 = 70, 1..=1_000 "characters", condition of ["h1-long"];
    /// `image-alt-long`: maximum length of an alt text.
    alt_max: u32 = 100, 1..=5_000 "characters", condition of ["image-alt-long"];
    /// `image-large`: maximum size of an image file.
    image_bytes: u64 = 500_000, 1..=1_000_000_000 "bytes", condition of ["image-large"];
    /// `image-legacy-format`: JPEG, PNG and GIF files up to this size are not reported.
    image_legacy_bytes: u64 = 100_000, 0..=1_000_000_000 "bytes", condition of ["image-legacy-format"];
    /// `no-cache-header`: minimum max-age of a file without ETag and Last-Modified.
    cache_days: u32 = 7, 1..=365 "days", condition of ["no-cache-header"];
    /// `depth-high`: maximum number of clicks from the start page.
    depth_max: u16 = 3, 1..=1_000 "clicks", condition of ["depth-high"];
    /// `url-long`: maximum length of path and query string.
    url_max: u32 = 115, 1..=8_000 "characters", condition of ["url-long"];
    /// `url-many-params`: maximum number of query parameters.
    params_max: u32 = 3, 0..=1_000 "parameters", condition of ["url-many-params"];
    /// `url-repetitive-path`: reported if a path segment occurs at least this often.
    repeated_segments: u32 = 3, 2..=1_000 "times", condition of ["url-repetitive-path"];
    /// `many-links`: maximum number of links on a page.
    links_max: u32 = 1_000, 1..=1_000_000 "links", condition of ["many-links"];
    /// `thin-content`: minimum length of the main text.
    thin_words: u32 = 200, 0..=100_000 "words", condition of ["thin-content"];
    /// `text-ratio-low`: reported if at most this percentage of the HTML source is visible text.
    text_ratio_percent: u32 = 10, 0..=100 "percent", condition of ["text-ratio-low"];
    /// `content-stale`: maximum age of an article.
    stale_months: u32 = 24, 1..=1_200 "months", condition of ["content-stale"];
    /// `readability-very-hard`: shorter texts are not checked.
    readability_words: u32 = 300, 0..=100_000 "words", condition of ["readability-very-hard"];
    /// `readability-very-hard`: minimum Flesch reading ease.
    readability_min: u32 = 30, 0..=40 "points", condition of ["readability-very-hard"];
    /// `subheadings-missing`: maximum length of a main text without subheadings.
    subheading_words: u32 = 300, 1..=100_000 "words", condition of ["subheadings-missing"];
    /// `question-heading-missing` and `evidence-missing`: shorter articles are not checked.
    article_words: u32 = 600, 0..=100_000 "words", condition of ["question-heading-missing", "evidence-missing"];
    /// `direct-answer-missing`: minimum length of the answer paragraph.
    answer_min_words: u32 = 20, 0..=10_000 "words", condition of ["direct-answer-missing"];
    /// `direct-answer-missing`: maximum length of the answer paragraph.
    answer_max_words: u32 = 80, 1..=10_000 "words", condition of ["direct-answer-missing"];
    /// `paragraphs-long`: maximum percentage of long paragraphs.
    long_paragraphs_percent: u32 = 25, 0..=100 "percent", condition of ["paragraphs-long"];
    /// `js-dependent-content`: minimum length of the main text without JavaScript.
    unrendered_words: u32 = 50, 0..=100_000 "words", condition of ["js-dependent-content"];
    /// `ttfb-slow`: maximum Time to First Byte.
    ttfb_ms: u32 = 800, 1..=60_000 "milliseconds", condition of ["ttfb-slow"];
    /// `cwv-lcp-poor`: maximum Largest Contentful Paint.
    lcp_ms: u32 = 2_500, 1..=60_000 "milliseconds", condition of ["cwv-lcp-poor"];
    /// `cwv-inp-poor`: maximum Interaction to Next Paint.
    inp_ms: u32 = 200, 1..=60_000 "milliseconds", condition of ["cwv-inp-poor"];
    /// `cwv-cls-poor`: maximum Cumulative Layout Shift (100 thousandths are 0.1).
    cls_thousandths: u32 = 100, 0..=10_000 "thousandths", condition of ["cwv-cls-poor"];
    /// `html-large`: maximum size of the HTML.
    html_large_bytes: u64 = 1 << 20, 1..=1_000_000_000 "bytes", condition of ["html-large"];
    /// `html-over-2mb`: size of the HTML beyond which Googlebot ignores the rest.
    html_max_bytes: u64 = 2 << 20, 1..=1_000_000_000 "bytes", condition of ["html-over-2mb"];
    /// `dom-large`: maximum number of DOM elements.
    dom_max: u32 = 1_500, 1..=10_000_000 "elements", condition of ["dom-large"];
    /// `no-compression`: pages up to this size are not reported.
    compress_min_bytes: u64 = 1_024, 0..=1_000_000_000 "bytes", condition of ["no-compression"];
    /// `tls-expiring`: minimum remaining validity of the TLS certificate.
    certificate_days: u32 = 14, 0..=365 "days", condition of ["tls-expiring"];
    /// `many-resources`: maximum number of scripts and stylesheets.
    resources_max: u32 = 100, 1..=100_000 "files", condition of ["many-resources"];
    /// `redirect-chain`: reported from this number of hops.
    chain_hops: u32 = 2, 1..=10 "hops", condition of ["redirect-chain"];
    /// `redirect-chain`: an error from this number of hops, a warning below.
    chain_error_hops: u32 = 5, 1..=10 "hops", severity of ["redirect-chain"];
    /// `thin-content`: minimum length of a mostly Chinese or Japanese main text.
    thin_characters_cjk: u32 = 350, 0..=1_000_000 "characters", condition of ["thin-content"];
    /// `canonical-to-home`: reported if the page has less than this percentage of its text in common with the home page.
    home_likeness_percent: u32 = 50, 0..=100 "percent", condition of ["canonical-to-home"];
    /// `viewport-zoom-off`: lowest maximum-scale that is not reported.
    zoom_min: u32 = 5, 1..=10 "times", condition of ["viewport-zoom-off"];
    /// `og-image-small`: minimum image width.
    card_width: u32 = 1_200, 1..=100_000 "pixels", condition of ["og-image-small"];
    /// `og-image-small`: minimum image height.
    card_height: u32 = 630, 1..=100_000 "pixels", condition of ["og-image-small"];
    /// `og-image-small`: a warning if width or height is below this, a notice otherwise.
    card_least: u32 = 200, 0..=100_000 "pixels", severity of ["og-image-small"];
    /// `redirect-mass-home`: reported from this number of redirecting URLs.
    mass_home: u32 = 5, 1..=1_000_000 "URLs", condition of ["redirect-mass-home"];
    /// `duplicate-near`: reported if texts have at least this percentage of their five-word sequences in common.
    near_percent: u32 = 90, 80..=100 "percent", condition of ["duplicate-near"];
    /// `duplicate-near`: shorter texts are not compared.
    near_words: u32 = 50, 50..=100_000 "words", condition of ["duplicate-near"];
    /// `cannibalisation`: reported if title tags and H1s have at least this percentage of their words in common.
    topic_percent: u32 = 80, 50..=100 "percent", condition of ["cannibalisation"];
    /// `soft-404`: a page that says it was not found is reported only if its text is shorter than this.
    not_found_words: u32 = 200, 0..=100_000 "words", condition of ["soft-404"];
    /// `paragraphs-long`: paragraphs with more words count as long.
    long_paragraph_words: u32 = 150, 1..=10_000 "words", condition of ["paragraphs-long"];
    /// `language-detected-mismatch`: minimum confidence of the language detection.
    language_percent: u32 = 90, 90..=100 "percent", condition of ["language-detected-mismatch"];
    /// `language-detected-mismatch`: shorter texts are not checked.
    language_words: u32 = 50, 50..=100_000 "words", condition of ["language-detected-mismatch"];
    /// `sitemap-lastmod-bad`: identical dates are reported from this number of dated URLs in a sitemap.
    same_dates: u32 = 20, 2..=50_000 "URLs", condition of ["sitemap-lastmod-bad"];
}
