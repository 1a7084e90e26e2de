"""Pages that go back to an earlier version: a copy of it is fresh again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.adapters.tables.worlds import read_world
from recrawl.errors import InvalidInput, InvalidParameter
from recrawl.simulate.run import WorldObserver
from recrawl.simulate.world import World

START = np.datetime64("2026-01-01", "us")
HOUR = np.timedelta64(1, "h")


def world_of(changes, reverts, *, hours=100):
    """One page with changes at these hours."""
    at = START + np.array(changes, np.int64) * HOUR
    row = np.zeros(len(changes), np.int64)
    first, end = np.array([START]), START + hours * HOUR
    return World.of(["/"], first, (row, at), end=end, reverts=np.array(reverts, np.bool_))


def run_of(world, visits):
    """Scores of visits at these hours."""
    observer = WorldObserver(world, None, np.random.default_rng(0))
    changed = [observer.visit(np.array([0]), START + hour * HOUR).changed[0] for hour in visits]
    return observer.result(), changed


def by_hand(changes, reverts, visits, hours=100):
    """Stale hours and unseen changes, summed hour by hour; changes come before visits."""
    now = before = newest = copy = 0
    stale = missed = unseen = 0
    for hour in range(hours):
        for at, back in zip(changes, reverts, strict=True):
            if at == hour:
                if back and before != now:
                    now, before = before, now
                else:
                    newest += 1
                    now, before = newest, now
                unseen = 0 if now == copy else unseen + 1
        if hour in visits:
            copy, unseen = now, 0
        stale += now != copy
        missed += unseen
    return stale, missed


def test_a_copy_is_fresh_while_its_page_is_back():
    """Away from hour 10 to 30, and from 60 to the end at 100: stale for 60 hours, no visit."""
    world = world_of([10, 30, 60], [False, True, True])
    run, _ = run_of(world, [])

    assert world.version is not None
    assert world.version.tolist() == [1, 0, 1]
    assert run.stale_days * 24 == pytest.approx([60.0])
    assert run.found == 0


def test_a_visit_sees_no_change_where_its_page_is_back():
    run, changed = run_of(world_of([10, 30, 60], [False, True, True]), [40, 70])

    assert changed == [False, True]
    assert run.stale_days * 24 == pytest.approx([20.0 + 10.0])
    assert (run.found, run.visits) == (1, 2)


def test_without_marks_a_page_stays_changed():
    marked, plain = (run_of(world_of([10, 30], [False, back]), [])[0] for back in (True, False))

    assert marked.stale_days * 24 == pytest.approx([20.0])
    assert plain.stale_days * 24 == pytest.approx([90.0])


hours = st.lists(st.integers(1, 99), unique=True, max_size=12).map(sorted)


@given(hours, hours, st.lists(st.booleans(), min_size=12, max_size=12))
def test_scores_are_those_of_a_count_by_hand(changes, visits, marks):
    reverts = marks[: len(changes)]
    run, _ = run_of(world_of(changes, reverts), visits)
    stale, missed = by_hand(changes, reverts, visits)

    assert run.stale_days[0] * 24 == pytest.approx(stale)
    assert run.missed_integral[0] * 24 == pytest.approx(missed)


@given(hours, hours)
def test_marks_that_mark_nothing_change_nothing(changes, visits):
    marked, _ = run_of(world_of(changes, [False] * len(changes)), visits)
    at = START + np.array(changes, np.int64) * HOUR
    row, end = np.zeros(len(changes), np.int64), START + 100 * HOUR
    plain, _ = run_of(World.of(["/"], np.array([START]), (row, at), end=end), visits)

    for name in ("stale_days", "age_integral", "harmonic_integral", "missed_integral"):
        assert getattr(marked, name).tolist() == getattr(plain, name).tolist()
    assert marked.found == plain.found


def tables(folder, *, mark=True):
    (folder / "pages.csv").write_text("page,first_seen\nb,2026-01-01\na,2026-01-02\n")
    head = "page,changed_at,revert" if mark else "page,changed_at"
    rows = ["b,2026-01-09,true", "a,2026-01-03,false", "a,2026-01-08,true", "b,2026-01-05,false"]
    rows = rows if mark else [row.rpartition(",")[0] for row in rows]
    (folder / "changes.csv").write_text("\n".join([head, *rows]) + "\n")
    return folder / "pages.csv", folder / "changes.csv"


def test_marks_of_a_table_follow_their_changes_in_any_order(tmp_path):
    world = read_world(*tables(tmp_path), reverts=True)

    assert world.address == ("b", "a")
    assert world.version is not None
    assert world.version.tolist() == [1, 0, 1, 0]
    assert read_world(*tables(tmp_path)).version is None


def test_a_table_without_marks_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="revert"):
        read_world(*tables(tmp_path, mark=False), reverts=True)


def test_reverts_are_counted_or_ignored(tmp_path):
    with pytest.raises(InvalidParameter, match="at once"):
        read_world(*tables(tmp_path), reverts=True, ignore=["revert"])
