"""Clients that generators of others make of the OpenAPI document: each compiles, and runs the first session of the README."""

import os
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import urlopen

from product import PRODUCT, run
from report import finish, flow

FOLDER = Path(PRODUCT["data"]) / "clients"
SITE = FOLDER / "site"
TOOLS = Path(sys.executable).parent
DOCUMENT = FOLDER / "openapi.json"


def tool(*command, folder=FOLDER, **environment):
    """Runs a generator or compiler, and returns what it printed."""
    path = f"{TOOLS}:{os.environ['PATH']}"
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path, **environment},
    )
    if done.returncode:
        raise RuntimeError(f"{command[1:3]} failed: {(done.stdout + done.stderr).strip()[-1500:]}")
    return done.stdout + done.stderr


def write_site(href):
    (SITE / "index.html").write_text(
        f'<!doctype html><html lang="en"><title>House plants</title><h1>Ferns</h1><a href="{href}">Guide</a>'
    )
    (SITE / "ferns.html").write_text(
        '<!doctype html><html lang="en"><title>Fern guide</title><h1>Watering</h1><a href="/">Home</a>'
    )


def serve_site():
    SITE.mkdir(parents=True, exist_ok=True)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", PRODUCT["site"]), partial(Quiet, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()


def create_key(name):
    """Makes a project of its own for a client."""
    import json

    admin = partial(run, SEARCHWRIGHT_DATA_DIR=PRODUCT["data"])
    domain = f"http://127.0.0.1:{PRODUCT['site']}"
    program = PRODUCT["program"]
    project = json.loads(admin([program, "admin", "project", "create", "--name", name, "--domain", domain, "--json"]))
    key = json.loads(admin([program, "admin", "key", "create", "--project", project["id"], "--name", name, "--json"]))
    return key["key"]


def python_client(check):
    key = create_key("python")
    with check("openapi-python-client generates it"):
        said = tool(
            TOOLS / "openapi-python-client", "generate", "--path", DOCUMENT, "--output-path", FOLDER / "python", "--overwrite"
        )
        # Files as a body of their own are the one thing that it does not know.
        left_out = [line for line in said.splitlines() if line.startswith("Unable") or "Cannot parse" in line]
        assert not left_out, left_out
    sys.path.insert(0, str(FOLDER / "python"))
    with check("it compiles"):
        tool(sys.executable, "-m", "compileall", "-q", FOLDER / "python")
    with check("it runs the first session"):
        import generated_session

        write_site("/guide")
        generated_session.run(PRODUCT["api"], key, lambda: write_site("/ferns.html"))


def typescript_client(check, name, generate, session):
    key = create_key(name)
    folder = FOLDER / name
    folder.mkdir()
    node = os.environ["PEOPLE_NODE"]
    packages = Path(node).parents[2]
    (folder / "node_modules").symlink_to(packages)
    with check("the generator makes it"):
        tool(node, *generate(packages, folder), folder=folder)
    with check("it compiles"):
        (folder / "session.ts").write_text((Path(__file__).parent / session).read_text())
        options = "--strict --target es2022 --lib es2022,dom,dom.iterable --types node --module esnext --moduleResolution bundler"
        tool(node, packages / "typescript/bin/tsc", *options.split(), "session.ts", folder=folder)
        (folder / "package.json").write_text('{"type":"module"}')
    with check("it runs the first session"):
        write_site("/guide")
        tool(
            node,
            packages / "tsx/dist/cli.mjs",
            "session.ts",
            folder=folder,
            SESSION_API=PRODUCT["api"],
            SESSION_KEY=key,
            SESSION_SITE=str(SITE),
        )


def rust_client(check):
    key = create_key("rust")
    folder = FOLDER / "rust"
    with check("openapi-generator makes it"):
        options = "packageName=generated,library=reqwest"
        tool(
            TOOLS / "openapi-generator-cli", "generate", "-i", DOCUMENT, "-g", "rust", "-o", folder, f"--additional-properties={options}"
        )
    with check("it compiles and runs the first session"):
        # The generator's default would need OpenSSL.
        manifest = (folder / "Cargo.toml").read_text()
        manifest = manifest.replace('default = ["native-tls"]', "default = []")
        manifest += '\n[dev-dependencies]\ntokio = { version = "1", features = ["macros", "rt", "time"] }\n[workspace]\n'
        (folder / "Cargo.toml").write_text(manifest)
        (folder / "examples").mkdir()
        shutil.copy(Path(__file__).parent / "generated_session.rs", folder / "examples/session.rs")
        write_site("/guide")
        tool(
            "cargo",
            "run",
            "--quiet",
            "--example",
            "session",
            folder=folder,
            CARGO_TARGET_DIR=str(Path(__file__).parent / "rust-client"),
            RUSTFLAGS="",
            SESSION_API=PRODUCT["api"],
            SESSION_KEY=key,
            SESSION_SITE=str(SITE),
        )


FOLDER.mkdir(parents=True)
serve_site()
DOCUMENT.write_bytes(urlopen(f"{PRODUCT['origin']}/v1/openapi.json").read())
flow("openapi-python-client", python_client)
flow(
    "openapi-typescript",
    lambda check: typescript_client(
        check,
        "openapi-typescript",
        lambda packages, folder: [packages / "openapi-typescript/bin/cli.js", DOCUMENT, "-o", folder / "api.d.ts"],
        "generated_fetch.ts",
    ),
)
flow(
    "hey-api",
    lambda check: typescript_client(
        check,
        "hey-api",
        lambda packages, folder: [packages / "@hey-api/openapi-ts/bin/run.js", "-i", DOCUMENT, "-o", folder / "client"],
        "generated_sdk.ts",
    ),
)
flow("openapi-generator", rust_client)
finish()
