"""The board and the alert rules name metrics that a crawl exports, and labels that they have."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from prometheus_client import CollectorRegistry, generate_latest

from recrawl.crawl.metrics import Collected
from recrawl.crawl.progress import Figures
from recrawl.crawl.tally import Tally
from recrawl.visits.status import VisitOutcome

FOLDER = Path(__file__).parents[2] / "examples" / "grafana"
FIGURES = Figures(fresh=0.9, copies=1, new=0, visits=0, changes=0, failed=0, wait=0.0, unknown=0.0)


@pytest.fixture(scope="module")
def exported():
    registry = CollectorRegistry()
    registry.register(Collected(lambda: (Tally(), FIGURES)))
    lines = generate_latest(registry).decode().splitlines()
    return {re.split(r"[{ ]", line)[0] for line in lines if not line.startswith("#")}


def queries():
    board = json.loads((FOLDER / "board.json").read_text())
    yield from (each["expr"] for panel in board["panels"] for each in panel["targets"])
    rules = yaml.safe_load((FOLDER / "alerts.yml").read_text())
    yield from (rule["expr"] for group in rules["groups"] for rule in group["rules"])


def test_every_metric_is_exported(exported):
    named = set(re.findall(r"\brecrawl_\w+", " ".join(queries())))
    assert named
    assert named <= exported, named - exported
    assert exported <= named, "the board shows each"


def test_every_outcome_is_one():
    named = re.findall(r'outcome=~?"([^"]+)"', " ".join(queries()))
    outcomes = {each for one in named for each in one.split("|")}
    assert outcomes <= {each.label for each in VisitOutcome}
