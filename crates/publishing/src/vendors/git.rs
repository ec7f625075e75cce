//! A Git repository: one Markdown file per post in a folder of a branch. A push takes effect as a whole or not at all, and only on top
//! of what we looked at.

pub mod address;
mod repository;
#[cfg(test)]
mod tests;

use address::Address;
use async_trait::async_trait;
use repository::{Access, Repository, Write, text};
use searchwright_contract::integrations::{Field, Place, Provider};
use tokio::sync::watch;
use url::Host;

use super::{ALL, Input, Vendor, files::below};
use crate::{
    Context,
    error::{Cause, Trouble, Why},
    front_matter,
    publisher::{Account, Connection, Item, Picture, Publisher, Remote, Uploaded, Wanted},
    visits::VisitPlace,
};

pub(super) const VENDOR: Vendor = Vendor {
    provider: Provider::Git,
    name: "Git",
    inputs: &[
        Input::open(
            "repository",
            "Repository",
            "address to clone it from: https://github.com/me/blog.git or ssh://git@github.com/me/blog.git",
        ),
        Input::open("branch", "Branch", "the branch that the site is built from; main unless given").optional(),
        Input::open("folder", "Folder", "where posts are in the repository, such as content/posts").optional(),
        Input::open("imagesFolder", "Folder of images", "such as static/images; images below the folder of posts unless given").optional(),
        Input::open(
            "imagesPath",
            "Address of images",
            "how a page names an image of that folder, such as /images; the path in the repository unless given",
        )
        .optional(),
        Input::open(
            "baseUrl",
            "Address of the blog",
            "where posts are served, such as https://example.com/posts; the addresses of posts are made of it",
        )
        .optional(),
        Input::open("username", "User name", "for https: the account of the token; any name does at GitHub and GitLab").optional(),
        Input::secret("token", "Access token", "for https: a token that may write contents of this repository").optional(),
        Input::secret("privateKey", "Private key", "for ssh: a deploy key with write access, from -----BEGIN to -----END")
            .optional()
            .lines(),
        Input::open("hostKey", "Host key", "for ssh: what `ssh-keyscan github.com` prints, compared with what the host publishes")
            .optional()
            .lines(),
    ],
    capabilities: ALL,
    marks: true,
    repeats: true,
    open: |context, connection| Ok(Box::new(Git::new(context, connection)?)),
};

/// Files whose keys are offered for the mapping.
const SAMPLES: usize = 20;
/// Visits for one change: others may push between our look and our push.
const VISITS: usize = 5;
/// Bytes of a repository that a visit keeps in its folder at most.
const SCRATCH_BYTES: u64 = 256 << 20;

#[derive(Debug)]
struct Git {
    context: Context,
    connection: Connection,
    folder: String,
    images: String,
    scratch_bytes: u64,
}

impl Git {
    fn new(context: &Context, connection: Connection) -> Result<Self, Trouble> {
        let folder = inside(connection.setting("folder"))?;
        let images = match connection.setting("imagesFolder") {
            "" => inside(&format!("{folder}/images"))?,
            given => inside(given)?,
        };
        Ok(Self {
            context: context.clone(),
            connection,
            folder,
            images,
            scratch_bytes: SCRATCH_BYTES,
        })
    }

    /// Returns the location of the repository and the way to reach it. The guard judges the address now, and git uses
    /// exactly the address that was judged.
    async fn access(&self) -> Result<Access, Trouble> {
        let branch = match self.connection.setting("branch") {
            "" => "main",
            given => given,
        };
        let mut access = Access {
            branch: branch.to_owned(),
            scratch: self.context.scratch.clone(),
            scratch_bytes: self.scratch_bytes,
            ..Access::default()
        };
        let address = Address::parse(self.connection.setting("repository"))
            .map_err(|why| Trouble::because(Why::Invalid, format!("repository: {why}")))?;
        let (url, is_ssh, host, port) = match address {
            Address::Folder(folder) => {
                access.address = folder;
                return Ok(access);
            }
            Address::Remote {
                url,
                is_ssh,
                host,
                port,
            } => (url, is_ssh, host, port),
        };
        let borrowed = match &host {
            Host::Domain(name) => Host::Domain(name.as_str()),
            Host::Ipv4(address) => Host::Ipv4(*address),
            Host::Ipv6(address) => Host::Ipv6(*address),
        };
        let reached = self.context.client.address_of(&borrowed, port).await;
        access.at = Some((
            host.to_string(),
            port,
            reached.map_err(|error| Trouble::from_request(&error.into(), false, &[]))?,
        ));
        access.address = url;
        access.username = match self.connection.setting("username") {
            "" => "git".to_owned(),
            given => given.to_owned(),
        };
        access.token = self.connection.secret("token").to_owned();
        access.private_key = self.connection.secret("privateKey").to_owned();
        access.host_key = self.connection.setting("hostKey").to_owned();
        if is_ssh && (access.private_key.is_empty() || access.host_key.is_empty()) {
            let why = "ssh needs a private key and the host key, by which the host is known";
            return Err(Trouble::because(Why::Credential, why));
        }
        Ok(access)
    }

