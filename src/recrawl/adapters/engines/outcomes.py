"""What came of a task: a value, or a sentence that says why there is none.

A task that fails returns its failure as a value, so that no engine gives up on the others, and no
engine needs to carry our exceptions from one machine to another.

Touches: nothing by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recrawl.errors import InvalidInput, MissingExtra, RecrawlError, reason

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a task.

    Args:
        value: What the task returned.
        error: Why it returned nothing, in one sentence; empty if it is done.
        lasting: Whether it would fail in the same way again.
    """

    value: Any = None
    error: str = ""
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class EngineTask:
    """A function whose errors are outcomes. It can be pickled if the function can."""

    work: Callable[[Any], Any]

    def __call__(self, task: Any) -> Outcome:  # noqa: ANN401 - what the function takes
        """Do the task."""
        try:
            return Outcome(self.work(task))
        except RecrawlError as error:
            # What the system refuses today it may give tomorrow; a bad row stays bad.
            lasting = isinstance(error, InvalidInput | MissingExtra)
            return Outcome(
                error=str(error), lasting=lasting and not isinstance(error.__context__, OSError)
            )
        except OSError as error:
            return Outcome(error=reason(error))
        except Exception as error:  # noqa: BLE001 - one task must not end the others
            return Outcome(error=f"{type(error).__name__}: {error}")
