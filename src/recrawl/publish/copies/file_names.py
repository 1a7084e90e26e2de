r"""Names of files for pages, by their addresses, which anybody may have made up.

A page whose address is plain has a file where one would look for it:

    https://example.org/           example.org/index.html
    https://example.org/a/b        example.org/a/b.html
    http://example.org:8080/a/b    example.org-8080/a/b.html
    https://example.org/a/b.html   example.org/a/b.html.html

All others are beside them, under a short form of their address and a hash of all of it:

    https://example.org/a?page=2   example.org/_/a-page-2~1ed25e7a384517e91d1a.html

So is the second of two pages that differ only in `http` and `https`, or in how their hosts write a
port. No two pages have one file, also where letters of both cases are the same; no file has the
name of a folder; nothing is outside of its folder, hidden, too long or a device.

Pure.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Container

MANIFEST = "manifest.jsonl"
LOG = "manifest.log"
ENDINGS = {"html": ".html", "text": ".txt", "markdown": ".md"}

_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9_-])?", re.ASCII)
_HASHED = re.compile(r"[a-z0-9-]{0,60}~[0-9a-f]{20}", re.ASCII)
_OTHERS = "_"  # folder of pages whose address is not plain
_INDEX = "index"
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")
_WITH_PORT = re.compile(r"([^:@\[\]]+):([0-9]+)", re.ASCII)
_SCHEMES = ("https", "http")
_RESERVED = frozenset({MANIFEST, LOG})
_NOT_LABEL = re.compile("[^a-z0-9]+")
_LONGEST_PART, _LONGEST_NAME, _LONGEST_LABEL = 80, 180, 40
_HASH_BYTES = 10


def file_name(address: str, ending: str, *, taken: Container[str] = ()) -> str:
    """File of a page, from the folder of all of them, with `/` between its parts.

    Args:
        address: Address of the page.
        ending: Ending of all files, one of `ENDINGS`.
        taken: Files of other pages.

    Examples:
        >>> file_name("https://example.org/a/b", ".md"), file_name("https://example.org/a/", ".md")
        ('example.org/a/b.md', 'example.org/a/index.md')
        >>> file_name("https://example.org/a?b=../../c", ".md")
        'example.org/_/a-b-c~a09d99fd8eb8d6de33a0.md'
        >>> file_name("http://example.org/a", ".md", taken={"example.org/a.md"})
        'example.org/_/a~03f4c9bf0e3a47e264a2.md'
    """
    try:
        parts = urlsplit(address)
        host = _host(parts.netloc)
    except ValueError:
        return f"{_OTHERS}/{_hashed(address)}{ending}"
    folder = host if _is_plain(host) and host not in _RESERVED else f"{_OTHERS}{_label(host)}"
    path = parts.path.split("/")[1:]
    *above, last = path or [""]
    name = "/".join([folder, *above, (last or _INDEX) + ending])
    plain = (
        folder == host
        and parts.scheme in _SCHEMES
        and "?" not in address
        and "#" not in address
        and last != _INDEX
        and len(name) <= _LONGEST_NAME
        and all(_is_plain(each) and not each.endswith(tuple(ENDINGS.values())) for each in above)
        and (not last or _is_plain(last))
    )
    return name if plain and name not in taken else f"{folder}/{_OTHERS}/{_hashed(address)}{ending}"


def _host(netloc: str) -> str:
    """Host with its port behind a dash; what is none stays as it is."""
    found = _WITH_PORT.fullmatch(netloc)
    return netloc if found is None else "-".join(found.groups())


def is_file_name(name: str) -> bool:
    """Whether a text is a name that `file_name` could have given.

    >>> is_file_name("example.org/a/b.md"), is_file_name("example.org/../b.md")
    (True, False)
    """
    *folders, last = name.split("/")
    stem, dot, ending = last.rpartition(".")
    if not folders or dot + ending not in ENDINGS.values() or len(name) > 2 * _LONGEST_NAME:
        return False
    plain_or_others = all(
        _is_plain(each) or re.fullmatch(f"{_OTHERS}[a-z0-9-]*", each) for each in folders
    )
    return plain_or_others and (_is_plain(stem) or _HASHED.fullmatch(stem) is not None)


def _is_plain(part: str) -> bool:
    """Whether a part of an address may be a part of a name as it is."""
    fits = len(part) <= _LONGEST_PART and _PLAIN.fullmatch(part) is not None
    return fits and ".." not in part and _DEVICES.fullmatch(part) is None


def _hashed(address: str) -> str:
    digest = blake2b(address.encode(errors="surrogatepass"), digest_size=_HASH_BYTES).hexdigest()
    return f"{_label(address.partition('://')[2].partition('/')[2])}~{digest}"


def _label(text: str) -> str:
    """The beginning of a text in plain letters."""
    return _NOT_LABEL.sub("-", text.lower()).strip("-")[:_LONGEST_LABEL]
