"""Histories from lists, which the class takes as well as arrays."""

from __future__ import annotations

from typing import Any

from recrawl import Histories


def of_columns(gaps: Any, changed: Any, offsets: Any, **columns: Any) -> Histories:
    """Build histories from columns of any kind."""
    return Histories(gaps, changed, offsets, **columns)