    /// Works with the repository as it is now, on a thread that may block.
    async fn with_repository<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Repository) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, Trouble> {
        let mut access = self.access().await?;
        // Goes when nobody waits for us any more.
        let (_here, call) = watch::channel(());
        access.call = Some(call);
        let place = self.enter().await?;
        let done = tokio::task::spawn_blocking(move || {
            // until the programs have ended, also when nobody waits for them any more
            let _place = place;
            work(&Repository::open(access)?)
        });
        done.await.unwrap_or(Err(Trouble::NotNow {
            cause: Cause::Status,
            after: None,
        }))
    }

    /// Waits for the visits of others.
    async fn enter(&self) -> Result<VisitPlace, Trouble> {
        self.context.visits.enter(self.context.project).await
    }

    fn path(&self, name: &str) -> String {
        match self.folder.as_str() {
            "" => name.to_owned(),
            folder => format!("{folder}/{name}"),
        }
    }

    /// Pushes what is made of the repository as it is at that time, again where somebody else pushed meanwhile.
    async fn push<T: Send + 'static>(
        &self,
        make: impl Fn(&Repository) -> Result<(Write, T), Trouble> + Send + 'static,
    ) -> Result<T, Trouble> {
        let mut access = self.access().await?;
        let (_here, call) = watch::channel(());
        access.call = Some(call);
        let place = self.enter().await?;
        let done = tokio::task::spawn_blocking(move || {
            // until the programs have ended, also when nobody waits for them any more
            let _place = place;
            let mut visits = 1;
            loop {
                let repository = Repository::open(access.clone())?;
                let (write, made) = make(&repository)?;
                match repository.push(&write) {
                    Err(Trouble::Refused {
                        why: Why::Conflict, ..
                    }) if visits < VISITS => visits += 1,
                    done => return done.map(|()| made),
                }
            }
        });
        done.await.unwrap_or(Err(Trouble::Unclear {
            cause: Cause::Broken,
            status: None,
        }))
    }

    async fn write(&self, item: &Item, old: Option<&Remote>) -> Result<Remote, Trouble> {
        let name = format!("{}.md", item.slug);
        let text = front_matter::file(&self.connection.map, item);
        let remote = front_matter::remote(&name, &text, self.connection.setting("baseUrl"));
        let what = if item.live { "Publish" } else { "Draft" };
        let message = format!("{what}: {}\n\n{}\n", one_line(&item.title), item.marker);
        let path = self.path(&name);
        let old = old.map(|old| (self.path(&old.id), old.version.clone()));
        self.push(move |repository| {
            let mut write = Write::new(message.clone());
            write.put(path.clone(), text.clone().into_bytes());
            let there = repository.read(&path)?;
            let is_there_so = there.as_ref().is_some_and(|there| there == text.as_bytes());
            match &old {
                // Pushed by us before, and nobody heard of it.
                _ if is_there_so => {}
                Some((old, version)) if *old == path => is_as_seen(&path, there.as_deref(), version)?,
                Some((old, version)) => {
                    is_as_seen(old, repository.read(old)?.as_deref(), version)?;
                    is_free(&path, there.as_deref())?;
                }
                None => is_free(&path, there.as_deref())?,
            }
            if let Some((old, _)) = old.as_ref().filter(|(old, _)| *old != path) {
                write.remove(old.clone());
            }
            Ok((write, remote.clone()))
        })
        .await
    }
}

