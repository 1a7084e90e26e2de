"""Worlds that change, what visits show of them, and how fresh policies keep a copy.

Names are loaded when first used: who needs one part does not wait for all.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl import load_name, make_callable

if TYPE_CHECKING:
    from recrawl.simulate.bands import Band, ratio_band, staleness_band
    from recrawl.simulate.competitors import ORACLES, policy_named
    from recrawl.simulate.made import WORLDS, log_normal_rates, make_world
    from recrawl.simulate.observation import Observation
    from recrawl.simulate.oracles import Clairvoyant, OptimalKnown
    from recrawl.simulate.run import Simulation, simulate
    from recrawl.simulate.scores import SimulationRun
    from recrawl.simulate.world import World

__all__ = [
    "ORACLES",
    "WORLDS",
    "Band",
    "Clairvoyant",
    "Observation",
    "OptimalKnown",
    "Simulation",
    "SimulationRun",
    "World",
    "log_normal_rates",
    "make_world",
    "policy_named",
    "ratio_band",
    "simulate",
    "staleness_band",
]


_MODULES = {
    "bands": (
        "Band",
        "ratio_band",
        "staleness_band",
    ),
    "competitors": (
        "ORACLES",
        "policy_named",
    ),
    "made": (
        "WORLDS",
        "log_normal_rates",
        "make_world",
    ),
    "observation": ("Observation",),
    "oracles": (
        "Clairvoyant",
        "OptimalKnown",
    ),
    "run": (
        "Simulation",
        "simulate",
    ),
    "scores": ("SimulationRun",),
    "world": ("World",),
}


def __getattr__(name: str) -> object:
    """Load a public name."""
    return load_name(__name__, _MODULES, name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)


make_callable(__name__)
