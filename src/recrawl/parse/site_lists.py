"""Lists of sites and pages that other tools and people keep, told apart by their content.

| list | what is taken over |
|---|---|
| addresses, one per line | the first word of each line, and a date after it; `#` begins a comment |
| OPML, of feed readers | the site of each feed |
| `urls.yaml` of urlwatch | pages, and CSS filters as parts that count |
| `url-watches.json` of changedetection.io, or its backup | pages, CSS filters, parts to ignore |
| a message of IndexNow | the addresses of its `urlList` |

What a list asks for beyond that is counted by what it is. Nothing of a list is ever run.

Pure.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, Any

from recrawl.errors import InvalidInput
from recrawl.parse.addresses import canonical, origin_of
from recrawl.parse.dates import w3c_date
from recrawl.parse.encodings import decoded
from recrawl.parse.records import root_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Parts = Mapping[str, tuple[str, ...]]

MOST_BYTES = 20_000_000
MOST_ENTRIES = 100_000
_MOST_YAML = 2_000_000  # letters: its reader is slow
_ZIP, _WATCHES = b"PK\x03\x04", "url-watches.json"
_YAML = re.compile(r"^(?:---|(?:url|navigate|command|name|kind|filter)[ \t]*:)", re.MULTILINE)
_COMMENT = re.compile(r"(?:^|\s)#.*")
_SHOWN = 60
_LONGEST_SELECTOR = 1000

# Filters of urlwatch that make a page into text, as is done here anyway.
_AS_TEXT = frozenset({"html2text", "strip", "striplines", "beautify", "html5lib", "re.sub-blank"})
_SELECTORS = {
    "css": "{}",
    "element-by-id": "#{}",
    "element-by-class": ".{}",
    "element-by-tag": "{}",
}
_OF_REQUESTS = (
    *("headers", "cookies", "data", "method", "http_proxy", "https_proxy", "ssl_no_verify"),
    *("encoding", "user_agent", "timeout", "body"),
)
_OF_TEXTS = (
    *("trigger_text", "ignore_text", "text_should_not_be_present", "extract_text"),
    *("filter_text_added", "filter_text_removed", "filter_text_replaced"),
)


@dataclass(frozen=True, slots=True)
class ListedAddress:
    """A site or a page of a list.

    Args:
        address: Canonical address.
        page: Whether it is one page; None where the list does not say.
        watch: CSS selectors of the only parts that count, unchecked.
        ignore: CSS selectors of parts that do not count, unchecked.
        modified: Epoch seconds at which it changed last by the list's word; nan if unsaid.
    """

    address: str
    page: bool | None = None
    watch: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    modified: float = nan


@dataclass(frozen=True, slots=True)
class SiteList:
    """What was read of a list, without repeats.

    Args:
        kind: What list it is, for people.
        entries: Its sites and pages, in its order.
        left_out: What it asks for that was not taken over, in plural, and how often.
        first_bad: The first entry that has no address, with its place; empty for none.
    """

    kind: str
    entries: tuple[ListedAddress, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    first_bad: str = ""


def read_site_list(body: bytes) -> SiteList:
    r"""Sites and pages of a list.

    Raises:
        InvalidInput: It is no such list, or larger than any that people keep.

    Examples:
        >>> found = read_site_list(b"# mine\nhttps://example.org  tea\nno address\n")
        >>> [each.address for each in found.entries], found.left_out, found.first_bad
        (['https://example.org/'], {'lines without an address': 1}, 'line 3: "no address"')
        >>> read_site_list(b"http:/a.org\nhttps://a.org").left_out
        {'lines without an address': 1}
    """
    if len(body) > MOST_BYTES:
        raise InvalidInput(f"a list has at most {MOST_BYTES:,} bytes (got more)")
    if body.startswith(_ZIP):
        body = _unzipped(body)
    text = decoded(body).removeprefix("\ufeff")
    start = text.lstrip()[:1]
    if start == "<":
        return _Collected("OPML").of(_opml(body))
    if start == "{":
        return _json(text)
    if _YAML.search(text):
        return _urlwatch(text)
    return _lines(text)


class _Collected:
    """Entries and what is left out, while a list is read."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._entries: dict[str, ListedAddress] = {}
        self.left_out: Counter[str] = Counter()
        self._first_bad = ""

    def add(
        self,
        text: object,
        place: str,
        what: str,
        parts: Mapping[str, tuple[str, ...]] | None = None,
        modified: float = nan,
    ) -> None:
        """Take in an address, or count what has none.

        Args:
            text: What should be an address.
            place: Where it stands.
            what: What it is counted as where it is none.
            parts: Parts of a page that count; None where it may be a site.
            modified: When it changed last, in epoch seconds; nan if unsaid.
        """
        # `http:/a.org` is a slip of the pen, whatever browsers make of it.
        address = canonical(text) if isinstance(text, str) and "://" in text else None
        if address is None:
            self.left_out[what] += 1
            shown = json.dumps(str(text)[:_SHOWN])
            self._first_bad = self._first_bad or f"{place}: {shown}"
        elif len(self._entries) >= MOST_ENTRIES:
            raise InvalidInput(f"a list has at most {MOST_ENTRIES:,} addresses (got more)")
        else:
            page, parts = None if parts is None else True, parts or {}
            entry = ListedAddress(address, page, **parts, modified=modified)
            self._entries.setdefault(address, entry)

    def of(self, addresses: Iterable[object]) -> SiteList:
        """All of some addresses."""
        for number, address in enumerate(addresses, 1):
            self.add(address, f"entry {number}", "entries without an address")
        return self.list()

    def list(self) -> SiteList:
        """What was read."""
        entries = tuple(self._entries.values())
        return SiteList(self._kind, entries, dict(self.left_out), self._first_bad)


