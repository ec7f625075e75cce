//! WordPress on SQLite behind the web server of PHP: plain, and with a meta field that its REST interface shows. To a wrong password it answers
//! what the public may read, unless `context=edit` is asked for.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use xtask::{
    libraries::install_once,
    packages,
    process::{Running, free_port, program, quiet},
};

use super::{
    cms::{ADDED, Cms, Item, ItemStatus, list, scalar, text},
    http::HttpClient,
    installation::{empty_folder, peer_folder, start_cms, unpack_npm_packages},
};

const PACKAGES: [(&str, &str); 2] = [
    ("@wp-playground/wordpress-builds@0.9.19", "builds"),
    ("@wp-playground/cli@3.1.56", "playground"),
];
const FILES: [(&str, &str); 3] = [
    ("wp-config.php", include_str!("wordpress/wp-config.php")),
    ("router.php", include_str!("wordpress/router.php")),
    ("setup.php", include_str!("wordpress/setup.php")),
];
/// Modules of PHP that WordPress wants, by the names that `php -m` and Debian give them.
const MODULES: [(&str, &str); 8] = [
    ("pdo_sqlite", "php-sqlite3"),
    ("xml", "php-xml"),
    ("mbstring", "php-mbstring"),
    ("curl", "php-curl"),
    ("gd", "php-gd"),
    ("intl", "php-intl"),
    ("zip", "php-zip"),
    ("dom", "php-xml"),
];
const POSTS: &str = "/wp-json/wp/v2/posts";
const USERS: &str = "/wp-json/wp/v2/users";

pub(crate) struct WordPress {
    name: &'static str,
    /// Folder of the program.
    root: PathBuf,
    /// Folder of the site.
    own: PathBuf,
    port: u16,
    site: HttpClient,
    editor: String,
    password: String,
    uuid: String,
    running: Option<Running>,
}

impl WordPress {
    pub(crate) fn start(name: &'static str, marker: bool) -> Result<Self> {
        let root = install()?;
        let own = empty_folder(peer_folder("wordpress")?.join(name))?;
        fs::create_dir(own.join("mu-plugins"))?;
        fs::create_dir(own.join("database"))?;
        if marker {
            fs::write(
                own.join("mu-plugins/marker.php"),
                include_str!("wordpress/marker.php"),
            )?;
        }
        let port = free_port()?;
        let mut setup = program("php", None);
        set_site(setup.arg("setup.php"), &root, &own, port);
        let output = setup.output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let users: Value = serde_json::from_str(said.trim().lines().last().unwrap_or_default())
            .with_context(|| format!("setup.php says {said}"))?;
        let url = format!("http://127.0.0.1:{port}");
        let basic = BASE64_STANDARD.encode(format!("admin:{}", text(&users, "/adminPassword")?));
        let site = HttpClient::new(&url).with("Authorization", format!("Basic {basic}"));
        let mut wordpress = Self {
            name,
            root,
            own,
            port,
            site,
            editor: scalar(&users, "/editor"),
            password: text(&users, "/editorPassword")?,
            uuid: text(&users, "/editorUuid")?,
            running: None,
        };
        wordpress.resume()?;
        Ok(wordpress)
    }

    /// Ends the web server; the site keeps what it has.
    pub(crate) fn stop(&mut self) {
        self.running = None;
    }

    /// Starts the web server at the same address.
    pub(crate) fn resume(&mut self) -> Result<()> {
        // a signal to the server does not reach its workers; `timeout` hands it to all of them
        let mut server = program("timeout", None);
        server.args([
            "0",
            "php",
            "-S",
            &format!("127.0.0.1:{}", self.port),
            "router.php",
        ]);
        set_site(&mut server, &self.root, &self.own, self.port);
        let log = self.own.join("server.log");
        self.running = Some(start_cms(self.name, &mut server, &log, &self.site, "/wp-json/")?);
        Ok(())
    }

    fn list_all(&self, path: &str) -> Result<Vec<Value>> {
        let mut all = Vec::new();
        for page in 1.. {
            let found = self.site.get(&format!("{path}&per_page=100&page={page}"))?;
            let found = list(&found, "");
            all.extend_from_slice(found);
            if found.len() < 100 {
                break;
            }
        }
        Ok(all)
    }

    fn set_role(&self, role: &str) -> Result<()> {
        let body = json!({ "roles": [role] });
        self.site
            .post(&format!("{USERS}/{}", self.editor), &body)
            .map(drop)
    }
}

