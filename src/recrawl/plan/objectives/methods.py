"""What a fresh copy is for: five objectives by name, one a file.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.plan.objectives.age import Age
from recrawl.plan.objectives.detected import Detected
from recrawl.plan.objectives.freshness import Freshness
from recrawl.plan.objectives.harmonic import Harmonic
from recrawl.plan.objectives.missed import Missed
from recrawl.plan.objectives.objective import Objective

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["OBJECTIVES", "Age", "Detected", "Freshness", "Harmonic", "Missed", "Objective"]

OBJECTIVES: Mapping[str, Objective] = {
    "freshness": Freshness(),
    "harmonic": Harmonic(),
    "age": Age(),
    "missed": Missed(),
    "detected": Detected(),
}
