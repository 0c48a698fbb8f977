"""Has Scrapy follow every link from the seeds: the driver of a comparison, see tools/others.

scrapy runspider spider.py -a seeds=FILE -s CONCURRENT_REQUESTS=N -s DOWNLOAD_DELAY=SECONDS

The proxy is that of the variable http_proxy.
"""

import scrapy
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor


class Everything(scrapy.Spider):
    name = "everything"
    custom_settings = {
        "ROBOTSTXT_OBEY": True,
        "RANDOMIZE_DOWNLOAD_DELAY": False,  # the delay is to be the one that was asked for
        "METAREFRESH_ENABLED": False,  # else a page that names its successor has no links
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
    }
    # The elements whose references are followed, the same for all drivers.
    links = LinkExtractor(
        tags=("a", "area", "link", "img", "iframe", "embed"), attrs=("href", "src"), deny_extensions=[]
    )

    def start_requests(self):
        with open(self.seeds, encoding="ascii") as seeds:
            for line in seeds:
                yield scrapy.Request(line.strip())

    def parse(self, response):
        if not isinstance(response, HtmlResponse):
            return  # an image, a style sheet, a document
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)
        for candidates in response.css("img::attr(srcset)").getall():
            for candidate in candidates.split(","):
                yield response.follow(candidate.split()[0])