impl Cms for WordPress {
    fn name(&self) -> &'static str {
        self.name
    }

    fn provider(&self) -> &'static str {
        "wordpress"
    }

    fn address(&self) -> &str {
        self.site.address()
    }

    fn secret(&self) -> Value {
        json!({ "username": "editor", "password": self.password })
    }

    fn mapping(&self) -> Value {
        json!({
            "collectionId": "posts",
            "fieldMap": {
                "title": "title", "content": "content", "slug": "slug", "excerpt": "excerpt",
                "featuredImage": "featured_media", "tags": "tags",
            },
        })
    }

    fn list_items(&self) -> Result<Vec<Item>> {
        let names: BTreeMap<String, String> = self
            .list_all("/wp-json/wp/v2/tags?orderby=id")?
            .iter()
            .map(|tag| (scalar(tag, "/id"), scalar(tag, "/name")))
            .collect();
        let statuses = "publish,future,draft,pending,private,trash";
        let posts = self.list_all(&format!(
            "{POSTS}?context=edit&orderby=id&order=asc&status={statuses}"
        ))?;
        let item = |post: &Value| Item {
            id: scalar(post, "/id"),
            title: scalar(post, "/title/raw"),
            slug: scalar(post, "/slug"),
            status: match post["status"].as_str() {
                Some("publish") => ItemStatus::Live,
                Some("draft") => ItemStatus::Draft,
                _ => ItemStatus::Other,
            },
            content: scalar(post, "/content/raw"),
            excerpt: scalar(post, "/excerpt/raw"),
            image: Some(scalar(post, "/featured_media")).filter(|id| id != "0"),
            tags: list(post, "/tags")
                .iter()
                .filter_map(|id| names.get(&id.to_string()).cloned())
                .collect(),
        };
        Ok(posts.iter().map(item).collect())
    }

    fn count_files(&self) -> Result<usize> {
        Ok(self.list_all("/wp-json/wp/v2/media?orderby=id")?.len())
    }

    fn add_post(&self, title: &str, slug: &str) -> Result<String> {
        let body =
            json!({ "title": title, "slug": slug, "status": "publish", "content": "By somebody else." });
        Ok(scalar(&self.site.post(POSTS, &body)?, "/id"))
    }

    fn edit_post(&self, item: &Item) -> Result<()> {
        let body = json!({ "content": format!("{}\n<p>{ADDED}</p>", item.content) });
        self.site.post(&format!("{POSTS}/{}", item.id), &body).map(drop)
    }

    fn delete_post(&self, id: &str) -> Result<()> {
        let path = format!("{POSTS}/{id}?force=true");
        self.site.json("DELETE", &path, None).map(drop)
    }

    fn revoke_secret(&mut self) -> Result<()> {
        let path = format!("{USERS}/{}/application-passwords/{}", self.editor, self.uuid);
        self.site.json("DELETE", &path, None).map(drop)
    }

    fn renew_secret(&mut self) -> Result<()> {
        let path = format!("{USERS}/{}/application-passwords", self.editor);
        let made = self.site.post(&path, &json!({ "name": "renewed" }))?;
        self.password = text(&made, "/password")?;
        self.uuid = text(&made, "/uuid")?;
        Ok(())
    }

    fn forbid_writing(&self) -> Result<bool> {
        self.set_role("subscriber")?;
        Ok(true)
    }

    fn allow_writing(&self) -> Result<()> {
        self.set_role("editor")
    }
}

/// Tells a command of PHP which site it serves.
fn set_site(command: &mut Command, root: &Path, own: &Path, port: u16) {
    command
        .current_dir(root)
        .env("PEER_FOLDER", own)
        .env("PEER_PORT", port.to_string())
        .env("PHP_CLI_SERVER_WORKERS", "3");
}

/// Folder of the program, the same for all sites.
fn install() -> Result<PathBuf> {
    install_php()?;
    let folder = peer_folder("wordpress")?;
    let root = folder.join("program");
    let wanted = PACKAGES.map(|(package, _)| package).join("\n");
    install_once(&folder, "packages.txt", &wanted, || {
        unpack_npm_packages(&folder, &PACKAGES)?;
        empty_folder(root.clone())?;
        unpack(&folder.join("builds/src/wordpress/wp-6.5.zip"), &root)?;
        // what the archive leaves out to be small
        let mut copy = Command::new("cp");
        copy.args(["-rn", "builds/public/wp-6.5/.", "program"]);
        quiet("cp", copy.current_dir(&folder))?;
        let plugins = root.join("wp-content/plugins");
        unpack(
            &folder.join("playground/sqlite-database-integration.zip"),
            &plugins,
        )?;
        let plugin = plugins.join("sqlite-database-integration");
        fs::rename(plugins.join("plugin-sqlite-database-integration"), &plugin)?;
        fs::copy(plugin.join("db.copy"), root.join("wp-content/db.php"))?;
        Ok(fs::remove_dir_all(folder.join("builds"))?)
    })?;
    for (name, text) in FILES {
        fs::write(root.join(name), text)?;
    }
    Ok(root)
}

fn install_php() -> Result<()> {
    packages::ensure("php", "php-cli")?;
    for (module, package) in MODULES {
        let modules = Command::new("php").arg("-m").output()?;
        let modules = String::from_utf8_lossy(&modules.stdout);
        if !modules.lines().any(|line| line.eq_ignore_ascii_case(module)) {
            packages::install(package)?;
        }
    }
    Ok(())
}

fn unpack(archive: &Path, into: &Path) -> Result<()> {
    ensure!(archive.is_file(), "{} is not there", archive.display());
    let script = r#"$zip = new ZipArchive(); exit($zip->open($argv[1]) === true && $zip->extractTo($argv[2]) ? 0 : 1);"#;
    let mut php = Command::new("php");
    quiet("php", php.args(["-r", script, "--"]).arg(archive).arg(into))
}
