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
# Settings of a crawl. What stands here are the defaults; only agent must be given.
# Times are written 90s, 30m, 6h, 3d or 2w; addresses begin with http:// or https://.

# Who you are, sent with every request: a name, and a contact for those who run the sites,
# such as "my-crawler (+https://example.org/about; me@example.org)".
agent = AGENT

# Visits to all sites and pages below that have no budget of their own: 500/1d for all
# together, or 0.1/page/1d for each page.
budget = "500/1d"

# What the visits are spent on: harmonic, freshness, age, missed or detected.
objective = "harmonic"

# What decides when pages are visited: recrawl is our own; others, such as uniform, nutch or
# nutch:longest=90d, are those of `recrawl simulate`.
policy = "recrawl"

# File of how much single pages matter (page, weight), such as page views or a search log: CSV,
# JSON or Parquet, packed or not. Rows of one page add up; pages that it does not name weigh as
# the least that it names. The weight of a page's block is multiplied by it.
# weights = "views.csv"

# How often sitemaps and feeds are read for new pages: auto learns it from what each brings, a time
# such as 10m fixes it, off leaves it be.
discover = "auto"

[politeness]
# Least time between two requests to one host; the Crawl-delay of its robots.txt may raise it.
delay = "1s"
# Requests to one host at a time.
together = 1

[network]
# Proxy of all sites that name none: an address such as "http://proxy.example.org:3128" (or https,
# socks5), env:NAME or file:PATH where one with a password is, "environment" for what HTTPS_PROXY
# and the like say, or "none".
proxy = "none"
# File with certificates of authorities of your own, trusted besides those of the system.
# ca = "company.pem"

[storage]
# File that holds pages, visits and versions; its place is seen from this file.
store = "recrawl.db"
# Newest versions kept of a page; 0 keeps none.
versions = 10
# Versions older than this are dropped, but for the newest of a page.
keep = "90d"
# What the store may take on the disk. Old versions are dropped for it first, then newest ones;
# pages and visits never.
size = "10GB"

[feed]
# Events of the change feed older than this are dropped; who has read up to one of them begins
# again with a snapshot.
keep = "90d"
# Whether to write down with each event which chunks the page has, so that an index of chunks
# learns what to delete also when versions were dropped before it was read.
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
# Whether calendars and other addresses without end are found out, and no more of them taken in.
traps = true

# [push]
# # Where this machine listens for what WebSub hubs push, while a crawl runs.
# listen = "127.0.0.1:8085"
# # How hubs reach that: an address that your reverse proxy hands on to it.
# address = "https://me.example.org/push"

# A block [[site]] is for everything under an address, a block [[page]] for one page. Both
# have the same keys, and only address must be given. Where several blocks hold an address,
# its own [[page]] decides, else the [[site]] with the longest address; the others say
# nothing about it.

# A block [[listing]] is for a list of objects, such as jobs or cars. Its objects are copied
# whenever the copy is about to be worse than is wanted. name, address, items and key must be
# given. Where items are is told by CSS selectors, or by paths such as $.jobs[*] for JSON.

# A block [[webhook]] is for a program of yours that is told of every event of the change feed,
# a block [[notify]] for people, who get what changed as messages, by mail, chat or phone.

# [[site]]
# address = "https://example.org/"
# # Visits of its own, instead of a share of the budget at the top.
# budget = "500/1d"
# # How much a fresh copy matters, compared with the others.
# weight = 1.0
# # A page is never visited more often than this,
# minimum = "10m"
# # and never less often than this.
# maximum = "30d"
# # Hours of the day, in UTC, in which it may be visited: from 22:00 to 6:00.
# hours = "22-6"
# # How many links deep to follow from its pages; 0: robots.txt, sitemaps and feeds only.
# links = 0
# # How often its sitemaps and feeds are read for new pages, instead of discover at the top.
# discover = "10m"
# # A list of its pages that have changed, read as a sitemap is; several go in brackets.
# changed = "https://example.org/changed.txt"
# # CSS selectors: only these parts of a page count.
# watch = ["main"]
# # CSS selectors: these parts do not count.
# ignore = [".advert"]
# # Share of the words of a page that must differ for it to count as changed; any by default.
# least_change = 0.3
# # Share of its copies that should be fresh: status says whether it is met, or what it takes.
# target = 0.95
# # Whether it may be on this machine or on a private network.
# local = false
# # Whether noarchive, nofollow and the like are heeded, which pages ask for; false for your own.
# robots_tags = true
# # All keys of [filters]: what stands here takes the place of what stands there.
# exclude = ["/calendar/", "*.pdf"]

