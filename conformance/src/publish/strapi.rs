//! Strapi 5 on SQLite, with a type `article` that has drafts. Its own pages are not built: nobody looks at them. Its REST interface cannot take
//! an entry back (`publishedAt: null` changes nothing, DELETE removes draft and all), and drafts may share a slug.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use xtask::{
    libraries::install_once,
    process::{Running, free_port},
};

use super::{
    cms::{ADDED, Cms, Item, ItemStatus, list, scalar, text},
    http::HttpClient,
    installation::{Node, empty_folder, peer_folder, start_cms},
};

/// Files below the folder of the program.
const FILES: [(&str, &str); 6] = [
    ("config/server.js", include_str!("strapi/files/server.js")),
    ("config/admin.js", include_str!("strapi/files/admin.js")),
    ("config/database.js", include_str!("strapi/files/database.js")),
    (
        "config/middlewares.js",
        include_str!("strapi/files/middlewares.js"),
    ),
    ("config/plugins.js", include_str!("strapi/files/plugins.js")),
    ("src/index.js", include_str!("strapi/files/index.js")),
];
const SCHEMA: &str = include_str!("strapi/files/schema.json");
/// Parts of the interface of a type, and what makes each.
const PARTS: [(&str, &str); 3] = [
    ("controllers", "createCoreController"),
    ("routes", "createCoreRouter"),
    ("services", "createCoreService"),
];
const PASSWORD: &str = "Zq7-plum-Harbor-91";
const ARTICLES: &str = "/api/articles";
const TOKENS: &str = "/admin/api-tokens";

pub(super) struct Strapi {
    node: Node,
    root: PathBuf,
    own: PathBuf,
    /// As a person who may do everything.
    admin: HttpClient,
    /// Entries, with a token of our own.
    site: HttpClient,
    token: String,
    token_id: String,
    /// The type as it is now.
    schema: String,
    running: Option<Running>,
}

impl Strapi {
    pub(super) fn start() -> Result<Self> {
        let node = Node::ready()?;
        let root = install(&node)?;
        let own = empty_folder(peer_folder("strapi")?.join("site"))?;
        empty_folder(root.join("public/uploads"))?;
        let site = HttpClient::new(format!("http://127.0.0.1:{}", free_port()?));
        let mut strapi = Self {
            node,
            root,
            own,
            admin: site.clone(),
            site,
            token: String::new(),
            token_id: String::new(),
            schema: String::new(),
            running: None,
        };
        strapi.run(SCHEMA.to_owned())?;
        let owner =
            json!({ "email": "admin@example.com", "firstname": "A", "lastname": "B", "password": PASSWORD });
        let made = strapi.admin.post("/admin/register-admin", &owner)?;
        let bearer = format!("Bearer {}", text(&made, "/data/token")?);
        strapi.admin = strapi.admin.with("Authorization", bearer);
        let (token, _) = strapi.make_token("ours")?;
        strapi.site = strapi.site.with("Authorization", format!("Bearer {token}"));
        strapi.renew_secret()?;
        Ok(strapi)
    }

    /// Starts it, again if it runs, with this type.
    fn run(&mut self, schema: String) -> Result<()> {
        drop(self.running.take());
        let article = self.root.join("src/api/article");
        write(&article.join("content-types/article/schema.json"), &schema)?;
        self.schema = schema;
        let script = "node_modules/@strapi/strapi/bin/strapi.js";
        let mut command = self.node.program(&self.root, script)?;
        let port = self.site.address().rsplit(':').next().unwrap_or_default();
        command
            .arg("start")
            .env("NODE_ENV", "production")
            .env("PORT", port)
            .env("PEER_DATABASE", self.own.join("strapi.sqlite"))
            .env("STRAPI_TELEMETRY_DISABLED", "true")
            .env("STRAPI_DISABLE_UPDATE_NOTIFICATION", "true");
        let log = self.own.join("server.log");
        self.running = Some(start_cms("strapi", &mut command, &log, &self.site, "/_health")?);
        Ok(())
    }

    fn make_token(&self, name: &str) -> Result<(String, String)> {
        let token = json!({ "name": name, "description": "", "type": "full-access", "lifespan": null });
        let made = self.admin.post(TOKENS, &token)?;
        Ok((text(&made, "/data/accessKey")?, scalar(&made, "/data/id")))
    }

    fn set_token_type(&self, kind: &str) -> Result<()> {
        let path = format!("{TOKENS}/{}", self.token_id);
        self.admin
            .json("PUT", &path, Some(&json!({ "type": kind })))
            .map(drop)
    }