/// Fails unless a file still is what was looked at: what somebody did since is not overwritten.
fn is_as_seen(path: &str, there: Option<&[u8]>, version: &str) -> Result<(), Trouble> {
    let now = there.map(|there| front_matter::remote(path, &text(there), "").version);
    if now.as_deref() == Some(version) {
        Ok(())
    } else {
        let why = format!("{path}: was changed in the meantime");
        Err(Trouble::because(Why::Conflict, why))
    }
}

/// Fails where a file is in the way.
fn is_free(path: &str, there: Option<&[u8]>) -> Result<(), Trouble> {
    match there {
        None => Ok(()),
        Some(_) => Err(Trouble::because(
            Why::Conflict,
            format!("{path}: is there already"),
        )),
    }
}

/// A title as the first line of a message.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A folder of the repository, without slashes at its ends.
fn inside(path: &str) -> Result<String, Trouble> {
    let root = std::path::Path::new("");
    let path = below(root, path)?;
    let is_git = path
        .components()
        .any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
    path.to_str()
        .filter(|_| !is_git)
        .map(str::to_owned)
        .ok_or_else(|| Trouble::because(Why::Invalid, "folder: is none of a repository"))
}

#[async_trait]
impl Publisher for Git {
    async fn check(&self) -> Result<Account, Trouble> {
        let site = format!(
            "{}#{}:{}",
            self.connection.setting("repository"),
            self.connection.setting("branch"),
            self.folder
        );
        self.with_repository(Repository::may_push).await?;
        Ok(Account { name: None, site })
    }

    async fn sites(&self) -> Result<Vec<Place>, Trouble> {
        let id = self.connection.setting("repository").to_owned();
        Ok(vec![Place { name: id.clone(), id }])
    }

    async fn fields(&self, _: Option<&str>, _: Option<&str>) -> Result<Vec<Field>, Trouble> {
        let folder = self.folder.clone();
        let keys = self
            .with_repository(move |repository| {
                repository.read_texts(&folder, SAMPLES, |_, text| front_matter::keys(text))
            })
            .await?;
        Ok(front_matter::fields(keys.into_iter().flatten()))
    }

    async fn find(&self, wanted: &Wanted<'_>) -> Result<Vec<Remote>, Trouble> {
        let folder = self.folder.clone();
        let base = self.connection.setting("baseUrl").to_owned();
        let all = self
            .with_repository(move |repository| {
                repository.read_texts(&folder, usize::MAX, |name, text| {
                    front_matter::remote(name, text, &base)
                })
            })
            .await?;
        let name = format!("{}.md", wanted.slug);
        Ok(all
            .into_iter()
            .filter(|remote| {
                Some(remote.id.as_str()) == wanted.id
                    || remote.id == name
                    || remote
                        .marker
                        .as_ref()
                        .is_some_and(|mark| mark.post == wanted.marker.post)
            })
            .collect())
    }

    async fn create(&self, item: &Item) -> Result<Remote, Trouble> {
        self.write(item, None).await
    }

    async fn update(&self, remote: &Remote, item: &Item) -> Result<Remote, Trouble> {
        self.write(item, Some(remote)).await
    }

    async fn unpublish(&self, remote: &Remote) -> Result<Remote, Trouble> {
        let (path, name) = (self.path(&remote.id), remote.id.clone());
        let base = self.connection.setting("baseUrl").to_owned();
        self.push(move |repository| {
            let there = repository.read(&path)?.ok_or(Trouble::refused(Why::Missing))?;
            let text = front_matter::as_draft(&String::from_utf8_lossy(&there));
            let mut write = Write::new(format!("Take back: {name}\n"));
            write.put(path.clone(), text.clone().into_bytes());
            Ok((write, front_matter::remote(&name, &text, &base)))
        })
        .await
    }

    async fn upload(&self, picture: &Picture) -> Result<Uploaded, Trouble> {
        let path = format!("{}/{}", self.images, picture.name);
        let reference = match self.connection.setting("imagesPath") {
            "" => path.clone(),
            base => format!("{}/{}", base.trim_end_matches('/'), picture.name),
        };
        let (bytes, alt) = (picture.bytes.to_vec(), picture.alt.clone());
        let message = format!("Add {}\n", picture.name);
        self.push(move |_| {
            let mut write = Write::new(message.clone());
            write.put(path.clone(), bytes.clone());
            let uploaded = Uploaded {
                reference: reference.clone(),
                url: None,
                alt: alt.clone(),
            };
            Ok((write, uploaded))
        })
        .await
    }
}