# [[site]]
# # One that you may log in to. A secret never stands here: env:NAME names a variable of the
# # environment, file:PATH a file, seen from this one. Nobody else is ever sent it.
# address = "https://intranet.example.org/"
# # Basic authentication.
# user = "crawler"
# password = "env:INTRANET_PASSWORD"
# # Cookies that you have exported from a browser, as a cookies.txt.
# cookies = "cookies.txt"
# # Further headers; whatever may be a secret by its name is env:NAME or file:PATH, too.
# headers = { "Accept-Language" = "de", "X-Api-Key" = "file:key.txt" }
# # Instead of what [network] says: a proxy, and certificates.
# proxy = "socks5://127.0.0.1:1080"
# ca = "company.pem"
# # Instead of what [politeness] says: least time between two requests to its host.
# delay = "5s"
# # What a request may take, and how large a page may be.
# timeout = "60s"
# page_size = "20MB"

# [[site]]
# address = "https://api.example.org/"
# # A token, sent as "Authorization: Bearer ...".
# token = "env:API_TOKEN"

# [[page]]
# address = "https://example.org/prices"
# # Visited exactly this often, instead of minimum and maximum.
# interval = "1d"

# [[listing]]
# # What it is called, now and later.
# name = "jobs"
# # Where the list begins; several addresses for a list in parts.
# address = "https://example.org/jobs"
# # A form to send, for lists that are asked for in this way.
# form = { q = "baker" }
# # Parameter that counts its pages: p=1, p=2, ... until there is nothing new,
# page = "p=1"
# # or the link that leads to the next page.
# next = "a.next"
# # Each item of the list,
# items = "li.job"
# # what names it for ever: text of an element, or @ and an attribute of it,
# key = "a@href"
# # and what else to keep of it.
# attributes = { title = "h3", city = ".city" }
# # Address of its detail page, which becomes a page of the crawl while the item is listed;
# detail = "a@href"
# # how much fresh copies of these pages matter, and what counts in them, as for a [[site]].
# weight = 1.0
# watch = ["main"]
# ignore = [".advert"]
# # Share of the copy that is still listed, at the least.
# precision = 0.9
# # Share of the list that is in the copy, at the least.
# recall = 0.9
# # Probability with which both are to be kept.
# confidence = 0.8

# [[webhook]]
# # Events of the change feed are posted to this address, signed, in order, at least once.
# address = "https://example.org/changes"
# # Where the secret is that signs them: env:NAME or file:PATH. It begins with whsec_.
# secret = "env:RECRAWL_SECRET"
# # What it is called, now and later; its address if left out.
# name = "index"
# # Only events of these kinds: new, changed, removed, moved, back.
# kinds = ["new", "changed", "removed", "moved", "back"]
# # Only pages of these hosts.
# hosts = ["example.org"]
# # What each event brings with it: text, markdown, diff, chunks.
# with = ["diff"]
# # Whether it may be on this machine or on a private network.
# local = false

# [[notify]]
# # Where the address of the service is, as apprise writes it: env:NAME or file:PATH. Such
# # addresses hold passwords; mailto://me:password@example.org is one.
# address = "env:RECRAWL_MAIL"
# # What it is called, now and later; where its address is if left out.
# name = "me"
# # At most one message in this time; nothing is sent where nothing changed.
# every = "1h"
# # Only changes of these kinds: new, changed, removed, moved, back.
# kinds = ["new", "changed", "removed", "moved", "back"]
# # Only pages of these hosts,
# hosts = ["example.org"]
# # or under these addresses.
# sections = ["https://example.org/news/"]
# # Share of the words of a page that must differ; any by default.
# least_change = 0.1
# # CSS selectors: only changes in these parts of a page.
# watch = [".price"]
# # Only changes of lines with one of these words or phrases.
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
