//! Websites that nobody here wrote, as Debian packages them, and one of our own for what those never do wrong.

use std::{
    fmt::Write as _,
    fs::{self, File},
    net::TcpStream,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use xtask::{
    packages,
    process::{Running, free_port, program},
    website,
};

use super::fault_pages;

/// Package, folder that is served, what robots.txt forbids, and whether a sitemap lists every page.
const PACKAGED: [(&str, &str, &str, bool); 4] = [
    (
        "python3-doc",
        "/usr/share/doc/python3.11/html",
        "/distutils/",
        true,
    ),
    (
        "apache2-doc",
        "/usr/share/doc/apache2-doc/manual",
        "/private/",
        true,
    ),
    (
        "debian-handbook",
        "/usr/share/doc/debian-handbook/html",
        "/private/",
        false,
    ),
    (
        "debian-policy",
        "/usr/share/doc/debian-policy",
        "/private/",
        false,
    ),
];

const GENERATED_PAGES: u32 = 300;

/// A website that is being served.
pub(super) struct ServedSite {
    pub(super) name: &'static str,
    /// Its home page.
    pub(super) url: String,
}

/// All of them, until the value is dropped.
pub(super) struct ServedSites {
    pub(super) all: Vec<ServedSite>,
    _servers: [Running; 2],
}

/// Installs what is missing and serves everything on ports of its own; those to be audited are all, or some by name.
pub(super) fn serve(folder: &Path, only: &[String]) -> Result<ServedSites> {
    let mut all = Vec::new();
    let mut servers = String::new();
    for (package, root, forbidden, listed) in PACKAGED {
        if !Path::new(root).exists() {
            packages::install(package)?;
        }
        let url = format!("http://127.0.0.1:{}/", free_port()?);
        let own = folder.join(package);
        fs::create_dir_all(&own)?;
        let mut robots = format!("User-agent: *\nDisallow: {forbidden}\n");
        if listed {
            fs::write(own.join("sitemap.xml"), sitemap(Path::new(root), &url)?)?;
            writeln!(robots, "Sitemap: {url}sitemap.xml")?;
        }
        fs::write(own.join("robots.txt"), robots)?;
        write_server(&mut servers, &url, Path::new(root), &own)?;
        all.push(ServedSite { name: package, url });
    }
    let url = format!("http://127.0.0.1:{}/", free_port()?);
    let own = folder.join("planted");
    fault_pages::write(&own.join("root"), &url)?;
    write_server(&mut servers, &url, &own.join("root"), &own)?;
    all.push(ServedSite { name: "planted", url });
    let packaged = start_nginx(folder, &servers, &all)?;
    let order = website::Order {
        pages: GENERATED_PAGES,
        seed: 1,
        port: free_port()?,
    };
    let own = folder.join("generated");
    fs::create_dir_all(&own)?;
    let expected = website::generate(&order, &own)?;
    let generated = website::serve(&expected, &own)?;
    all.push(ServedSite {
        name: "generated",
        url: format!("{}/", expected.origin),
    });
    if !only.is_empty() {
        all.retain(|site| only.iter().any(|name| name == site.name));
    }
    ensure!(
        !all.is_empty(),
        "there is no such website: python3-doc, apache2-doc, debian-handbook, debian-policy, planted, generated"
    );
    Ok(ServedSites {
        all,
        _servers: [packaged, generated],
    })
}

/// One more server, with robots.txt and sitemap of our own.
fn write_server(servers: &mut String, url: &str, root: &Path, own: &Path) -> Result<()> {
    write!(
        servers,
        "server {{\n listen {};\n root {};\n index index.html;\n autoindex on;\n absolute_redirect off;\n \
         location = /robots.txt {{ root {own}; }}\n location = /sitemap.xml {{ root {own}; }}\n}}\n",
        address(url),
        root.display(),
        own = own.display(),
    )?;
    Ok(())
}

/// Host and port of a home page.
fn address(url: &str) -> &str {
    url.trim_start_matches("http://").trim_end_matches('/')
}

fn start_nginx(folder: &Path, servers: &str, sites: &[ServedSite]) -> Result<Running> {
    let nginx = packages::ensure("nginx", "nginx")?;
    // started by root, the worker would become nobody, who may not reach the folder
    let user = if packages::root() { "user root;\n" } else { "" };
    let at = folder.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path \"{at}/nginx-temporary\";\n"))
        .concat();
    let configuration = folder.join("nginx.conf");
    fs::write(
        &configuration,
        format!(
            "{user}worker_processes 1;\npid \"{at}/nginx.pid\";\nerror_log stderr warn;\nevents {{ worker_connections 1024; }}\nhttp {{\n\
             include /etc/nginx/mime.types;\naccess_log off;\nlog_not_found off;\ngzip on;\n{temporary}{servers}}}\n"
        ),
    )?;
    let log = File::create(folder.join("nginx.log"))?;
    let mut command = program(nginx, None);
    command
        .arg("-c")
        .arg(configuration)
        .args(["-g", "daemon off;", "-e", "stderr"]);
    command.stdout(log.try_clone()?).stderr(log);
    let mut running = Running::start("nginx", &mut command)?;
    let listens = |site: &ServedSite| TcpStream::connect(address(&site.url)).is_ok();
    running
        .wait_until(Duration::from_secs(10), || sites.iter().all(listens))
        .with_context(|| format!("see {at}/nginx.log"))?;
    Ok(running)
}

/// Every page below a folder, as a generator of static sites would list them.
fn sitemap(root: &Path, url: &str) -> Result<String> {
    let mut pages = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    let address = |page: &PathBuf| {
        let path = page.strip_prefix(root).ok()?.to_str()?;
        Some(format!("<url><loc>{url}{path}</loc></url>\n"))
    };
    let urls: String = pages.iter().filter_map(address).collect();
    Ok(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{urls}</urlset>\n"
    ))
}
