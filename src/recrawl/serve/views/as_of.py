"""The instant that figures are of, as people and programs are told it.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.units import SECONDS_A_DAY, utc_text

# Those of the largest stores are kept for some minutes; older ones wait for newer.
_STALE_DAYS = 300.0 / SECONDS_A_DAY


@dataclass(frozen=True, slots=True)
class AsOf:
    """The instant that figures are of.

    Args:
        text: The instant in UTC, to the second.
        stale: Whether it is so long ago that newer figures could not be worked out.

    Examples:
        >>> AsOf.of(at=1.5, now=1.501)
        AsOf(text='1970-01-02 12:00:00', stale=False)
        >>> AsOf.of(at=1.5, now=1.51).stale
        True
    """

    text: str
    stale: bool

    @classmethod
    def of(cls, at: float, now: float) -> AsOf:
        """What to say of figures.

        Args:
            at: The instant that they are of, in days after 1970.
            now: The current time, in days after 1970.
        """
        return cls(utc_text(at * SECONDS_A_DAY), stale=now - at > _STALE_DAYS)

    @property
    def iso(self) -> str:
        """The instant as browsers and programs read it."""
        return f"{self.text.replace(' ', 'T')}Z"
