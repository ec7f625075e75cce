//! Facts of a page added after its first stored form.

use searchwright_text::{minhash::Sketch, readability::Readability};
use serde::{Deserialize, Serialize};

use super::{DetectedLanguage, MarkupMismatch};

/// Facts added after format 1. Mostly empty but for the sketch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct More {
    /// Of a main text of at least 50 words.
    pub sketch: Option<Sketch>,
    /// Score of the main text, when it is hard to read.
    pub hard: Option<Readability>,
    /// The language of the main text, when it is surely another than the declared one.
    pub language: Option<DetectedLanguage>,
    /// Values of markup that the visible text does not have.
    pub unseen: Vec<MarkupMismatch>,
    /// Places in the list of images of those that are offered as WebP or AVIF too.
    pub modern_images: Vec<u8>,
}
