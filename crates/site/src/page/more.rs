//! What page facts gained since their stored form was fixed.

use searchwright_text::{minhash::Sketch, readability::Readability};
use serde::{Deserialize, Serialize};

use super::{DetectedLanguage, MarkupMismatch};

/// What else one pass over an HTML body saw. Mostly empty but for the sketch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct More {
    /// Of a main text of at least 50 words.
    pub sketch: Option<Sketch>,
    /// What the main text scores, when it is hard to read.
    pub hard: Option<Readability>,
    /// The language of the main text, when it is surely another than the declared one.
    pub language: Option<DetectedLanguage>,
    /// What markup says and the visible text does not.
    pub unseen: Vec<MarkupMismatch>,
    /// Places in the list of images of those that are offered as WebP or AVIF too.
    pub modern_images: Vec<u8>,
}