    fn entries(&self, status: &str) -> Result<Vec<Value>> {
        let mut all = Vec::new();
        for page in 1.. {
            let path = format!(
                "{ARTICLES}?status={status}&populate=*&sort=id&pagination%5BpageSize%5D=100&pagination%5Bpage%5D={page}"
            );
            let found = self.site.get(&path)?;
            let found = list(&found, "/data");
            all.extend_from_slice(found);
            if found.len() < 100 {
                break;
            }
        }
        Ok(all)
    }
}

impl Cms for Strapi {
    fn name(&self) -> &'static str {
        "strapi"
    }

    fn provider(&self) -> &'static str {
        "strapi"
    }

    fn address(&self) -> &str {
        self.site.address()
    }

    fn secret(&self) -> Value {
        json!({ "token": self.token })
    }

    fn mapping(&self) -> Value {
        json!({
            "collectionId": "api::article.article",
            "fieldMap": {
                "title": "title", "content": "content", "slug": "slug", "excerpt": "excerpt", "featuredImage": "cover",
            },
        })
    }

    fn list_items(&self) -> Result<Vec<Item>> {
        let live = self.entries("published")?;
        let mut drafts = self.entries("draft")?;
        // every document has a draft; what readers see counts
        for draft in &mut drafts {
            if let Some(live) = live.iter().find(|live| live["documentId"] == draft["documentId"]) {
                draft.clone_from(live);
            }
        }
        let item = |entry: &Value| Item {
            id: scalar(entry, "/documentId"),
            title: scalar(entry, "/title"),
            slug: scalar(entry, "/slug"),
            status: if entry["publishedAt"].is_string() {
                ItemStatus::Live
            } else {
                ItemStatus::Draft
            },
            content: scalar(entry, "/content"),
            excerpt: scalar(entry, "/excerpt"),
            image: Some(scalar(entry, "/cover/url")).filter(|url| !url.is_empty()),
            tags: Vec::new(),
        };
        Ok(drafts.iter().map(item).collect())
    }

    fn count_files(&self) -> Result<usize> {
        Ok(list(&self.site.get("/api/upload/files")?, "").len())
    }

    fn add_post(&self, title: &str, slug: &str) -> Result<String> {
        let data = json!({ "title": title, "slug": slug, "content": "By somebody else." });
        let path = format!("{ARTICLES}?status=published");
        text(
            &self.site.post(&path, &json!({ "data": data }))?,
            "/data/documentId",
        )
    }

    fn edit_post(&self, item: &Item) -> Result<()> {
        let path = format!("{ARTICLES}/{}?status=published", item.id);
        let data = json!({ "content": format!("{}\n\n{ADDED}\n", item.content) });
        self.site
            .json("PUT", &path, Some(&json!({ "data": data })))
            .map(drop)
    }

    fn delete_post(&self, id: &str) -> Result<()> {
        self.site
            .json("DELETE", &format!("{ARTICLES}/{id}"), None)
            .map(drop)
    }

    fn revoke_secret(&mut self) -> Result<()> {
        let path = format!("{TOKENS}/{}", self.token_id);
        self.admin.json("DELETE", &path, None).map(drop)
    }

    fn renew_secret(&mut self) -> Result<()> {
        let name = format!("product after {}", self.token_id);
        (self.token, self.token_id) = self.make_token(&name)?;
        Ok(())
    }

    fn forbid_writing(&self) -> Result<bool> {
        self.set_token_type("read-only")?;
        Ok(true)
    }

    fn allow_writing(&self) -> Result<()> {
        self.set_token_type("full-access")
    }

    fn remove_field(&mut self) -> Result<bool> {
        let mut schema: Value = serde_json::from_str(&self.schema)?;
        let fields = schema["attributes"].as_object_mut().context("no attributes")?;
        fields.remove("excerpt");
        self.run(schema.to_string())?;
        Ok(true)
    }

    fn require_field(&mut self) -> Result<bool> {
        let mut schema: Value = serde_json::from_str(&self.schema)?;
        schema["attributes"]["section"] = json!({ "type": "string", "required": true });
        self.run(schema.to_string())?;
        Ok(true)
    }
}

fn install(node: &Node) -> Result<PathBuf> {
    let folder = peer_folder("strapi")?;
    let root = folder.join("program");
    fs::create_dir_all(&root)?;
    install_once(&root, "package.json", include_str!("strapi/package.json"), || {
        node.run(&root, "npm", &["install", "--no-audit", "--no-fund"])
    })?;
    for (name, text) in FILES {
        write(&root.join(name), text)?;
    }
    for (part, maker) in PARTS {
        let text = format!(
            "'use strict';\n\nmodule.exports = require('@strapi/strapi').factories.{maker}('api::article.article');\n"
        );
        write(&root.join("src/api/article").join(part).join("article.js"), &text)?;
    }
    Ok(root)
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::create_dir_all(path.parent().context("no folder")?)?;
    Ok(fs::write(path, text)?)
}