def _lines(text: str) -> SiteList:
    found = _Collected("addresses")
    for number, line in enumerate(text.splitlines(), 1):
        words = _COMMENT.sub("", line).strip()
        if words:
            first, *more = words.split(maxsplit=2)
            named = first if canonical(first) else words
            date = w3c_date(more[0]) if more else None
            modified = nan if date is None else date
            found.add(named, f"line {number}", "lines without an address", modified=modified)
    return found.list()


# OPML.


def _opml(body: bytes) -> list[str]:
    """Where the sites of an OPML file are."""
    from lxml import etree  # type: ignore[import-untyped]  # ships no types

    root = root_of(body)
    if root != "opml":
        raise InvalidInput(f"a list in XML must be OPML (got <{root[:_SHOWN]}>)")
    outlines = _Outlines()
    parser = etree.XMLParser(
        target=outlines, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        parser.feed(body)
        parser.close()
    except etree.LxmlError as error:
        said = "".join(filter(str.isprintable, str(error)))[:200]
        raise InvalidInput(f"OPML must be whole XML ({said})") from None
    return outlines.sites


class _Outlines:
    """Target of an XML parser that keeps where the outlines of OPML lead."""

    def __init__(self) -> None:
        self.sites: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if tag.rpartition("}")[2] != "outline" or len(self.sites) > MOST_ENTRIES:
            return
        site = canonical(attributes.get("htmlUrl", ""))
        feed = canonical(attributes.get("xmlUrl", "") or attributes.get("url", ""))
        # A feed is found from its site; where that is not said, it is where the feed is.
        if found := site or (feed and f"{origin_of(feed)}/"):
            self.sites.append(found)
        elif attributes.get("xmlUrl") or attributes.get("htmlUrl"):
            self.sites.append(attributes.get("xmlUrl") or attributes["htmlUrl"])

    def end(self, tag: str) -> None:
        """An element ends."""

    def close(self) -> None:
        """The document ends."""


# urlwatch.


def _urlwatch(text: str) -> SiteList:
    import yaml

    if len(text) > _MOST_YAML:
        raise InvalidInput(f"a list in YAML has at most {_MOST_YAML:,} letters (got more)")
    found = _Collected("urlwatch")
    try:
        # All scalars are texts: no type of YAML is worth its ways to take long.
        for number, job in enumerate(yaml.load_all(text, yaml.BaseLoader), 1):
            if isinstance(job, dict):
                _add_job(found, job, f"job {number}")
            elif job:
                found.left_out["entries that are no jobs"] += 1
    except RecursionError:
        raise InvalidInput("a list in YAML is nested too deep") from None
    except (yaml.YAMLError, ValueError, TypeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        said = getattr(error, "problem", None) or "it cannot be read"
        raise InvalidInput(f"{where}invalid YAML ({str(said)[:200]})") from None
    return found.list()


def _add_job(found: _Collected, job: Mapping[Any, Any], place: str) -> None:
    if "command" in job and "url" not in job:
        found.left_out["commands"] += 1
        return
    if "navigate" in job:
        found.left_out["pages shown by a browser"] += 1
    if any(key in job for key in _OF_REQUESTS):
        found.left_out["request options"] += 1
    watch, ignore = [], []
    for name, value in _filters(job.get("filter")):
        selector = value.get("selector") if isinstance(value, dict) else value
        if name in _SELECTORS and isinstance(selector, str) and selector.strip():
            watch.append(_SELECTORS[name].format(selector.strip())[:_LONGEST_SELECTOR])
            exclude = value.get("exclude") if isinstance(value, dict) else None
            ignore += [exclude[:_LONGEST_SELECTOR]] if isinstance(exclude, str) else []
        elif name not in _AS_TEXT:
            known = name if re.fullmatch(r"[a-z0-9_.-]{1,30}", name) else "other"
            found.left_out[f"{known} filters"] += 1
    parts = {"watch": tuple(watch), "ignore": tuple(ignore)}
    address = job.get("url", job.get("navigate"))
    found.add(address, place, "jobs without an address", parts)


def _filters(filters: object) -> list[tuple[str, object]]:
    """Name and value of each filter of a job, in any of the ways in which they are written."""
    if isinstance(filters, str):
        parts = (part.partition(":") for part in filters.split(","))
        return [(name.strip(), value) for name, _, value in parts if name.strip()]
    found: list[tuple[str, object]] = []
    for each in filters if isinstance(filters, list) else []:
        if isinstance(each, str):
            found.append((each, ""))
        elif isinstance(each, dict):
            found += [(str(name), value) for name, value in each.items()]
    return found


# changedetection.io.


def _unzipped(body: bytes) -> bytes:
    """The watches in a backup."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as backup, backup.open(_WATCHES) as file:
            watches = file.read(MOST_BYTES + 1)
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError):
        raise InvalidInput(f"a zip file must be a backup with {_WATCHES} in it") from None
    except NotImplementedError:
        raise InvalidInput(f"{_WATCHES} is packed in a way that is not read; unpack it") from None
    if len(watches) > MOST_BYTES:
        raise InvalidInput(f"a list has at most {MOST_BYTES:,} bytes (got more)")
    return watches


def _json(text: str) -> SiteList:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput(
            "a list in JSON cannot be read; it is broken or nested too deep"
        ) from None
    watches, changed = document.get("watching"), document.get("urlList")
    if isinstance(changed, list):
        return _Collected("IndexNow").of(changed)
    if not isinstance(watches, dict):
        raise InvalidInput(
            f'a list in JSON must be {_WATCHES} of changedetection.io, with "watching" in it, or '
            'a message of IndexNow, with "urlList"'
        )
    return _changedetection(watches)


def _changedetection(watches: Mapping[str, Any]) -> SiteList:
    found = _Collected("changedetection.io")
    for number, watch in enumerate(watches.values(), 1):
        if isinstance(watch, dict):
            _add_watch(found, watch, f"watch {number}")
        else:
            found.left_out["entries that are no watches"] += 1
    return found.list()


def _add_watch(found: _Collected, watch: Mapping[str, Any], place: str) -> None:
    if watch.get("paused") is True:
        found.left_out["paused watches"] += 1
        return
    steps = watch.get("browser_steps")
    backend = watch.get("fetch_backend")
    browser = isinstance(backend, str) and ("browser" in backend or backend == "html_webdriver")
    asks = {
        "browser steps": isinstance(steps, list) and any(map(_is_step, steps)),
        "pages shown by a browser": browser,
        "request options": any(watch.get(key) for key in ("headers", "body", "proxy"))
        or watch.get("method", "GET") not in ("GET", "", None),
        "text filters": any(watch.get(key) is True or _texts(watch.get(key)) for key in _OF_TEXTS),
        "check intervals": watch.get("time_between_check_use_default") is False,
    }
    found.left_out.update(name for name, asked in asks.items() if asked)
    parts: dict[str, tuple[str, ...]] = {}
    for key, name in (("watch", "include_filters"), ("ignore", "subtractive_selectors")):
        filters = [each.strip() for each in _texts(watch.get(name)) if each.strip()]
        css = [each for each in filters if not _is_path(each)]
        parts[key] = tuple(each.removeprefix("css:")[:_LONGEST_SELECTOR] for each in css)
        if len(css) < len(filters):
            found.left_out["xpath and JSON filters"] += len(filters) - len(css)
    found.add(watch.get("url"), place, "watches without an address", parts)


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _is_step(step: object) -> bool:
    operation = step.get("operation") if isinstance(step, dict) else None
    return operation not in (None, "", "Choose one", "Goto site")


def _is_path(selector: str) -> bool:
    return selector.startswith(("/", "(", "xpath:", "xpath1:", "json:", "jq:", "jqraw:"))
