"""A connection that a client keeps: a refusal that comes before the end of the body, and the request after it.

Clients of MCP are refused before they have a token, and often send head and body in two pieces. A server that then ends the connection
has to say so in the refusal (RFC 9112, 9.6), or the next request is lost: httpx reports "Server disconnected without sending a response".
"""

import http.client
import select
import socket
from urllib.parse import urlparse

from product import PRODUCT
from report import finish, flow

BODY = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
SECONDS = 10
# Time in which a server that does not wait for the body has answered.
EARLY_SECONDS = 1


def head_of(host, path):
    fields = f"Host: {host}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream"
    return f"POST {path} HTTP/1.1\r\n{fields}\r\nContent-Length: {len(BODY)}\r\n\r\n".encode()


def read(connection):
    answer = http.client.HTTPResponse(connection, method="POST")
    answer.begin()
    answer.read()
    return answer


def ask_twice(url):
    """Sends the body after the answer if there is one, and then a second request; returns both statuses, `None` if not kept."""
    address = urlparse(url)
    with socket.create_connection((address.hostname, address.port), SECONDS) as connection:
        connection.sendall(head_of(address.netloc, address.path))
        if not select.select([connection], [], [], EARLY_SECONDS)[0]:
            connection.sendall(BODY)
            return read(connection).status, None
        first = read(connection)
        if first.getheader("connection", "").lower() == "close":
            return first.status, None
        connection.sendall(BODY)
        connection.sendall(head_of(address.netloc, address.path) + BODY)
        return first.status, read(connection).status


def walk(check):
    for name, url in [("MCP", PRODUCT["mcp"]), ("the HTTP API", f"{PRODUCT['api']}/projects/x/keywords")]:
        with check(f"{name} keeps a connection on which it refused early, or says that it ends it", alone=True):
            first, second = ask_twice(url)
            assert first == 401 and second in (None, 401), (first, second)


flow("connection", walk)
finish()
