"""Entries of `settings/`: the text of `recrawl.toml`."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from recrawl.errors import InvalidSettings
from recrawl.parse.addresses import canonical
from recrawl.settings.blocks import NewBlock, with_block, without_blocks
from recrawl.settings.edits import in_force, read_assignment, with_values
from recrawl.settings.key_lines import key_lines
from recrawl.settings.rules import RuleFinder
from recrawl.settings.settings import read_settings
from recrawl.settings.text import first_settings
from tests.fuzz.checks import as_text
from tests.fuzz.grammar import generator
from tests.fuzz.parser import Parser

if TYPE_CHECKING:
    from recrawl.settings.key_lines import KeyPath

_CUT = "\n====\n"


def _read_settings(data: bytes) -> None:
    settings = read_settings(as_text(data))
    assert settings.robots_agent
    assert settings.delay > 0
    assert settings.together >= 1
    assert settings.size >= 0
    for number, rule in enumerate(settings.rules):
        assert rule.minimum <= rule.maximum
        if "?" not in rule.address:
            assert settings.rule_of(rule.address) != -1
        assert RuleFinder(settings.rules).rules_of([rule.address]) == [
            settings.rule_of(rule.address)
        ]
        settings.is_local(rule.address)
        assert settings.has_host(rule.address)
        assert rule.criteria.least_change < 1
        assert not rule.exact or settings.rule_of(rule.address) == number
    for other in ("https://example.org/zzz", "https://example.org/a/b?c", "http://x.org/"):
        assert -1 <= settings.rule_of(other) < len(settings.rules)
        assert (settings.rule_for(other) is None) == (settings.rule_of(other) == -1)
    for listing in settings.listings:
        assert listing.addresses
        assert listing.minimum <= listing.maximum


def _leaves(value: Any, path: KeyPath = ()) -> list[KeyPath]:
    """Paths of all that a document holds."""
    members = dict(enumerate(value)) if isinstance(value, list) else value
    if not isinstance(members, dict):
        return []
    below = [(*path, key) for key in members]
    return [*below, *(each for key in members for each in _leaves(members[key], (*path, key)))]


def _read_key_lines(data: bytes) -> None:
    """Every key of a document that the standard library accepts has its line, and no other."""
    text = as_text(data)
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError):
        return
    try:
        found = key_lines(text)
    except RecursionError:  # brackets nested too deep for us, though not for the library
        return
    assert set(found) == set(_leaves(document))
    lines = text.split("\n")
    assert all(1 <= line <= len(lines) for line in found.values())


def _read_with_site(data: bytes) -> None:
    text, cut, rest = as_text(data).partition(_CUT)
    if not cut:
        text, rest = first_settings("bot (me@example.org)"), text
    address, _, watch = rest.partition("\n")
    if not address.isprintable():  # errors call the block by it
        return
    before = read_settings(text)
    for page in (False, True):
        values = {"watch": [watch] if watch else [], "weight": 2}
        longer = with_block(text, NewBlock(address, page, values))
        after = read_settings(longer)
        assert len(after.rules) == len(before.rules) + 1
        assert longer.startswith(text.removeprefix("\ufeff"))
        if not any(canonical(address) == rule.address for rule in before.rules):
            assert read_settings(without_blocks(longer, [address])) == before


_BLOCKS = b"""agent = "bot (me@example.org)"
budget = "24/1h"
policy = "nutch:longest=90d"
[politeness]
delay = "2s"
together = 2
[storage]
size = "500 MB"
versions = 0
[[site]]
address = "https://example.org/a/"
watch = ["main",
  ".price"] # parts
