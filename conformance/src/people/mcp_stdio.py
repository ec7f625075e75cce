"""The MCP Python SDK as a client that starts `searchwright mcp` and speaks with it over its streams, in both revisions."""

import asyncio
import json
import logging

import mcp
from mcp.client.stdio import StdioServerParameters

from product import PRODUCT, run
from report import finish, flow

CLIENTS = [("stdio-py-legacy", "legacy", "2025-11-25"), ("stdio-py-auto", "auto", "2026-07-28")]
AT_ONCE = 20


def admin(*words):
    return json.loads(run([PRODUCT["program"], "admin", *words, "--json"], SEARCHWRIGHT_DATA_DIR=PRODUCT["data"]))


def content(result):
    assert not result.is_error, result.content
    return result.structured_content


def messages(error):
    """The words of an error, and of those in a group."""
    if isinstance(error, BaseExceptionGroup):
        return " ".join(map(messages, error.exceptions))
    return str(error)


async def walk(check, name, mode, revision):
    def client(**credential):
        env = {"SEARCHWRIGHT_URL": PRODUCT["origin"], "HOME": PRODUCT["data"], **credential}
        return mcp.Client(StdioServerParameters(command=PRODUCT["program"], args=["mcp"], env=env), mode=mode)

    async with client(SEARCHWRIGHT_KEY=KEY) as connected:
        with check(f"connects in revision {revision}"):
            assert connected.protocol_version == revision, connected.protocol_version
        with check("lists the tools"):
            assert "me_get" in {tool.name for tool in (await connected.list_tools()).tools}
        with check("a tool that reads says whose key it is"):
            me = content(await connected.call_tool("me_get", {}))
            assert me["project"]["id"] == PROJECT, me
        with check("calls at once get each their own answer"):
            words = [f"{name} {at}" for at in range(AT_ONCE)]
            made = await asyncio.gather(*(connected.call_tool("keywords_create", {"keyword": word}) for word in words))
            assert [content(result)["keyword"] for result in made] == words
        with check("a wrong argument is a result that names it"):
            result = await connected.call_tool("keywords_create", {"keyword": ""})
            assert result.is_error and "/keyword" in str(result.content), result
    with check("without a credential the client shows how to get one"):
        try:
            async with client() as nobody:
                await nobody.list_tools()
        except BaseException as error:
            assert "searchwright login --mcp" in messages(error), messages(error)
        else:
            raise AssertionError("it was let in")


logging.getLogger("mcp").setLevel(logging.CRITICAL)
PROJECT = admin("project", "create", "--name", "Stdio", "--domain", "stdio.example")["id"]
KEY = admin("key", "create", "--project", PROJECT, "--name", "stdio")["key"]
for arguments in CLIENTS:
    flow(arguments[0], lambda check: asyncio.run(walk(check, *arguments)))
finish()
