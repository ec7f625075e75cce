//! Ghost on SQLite. Comments in a text do not survive its editor, a slug that is taken gets a number, two changes within one second do not
//! collide, and `site/` answers to any key.

use std::{fs, path::PathBuf, process::Command};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use xtask::{
    libraries::install_once,
    process::{Running, free_port, quiet},
};

use super::{
    cms::{ADDED, Cms, Item, ItemStatus, list, scalar, text},
    http::HttpClient,
    installation::{Node, empty_folder, peer_folder, start_cms, unpack_npm_packages},
};

const PACKAGE: (&str, &str) = ("ghost@6.65.0", "program");
const API: &str = "/ghost/api/admin";
const PASSWORD: &str = "Zq7-plum-Harbor-91";

pub(super) struct Ghost {
    site: HttpClient,
    content: PathBuf,
    integration: String,
    key: String,
    _running: Running,
}

impl Ghost {
    pub(super) fn start() -> Result<Self> {
        let node = Node::ready()?;
        let root = install(&node)?;
        let own = empty_folder(peer_folder("ghost")?.join("site"))?;
        for name in ["data", "images", "files", "media", "logs", "settings", "public"] {
            fs::create_dir(own.join(name))?;
        }
        let mut themes = Command::new("cp");
        themes.arg("-r").arg(root.join("content/themes")).arg(&own);
        quiet("cp", &mut themes)?;
        let port = free_port()?;
        let url = format!("http://127.0.0.1:{port}");
        let mut command = node.program(&root, "index.js")?;
        command
            .env("NODE_ENV", "production")
            .env("url", &url)
            .env("server__host", "127.0.0.1")
            .env("server__port", port.to_string())
            .env("database__client", "sqlite3")
            .env("database__connection__filename", own.join("data/ghost.db"))
            .env("database__useNullAsDefault", "true")
            .env("paths__contentPath", &own)
            .env("security__staffDeviceVerification", "false")
            .env("privacy__useUpdateCheck", "false")
            .env("privacy__useGravatar", "false")
            .env("privacy__useRpcPing", "false")
            .env("mail__transport", "stub")
            .env("logging__transports", r#"["stdout"]"#);
        let site = HttpClient::new(&url)
            .with("Origin", &url)
            .with("Accept-Version", "v6.0");
        let ready = format!("{API}/site/");
        let running = start_cms("ghost", &mut command, &own.join("server.log"), &site, &ready)?;
        let owner = json!({ "setup": [{
            "name": "Owner", "email": "owner@example.com", "password": PASSWORD, "blogTitle": "Peer",
        }] });
        site.post(&format!("{API}/authentication/setup/"), &owner)?;
        let login = json!({ "username": "owner@example.com", "password": PASSWORD });
        let session = site.request("POST", &format!("{API}/session/"), Some(&login))?;
        let cookie = session.header("set-cookie").context("no session at Ghost")?;
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        let mut ghost = Self {
            site: site.with("Cookie", cookie),
            content: own,
            integration: String::new(),
            key: String::new(),
            _running: running,
        };
        ghost.renew_secret()?;
        Ok(ghost)
    }
}

impl Cms for Ghost {
    fn name(&self) -> &'static str {
        "ghost"
    }

    fn provider(&self) -> &'static str {
        "ghost"
    }

    fn address(&self) -> &str {
        self.site.address()
    }

    fn secret(&self) -> Value {
        json!({ "key": self.key })
    }

    fn mapping(&self) -> Value {
        json!({ "fieldMap": {
            "title": "title", "content": "html", "slug": "slug", "excerpt": "custom_excerpt",
            "featuredImage": "feature_image", "tags": "tags", "metaTitle": "meta_title",
            "metaDescription": "meta_description",
        } })
    }

    fn list_items(&self) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        for page in 1.. {
            let path = format!(
                "{API}/posts/?limit=100&page={page}&formats=html&include=tags&order=created_at%20asc"
            );
            let found = self.site.get(&path)?;
            let posts = list(&found, "/posts");
            items.extend(posts.iter().map(|post| {
                Item {
                    id: scalar(post, "/id"),
                    title: scalar(post, "/title"),
                    slug: scalar(post, "/slug"),
                    status: match post["status"].as_str() {
                        Some("published") => ItemStatus::Live,
                        Some("draft") => ItemStatus::Draft,
                        _ => ItemStatus::Other,
                    },
                    content: scalar(post, "/html"),
                    excerpt: scalar(post, "/custom_excerpt"),
                    image: Some(scalar(post, "/feature_image")).filter(|url| !url.is_empty()),
                    tags: list(post, "/tags")
                        .iter()
                        .map(|tag| scalar(tag, "/name"))
                        .collect(),
                }
            }));
            if posts.len() < 100 {
                break;
            }
        }
        Ok(items)
    }

    fn count_files(&self) -> Result<usize> {
        let mut count = 0;
        let mut folders = vec![self.content.join("images")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                // what it resizes by itself lies in a folder of its own
                if path.is_dir() && !path.ends_with("images/size") {
                    folders.push(path);
                } else if path.is_file() && !path.to_string_lossy().contains("_o.") {
                    count += 1;
                }
            }
        }
        Ok(count)
    }

    fn add_post(&self, title: &str, slug: &str) -> Result<String> {
        let post = json!({ "title": title, "slug": slug, "html": "<p>By somebody else.</p>", "status": "published" });
        let made = self
            .site
            .post(&format!("{API}/posts/?source=html"), &json!({ "posts": [post] }))?;
        text(&made, "/posts/0/id")
    }

    fn edit_post(&self, item: &Item) -> Result<()> {
        let path = format!("{API}/posts/{}/", item.id);
        let read = self.site.get(&path)?;
        let post = json!({
            "html": format!("{}<p>{ADDED}</p>", item.content),
            "updated_at": text(&read, "/posts/0/updated_at")?,
        });
        let body = json!({ "posts": [post] });
        self.site
            .json("PUT", &format!("{path}?source=html"), Some(&body))
            .map(drop)
    }

    fn delete_post(&self, id: &str) -> Result<()> {
        self.site
            .json("DELETE", &format!("{API}/posts/{id}/"), None)
            .map(drop)
    }

    fn revoke_secret(&mut self) -> Result<()> {
        let path = format!("{API}/integrations/{}/", self.integration);
        self.site.json("DELETE", &path, None).map(drop)
    }

    fn renew_secret(&mut self) -> Result<()> {
        let name = format!("Product {}", self.integration);
        let made = self.site.post(
            &format!("{API}/integrations/?include=api_keys"),
            &json!({ "integrations": [{ "name": name }] }),
        )?;
        let keys = list(&made, "/integrations/0/api_keys");
        let key = keys.iter().find(|key| key["type"] == "admin");
        self.key = text(key.context("no key from Ghost")?, "/secret")?;
        self.integration = text(&made, "/integrations/0/id")?;
        Ok(())
    }
}

/// Folder of the program. The package brings parts of itself as archives, which npm cannot install from within another.
fn install(node: &Node) -> Result<PathBuf> {
    let folder = peer_folder("ghost")?;
    let root = folder.join(PACKAGE.1);
    install_once(&folder, "packages.txt", PACKAGE.0, || {
        unpack_npm_packages(&folder, &[PACKAGE])?;
        let arguments = ["install", "--prod", "--frozen-lockfile", "--child-concurrency=1"];
        node.run(&root, "pnpm", &arguments)
    })?;
    Ok(root)
}
