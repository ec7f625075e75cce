//! Core Web Vitals, and other results that need a browser. The crawler cannot measure them; the caller provides them.

/// Source of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Field data of real users: the 75th percentile over 28 days.
    Field,
    /// Lab data of a single run.
    Lab,
}

/// A measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Value in milliseconds, or thousandths for a score.
    pub value: u32,
    /// Source of the value.
    pub source: Source,
}

/// Measurements of a page; `None` means not measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vitals {
    /// Largest Contentful Paint in milliseconds.
    pub lcp: Option<Figure>,
    /// Interaction to Next Paint in milliseconds.
    pub inp: Option<Figure>,
    /// Cumulative Layout Shift in thousandths.
    pub cls: Option<Figure>,
    /// Tap targets that are too small or too close to another one, from a single lab run.
    pub small_targets: Option<Vec<TapTarget>>,
    /// Images with more pixels than are displayed, from a single lab run.
    pub oversized: Option<Vec<Oversized>>,
    /// Time of the measurement, RFC 3339.
    pub measured_at: String,
}

/// A tap target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TapTarget {
    /// CSS selector of the element.
    pub selector: Box<str>,
    /// Start tag of the element as in the DOM.
    pub html: Box<str>,
}

/// An image that is larger than displayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oversized {
    /// URL of the image.
    pub url: Box<str>,
    /// Width and height of the file, and as displayed, in device pixels: `1600x1200`.
    pub sizes: [Box<str>; 2],
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Bytes that a file of the displayed size would save.
    pub wasted_bytes: u64,
}
