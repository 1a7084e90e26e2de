"""Worlds that change, what visits show of them, and how fresh policies keep a copy.

Pure.
"""

from recrawl import make_callable
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

make_callable(__name__)
