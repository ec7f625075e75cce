"""Crawls a website with Scrapy or with advertools into a file of JSON lines.

    crawl.py scrapy|advertools ORIGIN OUT.jl

Both get as many connections as serve them, and nothing that slows a crawl down on purpose.
"""

import sys

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.sitemap import Sitemap

FAST = {
    "AUTOTHROTTLE_ENABLED": False,
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
    "COOKIES_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "LOG_ENABLED": False,
    "RETRY_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "TELNETCONSOLE_ENABLED": False,
}


class Pages(Spider):
    """Minimum that an audit needs: the head of every page, its heading and its links."""

    name = "pages"
    allowed_domains = ["127.0.0.1"]
    # a broken link is a finding and no failure
    custom_settings = {"HTTPERROR_ALLOW_ALL": True}
    links = LinkExtractor()

    async def start(self):
        yield Request(self.origin + "/")
        yield Request(self.origin + "/sitemap.xml", callback=self.sitemap)

    def sitemap(self, response):
        for entry in Sitemap(response.body):
            yield Request(entry["loc"])

    def parse(self, response):
        links = self.links.extract_links(response)
        yield {
            "url": response.url,
            "status": response.status,
            "title": response.css("title::text").get(),
            "description": response.css('meta[name="description"]::attr(content)').get(),
            "h1": response.css("h1::text").getall(),
            "canonical": response.css('link[rel="canonical"]::attr(href)').get(),
            "robots": response.css('meta[name="robots"]::attr(content)').get(),
            "links": [link.url for link in links],
        }
        for link in links:
            yield Request(link.url)


def scrapy(origin, out):
    process = CrawlerProcess(FAST | {"FEEDS": {out: {"format": "jsonlines", "overwrite": True}}})
    process.crawl(Pages, origin=origin)
    process.start()


def advertools(origin, out):
    # importing it turns on logging, which would slow Scrapy down
    from advertools import crawl

    # its own guess has the port in it, which Scrapy takes for no host
    crawl([origin + "/"], out, follow_links=True, allowed_domains=["127.0.0.1"], custom_settings=FAST)


if __name__ == "__main__":
    _, peer, origin, out = sys.argv
    {"scrapy": scrapy, "advertools": advertools}[peer](origin, out)
