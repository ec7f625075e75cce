//! A real sshd, and nginx before git's own http-backend, on ports of loopback, for this user alone and no longer than this program.

use std::{
    fs::{self, File},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use xtask::{
    packages,
    process::{Running, free_port, program, quiet},
};

use super::repository::write_script;

/// Time until a server listens.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// The account that has the token.
pub(super) const ACCOUNT: &str = "searchwright";

/// Concurrent requests over HTTP; one fcgiwrap for each, because its children outlive it.
const MAX_HTTP_REQUESTS: usize = 6;

/// Shell code that runs before git for every request: it denies the request or runs, once, the script that a step has prepared.
const GATE: &str = r#"
if [ -e "$folder/deny-$what" ]; then cat "$folder/deny-$what" >&2; exit 1; fi
if [ -e "$folder/before-$what" ]; then
    left=$(cat "$folder/skip")
    if [ "$left" -gt 0 ]; then
        echo $((left - 1)) > "$folder/skip"
    else
        mv "$folder/before-$what" "$folder/now"
        sh -e "$folder/now" < /dev/null > "$folder/now.log" 2>&1
    fi
fi
"#;

/// Both servers.
pub(super) struct Servers {
    pub(super) folder: PathBuf,
    pub(super) ssh: u16,
    pub(super) http: u16,
    pub(super) https: u16,
    /// Name of the account that this program runs as, to which ssh logs in.
    pub(super) user: String,
    /// Whether loopback has an address of IPv6.
    pub(super) has_ipv6: bool,
    sshd: Running,
    _others: Vec<Running>,
}

impl Servers {
    /// Installs what is missing and starts both below `folder`. Redirects lead to the port `redirect_target`.
    pub(super) fn start(folder: &Path, redirect_target: u16) -> Result<Self> {
        let sshd = packages::ensure("sshd", "openssh-server")?;
        let nginx = packages::ensure("nginx", "nginx")?;
        let fcgiwrap = packages::ensure("fcgiwrap", "fcgiwrap")?;
        packages::ensure("openssl", "openssl")?;
        let whoami = Command::new("id").arg("-un").output()?;
        let has_ipv6 = TcpListener::bind("[::1]:0").is_ok();
        let (ssh, http, https) = (free_port()?, free_port()?, free_port()?);
        let ports = HttpPorts {
            http,
            https,
            redirect_target,
        };
        let others = start_http(folder, ports, has_ipv6, &nginx, &fcgiwrap)?;
        Ok(Self {
            sshd: start_ssh(folder, ssh, has_ipv6, &sshd)?,
            folder: folder.to_owned(),
            ssh,
            http,
            https,
            user: String::from_utf8(whoami.stdout)?.trim().to_owned(),
            has_ipv6,
            _others: others,
        })
    }

    /// Host keys in the form that a person enters.
    pub(super) fn host_key(&self) -> Result<String> {
        let mut scan = Command::new("ssh-keyscan");
        scan.args(["-p", &self.ssh.to_string(), "127.0.0.1", "localhost"]);
        if self.has_ipv6 {
            scan.arg("::1");
        }
        let said = String::from_utf8(scan.output()?.stdout)?;
        ensure!(said.contains("ssh-ed25519"), "ssh-keyscan says {said:?}");
        Ok(said)
    }

    /// Replaces the host key for new connections.
    pub(super) fn new_host_key(&self) -> Result<()> {
        let old = self.host_key()?;
        generate_key(&self.folder.join("host"))?;
        self.sshd.signal("HUP");
        for _ in 0..50 {
            if self.host_key().is_ok_and(|new| new != old) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        anyhow::bail!("the host keeps its key")
    }

    /// Replaces the client key that sshd accepts and returns the private key.
    pub(super) fn new_key(&self) -> Result<String> {
        let key = create_key(&self.folder.join("client"))?;
        let public = fs::read_to_string(self.folder.join("client.pub"))?;
        let line = format!(
            "restrict,command=\"{}\" {public}",
            self.folder.join("gate-ssh").display()
        );
        fs::write(self.folder.join("authorized_keys"), line)?;
        Ok(key)
    }

    /// Replaces the token that nginx accepts.
    pub(super) fn set_token(&self, token: &str) -> Result<()> {
        Ok(fs::write(
            self.folder.join("users"),
            format!("{ACCOUNT}:{{PLAIN}}{token}\n"),
        )?)
    }

    /// Runs a script once before a `fetch` or a `push`, after `skip` others of the same kind.
    pub(super) fn run_before(&self, what: &str, skip: usize, text: &str) -> Result<()> {
        fs::write(self.folder.join("skip"), skip.to_string())?;
        Ok(fs::write(self.folder.join(format!("before-{what}")), text)?)
    }

    /// Fails unless the script of [`Self::run_before`] has run without output.
    pub(super) fn check_script_ran(&self, what: &str) -> Result<()> {
        let log = fs::read_to_string(self.folder.join("now.log")).unwrap_or_default();
        let left = self.folder.join(format!("before-{what}")).exists();
        ensure!(
            !left && log.is_empty(),
            "somebody else did not come between: {log}"
        );
        Ok(())
    }

    /// Denies `fetch` or `push` over ssh with these words, or allows it again.
    pub(super) fn deny(&self, what: &str, words: Option<&str>) -> Result<()> {
        let path = self.folder.join(format!("deny-{what}"));
        match words {
            Some(words) => fs::write(path, words)?,
            None => fs::remove_file(path)?,
        }
        Ok(())
    }
}

/// Generates a pair of keys at a path and returns the private one.
pub(super) fn create_key(path: &Path) -> Result<String> {
    generate_key(path)?;
    Ok(fs::read_to_string(path)?)
}

fn generate_key(path: &Path) -> Result<()> {
    drop(fs::remove_file(path));
    let mut make = Command::new("ssh-keygen");
    make.args(["-q", "-t", "ed25519", "-N", "", "-C", "peers", "-f"])
        .arg(path);
    quiet("ssh-keygen", &mut make)
}

fn write_gate(folder: &Path, name: &str, begin: &str, end: &str) -> Result<()> {
    let text = format!("#!/bin/sh\nfolder='{}'\n{begin}{GATE}{end}\n", folder.display());
    write_script(&folder.join(name), &text)
}

fn start_ssh(folder: &Path, port: u16, has_ipv6: bool, sshd: &Path) -> Result<Running> {
    // where it goes before it knows who comes; on a machine without a service of it nobody has made it
    if packages::root() && !Path::new("/run/sshd").exists() {
        fs::create_dir("/run/sshd")?;
        fs::set_permissions("/run/sshd", fs::Permissions::from_mode(0o755))?;
    }
    generate_key(&folder.join("host"))?;
    let classify = "case \"$SSH_ORIGINAL_COMMAND\" in\ngit-upload-pack*) what=fetch ;;\ngit-receive-pack*) what=push ;;\n*) exit 1 ;;\nesac";
    write_gate(folder, "gate-ssh", classify, "eval \"$SSH_ORIGINAL_COMMAND\"")?;
    let at = folder.display();
    let ipv6 = if has_ipv6 {
        format!("ListenAddress [::1]:{port}\n")
    } else {
        String::new()
    };
    let configuration = folder.join("sshd_config");
    fs::write(
        &configuration,
        format!(
            "ListenAddress 127.0.0.1:{port}\n{ipv6}HostKey \"{at}/host\"\nAuthorizedKeysFile \"{at}/authorized_keys\"\nPidFile none\n\
             StrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nLogLevel VERBOSE\nMaxStartups 100\n"
        ),
    )?;
    // newer ones keep those out for a while who came with a wrong key
    let lenient = ["-o", "PerSourcePenalties=no"];
    let mut known = Command::new(sshd);
    known.args(["-t", "-f"]).arg(&configuration).args(lenient);
    let knows = known.output()?.status.success();
    let log = File::create(folder.join("sshd.log"))?;
    let mut command = program(sshd, None);
    command.args(["-D", "-e", "-f"]).arg(&configuration);
    if knows {
        command.args(lenient);
    }
    let mut running = Running::start("sshd", command.stdout(log.try_clone()?).stderr(log))?;
    running
        .wait_until(START_TIMEOUT, || is_listening(port))
        .with_context(|| format!("see {at}/sshd.log"))?;
    Ok(running)
}

fn is_listening(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

/// Ports of nginx, and the one that its redirects lead to.
#[derive(Clone, Copy)]
struct HttpPorts {
    http: u16,
    https: u16,
    redirect_target: u16,
}

/// nginx authenticates and speaks TLS; fcgiwrap starts git. The sockets have short names, as seen from the folder: long ones are cut.
fn start_http(
    folder: &Path,
    ports: HttpPorts,
    has_ipv6: bool,
    nginx: &Path,
    fcgiwrap: &Path,
) -> Result<Vec<Running>> {
    let HttpPorts {
        http,
        https,
        redirect_target,
    } = ports;
    let classify = "case \"$REQUEST_METHOD $QUERY_STRING\" in\n'GET service=git-upload-pack') what=fetch ;;\n\
                 'GET service=git-receive-pack') what=push ;;\n*) what=other ;;\nesac";
    write_gate(folder, "gate-http", classify, "exec git http-backend")?;
    let mut make = Command::new("openssl");
    make.args([
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=peers",
    ]);
    make.args(["-addext", "subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost"]);
    make.args(["-keyout", "tls.key", "-out", "tls.pem"]);
    quiet("openssl", make.current_dir(folder))?;
    let log = File::create(folder.join("fcgiwrap.log"))?;
    let mut started = Vec::new();
    let mut sockets = String::new();
    for number in 0..MAX_HTTP_REQUESTS {
        let socket = format!("fcgi{number}");
        let mut command = program(fcgiwrap, None);
        command
            .args(["-f", "-s", &format!("unix:{socket}")])
            .current_dir(folder);
        let log = log.try_clone()?;
        let mut wrap = Running::start("fcgiwrap", command.stdout(log.try_clone()?).stderr(log))?;
        wrap.wait_until(START_TIMEOUT, || folder.join(&socket).exists())?;
        sockets.push_str(&format!("server unix:{socket};\n"));
        started.push(wrap);
    }
    let at = folder.display();
    let user = if packages::root() { "user root;\n" } else { "" };
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path \"{at}/nginx-temporary\";\n"))
        .concat();
    let hosts = ["127.0.0.1", "[::1]"];
    let listen: String = hosts[..if has_ipv6 { 2 } else { 1 }]
        .iter()
        .map(|host| format!("listen {host}:{http};\nlisten {host}:{https} ssl;\n"))
        .collect();
    let git = format!(
        "default_type text/plain;\nif (-f \"{at}/echo\") {{ return 403 'you sent $http_authorization'; }}\nauth_basic git;\nauth_basic_user_file \"{at}/users\";\ninclude /etc/nginx/fastcgi_params;\nfastcgi_param PATH_INFO $1;\n\
         fastcgi_param SCRIPT_FILENAME \"{at}/gate-http\";\nfastcgi_param GIT_PROJECT_ROOT \"{at}\";\nfastcgi_param GIT_HTTP_EXPORT_ALL 1;\n\
         fastcgi_param REMOTE_USER $remote_user;\nfastcgi_read_timeout 300;\nfastcgi_pass git;\n"
    );
    let configuration = folder.join("nginx.conf");
    fs::write(
        &configuration,
        format!(
            "{user}worker_processes 1;\npid \"{at}/nginx.pid\";\nerror_log stderr warn;\nevents {{ worker_connections 256; }}\nhttp {{\n\
             access_log \"{at}/access.log\";\n{temporary}upstream git {{\nleast_conn;\n{sockets}}}\nserver {{\n{listen}ssl_certificate \"{at}/tls.pem\";\nssl_certificate_key \"{at}/tls.key\";\n\
             client_max_body_size 0;\n\
             location ~ ^/moved(/.*)$ {{ return 302 http://127.0.0.1:{redirect_target}$1$is_args$args; }}\n\
             location ~ ^/half(/.*/git-receive-pack)$ {{ return 307 http://127.0.0.1:{redirect_target}$1; }}\n\
             location ~ ^/half(/.*)$ {{\n{git}}}\nlocation ~ ^/git(/.*)$ {{\n{git}}}\n\
             location ~ ^/page/ {{ default_type text/html; return 200 '<!doctype html><title>Log in</title>'; }}\n}}\n}}\n"
        ),
    )?;
    let log = File::create(folder.join("nginx.log"))?;
    let mut command = program(nginx, None);
    command
        .arg("-c")
        .arg(configuration)
        .args(["-g", "daemon off;", "-e", "stderr"]);
    command.stdout(log.try_clone()?).stderr(log).current_dir(folder);
    let mut running = Running::start("nginx", &mut command)?;
    running
        .wait_until(START_TIMEOUT, || is_listening(http) && is_listening(https))
        .with_context(|| format!("see {at}/nginx.log"))?;
    started.push(running);
    Ok(started)
}
