"""Tables of the demonstration."""

import numpy as np
import pytest

from recrawl.demo.report import Costs, FreshnessByTenth, SectionFigures, section_rows

COSTS = Costs(
    visits=1200,
    first=300,
    changed=400,
    nothing_new=480,
    cosmetic=90,
    elsewhere=20,
    not_modified=250,
    saved_bytes=512_000,
    sent_bytes=2_048_000,
    forbidden=0,
    held=270,
    rated=300,
)


def test_the_last_column_is_the_mean_of_the_tenths_that_there_are():
    tenths = np.full(10, np.nan)
    tenths[[3, 4]] = 0.5, 0.7
    fresh = FreshnessByTenth(20.0, tenths, tenths, tenths)

    assert fresh.header[4:6] == ["8", "10"]
    assert fresh.rows[0][:1] + fresh.rows[0][4:7] == ["expected", "50 %", "70 %", "-"]
    assert [row[-1] for row in fresh.rows] == ["60 %"] * 3


def test_what_is_simulated_says_so():
    fresh = FreshnessByTenth(20.0, *np.ones((3, 10)))

    assert "simulated" in fresh.title
    assert [row[0] for row in fresh.rows] == ["expected", "true", "uniform"]


def test_a_section_that_never_changed_never_changes():
    (row,) = section_rows([SectionFigures("", "-", 1, 3, 0, 2, np.inf, 40.0)])

    assert row == ["/", "-", "1", "3", "0", "2", "never", "5.7w"]


@pytest.mark.parametrize(
    "words",
    [
        "1,200 visits: 300 first copies, 400 changed, 480 same, 20 gone or moved.",
        "90 of the same differed in bytes that no reader sees.",
        '250 answers were only "not modified": 2.0 MB came, 512.0 kB need not.',
        "Requests for what robots.txt forbids: none.",
        "holds the true rate of 270 of 300 pages",
    ],
)
def test_costs_are_told_in_words(words):
    assert any(words in sentence for sentence in COSTS.sentences())
