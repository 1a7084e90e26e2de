"""Requests in access logs as visits: what each says of its page, and how weak that may be.

    304, or a cache that has asked and found its copy good   unchanged
    an ETag                                                  a digest
    a size                                                   a weak digest, such as size:5120

Changes of equal size are missed. How sizes are compared, `visits/vetting.py` says, in the order of
time, whatever order logs come in. What a cache answered by itself is no visit to the page.

Pure.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from recrawl.adapters.imports.foreign_visits import (
    COMPARED,
    ETAGS,
    FAILED_STATUS,
    NOT_MODIFIED,
    ROWS,
    SIZES,
    UNKNOWN_STATUS,
    ForeignVisitRows,
)
from recrawl.visits.rows import SIZE_DIGEST, UNKNOWN_CHANGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from recrawl.adapters.imports.foreign_visits import ForeignVisits, ImportReading

OTHER_METHOD = "request other than GET and HEAD", "requests other than GET and HEAD"
FROM_CACHE = (
    "answer from a cache that did not ask the host",
    "answers from a cache that did not ask the host",
)
OTHER_AGENT = "request from another agent or client", "requests from other agents or clients"

UNKNOWN_SIZE = -1
_METHODS = frozenset({"GET", "HEAD"})
_OK = 200
_LEAST_STATUS, _MOST_STATUS = 100, 599
_LONGEST_LINE = 1 << 16
_MOST_AGENTS = 1 << 12  # that are counted
_RULE = "must be a request as in an access log"
_GLOB = frozenset("*?[")


class LoggedRequest(NamedTuple):
    """A line of a log.

    Attributes:
        page: Address that was asked for.
        at: When, in microseconds since 1970.
        method: How.
        status: Status of the answer; 0 where there was none.
        size: Bytes of the body; -1 where unknown, or where they say nothing of the content.
        etag: ETag of the answer; empty where it was not logged.
        changed: Whether a cache in between has found that the page changed; -1 if unknown.
        cached: Whether a cache answered by itself.
        agent: User agent of the client; empty where it was not logged.
        client: Address of the client; empty where it was not logged.
    """

    page: str
    at: int
    method: str
    status: int
    size: int = UNKNOWN_SIZE
    etag: str = ""
    changed: int = UNKNOWN_CHANGE
    cached: bool = False
    agent: str = ""
    client: str = ""


def read_requests(
    blocks: Iterable[bytes],
    parse: Callable[[bytes], LoggedRequest | None],
    name: str,
    reading: ImportReading,
) -> Iterator[ForeignVisits]:
    """Visits of a log.

    Args:
        blocks: Its bytes, in blocks of whole lines.
        parse: Reads a line; None for one that is malformed. Comments are not given to it.
        name: What the log is called.
        reading: Counts what is left out, and what visits rest on.
    """
    rows, number = ForeignVisitRows(), 0
    for block in blocks:
        for number, line in enumerate(block.splitlines(), number + 1):  # noqa: B020 - goes on
            if not line.strip():
                continue
            request = parse(line) if len(line) <= _LONGEST_LINE else None
            if request is None:
                if not line.startswith(b"#"):
                    reading.malformed(name, number, _RULE, line)
                continue
            _add(rows, request, reading)
        if len(rows) >= ROWS:
            yield reading.vetted(rows.flush())
    if len(rows):
        yield reading.vetted(rows.flush())


def _add(rows: ForeignVisitRows, request: LoggedRequest, reading: ImportReading) -> None:
    if request.method not in _METHODS:
        reading.leave_out(OTHER_METHOD)
        return
    if request.cached:
        reading.leave_out(FROM_CACHE)
        return
    if not _is_wanted(request, reading):
        reading.leave_out(OTHER_AGENT)
        return
    status = request.status
    if not _LEAST_STATUS <= status <= _MOST_STATUS:
        status = FAILED_STATUS if status == UNKNOWN_STATUS else UNKNOWN_STATUS
    changed, digest = request.changed, ""
    if changed == 0 or status == NOT_MODIFIED:
        status = NOT_MODIFIED
        reading.evidence[COMPARED] += 1
    elif changed == 1:
        reading.evidence[COMPARED] += 1
    elif status == _OK and request.etag:
        digest = request.etag
        reading.evidence[ETAGS] += 1
    elif status == _OK and request.size >= 0 and request.method == "GET":
        digest = f"{SIZE_DIGEST}{request.size}"
        reading.evidence[SIZES] += 1
    rows.add(request.page, request.at, status, digest, changed=changed)


def _is_wanted(request: LoggedRequest, reading: ImportReading) -> bool:
    """Whether a request is of the agent and the client that are asked for; counts agents if not."""
    if reading.client and request.client != reading.client:
        return False
    if reading.agent:
        return is_agent(request.agent, reading.agent)
    if request.agent in reading.agents or len(reading.agents) < _MOST_AGENTS:
        reading.agents[request.agent] += 1
    return True


@lru_cache(maxsize=1 << 10)
def is_agent(agent: str, pattern: str) -> bool:
    """Whether a user agent is one that is asked for: by a part of it, or by a pattern of the whole.

    >>> [is_agent("Mozilla/5.0 (compatible; MyBot/1.0)", each) for each in ("mybot", "MyBot*")]
    [True, False]
    """
    name, wanted = agent.lower(), pattern.lower()
    return fnmatchcase(name, wanted) if _GLOB & set(wanted) else wanted in name
