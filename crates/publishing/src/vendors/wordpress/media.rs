//! Images in the media library.

use http::{HeaderValue, Method, header};
use serde_json::Value;

use super::WordPress;
use crate::{
    error::{Trouble, Why},
    http::escaped,
    publisher::{Picture, Uploaded},
    values::{id, list, text},
};

/// Members that are read of a file.
const FIELDS: &str = "_fields=id,source_url,alt_text";

impl WordPress {
    /// Finds an image in the library by its name.
    pub(super) async fn find_image(&self, picture: &Picture) -> Result<Option<Uploaded>, Trouble> {
        let name = picture
            .name
            .rsplit_once('.')
            .map_or(&*picture.name, |(name, _)| name);
        let query = format!("{FIELDS}&slug={}", escaped(&name.to_lowercase()));
        let known = self.interface.get("/wp/v2/media", &query).await?;
        Ok(list(&known, "").first().and_then(uploaded))
    }

    /// Sends an image that the library lacks.
    pub(super) async fn send_image(&self, picture: &Picture) -> Result<Uploaded, Trouble> {
        let disposition = format!("attachment; filename=\"{}\"", picture.name);
        let disposition = HeaderValue::from_str(&disposition).map_err(|_| Trouble::refused(Why::Invalid))?;
        let headers = vec![
            (header::CONTENT_TYPE, HeaderValue::from_static(picture.media_type)),
            (header::CONTENT_DISPOSITION, disposition),
        ];
        let query = format!(
            "{FIELDS}&alt_text={}",
            escaped(picture.alt.as_deref().unwrap_or_default())
        );
        let body = Some((headers, picture.bytes.clone()));
        let sent = self
            .interface
            .send(Method::POST, ("/wp/v2/media", &query), body, true)
            .await?;
        sent.made(uploaded)
    }
}

/// An image of the library.
fn uploaded(file: &Value) -> Option<Uploaded> {
    Some(Uploaded {
        reference: id(file, "/id")?,
        url: text(file, "/source_url").map(str::to_owned),
        alt: text(file, "/alt_text").map(str::to_owned),
    })
}
