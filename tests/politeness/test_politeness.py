"""No interleaving of visits, redirects, robots.txt, restarts and clock steps asks a host early.

Crawls are played in virtual time before a stand-in for the network; a model that knows nothing of
the code follows their requests. POLITENESS_SCRIPTS=10000 plays as many, `scripts/test --random`
others.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings

from tests.politeness.code import faulty
from tests.politeness.faults import FAULTS
from tests.politeness.playing import play
from tests.politeness.scenes import SCENES
from tests.politeness.scripts import client_scripts, crawl_scripts

SCRIPTS = int(os.environ.get("POLITENESS_SCRIPTS", "150"))


@pytest.mark.parametrize("name", SCENES)
def test_no_scene_asks_a_host_early(name):
    """And each of them asks at least twice: a crawl that does nothing is no polite one."""
    played = play(SCENES[name])

    assert played.impolite is None
    assert len(played.sent) > 1


@settings(max_examples=SCRIPTS)
@given(client_scripts())
def test_no_requests_ask_a_host_early(script):
    assert play(script).impolite is None


@settings(max_examples=max(SCRIPTS // 10, 1))
@given(crawl_scripts())
def test_no_crawls_ask_a_host_early(script):
    assert play(script).impolite is None


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_caught(name):
    """By the rule that it breaks; the same script holds without it (above)."""
    fault = FAULTS[name]
    with faulty(fault):
        played = play(SCENES[fault.scene])

    assert played.impolite is not None
    assert played.impolite.rule == fault.breaks


def test_faults_leave_the_code_as_it_was():
    before = play(SCENES["slow answers"]).sent
    with faulty(FAULTS["slots are not counted"]):
        assert play(SCENES["slow answers"]).sent != before

    assert play(SCENES["slow answers"]).sent == before


def test_a_script_is_played_the_same_way_every_time():
    """Threads and all: what is found can be found again."""
    crawls = SCENES["a crawl goes on"]

    assert play(crawls).sent == play(crawls).sent