hours = "22-6"
minimum = "10m"
maximum = "30d"
target = 0.95
[[page]]
address = "https://example.org/a?b"
interval = "1d"
local = true
least_change = 0.3
[[listing]]
name = "jobs"
address = ["https://example.org/jobs", "https://example.org/more"]
form = { q = "baker", "n" = 3 }
items = "li.job"
key = "a@href"
attributes = { title = "h3", city = "$.city" }
page = "p=1"
recall = 0.9
confidence = 0.8
"""
_KEYS = b"""a.b."c d" = 1
[x]
y = [1, [2, {z = "]"}], '''
long'''] # end
[[t.u]]
v = \"\"\"a\\\"\"\"\"\"
[[t.u]]
[t.u.w]
q = 2026-01-02 03:04:05
'k' = {m.n = -1e5, o = []}
"""
_TOKENS = tuple(
    b'[[site]] [[page]] [[listing]] [politeness] [storage] address= agent= budget= "500/1d" = [ ] '
    b"{ } "
    b"\" ' \"\"\" ''' # . , true false 1979-05-27T07:32:00Z 0x1F 1_000 inf nan \\u0041 \\ \r\n "
    b'weight= hours= "22-6" minimum= maximum= interval= links= watch= ["main"] name= items= key= '
    b"objective= policy= size= store= page= next= form= attributes= recall= least_change= target= "
    b"local= together= delay= versions= keep= confidence= precision=".split(b" ")
)
_RULES = {
    "all": ["<agent>\n<top>\n<tables>\n<blocks>", "<top>\n<blocks>\n<agent>", "<agent>\n<blocks>"],
    "agent": [
        'agent = "bot (me@example.org)"',
        'agent = "bot/1 (+https://a.org/b)"',
        "agent=<any>",
    ],
    "top": ["", "<key> = <any>", 'budget = "<budget>"\n<top>', 'objective = "age"', 'policy = "x"'],
    "tables": [
        "",
        "[politeness]\n<pairs>",
        "[storage]\n<pairs>\n<tables>",
        "[network]\n<pairs>",
        "politeness = 1",
    ],
    "blocks": ["", "<block>\n<blocks>", "<block>\n<blocks>", "<block>"],
    "block": [
        '[[site]]\naddress = "<address>"\n<pairs>',
        '[[page]]\naddress = "<address>"\n<pairs>',
        '[[listing]]\nname = "<name>"\naddress = "<address>"\nitems = "li"\nkey = "a"\n<pairs>',
        '[[listing]]\nname = "<name>"\naddress = <any>\nitems = "$.a[*]"\nkey = <any>\n<pairs>',
        '[[webhook]]\naddress = "<address>"\nsecret = "<secret>"\n<pairs>',
        "[[webhook]]\nsecret = <any>\n<pairs>",
        '[[notify]]\naddress = "<secret>"\n<pairs>',
        "[[notify]]\naddress = <any>\n<pairs>",
        "[site]\n<pairs>",
        "[[site]]\n<pairs>",
        "page = [{address = '<address>'}]",
    ],
    "pairs": ["", "<pair>", "<pair>\n<pairs>", "<pair>\n<pairs>"],
    "pair": ["<key> = <any>", '<key> = "<word>"', "<key> = <number>", '<key> = ["<word>"]'],
    "key": [
        *("delay", "together", "store", "versions", "keep", "size", "budget", "weight", "minimum"),
        *("maximum", "interval", "hours", "links", "watch", "ignore", "least_change", "target"),
        *("local", "form", "page", "next", "attributes", "precision", "recall", "confidence"),
        *("name", "kinds", "hosts", "with", "secret", "every", "sections", "words"),
        *("headers", "cookies", "user", "password", "token", "proxy", "ca", "timeout", "page_size"),
        *("weights", "addresses", "agent", "site", "a.b", '"x y"'),
    ],
    "any": ["1", '"<word>"', "true", "[<any>, <any>]", "{ a = <any> }", "<number>", "'x'"],
    "word": [
        "1d",
        "30d",
        "10m",
        "22-6",
        "main",
        "2GB",
        "p=1",
        "a@href",
        "$.x",
        "",
        "li >",
        "<budget>",
    ],
    "number": ["0", "1", "0.5", "-1", "2", "nan", "inf", "1e400", "9" * 400, "0.99"],
    "budget": ["500/1d", "0.1/page/1d", "4/change", "1/s"],
    "name": ["jobs", "cars", " x"],
    "secret": ["env:KEY", "file:a b", "env:", "whsec_AAAA", "<word>"],
    "address": [
        *("https://example.org/", "https://example.org/a", "https://example.org/a/"),
        *("http://b.org", "https://example.org/a?b", "ftp://x", ""),
    ],
}

_WEBHOOK = b"""
[[webhook]]
address = "https://example.org/in"
secret = "env:KEY"
kinds = ["new", "removed"]
hosts = ["a.org"]
with = ["diff"]
"""

_NOTIFY = b"""
[[notify]]
address = "env:MAIL"
name = "me"
every = "6h"
sections = ["https://example.org/a/"]
least_change = 0.1
watch = [".price"]
words = ["price", "closing date"]
"""

_ACCESS = b"""
[network]
proxy = "environment"
ca = "company.pem"
[[site]]
address = "https://example.com/"
user = "me"
password = "env:KEY"
headers = { "Accept-Language" = "de", "X-Key" = "file:a b" }
cookies = "cookies.txt"
proxy = "socks5://127.0.0.1:1080"
delay = "5s"
timeout = "2m"
page_size = "50MB"
"""


def _read_edits(data: bytes) -> None:
    """A value that is set is read back, and what else there is stays."""
    text, _, words = as_text(data).rpartition(_CUT)
    text = text or 'agent = "bot (me@example.org)"  # mine'
    *blocks, word = words.split("\n")
    key, value = read_assignment(word) or (word, None)
    typed = None if value is None else [value]
    longer, (change, *_) = with_values(text, {key: typed}, blocks=blocks)
    assert longer == text.removeprefix("\ufeff") or change.before != change.after
    again, changes = with_values(longer, {key: typed}, blocks=blocks)
    assert again == longer
    assert all(change.before == change.after for change in changes)
    assert any(each.value for each in in_force(longer))


PARSERS = (
    Parser(
        "settings",
        _read_settings,
        seeds=(
            _BLOCKS,
            first_settings("bot (me@example.org)").encode(),
            b"\xef\xbb\xbf" + _BLOCKS,
            _BLOCKS.replace(b'interval = "1d"', b'interval = "1d"\nminimum = "1h"'),
            _BLOCKS.replace(b"[[page]]", b"[[site]]"),
            _BLOCKS + _BLOCKS[_BLOCKS.index(b"[[listing]]") :],
            _BLOCKS + _WEBHOOK,
            _BLOCKS + _WEBHOOK + _WEBHOOK,
            _BLOCKS + _WEBHOOK.replace(b"env:KEY", b"whsec_AAAA"),
            _BLOCKS + _WEBHOOK.replace(b'"a.org"', b'"https://a.org/"'),
            _BLOCKS + _ACCESS,
            *(
                _BLOCKS + _ACCESS.replace(b'user = "me"', each)
                for each in (b"", b'user = "a:b"', b'user = "me"\ntoken = "env:T"', b"proxies = 1")
            ),
            _BLOCKS + _ACCESS.replace(b"env:KEY", b"hunter2"),
            _BLOCKS + _ACCESS.replace(b"file:a b", b"hunter2"),
            _BLOCKS + _ACCESS.replace(b"Accept-Language", b"Host"),
            _BLOCKS + _ACCESS.replace(b"Accept-Language", b"Authorization"),
            _BLOCKS + _ACCESS.replace(b"socks5://", b"http://a:b@"),
            _BLOCKS + _ACCESS.replace(b"cookies.txt", b"a=b"),
            _BLOCKS + _ACCESS.replace(b"https://example.com/", b"https://a:b@example.com/"),
            _BLOCKS + _NOTIFY,
            _BLOCKS + _NOTIFY + _NOTIFY,
            _BLOCKS + _NOTIFY.replace(b"env:MAIL", b"mailto://a:b@c"),
            _BLOCKS + _NOTIFY.replace(b'"6h"', b'"90d"'),
            _BLOCKS + _NOTIFY.replace(b"/a/", b"/a?b"),
            _BLOCKS + _WEBHOOK + _NOTIFY.replace(b'"me"', b'"https://example.org/in"'),
            _BLOCKS.replace(b'key = "a@href"\n', b""),
            *(
                _BLOCKS.replace(b'hours = "22-6"', each)
                for each in (b"watch = [1]", b"storage = 1", b"hour = 1", b'hours = "24-1"')
            ),
            _BLOCKS.replace(b'"nutch:longest=90d"', b"1"),
            _BLOCKS.replace(b'"h3"', b"3"),
            _BLOCKS.replace(b"[[site]]", b"[[site]]\n[[site]]"),
            _BLOCKS.replace(b'key = "a@href"', b'key = "@href"'),
            _BLOCKS.replace(b'key = "a@href"', b'key = " "'),
            _BLOCKS.replace(b'form = { q = "baker", "n" = 3 }', b"form = [1]"),
            _BLOCKS.replace(b'minimum = "10m"', b'minimum = "40d"'),
            _BLOCKS.replace(b'"https://example.org/a/"', b'"https://example.org/a?c"'),
            _BLOCKS.replace(b"?b", b"/").replace(b"[[page]]", b"[[site]]"),
        ),
        modules=tuple(
            f"recrawl.settings.{name}"
            for name in (
                *("access_keys", "keys", "listing_keys", "notify_keys"),
                *("push_keys", "rules", "sections", "settings", "webhook_keys"),
            )
        ),
        tokens=_TOKENS,
        raises=(InvalidSettings,),
        generate=generator(_RULES, "all"),
    ),
    Parser(
        "key lines",
        _read_key_lines,
        seeds=(_KEYS, _BLOCKS),
        modules=("recrawl.settings.key_lines",),
        tokens=_TOKENS,
        generate=generator(_RULES, "all"),
    ),
    Parser(
        "settings with a site",
        _read_with_site,
        seeds=(
            b"https://example.org/\nmain",
            _BLOCKS + _CUT.encode() + b"https://example.org/b\n\x7f",
            _BLOCKS + _CUT.encode() + b"https://example.org/a/",
            b'agent = "bot (me@example.org)"\nsite = []' + _CUT.encode() + b"https://example.org/",
            b'agent = "bot (me@example.org)"' + _CUT.encode() + b"https://example.org/\nli >",
        ),
        modules=("recrawl.settings.text", "recrawl.settings.blocks"),
        tokens=_TOKENS,
        raises=(InvalidSettings,),
        longest_message=1 << 16,  # the address that was typed is the name of the block
    ),
    Parser(
        "changed settings",
        _read_edits,
        seeds=tuple(
            _BLOCKS + _ACCESS + _CUT.encode() + each
            for each in (
                b"budget=5/1d",
                b"https://example.org/a/\nlinks=3",
                b"https://example.org/a/\nbudget",
                b"jobs\nprecision=0.5",
                b"politeness.delay=5s",
                b"feed.keep=5d",
                b"keep=5d",
                b"push.listen=1",
                b"nowhere.x=1",
                b"https://example.org/a/\nwatch=li >",
                b"https://example.org/zzz\nlinks=1",
                b"https://example.com/\nheaders={ a = 'b' }",
                b"https://example.com/\npassword=hunter2",
                b"weights=a.csv",
                b"agent",
            )
        ),
        modules=("recrawl.settings.edits",),
        tokens=(*_TOKENS, b"=", b"\n"),
        raises=(InvalidSettings,),
        longest_message=1 << 16,  # the address that was typed is part of it
    ),
)
