"""Lines that are added right beside a block of varying length are found at the next visit."""

import pytest

from tests.detect.beside_blocks import BESIDE, is_found_beside
from tests.detect.corpus import LANGUAGES


@pytest.fixture(scope="module")
def missed():
    """By kind: how many of two pages of each language are not found to have changed."""
    return {
        kind: sum(
            not is_found_beside(kind, language, seed) for language in LANGUAGES for seed in (0, 1)
        )
        for kind in BESIDE
    }


@pytest.mark.parametrize("kind", BESIDE)
def test_few_lines_beside_a_block_are_missed(kind, missed):
    assert missed[kind] / (2 * len(LANGUAGES)) <= 0.2


def test_nine_of_ten_lines_beside_blocks_are_found(missed):
    assert sum(missed.values()) / (2 * len(BESIDE) * len(LANGUAGES)) <= 0.1
