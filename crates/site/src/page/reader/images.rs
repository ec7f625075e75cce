//! Images and their alternative texts.

use searchwright_text as text;

use super::{Reader, TEXT};
use crate::{
    html::entities::{self, In},
    page::{Image, limits::IMAGES},
};

impl Reader<'_, '_> {
    /// Adds the alternative text of an image to the open link and heading.
    pub(in crate::page) fn alternative(&mut self, alt: &str) {
        let is_sign = self.is_in_permalink();
        let places = [
            self.link.as_mut().map(|l| &mut l.alt),
            self.heading.as_mut().filter(|_| !is_sign).map(|h| &mut h.alt),
        ];
        for place in places.into_iter().flatten() {
            if place.len() < TEXT {
                text::end_word(place);
                text::fold_into(place, alt);
            }
        }
    }

    /// Sets a label, and the ids of labels, as the name of the open link and heading, if they have none.
    pub(super) fn label(&mut self, source: Option<&str>, ids: Option<&str>) {
        let is_sign = self.is_in_permalink();
        let places = [
            self.link.as_mut().map(|l| (&mut l.label, &mut l.labelled_by)),
            self.heading
                .as_mut()
                .filter(|_| !is_sign)
                .map(|h| (&mut h.label, &mut h.labelled_by)),
        ];
        for (label, labelled_by) in places.into_iter().flatten() {
            if let Some(source) = source.filter(|_| label.is_empty()) {
                let source = entities::decode(text::cut(source, TEXT), In::Attribute);
                *label = text::squeeze(&source);
            }
            if let Some(ids) = ids.filter(|_| labelled_by.is_empty()) {
                *labelled_by = text::cut(ids, TEXT).into();
            }
        }
    }

    /// Counts an image, and keeps it while there is room.
    pub(in crate::page) fn saw_image(&mut self, image: Image, is_modern: bool) {
        self.picture_has_img = true;
        // the first image of the content, whether it is lazy or not
        if !self.content_image && !image.decorative && !self.prose.in_chrome() {
            self.content_image = true;
            self.out.lazy_first_image = image.lazy.then(|| image.src.clone());
        }
        self.out.images_total += 1;
        self.out.images_without_alt += u32::from(image.alt.is_none() && !image.decorative);
        self.out.images_unsized += u32::from(!image.sized);
        if self.out.images.len() < IMAGES {
            if is_modern {
                self.out.modern_images.push(self.out.images.len() as u8);
            }
            self.out.images.push(image);
        }
    }
}
