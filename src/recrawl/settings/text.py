"""The text of the `recrawl.toml` of a new crawl.

Pure.
"""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

from recrawl.parse.address_cleaning import TRACKING_PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Mapping

_LINES: Mapping[str, Any] = {"subsequent_indent": "    ", "break_on_hyphens": False}
_TEMPLATE = """\
# Settings of a crawl. Only agent is required. Values without # in front are in force, and are
# the defaults; lines with # in front are examples. `recrawl add` writes the blocks of your sites.
# Times are written 90s, 30m, 6h, 3d, 2w or 1y; addresses begin with http:// or https://.

# Who you are, sent with every request: a name and a contact for site owners, such as
# "my-crawler (+https://example.org/about; me@example.org)".
agent = AGENT

# Visits to all sites and pages below without a budget of their own: 500/1d in total,
# or 0.1/page/1d per page.
budget = "500/1d"

# What to optimise: harmonic, freshness, age, missed or detected.
objective = "harmonic"

# Policy that decides when pages are visited: recrawl, or one of those that `recrawl simulate`
# compares, such as uniform, nutch or nutch:longest=90d.
policy = "recrawl"

# File with weights of single pages (page, weight), such as page views or a search log: CSV,
# JSON or Parquet, compressed or not. Rows of one page add up; pages not in the file get the
# smallest weight in it. They are multiplied by the weight of the page's block.
# weights = "views.csv"

# How often sitemaps and feeds are read for new pages: auto learns it from what each brings, a time
# such as 10m is a fixed interval, off never reads them.
discover = "auto"

[politeness]
# Minimum time between two requests to one host; Crawl-delay in its robots.txt may raise it.
delay = "1s"
# Concurrent requests to one host.
together = 1

[network]
# Proxy for sites without one of their own: an address such as "http://proxy.example.org:3128"
# (or https, socks5); env:NAME or file:PATH for an address with a password; "environment" to use
# HTTPS_PROXY and the like; or "none".
proxy = "none"
# File with additional certificates of authorities to trust.
# ca = "company.pem"

[storage]
# File for pages, visits and versions, relative to this file; or postgresql://user@host/database.
store = "recrawl.db"
# Number of versions kept per page; 0 keeps none.
versions = 10
# Versions older than this are deleted, except the newest of each page.
keep = "90d"
# Maximum size of the store on disk. Old versions are deleted first, then newest ones; pages and
# visits never.
size = "10GB"
# Parts that `recrawl worker` processes divide the sites into, for a store in PostgreSQL; several
# times as many as there will be workers.
slots = 16

[feed]
# Events of the change feed older than this are deleted; readers that are further behind must
# start again with a snapshot.
keep = "90d"
# Whether to store the chunks of the page with each event, so that an index of chunks learns
# what to delete even if the versions are no longer kept.
chunks = false

[filters]
# Patterns of addresses that are left out, such as "/calendar/" for all under it, "*.pdf",
# "*sort=*" or "re:/[0-9]{4}/$"; * stands for any characters but /, ** for any.
exclude = []
# Patterns of the only addresses that are taken in; empty for all.
include = []
# Parameters that say nothing of a page and are dropped from addresses, as are session ids. A
# list of your own takes the place of this one; [] leaves addresses as they are.
drop_parameters = PARAMETERS
# Whether pages that are copies of others, by rel=canonical or by what they show, are visited
# only to see whether they still are.
duplicates = true
# Whether to recognize calendars and other endless series of addresses, and stop following them.
traps = true

# [push]
# # Where this machine listens for what WebSub hubs push, while a crawl runs.
# listen = "127.0.0.1:8085"
# # How hubs reach that: an address that your reverse proxy hands on to it.
# address = "https://me.example.org/push"

# A block [[site]] covers everything under an address, a block [[page]] one page. Both have the
# same keys; only address is required. If several blocks cover a page, its own [[page]] applies,
# otherwise the [[site]] with the longest address.

# A block [[listing]] covers a list of objects, such as jobs or cars. Its objects are copied
# whenever the copy is about to fall below its target quality. name, address, items and key are
# required. Items are found by CSS selectors, or by paths such as $.jobs[*] for JSON.

# A block [[webhook]] posts every event of the change feed to a program of yours; a block
# [[notify]] sends changes to people as messages, by mail, chat or phone.

# [[site]]
# address = "https://example.org/"
# # Its own budget, instead of a share of the budget at the top.
# budget = "500/1d"
# # Importance of fresh copies, relative to other blocks.
# weight = 1.0
# # Minimum time between two visits to a page,
# minimum = "10m"
# # and the maximum.
# maximum = "30d"
# # Hours of the day (UTC) in which visits are allowed: from 22:00 to 6:00.
# hours = "22-6"
# # How many links deep to follow from its pages; 0: robots.txt, sitemaps and feeds only.
# links = 0
# # How often its sitemaps and feeds are read for new pages, instead of discover at the top.
# discover = "10m"
# # A list of its pages that have changed, read as a sitemap is; several go in brackets.
# changed = "https://example.org/changed.txt"
# # CSS selectors: only these parts of a page count.
# watch = ["main"]
# # CSS selectors: these parts of a page do not count.
# ignore = [".advert"]
# # Share of words that must differ for a page to count as changed; by default, any difference.
# least_change = 0.3
# # Target share of fresh copies; `recrawl status` shows whether it is met, and what it takes.
# target = 0.95
# # Whether addresses on this machine or on a private network are allowed.
# local = false
# # Whether to obey noarchive, nofollow and the like; false only for your own sites.
# robots_tags = true
# # All keys of [filters]: what stands here takes the place of what stands there.
# exclude = ["/calendar/", "*.pdf"]

# [[site]]
# # A site with a login. Never write a secret here: env:NAME is an environment variable,
# # file:PATH a file, relative to this one. Secrets are sent to this site only.
# address = "https://intranet.example.org/"
# # Basic authentication.
# user = "crawler"
# password = "env:INTRANET_PASSWORD"
# # Cookies exported from a browser, as cookies.txt.
# cookies = "cookies.txt"
# # More headers; those whose name suggests a secret need env:NAME or file:PATH too.
# headers = { "Accept-Language" = "de", "X-Api-Key" = "file:key.txt" }
# # A proxy and certificates, instead of those in [network].
# proxy = "socks5://127.0.0.1:1080"
# ca = "company.pem"
# # Minimum time between two requests to its host, instead of that in [politeness].
# delay = "5s"
# # Longest duration of a request, and largest size of a page.
# timeout = "60s"
# page_size = "20MB"

# [[site]]
# address = "https://api.example.org/"
# # A token, sent as "Authorization: Bearer ...".
# token = "env:API_TOKEN"

# [[page]]
# address = "https://example.org/prices"
# # Fixed time between visits, instead of minimum and maximum.
# interval = "1d"

# [[listing]]
# # Its name; do not change it later.
# name = "jobs"
# # First page of the list; several addresses for a list in parts.
# address = "https://example.org/jobs"
# # Form to send, for lists that are requested by a form.
# form = { q = "baker" }
# # Parameter that counts its pages: p=1, p=2, ... until there is nothing new,
# page = "p=1"
# # or the link that leads to the next page.
# next = "a.next"
# # Each item of the list,
# items = "li.job"
# # its permanent key: the text of an element, or with @ an attribute of it,
# key = "a@href"
# # and what else to keep of it.
# attributes = { title = "h3", city = ".city" }
# # Address of its detail page, which the crawl visits while the item is listed;
# detail = "a@href"
# # importance of these pages, and which parts of them count, as for a [[site]].
# weight = 1.0
# watch = ["main"]
# ignore = [".advert"]
# # Target share of the copy that is still listed.
# precision = 0.9
# # Target share of the list that is in the copy.
# recall = 0.9
# # Probability of keeping both targets.
# confidence = 0.8

# [[webhook]]
# # Events of the change feed are posted to this address, signed, in order, at least once.
# address = "https://example.org/changes"
# # Secret that signs them: env:NAME or file:PATH. It begins with whsec_.
# secret = "env:RECRAWL_SECRET"
# # Its name; do not change it later. By default, its address.
# name = "index"
# # Only events of these kinds: new, changed, removed, moved, back.
# kinds = ["new", "changed", "removed", "moved", "back"]
# # Only pages of these hosts.
# hosts = ["example.org"]
# # What to include in each event: text, markdown, diff, chunks.
# with = ["diff"]
# # Whether addresses on this machine or on a private network are allowed.
# local = false

# [[notify]]
# # Address of the service in the form of apprise: env:NAME or file:PATH, because such
# # addresses hold passwords, as in mailto://me:password@example.org.
# address = "env:RECRAWL_MAIL"
# # Its name; do not change it later. By default, the reference to its address.
# name = "me"
# # At most one message in this time; none if nothing changed.
# every = "1h"
# # Only changes of these kinds: new, changed, removed, moved, back.
# kinds = ["new", "changed", "removed", "moved", "back"]
# # Only pages of these hosts,
# hosts = ["example.org"]
# # or under these addresses.
# sections = ["https://example.org/news/"]
# # Share of words that must differ; by default, any difference.
# least_change = 0.1
# # CSS selectors: only changes in these parts of a page.
# watch = [".price"]
# # Only changes in lines with one of these words or phrases.
# words = ["price", "closing date"]
"""


def first_settings(agent: str = "") -> str:
    """Text of the settings of a new crawl, every key explained.

    >>> first_settings("bot (me@example.org)").count('agent = "bot (me@example.org)"')
    1
    """
    names = textwrap.fill(
        toml_value(TRACKING_PARAMETERS)[1:-1], 92, initial_indent="    ", **_LINES
    )
    parameters = f"[\n{names},\n]"
    return _TEMPLATE.replace("AGENT", toml_value(agent)).replace("PARAMETERS", parameters)


def toml_value(value: object) -> str:
    """A text, a number, a truth value or a list of them, as TOML writes it."""
    # JSON writes all of them alike, but for one character that TOML does not let stand.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
