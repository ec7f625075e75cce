"""The OAuth client of the MCP Python SDK, which knows nothing but the address of the MCP server, in both revisions."""

import asyncio
import logging
from urllib.parse import parse_qsl, urlparse

import httpx2
import mcp
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

from product import PRODUCT, create_account, run_person
from report import finish, flow

CLIENTS = [("sdk-py-legacy", "legacy", "2025-11-25"), ("sdk-py-auto", "auto", "2026-07-28")]


class Storage(TokenStorage):
    """What a program would keep on disk."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Browser:
    """The browser that the client opens, with a person who decides."""

    def __init__(self, email):
        self.email, self.decision, self.asked, self.answer = email, "approve", [], {}

    async def open(self, url):
        self.asked.append(dict(parse_qsl(urlparse(url).query)))
        address = await asyncio.to_thread(run_person, self.decision, self.email, url)
        self.answer = dict(parse_qsl(urlparse(address).query))

    async def answer_of_person(self):
        if "code" not in self.answer:
            raise Declined(self.answer)
        return AuthorizationCodeResult(
            code=self.answer["code"], state=self.answer.get("state"), iss=self.answer.get("iss")
        )


class Declined(Exception):
    """The person declined; the argument is what the client was sent."""


def content(result):
    assert not result.is_error, result.content
    return result.structured_content


def declined_in(error):
    """The answer in a group of errors, however deep."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(declined_in, error.exceptions)), None)
    return error.args[0] if isinstance(error, Declined) else None


async def walk(check, name, mode, revision):
    browser, storage = Browser(create_account(name)), Storage()
    metadata = OAuthClientMetadata(
        client_name=name,
        redirect_uris=["http://127.0.0.1:33418/callback"],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    )

    def provider():
        return OAuthClientProvider(
            server_url=PRODUCT["mcp"],
            client_metadata=metadata,
            storage=storage,
            redirect_handler=browser.open,
            callback_handler=browser.answer_of_person,
        )

    async with httpx2.AsyncClient(auth=provider(), follow_redirects=True) as http:
        connection = mcp.Client(streamable_http_client(PRODUCT["mcp"], http_client=http), mode=mode)
        client = None
        try:
            with check("the address alone leads to registration, sign-in, consent and tokens"):
                client = await connection.__aenter__()
                assert len(browser.asked) == 1 and browser.asked[0]["resource"] == PRODUCT["mcp"], browser.asked
                assert browser.answer["iss"] == PRODUCT["origin"], browser.answer
                assert storage.client.client_id and storage.tokens.refresh_token
            with check(f"connects in revision {revision}"):
                assert client.protocol_version == revision, client.protocol_version
            with check("lists the tools", alone=True):
                names = {tool.name for tool in (await client.list_tools()).tools}
                assert {"me_get", "projects_list"} <= names
            with check("a tool that reads says who asks"):
                me = content(await client.call_tool("me_get", {}))
                assert me["authorization"]["user"]["name"] == name, me
            with check("with an old access token the client refreshes by itself, and the refresh token is replaced"):
                # this client refreshes by its own clock only
                before = storage.tokens
                http.auth.context.token_expiry_time = 1
                content(await client.call_tool("me_get", {}))
                assert len(browser.asked) == 1, "the person was asked again"
                assert storage.tokens.access_token != before.access_token
                assert storage.tokens.refresh_token != before.refresh_token
            with check("a tool that writes makes the client ask the person for more", alone=True):
                listed = content(await client.call_tool("projects_list", {}))
                project = listed["rows"][0][listed["columns"].index("id")]
                asked = len(browser.asked)
                result = await client.call_tool("keywords_create", {"projectId": project, "keyword": f"asked by {name}"})
                assert len(browser.asked) == asked + 1, f"nobody was asked; the answer is {result.content}"
                assert "keywords:write" in browser.asked[-1]["scope"], browser.asked[-1]
            with check("ended on the account page, access needs the person again"):
                asked = len(browser.asked)
                run_person("end", browser.email, name)
                content(await client.call_tool("me_get", {}))
                assert len(browser.asked) == asked + 1
        finally:
            if client:
                await connection.__aexit__(None, None, None)
    with check("a decline comes back as access_denied"):
        run_person("end", browser.email, name)
        browser.decision = "decline"
        answer = None
        try:
            async with httpx2.AsyncClient(auth=provider(), follow_redirects=True) as http:
                async with mcp.Client(streamable_http_client(PRODUCT["mcp"], http_client=http), mode=mode):
                    pass
        except BaseException as error:
            answer = declined_in(error)
            if answer is None:
                raise
        assert answer and answer["error"] == "access_denied" and answer["iss"] == PRODUCT["origin"], answer


# what fails is reported here
logging.getLogger("mcp").setLevel(logging.CRITICAL)
for arguments in CLIENTS:
    flow(arguments[0], lambda check: asyncio.run(walk(check, *arguments)))
finish()
