//! Directus on SQLite, with a collection `posts` and an account that may do no more than write to it. It drops members that it does not know, and
//! forbids (403) what is not there.

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
    installation::{Node, empty_folder, peer_folder, start_cms},
};

const ADMIN: &str = "peer-static-token-0123456789";
/// Collections of its own that the account has to read or write, beside `posts`.
const NEEDS: [(&str, &[&str]); 3] = [
    ("directus_files", &["create", "read"]),
    ("directus_fields", &["read"]),
    ("directus_collections", &["read"]),
];
const WRITES: [&str; 2] = ["create", "update"];

pub(super) struct Directus {
    site: HttpClient,
    policy: String,
    user: String,
    token: String,
    _running: Running,
}

impl Directus {
    pub(super) fn start() -> Result<Self> {
        let node = Node::ready()?;
        let root = install(&node)?;
        let own = empty_folder(peer_folder("directus")?.join("site"))?;
        fs::create_dir(own.join("uploads"))?;
        let port = free_port()?;
        let url = format!("http://127.0.0.1:{port}");
        let set = |command: &mut Command, what: &str| {
            command
                .arg(what)
                .env("SECRET", "peerpeerpeerpeerpeerpeerpeerpeer")
                .env("DB_CLIENT", "sqlite3")
                .env("DB_FILENAME", own.join("data.db"))
                .env("HOST", "127.0.0.1")
                .env("PORT", port.to_string())
                .env("PUBLIC_URL", &url)
                .env("STORAGE_LOCATIONS", "local")
                .env("STORAGE_LOCAL_ROOT", own.join("uploads"))
                .env("ADMIN_EMAIL", "admin@example.com")
                .env("ADMIN_PASSWORD", "Zq7-plum-Harbor-91")
                .env("ADMIN_TOKEN", ADMIN)
                .env("ACCEPT_TERMS", "true")
                .env("PRESSURE_LIMITER_ENABLED", "false")
                .env("TELEMETRY", "false")
                .env("LOG_STYLE", "raw");
        };
        let script = "node_modules/directus/cli.js";
        let mut bootstrap = node.program(&root, script)?;
        set(&mut bootstrap, "bootstrap");
        quiet("directus bootstrap", &mut bootstrap)?;
        let mut command = node.program(&root, script)?;
        set(&mut command, "start");
        let site = HttpClient::new(&url).with("Authorization", format!("Bearer {ADMIN}"));
        let running = start_cms(
            "directus",
            &mut command,
            &own.join("server.log"),
            &site,
            "/server/ping",
        )?;
        let mut directus = Self {
            site,
            policy: String::new(),
            user: String::new(),
            token: "product-0-token-0123456789".to_owned(),
            _running: running,
        };
        directus.make_collection()?;
        directus.make_user()?;
        Ok(directus)
    }

    fn make_collection(&self) -> Result<()> {
        let string = |field: &str, interface: &str| {
            json!({
                "field": field, "type": if interface == "input" { "string" } else { "text" },
                "meta": { "interface": interface }, "schema": {},
            })
        };
        let choices = ["draft", "published", "archived"].map(|word| json!({ "text": word, "value": word }));
        let fields = [
            json!({ "field": "id", "type": "integer", "schema": { "is_primary_key": true, "has_auto_increment": true } }),
            json!({
                "field": "status", "type": "string", "schema": { "default_value": "draft", "is_nullable": false },
                "meta": { "interface": "select-dropdown", "options": { "choices": choices } },
            }),
            json!({
                "field": "title", "type": "string", "schema": { "is_nullable": false },
                "meta": { "interface": "input", "required": true },
            }),
            string("slug", "input"),
            string("content", "input-rich-text-html"),
            string("excerpt", "input-multiline"),
            json!({ "field": "image", "type": "uuid", "meta": { "interface": "file-image", "special": ["file"] }, "schema": {} }),
            json!({ "field": "tags", "type": "json", "meta": { "interface": "tags", "special": ["cast-json"] }, "schema": {} }),
            string("note", "input"),
        ];
        let collection = json!({ "collection": "posts", "meta": {}, "schema": {}, "fields": fields });
        self.site.post("/collections", &collection)?;
        let relation =
            json!({ "collection": "posts", "field": "image", "related_collection": "directus_files" });
        self.site.post("/relations", &relation).map(drop)
    }

    fn make_user(&mut self) -> Result<()> {
        let policy = json!({ "name": "Product", "app_access": false, "admin_access": false });
        self.policy = text(&self.site.post("/policies", &policy)?, "/data/id")?;
        for (collection, actions) in NEEDS {
            for action in actions {
                self.permit(collection, action)?;
            }
        }
        self.permit("posts", "read")?;
        self.allow_writing()?;
        let role = json!({ "name": "Product", "policies": { "create": [{ "policy": self.policy }] } });
        let role = text(&self.site.post("/roles", &role)?, "/data/id")?;
        let user = json!({ "first_name": "Product", "role": role, "token": self.token, "status": "active" });
        self.user = text(&self.site.post("/users", &user)?, "/data/id")?;
        Ok(())
    }

