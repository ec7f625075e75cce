//! Files in a folder of the server: one Markdown file per post, written as a whole or not at all.

#[cfg(test)]
mod tests;

use std::{
    fs, io,
    io::Write as _,
    path::{Component, Path, PathBuf},
};

use async_trait::async_trait;
use searchwright_contract::integrations::{Field, Place, Provider};

use super::{ALL, Input, Vendor};
use crate::{
    Context,
    error::{Trouble, Why},
    front_matter,
    publisher::{Account, Connection, Item, Picture, Publisher, Remote, Uploaded, Wanted},
};

pub(super) const VENDOR: Vendor = Vendor {
    provider: Provider::Files,
    name: "Files",
    inputs: &[
        Input::open(
            "folder",
            "Folder",
            "below this project's folder on the server, such as content/blog; empty for that folder itself",
        )
        .optional(),
        Input::open(
            "baseUrl",
            "Address of the blog",
            "where the files are served, such as https://example.com/blog; the addresses of posts are made of it",
        )
        .optional(),
    ],
    capabilities: ALL,
    marks: true,
    repeats: true,
    open: |context, connection| Ok(Box::new(Files::new(context, connection)?)),
};

/// Files of a folder that are looked at.
const MAX_FILES: usize = 20_000;
/// Files whose keys are offered for the mapping.
const SAMPLES: usize = 20;

#[derive(Clone, Debug)]
struct Files {
    folder: PathBuf,
    connection: Connection,
}

/// A folder below another, by a path that cannot leave it.
pub(super) fn below(root: &Path, path: &str) -> Result<PathBuf, Trouble> {
    let path = Path::new(path.trim_matches('/'));
    if path.components().all(|part| matches!(part, Component::Normal(_))) {
        Ok(root.join(path))
    } else {
        Err(Trouble::because(
            Why::Invalid,
            "folder: has to be a path below the project's folder, without ..",
        ))
    }
}

impl Files {
    fn new(context: &Context, connection: Connection) -> Result<Self, Trouble> {
        Ok(Self {
            folder: below(&context.folder, connection.setting("folder"))?,
            connection,
        })
    }

    /// Runs blocking work on a thread that may block.
    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> io::Result<T> + Send + 'static,
    ) -> Result<T, Trouble> {
        let own = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&own)).await;
        done.unwrap_or_else(|error| Err(io::Error::other(error)))
            .map_err(|error| Trouble::because(Why::Invalid, error.to_string()))
    }

    /// All files with Markdown, by their names.
    fn texts(&self) -> io::Result<Vec<(String, String)>> {
        let mut texts = Vec::new();
        let listed = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(texts),
            listed => listed?,
        };
        for entry in listed.take(MAX_FILES) {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if name.ends_with(".md") && entry.file_type()?.is_file() {
                texts.push((
                    name,
                    String::from_utf8_lossy(&fs::read(entry.path())?).into_owned(),
                ));
            }
        }
        Ok(texts)
    }

    fn url(&self, path: &str) -> Option<String> {
        let base = self.connection.setting("baseUrl").trim_end_matches('/');
        (!base.is_empty()).then(|| format!("{base}/{path}"))
    }

    fn remote(&self, name: &str, text: &str) -> Remote {
        front_matter::remote(name, text, self.connection.setting("baseUrl"))
    }

    /// Puts a file in its place at once.
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.folder.join(name);
        let folder = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(folder)?;
        let unfinished = path.with_extension("searchwright-unfinished");
        let mut file = fs::File::create(&unfinished)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&unfinished, &path)?;
        fs::File::open(folder)?.sync_all()
    }

    fn write(&self, item: &Item, old: Option<&str>) -> io::Result<Remote> {
        let name = format!("{}.md", item.slug);
        let text = front_matter::file(&self.connection.map, item);
        self.put(&name, text.as_bytes())?;
        if let Some(old) = old.filter(|old| *old != name) {
            fs::remove_file(self.folder.join(old))?;
        }
        Ok(self.remote(&name, &text))
    }
}

#[async_trait]
impl Publisher for Files {
    async fn check(&self) -> Result<Account, Trouble> {
        self.run_blocking(|own| {
            fs::create_dir_all(&own.folder)?;
            Ok(Account {
                name: None,
                site: own.folder.display().to_string(),
            })
        })
        .await
    }

    async fn sites(&self) -> Result<Vec<Place>, Trouble> {
        Ok(vec![Place {
            id: "folder".to_owned(),
            name: "The folder of the project".to_owned(),
        }])
    }

    async fn fields(&self, _: Option<&str>, _: Option<&str>) -> Result<Vec<Field>, Trouble> {
        self.run_blocking(|own| {
            let texts = own.texts()?;
            let samples = texts.iter().take(SAMPLES);
            Ok(front_matter::fields(
                samples.flat_map(|(_, text)| front_matter::keys(text)),
            ))
        })
        .await
    }

    async fn find(&self, wanted: &Wanted<'_>) -> Result<Vec<Remote>, Trouble> {
        let (id, post) = (wanted.id.map(str::to_owned), wanted.marker.post);
        let name = format!("{}.md", wanted.slug);
        self.run_blocking(move |own| {
            let all = own
                .texts()?
                .into_iter()
                .map(|(name, text)| own.remote(&name, &text));
            Ok(all
                .filter(|remote| {
                    Some(&remote.id) == id.as_ref()
                        || remote.id == name
                        || remote.marker.as_ref().is_some_and(|mark| mark.post == post)
                })
                .collect())
        })
        .await
    }

    async fn create(&self, item: &Item) -> Result<Remote, Trouble> {
        let item = item.clone();
        self.run_blocking(move |own| own.write(&item, None)).await
    }

    async fn update(&self, remote: &Remote, item: &Item) -> Result<Remote, Trouble> {
        let (item, old) = (item.clone(), remote.id.clone());
        self.run_blocking(move |own| own.write(&item, Some(&old))).await
    }

    async fn unpublish(&self, remote: &Remote) -> Result<Remote, Trouble> {
        let name = remote.id.clone();
        self.run_blocking(move |own| {
            let text = front_matter::as_draft(&fs::read_to_string(own.folder.join(&name))?);
            own.put(&name, text.as_bytes())?;
            Ok(own.remote(&name, &text))
        })
        .await
    }

    async fn upload(&self, picture: &Picture) -> Result<Uploaded, Trouble> {
        let picture = picture.clone();
        self.run_blocking(move |own| {
            let path = format!("images/{}", picture.name);
            own.put(&path, &picture.bytes)?;
            Ok(Uploaded {
                url: own.url(&path),
                reference: path,
                alt: picture.alt,
            })
        })
        .await
    }
}
