"""The running product, as the scripts see it, and accounts in it; `product.mjs` in Python."""

import json
import os
import subprocess
from pathlib import Path

# Program, data folder, and the addresses of the authorization server, of the HTTP API and of MCP.
PRODUCT = json.loads(os.environ["PEOPLE_PRODUCT"])
PASSWORD = "correct horse battery staple 7"


def run(command, text="", **environment):
    """Runs a program to its end and returns what it printed."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        raise RuntimeError(f"{command[1:3]} failed: {done.stderr.strip()[-500:]}")
    return done.stdout.strip()


def create_account(name):
    """Makes an account; every walk has its own."""
    email = f"{name}@example.com"
    command = ["admin", "user", "create", "--email", email, "--name", name, "--role", "owner", "--password-stdin"]
    run([PRODUCT["program"], *command, "--json"], PASSWORD, SEARCHWRIGHT_DATA_DIR=PRODUCT["data"])
    return email


def run_person(work, email, subject):
    """Lets the person of `person.mjs` do something; returns the address that the browser ends at."""
    return run([os.environ.get("PEOPLE_NODE", "node"), str(Path(__file__).with_name("person.mjs")), work, email, subject])