    fn permit(&self, collection: &str, action: &str) -> Result<()> {
        let permission =
            json!({ "policy": self.policy, "collection": collection, "action": action, "fields": ["*"] });
        self.site.post("/permissions", &permission).map(drop)
    }

    fn set_token(&self, token: Option<&str>) -> Result<()> {
        let path = format!("/users/{}", self.user);
        self.site
            .json("PATCH", &path, Some(&json!({ "token": token })))
            .map(drop)
    }
}

impl Cms for Directus {
    fn name(&self) -> &'static str {
        "directus"
    }

    fn provider(&self) -> &'static str {
        "directus"
    }

    fn address(&self) -> &str {
        self.site.address()
    }

    fn secret(&self) -> Value {
        json!({ "token": self.token })
    }

    fn mapping(&self) -> Value {
        json!({
            "collectionId": "posts",
            "fieldMap": {
                "title": "title", "content": "content", "slug": "slug", "excerpt": "excerpt", "featuredImage": "image",
                "tags": "tags",
            },
        })
    }

    fn list_items(&self) -> Result<Vec<Item>> {
        let found = self.site.get("/items/posts?limit=-1&sort=id")?;
        let item = |entry: &Value| Item {
            id: scalar(entry, "/id"),
            title: scalar(entry, "/title"),
            slug: scalar(entry, "/slug"),
            status: match entry["status"].as_str() {
                Some("published") => ItemStatus::Live,
                Some("draft") => ItemStatus::Draft,
                _ => ItemStatus::Other,
            },
            content: scalar(entry, "/content"),
            excerpt: scalar(entry, "/excerpt"),
            image: Some(scalar(entry, "/image")).filter(|id| !id.is_empty()),
            tags: list(entry, "/tags").iter().map(|tag| scalar(tag, "")).collect(),
        };
        Ok(list(&found, "/data").iter().map(item).collect())
    }

    fn count_files(&self) -> Result<usize> {
        Ok(list(&self.site.get("/files?limit=-1&fields=id")?, "/data").len())
    }

    fn add_post(&self, title: &str, slug: &str) -> Result<String> {
        let entry = json!({ "title": title, "slug": slug, "status": "published", "content": "<p>By somebody else.</p>" });
        Ok(scalar(&self.site.post("/items/posts", &entry)?, "/data/id"))
    }

    fn edit_post(&self, item: &Item) -> Result<()> {
        let path = format!("/items/posts/{}", item.id);
        let entry = json!({ "content": format!("{}<p>{ADDED}</p>", item.content) });
        self.site.json("PATCH", &path, Some(&entry)).map(drop)
    }

    fn delete_post(&self, id: &str) -> Result<()> {
        self.site
            .json("DELETE", &format!("/items/posts/{id}"), None)
            .map(drop)
    }

    fn revoke_secret(&mut self) -> Result<()> {
        self.set_token(None)
    }

    fn renew_secret(&mut self) -> Result<()> {
        self.token.push('+');
        self.set_token(Some(&self.token))
    }

    fn forbid_writing(&self) -> Result<bool> {
        let path = format!(
            "/permissions?limit=-1&filter%5Bpolicy%5D%5B_eq%5D={}",
            self.policy
        );
        let found = self.site.get(&path)?;
        for permission in list(&found, "/data") {
            let action = permission["action"]
                .as_str()
                .context("a permission without action")?;
            if permission["collection"] == "posts" && WRITES.contains(&action) {
                let path = format!("/permissions/{}", scalar(permission, "/id"));
                self.site.json("DELETE", &path, None)?;
            }
        }
        Ok(true)
    }

    fn allow_writing(&self) -> Result<()> {
        WRITES.iter().try_for_each(|action| self.permit("posts", action))
    }

    fn remove_field(&mut self) -> Result<bool> {
        self.site.json("DELETE", "/fields/posts/excerpt", None)?;
        Ok(true)
    }

    fn require_field(&mut self) -> Result<bool> {
        // what the column does not forbid its rules have to
        let rules =
            json!({ "_and": [{ "section": { "_submitted": true } }, { "section": { "_nnull": true } }] });
        let field = json!({
            "field": "section", "type": "string", "schema": {},
            "meta": { "interface": "input", "required": true, "validation": rules },
        });
        self.site.post("/fields/posts", &field)?;
        Ok(true)
    }
}

fn install(node: &Node) -> Result<PathBuf> {
    let root = peer_folder("directus")?.join("program");
    fs::create_dir_all(&root)?;
    install_once(
        &root,
        "package.json",
        include_str!("directus/package.json"),
        || {
            let arguments = ["install", "--no-audit", "--no-fund", "--legacy-peer-deps"];
            node.run(&root, "npm", &arguments)
        },
    )?;
    Ok(root)
}
