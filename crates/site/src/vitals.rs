//! Core Web Vitals, and what else only a browser can tell. The crawler cannot measure them: whoever has pages loaded in one
//! says so.

/// Source of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Those of people, over 28 days; the 75th percentile.
    Field,
    /// One by a program.
    Lab,
}

/// A measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Milliseconds, or thousandths of a score.
    pub value: u32,
    /// Its source.
    pub source: Source,
}

/// Measurements of a page; `None` was not measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vitals {
    /// Largest Contentful Paint, milliseconds.
    pub lcp: Option<Figure>,
    /// Interaction to Next Paint, milliseconds.
    pub inp: Option<Figure>,
    /// Cumulative Layout Shift, thousandths.
    pub cls: Option<Figure>,
    /// Tap targets that are too small, or too near to something else that can; of one visit by a program.
    pub small_targets: Option<Vec<TapTarget>>,
    /// Images of more pixels than the screen shows; of one visit by a program.
    pub oversized: Option<Vec<Oversized>>,
    /// When, RFC 3339.
    pub measured_at: String,
}

/// Something that can be tapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TapTarget {
    /// Place in the page, as CSS selects it.
    pub selector: Box<str>,
    /// Its tag, as it is in the tree of the page.
    pub html: Box<str>,
}

/// An image that is larger than it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oversized {
    /// URL it was loaded from.
    pub url: Box<str>,
    /// Width and height of the file and as shown, in pixels of the screen: `1600x1200`.
    pub sizes: [Box<str>; 2],
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes that one of the size shown would save.
    pub wasted_bytes: u64,
}
