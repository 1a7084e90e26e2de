"""What a reader sees of a response: its lines, whether it is a wall, and where it can be cut.

A page of which a version is kept is read only where it differs from that.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from xxhash import xxh3_64_digest

from recrawl.detect.change import PAGES, not_converted, read_body, read_lines, signature
from recrawl.detect.masks.masks import blank_masked
from recrawl.detect.shells import is_shell, may_be_shell
from recrawl.detect.text.cuts import Cuts
from recrawl.detect.text.lines import RULES_OF_TEXT
from recrawl.detect.text.rereading import read_again, read_cut
from recrawl.detect.walls.walls import detect_wall
from recrawl.parse.documents import document_kind
from recrawl.parse.encodings import may_be_utf8
from recrawl.parse.headers import content_type

if TYPE_CHECKING:
    from recrawl.detect.change import Convert
    from recrawl.detect.masks.blanking import BlankedLines
    from recrawl.detect.masks.masks import Masks
    from recrawl.entries.records import VersionLines
    from recrawl.parse.messages import Response

# Bytes of bodies whose lines are kept: a smaller one is parsed as fast as its lines are stored and
# read (benchmarks/flames.py), and compressing beside a larger one is slow.
_LEAST_KEPT, _MOST_KEPT = 1 << 13, 1 << 20


@dataclass(frozen=True, slots=True)
class Criteria:
    """What counts as a change of a page.

    Args:
        watch: CSS selectors of the only parts that count; none for all of the page.
        ignore: CSS selectors of parts that do not count.
        least_change: Smallest share of the words that counts.
    """

    watch: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    least_change: float = 0.0

    @property
    def selects(self) -> bool:
        """Whether only parts of the page count."""
        return bool(self.watch or self.ignore)


@dataclass(frozen=True, slots=True)
class ReadPage:
    """What a reader sees of a response.

    Args:
        lines: What a reader sees; None of what is no text.
        wall: Kind of wall that it seems to be; empty for none.
        shell: Whether it is an empty JavaScript shell.
        cuts: Where it can be cut; None where nowhere, or where that is not worth knowing.
    """

    lines: tuple[str, ...] | None
    wall: str = ""
    shell: bool = False
    cuts: Cuts | None = None
    _masked: list[tuple[Masks, MaskedPage]] = field(
        default_factory=list, init=False, compare=False, repr=False
    )

    def masked(self, masks: Masks) -> MaskedPage | None:
        """Its lines after masks, worked out once; None of what is no text."""
        if self.lines is None:
            return None
        if not self._masked or self._masked[0][0] is not masks:
            blanked = blank_masked(self.lines, masks)
            self._masked[:] = [(masks, MaskedPage(blanked, signature(blanked.lines)))]
        return self._masked[0][1]


class MaskedPage(NamedTuple):
    """A page after masks.

    Attributes:
        blanked: Its lines, and what masks have hidden.
        signature: Signature of these lines.
    """

    blanked: BlankedLines
    signature: bytes


def read_response(
    response: Response,
    criteria: Criteria,
    body: bytes | None = None,
    convert: Convert = not_converted,
    kept: VersionLines | None = None,
) -> ReadPage:
    """What a reader sees of a response, or of another body that came with such headers.

    Args:
        response: The response, after all redirects.
        criteria: What counts.
        body: The other body; None for that of the response.
        convert: Makes HTML of PDF and Office documents.
        kept: A version of the page, of which what is the same need not be read; None for none.
    """
    again = None if kept is None or body is not None else _read_again(response, criteria, kept)
    if again is not None:
        return again
    header = _header_of_text(response, body)
    read = read_body(response.body if body is None else body, header, convert)
    if read is None:
        return ReadPage(None)
    text, html = read.text, read.html
    cuts = None
    if (
        html
        and read.utf8
        and body is None
        and not criteria.selects
        and has_kept_lines(response.body)
    ):
        lines, cuts = read_cut(text)
    else:
        lines = read_lines(text, html=html, watch=criteria.watch, ignore=criteria.ignore)
    if body is not None or not html or read.document:  # nobody writes a wall as a document
        return ReadPage(lines)
    whole = read_lines(text, html=html) if criteria.selects else lines
    wall = detect_wall(response.status, response.headers, whole, text)
    return ReadPage(lines, wall, is_shell(text, whole), cuts)


def _read_again(response: Response, criteria: Criteria, kept: VersionLines) -> ReadPage | None:
    """What a reader sees of a response, read where it differs; None where all must be read."""
    new, header = response.body, _header_of_text(response, None)
    if criteria.selects or not kept.cuts or kept.body is None or document_kind(new):
        return None
    if content_type(header)[0] not in PAGES or not may_be_utf8(new, header):
        return None
    if kept.reading != reading_of(response, criteria):
        return None
    cuts = Cuts.read(kept.cuts, size=len(kept.body), rows=len(kept.lines))
    found = None if cuts is None else read_again(new, kept.body, cuts, kept.lines)
    if found is None:
        return None
    wall = ""
    if found.lines != kept.lines:  # else it is what its version was, which is none
        wall = detect_wall(response.status, response.headers, found.lines, new)
    shell = may_be_shell(found.lines) and is_shell(new.decode(), found.lines)
    return ReadPage(found.lines, wall, shell, found.cuts)


def _header_of_text(response: Response, body: bytes | None) -> str:
    """`Content-Type` of a response, or of another body that came with such headers."""
    if body is not None and document_kind(response.body):
        return ""  # it speaks of a document, which the other body may not be
    return response.headers.get("content-type", "")


def has_kept_lines(body: bytes) -> bool:
    """Whether what a reader sees of a body is worth keeping.

    Of a document only its converter knows the lines.

    >>> has_kept_lines(b"<p>short"), has_kept_lines(b"<p>long" * 5000)
    (False, True)
    """
    return _LEAST_KEPT <= len(body) <= _MOST_KEPT and not document_kind(body)


def reading_of(response: Response, criteria: Criteria) -> bytes:
    """Signature of how a body that came with the headers of a response is read.

    A body has the same lines wherever this is the same, so they need not be read again.

    Args:
        response: The response, after all redirects.
        criteria: What counts.
    """
    how = (RULES_OF_TEXT, _header_of_text(response, b""), criteria.watch, criteria.ignore)
    return xxh3_64_digest(repr(how).encode(errors="surrogatepass"))
