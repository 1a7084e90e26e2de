"""Answers that many calls share: JSON with an ETag, and what calls may answer in place of it.

Touches: the network.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from fastapi import Response, Security
from fastapi.security import HTTPBearer
from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from fastapi import Request

JSON = "application/json"
# For the description: `recrawl.serve.safety` is who asks for it.
NEEDS_TOKEN = Security(HTTPBearer(auto_error=False, description="The token that was printed."))


class ProblemBody(BaseModel):
    """What is wrong, as RFC 9457 has it."""

    type: str = Field(examples=["about:blank"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["there is no page 7"])


def problem_of(said: str) -> dict[str, Any]:
    """A problem as the description of the API has it."""
    content = {"application/problem+json": {"schema": ProblemBody.model_json_schema()}}
    return {"description": said, "content": content}


# What any call may answer instead.
PROBLEMS: dict[int | str, dict[str, Any]] = {
    304: {"description": "You have it already: `If-None-Match` names its ETag."},
    401: problem_of("The token is needed."),
    421: problem_of("The server is not known by that name."),
    422: problem_of("A parameter cannot be right."),
    503: problem_of("Too much is asked at once, or the store cannot be read now."),
}
NOT_FOUND: dict[int | str, dict[str, Any]] = {
    **PROBLEMS,
    404: problem_of("There is no such thing."),
}
# What a call that changes something may answer instead.
CHANGES: dict[int | str, dict[str, Any]] = {
    **{code: said for code, said in PROBLEMS.items() if code != 304},  # noqa: PLR2004
    400: problem_of("The body cannot be read."),
    403: problem_of("A page of another site asks."),
    409: problem_of("It cannot be done now."),
    413: problem_of("The body is too large."),
}


def with_etag(request: Request, value: Any) -> Response:  # noqa: ANN401 - whatever JSON holds
    """A value as JSON; nothing where the caller has the same already."""
    body = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    tag = f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
    headers = {"etag": tag, "cache-control": "private, no-cache"}
    if _has(request.headers.get("if-none-match", ""), tag):
        return Response(None, 304, headers)
    return Response(body, 200, headers, media_type=JSON)


def _has(given: str, tag: str) -> bool:
    """Whether an `If-None-Match` names a tag.

    >>> _has('"a", W/"b"', '"b"'), _has("*", '"b"'), _has('"a"', '"b"')
    (True, True, False)
    """
    tags = [each.strip().removeprefix("W/") for each in given.split(",")]
    return tag in tags or "*" in tags
