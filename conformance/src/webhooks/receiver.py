"""A receiver of webhooks that verifies by the official libraries of Python. `receiver.py PORT`; the secret is in `secret`."""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks.webhooks import Webhook as StandardWebhooks
from svix.webhooks import Webhook as Svix


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with open("secret", encoding="ascii") as file:
            secret = file.read()
        for name, library in [("standardwebhooks", StandardWebhooks), ("svix", Svix)]:
            try:
                event = library(secret).verify(body, headers)
                print("VALID", name, (event or {}).get("type"), flush=True)
            except Exception as error:
                print("INVALID", name, error, flush=True)
            try:
                library(secret).verify(body + b" ", headers)
                print("INVALID", name, "took a body that was changed", flush=True)
            except Exception:
                print("REFUSED", name, flush=True)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
print("listening", flush=True)
server.serve_forever()
