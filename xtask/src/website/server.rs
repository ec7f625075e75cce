//! nginx for the generated site: one worker, because it shares the machine with what is measured.

use std::{
    fmt::Write,
    fs::{self, File},
    net::TcpStream,
    path::Path,
    time::Duration,
};

use anyhow::{Context, Result};

use super::Expected;
use crate::{
    packages,
    process::{Running, program},
};

/// Serves the site below `out` until the value is dropped. Installs nginx when it is missing.
pub fn serve(expected: &Expected, out: &Path) -> Result<Running> {
    let nginx = packages::ensure("nginx", "nginx")?;
    let log = File::create(out.join("nginx.log"))?;
    let configuration = std::path::absolute(out.join("nginx.conf"))?;
    let mut command = program(nginx, None);
    command
        .arg("-c")
        .arg(configuration)
        .args(["-g", "daemon off;", "-e", "stderr"]);
    command.stdout(log.try_clone()?).stderr(log);
    if TcpStream::connect(("127.0.0.1", expected.port)).is_ok() {
        anyhow::bail!("port {} of the generated site is taken", expected.port);
    }
    let mut server = Running::start("nginx", &mut command)?;
    server
        .wait_until(Duration::from_secs(10), || {
            TcpStream::connect(("127.0.0.1", expected.port)).is_ok()
        })
        .with_context(|| format!("see {}", out.join("nginx.log").display()))?;
    Ok(server)
}

/// Writes `nginx.conf` and the redirects it includes.
pub fn write_configuration(expected: &Expected, out: &Path) -> Result<()> {
    let folder = std::path::absolute(out)?;
    let folder = folder.to_str().context("the folder's name is not UTF-8")?;
    let mut redirects = String::new();
    for redirect in &expected.redirects {
        let path = redirect
            .url
            .strip_prefix(&expected.origin)
            .unwrap_or(&redirect.url);
        writeln!(
            redirects,
            "location = {path} {{ return {} {}; }}",
            redirect.status, redirect.target
        )?;
    }
    fs::write(out.join("redirects.conf"), redirects)?;
    // started by root, the worker would become nobody, who may not reach the folder
    let user = if packages::root() { "user root;\n" } else { "" };
    let configuration = format!(
        r#"{user}worker_processes 1;
pid "{folder}/nginx.pid";
error_log stderr warn;
events {{ worker_connections 4096; }}
http {{
    types {{
        text/html html;
        text/plain txt;
        application/xml xml;
        image/svg+xml svg;
    }}
    default_type application/octet-stream;
    charset utf-8;
    access_log off;
    log_not_found off;
    sendfile on;
    tcp_nodelay on;
    keepalive_requests 1000000;
    keepalive_timeout 60s;
    client_body_temp_path "{folder}/nginx-temporary";
    proxy_temp_path "{folder}/nginx-temporary";
    fastcgi_temp_path "{folder}/nginx-temporary";
    uwsgi_temp_path "{folder}/nginx-temporary";
    scgi_temp_path "{folder}/nginx-temporary";
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        server_name _;
        root "{folder}/root";
        index index.html;
        include "{folder}/redirects.conf";
    }}
}}
"#,
        port = expected.port,
    );
    Ok(fs::write(out.join("nginx.conf"), configuration)?)
}
