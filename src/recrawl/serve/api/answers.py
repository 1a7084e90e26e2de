"""Answers that many calls share: JSON with an ETag, and what calls may answer in place of it.

Touches: the network.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from fastapi import Request, Response
from pydantic import BaseModel, Field

JSON = "application/json"


class ProblemBody(BaseModel):
    """What is wrong, as RFC 9457 has it."""

    type: str = Field(examples=["about:blank"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["there is no page 7"])


def problem_of(said: str) -> dict[str, Any]:
    content = {"application/problem+json": {"schema": ProblemBody.model_json_schema()}}
    return {"description": said, "content": content}


# What any call may answer instead.
PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: problem_of("The token is needed."),
    421: problem_of("The server is not known by that name."),
    422: problem_of("A parameter cannot be right."),
    503: problem_of("Too much is asked at once, or the store cannot be read now."),
}
NOT_FOUND: dict[int | str, dict[str, Any]] = {
    **PROBLEMS,
    404: problem_of("There is no such thing."),
}


def with_etag(request: Request, value: Any) -> Response:  # noqa: ANN401 - whatever JSON holds
    """A value as JSON; nothing where the caller has the same already."""
    body = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    tag = f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
    headers = {"etag": tag, "cache-control": "private, no-cache"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(None, 304, headers)
    return Response(body, 200, headers, media_type=JSON)
