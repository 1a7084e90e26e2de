"""A crawl is taken up by the settings of now."""

import numpy as np
import pytest

from recrawl.entries.entries import Copy, VisitMade
from recrawl.settings.settings import read_settings
from recrawl.state import opening
from recrawl.store import open_for_writing, open_store
from recrawl.units import epoch_days
from recrawl.visits.status import VisitOutcome
from tests.inspect.looked import BEGAN, DAY, made, opened, save, settings_text

NOW = BEGAN + 10


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recrawl.db"


def last_visits(path):
    with open_store(path) as reader:
        (visits,) = reader.visits()
    last = np.empty(60)
    last[visits.page] = epoch_days(visits.at)
    return last


@pytest.mark.parametrize("line", ['maximum = "3d"\n', 'interval = "3d"\n'], ids=["most", "fixed"])
@pytest.mark.parametrize("saved", [True, False], ids=["saved", "not saved"])
def test_a_new_interval_counts_from_the_last_visit(path, saved, line):
    """Of pages visited since the crawl was saved, too."""
    settings = made(path)
    if saved:
        save(settings, path, NOW)
    with open_for_writing(path) as store:
        store.write([VisitMade(6, (NOW - 0.5) * DAY, VisitOutcome.SAME, http=200, size=9)])
    agenda = opened(read_settings(settings_text() + line), path, NOW).agenda

    due = np.array([agenda.set_time(page) for page in range(60)])
    assert due == pytest.approx(last_visits(path) + 3)
    assert due[6] == pytest.approx(NOW + 2.5)


def test_an_interval_that_was_taken_away_leaves_pages_to_the_policy(path):
    settings = read_settings(settings_text() + 'interval = "3d"\n')
    made(path)
    save(settings, path, NOW)
    agenda = opened(read_settings(settings_text()), path, NOW).agenda

    assert {agenda.set_time(page) for page in range(60)} == {np.inf}


@pytest.mark.parametrize("since", [0, 3, 40], ids=["none", "few", "many"])
def test_what_pages_show_is_known_as_if_all_copies_were_read(path, since, monkeypatch):
    """Kept with the checkpoint; copies that were made since are read."""
    monkeypatch.setattr(opening, "_PAGES_AT_A_TIME", 320)
    settings = made(path)
    copied = [Copy(bytes([page % 7]) * 8) for page in range(60)]
    anew = [Copy(b"bytes---", bytes([page % 5]) * 8) for page in range(60)]

    def visit(pages, copies, at):
        entries = [
            VisitMade(page, at * DAY, VisitOutcome.CHANGED, copy=copies[page])
            for page in range(pages)
        ]
        with open_for_writing(path) as store:
            store.write(entries)

    visit(60, copied, NOW - 2)
    save(settings, path, NOW - 1)
    visit(since, anew, NOW - 0.5)
    found = opened(settings, path, NOW).contents

    shown = {page: (anew if page < since else copied)[page].signature for page in range(60)}
    for signature in set(shown.values()):
        same = {page for page, each in shown.items() if each == signature}
        assert set(found.same(signature, host=0)) == same
