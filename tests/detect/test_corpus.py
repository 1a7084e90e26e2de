"""Noise is learned and changes are found, over many kinds of both, languages and encodings.

Each page lives as in a crawl: it is visited, some visits fetch it twice, those that a crawl would
choose (`Life`), and what differs then is learned. After twenty visits, in which it was fetched
twice some four times, it has been learned; what is reported as changed from then on is false.
Learning goes on meanwhile, as it does in a crawl. Then the page is changed; to see that the change
itself is found, and not noise beside it, it is compared with what the same fetch would have given
before.
"""
# ruff: noqa: S311 # chance need not be secret

import random

import pytest

from recrawl.detect.change import OldVersion, compare, read_lines, signature
from recrawl.detect.masks.masks import NO_MASKS, apply_masks
from recrawl.parse.encodings import decoded
from recrawl.visits.status import VisitOutcome
from tests.detect.changes import EDITS, edited
from tests.detect.corpus import LANGUAGES, Clock, encoded, page, written
from tests.detect.lives import Life
from tests.detect.noises import NOISES, SLOW, fetched

TO_LEARN = 20  # visits
VISITS = 10
IN_LANGUAGES = len(LANGUAGES) // 2  # that each kind is tried in; the next kind has the others
# May be taken for part of a block of varying length right beside it.
BESIDE_BLOCKS = ("line added to the footer", "link added", "paragraph added", "paragraph removed")


def languages_of(number):
    """Every other language, by turns: two neighbouring kinds have them all between them."""
    return list(LANGUAGES)[number % 2 :: 2]


def read_as_sent(text, language):
    body, content_type = encoded(text, language)
    return read_lines(decoded(body, content_type), html=True)


def is_changed(old, new, masks):
    known = OldVersion(old, signature(apply_masks(old, masks)))
    return compare(known, new, masks).outcome is VisitOutcome.CHANGED


def lived(subject, noises, clock, chance):
    """A page after it was learned, and how it is fetched."""

    def fetch(soon):
        return read_as_sent(fetched(subject, noises, clock.fetch(soon=soon)), subject.language)

    life = Life(chance.getrandbits(32))
    for _ in range(TO_LEARN):
        life.visit(fetch)
    return life, fetch


def falsely_changed(noises, language, seed):
    chance = random.Random(f"{noises} {language} {seed}")
    life, fetch = lived(page(language, seed), noises, Clock(chance), chance)
    return sum(life.visit(fetch) for _ in range(VISITS))


def is_found(kind, language, seed):
    """Whether a change is found on a page with four kinds of noise; None if it is none."""
    chance = random.Random(f"{kind} {language} {seed}")
    noises, clock, subject = chance.sample(NOISES, 4), Clock(chance), page(language, seed)
    life, _ = lived(subject, noises, clock, chance)
    other = edited(subject, kind, chance)
    if written(other) == written(subject):
        return None
    fetch = clock.fetch()
    state = fetch.chance.getstate()
    life.copy = read_as_sent(fetched(subject, noises, fetch), language)
    fetch.chance.setstate(state)

    def now(soon):
        seen_by = clock.fetch(soon=True) if soon else fetch
        return read_as_sent(fetched(other, noises, seen_by), language)

    return life.visit(now)


@pytest.fixture(scope="module")
def false_changes():
    """By kind of noise: changes that were none, of how many visits."""
    return {
        kind: sum(falsely_changed([kind], language, seed=1) for language in languages_of(number))
        for number, kind in enumerate(NOISES)
    }


@pytest.fixture(scope="module")
def found_changes():
    """By kind of change: whether each was found."""
    found = {
        kind: [is_found(kind, language, seed=2) for language in languages_of(number)]
        for number, kind in enumerate(EDITS)
    }
    return {kind: [each for each in some if each is not None] for kind, some in found.items()}


def test_there_are_enough_kinds_languages_and_encodings():
    encodings = {encoding for encoding, _ in LANGUAGES.values()}

    assert len(NOISES) + len(SLOW) >= 40
    assert len(EDITS) >= 20
    assert len(LANGUAGES) >= 8
    assert encodings >= {
        *("utf-8", "utf-16", "windows-1252", "windows-1251", "shift_jis", "gb18030", "euc-kr"),
        "iso-8859-2",
    }


def test_at_most_one_percent_of_noise_is_called_a_change(false_changes):
    visits = len(NOISES) * IN_LANGUAGES * VISITS

    assert sum(false_changes.values()) / visits <= 0.002


@pytest.mark.parametrize("kind", NOISES)
def test_each_kind_of_noise_is_learnt(kind, false_changes):
    assert false_changes[kind] / (IN_LANGUAGES * VISITS) <= 0.02


def test_four_kinds_of_noise_on_one_page_are_learnt():
    false = 0
    for language in LANGUAGES:
        for seed in range(8):
            noises = random.Random(f"{language} {seed}").sample(NOISES, 4)
            false += falsely_changed(noises, language, seed)

    assert false / (len(LANGUAGES) * 8 * VISITS) <= 0.01


def test_at_least_99_percent_of_changes_are_found(found_changes):
    found = [each for some in found_changes.values() for each in some]

    assert sum(found) / len(found) >= 0.995


@pytest.mark.parametrize("kind", EDITS)
def test_each_kind_of_change_is_found(kind, found_changes):
    found = found_changes[kind]

    assert len(found) == IN_LANGUAGES
    assert found.count(False) <= (1 if kind in BESIDE_BLOCKS else 0)


@pytest.mark.parametrize("kind", EDITS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_all_changes_of_quiet_pages_are_found(kind, language):
    subject = page(language, 7)
    other = edited(subject, kind, random.Random(f"{kind} {language}"))
    old, new = (read_as_sent(written(each), language) for each in (subject, other))

    assert is_changed(old, new, NO_MASKS) == (written(other) != written(subject))
