"""What calls take and answer, as the description of the API has it.

Answers are written by hand, for they are large and asked for often; `tests/serve` compares them
with these.

Pure.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from recrawl.inspect.pages import STATUS_LABELS
from recrawl.visits.status import VisitOutcome

MOST_VISITS = 100  # of one batch
MOST_HINTS = 1000
_LEASE = Annotated[str, Field(min_length=1, max_length=100, description="Name of the lease.")]
_OUTCOMES = [each.label for each in VisitOutcome]


def _known_outcome(label: str) -> str:
    if label not in _OUTCOMES:
        raise ValueError(f"must be one of {', '.join(_OUTCOMES)}")
    return label


_Outcome = Annotated[
    str, AfterValidator(_known_outcome), Field(json_schema_extra={"enum": _OUTCOMES})
]
_Status = Annotated[str, Field(json_schema_extra={"enum": list(STATUS_LABELS)})]
_Page = Annotated[int, Field(ge=0, description="Number of the page.")]
_Instant = AwareDatetime | None
_Figure = float | None


class Answered(BaseModel):
    """An answer, which has nothing but what is described."""

    model_config = ConfigDict(extra="forbid")


class PageRow(Answered):
    """What is known of a page."""

    page: _Page
    address: str
    status: _Status
    rate_per_day: _Figure = Field(description="Changes per day; null where nothing is known.")
    rate_low_per_day: _Figure = Field(description="Lower end of its 90 % band.")
    rate_high_per_day: _Figure = Field(description="Upper end of its 90 % band.")
    fresh: _Figure = Field(description="Chance that the copy is what the page is now.")
    visits: int
    changes: int = Field(description="Visits that found a change.")
    last_visit: _Instant
    last_change: _Instant
    next_visit: _Instant = Field(description="When it is expected to be visited next.")
    weight: _Figure
    failure: str | None = Field(description="Why the last visit failed.")
    moved_to: str | None


class SomePages(Answered):
    """Some pages."""

    total: int = Field(description="How many there are in all.")
    pages: list[PageRow]


class VisitRow(Answered):
    """A visit."""

    visit: int = Field(description="Its number: visits are numbered as they are written.")
    at: AwareDatetime
    outcome: _Outcome
    status_code: int | None
    modified_at: _Instant = Field(description="When the host says that the page last changed.")
    size_bytes: int | None
    seconds: _Figure = Field(description="How long the answer took.")
    share: _Figure = Field(description="Share of the words that differ.")


class PageVisits(Answered):
    """Visits to a page."""

    page: _Page
    visits: list[VisitRow]


class NumberedVisit(VisitRow):
    """A visit to any page."""

    page: _Page


class Visits(Answered):
    """Visits to all pages, in the order in which they were written."""

    visits: list[NumberedVisit]
    after: int = Field(description="Go on from here.")
    more: bool


class VersionRow(Answered):
    """A version of a page."""

    version: str = Field(description="Digest of its body.")
    seen_at: str
    size_bytes: int


class VersionRows(Answered):
    """Versions of a page."""

    page: _Page
    versions: list[VersionRow]


class Events(Answered):
    """A part of the change feed."""

    events: list[dict[str, Any]] = Field(description="CloudEvents, oldest first.")
    cursor: str = Field(description="Go on from here.")
    more: bool = Field(description="Whether there are more right now.")


class CopyOfPage(Answered):
    """A copy of a page."""

    page: _Page
    address: str
    version: str | None
    seen_at: AwareDatetime
    fresh: _Figure = Field(description="Chance that the page is still so; null where unknown.")
    visited: bool = Field(description="Whether the page was visited for this answer.")
    markdown: str | None = None
    text: str | None = None


class PlanOutlooks(Answered):
    """What budgets buy."""

    outlooks: list[dict[str, Any]]
    targets: list[dict[str, Any]]


class Listings(Answered):
    """Listings."""

    listings: list[dict[str, Any]]


class ListedObject(Answered):
    """An object of a listing, as last seen."""

    key: str
    attributes: dict[str, str]
    appeared_at: AwareDatetime
    last_seen_at: AwareDatetime
    removed_at: _Instant
    page: int | None = Field(description="Number of its detail page.")
    address: str | None = Field(description="Address of its detail page.")


class ListedObjects(Answered):
    """Objects of a listing."""

    listing: str
    total: int
    objects: list[ListedObject]


class HostRow(Answered):
    """A host."""

    host: str
    delay_seconds: _Figure = Field(description="Politeness delay.")
    blocked_until: _Instant
    response_seconds: _Figure
    failures: int = Field(description="Failed requests since one last succeeded.")


class Hosts(Answered):
    """Hosts."""

    total: int
    hosts: list[HostRow]


class DuePageRow(Answered):
    """A page to visit now."""

    lease: _LEASE
    page: _Page
    address: str
    first: bool = Field(description="Whether there is no copy of it yet.")
    headers: dict[str, str] = Field(description="Headers that make the request conditional.")


class DuePages(Answered):
    """Pages to visit now."""

    pages: list[DuePageRow]
    lease_seconds: float = Field(description="How long they are yours.")
    wait_seconds: _Figure = Field(
        description="When to ask again, where there are none; null where nothing is scheduled."
    )


class Asked(BaseModel):
    """What a call takes; anything else is a slip of the caller's."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ReportedVisit(Asked):
    """What you found. Say what you know: a body, a digest, `changed`, a status, an outcome."""

    lease: _LEASE
    status: Annotated[int, Field(ge=100, le=599)] | None = Field(
        None, description="Status code of the response."
    )
    headers: dict[str, str] | None = Field(
        None, max_length=200, description="Headers of the response."
    )
    body: str | None = Field(None, description="Body of the response as text: HTML.")
    body_base64: str | None = Field(None, description="The same as bytes, in Base64.")
    url: str | None = Field(
        None, min_length=1, max_length=4000, description="Address that answered after redirects."
    )
    changed: bool | None = Field(None, description="Whether it had changed, if you compared it.")
    digest: str | None = Field(
        None, min_length=1, max_length=1000, description="Differs if the page does."
    )
    age_days: Annotated[float, Field(ge=0, le=36_500)] | None = Field(
        None, description="Days since it changed, if you know."
    )
    outcome: _Outcome | None = Field(
        None, description="What became of it, if nothing else says so: failed, gone, refused."
    )


class ReportedVisits(Asked):
    """A batch of visits."""

    visits: list[ReportedVisit] = Field(min_length=1, max_length=MOST_VISITS)


class VisitResult(Answered):
    """What became of a page."""

    lease: str
    outcome: _Outcome | None = Field(description="null where the visit was not taken.")
    problem: str | None = Field(description="Why it was not.")


class VisitResults(Answered):
    """What became of a batch."""

    taken: int
    visits: list[VisitResult]


class Leases(Asked):
    """Leases to give back."""

    leases: list[_LEASE] = Field(min_length=1, max_length=1000)


class Released(Answered):
    """How many leases were given back."""

    released: int


class HintedPages(Asked):
    """Pages that have changed."""

    urls: list[
        Annotated[str, Field(min_length=1, max_length=4000, json_schema_extra={"format": "uri"})]
    ] = Field(min_length=1, max_length=MOST_HINTS)


class HintsNoted(Answered):
    """Hints that were noted."""

    noted: int
    left_out: int = Field(description="Addresses that belong to no site of the settings.")
    takes: Literal["now", "next crawl"] = Field(description="When the crawl takes them.")
