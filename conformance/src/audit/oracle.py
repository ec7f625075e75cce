"""Says what is wrong with a website, by libraries of others. usage: oracle.py URL FOLDER"""

import json
import pathlib
import sys

import verdicts
import web

start, folder = sys.argv[1:]
site = web.Site(start)
site.crawl()
folder = pathlib.Path(folder)
folder.mkdir(parents=True, exist_ok=True)
files = {}
for number, (url, page) in enumerate(site.pages.items()):
    file = folder / f"{number}.html"
    file.write_bytes(page.answer.body)
    files[url] = str(file)
(folder / "files.json").write_text(json.dumps(files))
found, signs = verdicts.collect(site)
json.dump({"pages": sorted(site.pages), "verdicts": found, "signs": signs}, sys.stdout)
