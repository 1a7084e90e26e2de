"""Mass events: closures, loads and changes of keys."""

import numpy as np
import pytest

from recrawl.listings.forecast.mass import CycleCounts, Flags, MassEvents


@pytest.mark.parametrize(("deleted", "flagged"), [(38, False), (39, True)])
def test_a_mass_closure(deleted, flagged):
    """Vector `mass`: 100 objects of which 18 were to vanish."""
    assert MassEvents().flags(CycleCounts(7, 100, deleted, 0), 18, 0).closure is flagged


def test_mass_events_to_be_expected():
    """Vector `mass-rate`."""
    mass = MassEvents(closed=0.5, days=200)

    assert mass.closing == pytest.approx(0.001923, abs=1e-6)
    assert mass.left(np.array([7.0]))[0] == pytest.approx(0.986538, abs=1e-6)


def test_at_least_a_twentieth_is_left():
    assert MassEvents(closed=50, days=10).left(np.array([30.0]))[0] == 0.05


def test_loads_are_marked_once_enough_is_known():
    seen = CycleCounts(7, 100, 5, 60)

    assert not MassEvents(records=14).flags(seen, 5, 10).load
    assert MassEvents(records=15).flags(seen, 5, 10).load


def test_new_keys_are_neither_a_closure_nor_a_load():
    flags = MassEvents(records=20).flags(CycleCounts(1, 100, 90, 95), 3, 3)

    assert flags == Flags(rekeyed=True)


def test_a_fast_source_is_not_taken_for_new_keys():
    """With a running hazard of .1 a week takes half of the stock."""
    seen = CycleCounts(7, 100, 60, 60)

    assert not MassEvents(hazard=0.1).flags(seen, 50, 50).rekeyed
    assert MassEvents(hazard=0.01).flags(seen, 50, 50).rekeyed


def test_a_second_closure_in_a_row_is_a_new_regime():
    closure = Flags(closure=True)
    after = MassEvents(last=closure)

    assert not after.quarantine(CycleCounts(7, 100, 60, 0), closure).closure
    assert after.quarantine(CycleCounts(2, 100, 60, 0), closure).closure
    assert MassEvents().quarantine(CycleCounts(7, 100, 60, 0), closure).closure


def test_what_is_kept_from_the_models_is_expected_again():
    mass = MassEvents().learn(CycleCounts(7, 100, 60, 5), Flags(closure=True), 20, 5)

    assert mass.closed == pytest.approx(0.4)
    assert mass.loaded == 0
    assert mass.days == 7


def test_new_keys_add_nothing_to_what_is_expected():
    mass = MassEvents().learn(CycleCounts(7, 100, 90, 90), Flags(rekeyed=True), 20, 5)

    assert (mass.closed, mass.loaded, mass.hazard) == (0, 0, MassEvents().hazard)
