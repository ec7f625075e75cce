"""Preprocessor of mdBook: links to files of the repository that are outside of `docs` lead to the repository."""

import json
import posixpath
import re
import sys

LINK = re.compile(r"\]\((\.\./[^)\s]+)\)")


def rewrite(chapter, repository):
    folder = posixpath.join("docs", posixpath.dirname(chapter["path"]))

    def address(link):
        target = posixpath.normpath(posixpath.join(folder, link[1]))
        return link[0] if target.startswith("docs/") else f"]({repository}/blob/HEAD/{target})"

    chapter["content"] = LINK.sub(address, chapter["content"])
    for item in chapter["sub_items"]:
        if "Chapter" in item:
            rewrite(item["Chapter"], repository)


if sys.argv[1:2] == ["supports"]:
    sys.exit(0 if sys.argv[2] == "html" else 1)
context, book = json.load(sys.stdin)
for item in book["items"]:
    if "Chapter" in item:
        rewrite(item["Chapter"], context["config"]["output"]["html"]["git-repository-url"])
json.dump(book, sys.stdout)
