"""Lines that are added, or go, right beside a block of varying length.

The block stands at the side, right before the footer, or inside, between two paragraphs; the line
is added before or after it. What is reported is compared with what the very fetch would have shown
without the line, so that it is the line that is found and not the block's next text.
"""
# ruff: noqa: S311 # chance need not be secret

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tests.detect.corpus import Clock, copied, page, paragraph
from tests.detect.lives import Life
from tests.detect.noises import BLOCKS, CHOICES, fetched
from tests.detect.test_corpus import TO_LEARN, read_as_sent

if TYPE_CHECKING:
    from collections.abc import Sequence

# Kinds of noise whose number of lines varies, by where they stand.
SIDE = ("advertisement aside",)
INSIDE = ("advertisement inside", "one of three offers", "advertisements at three places")
FOOT = ("two footers",)
assert {*SIDE, *INSIDE, *FOOT} <= {*BLOCKS, *CHOICES}
BESIDE = (
    "line added after a block at the side",
    "line added before a block at the foot",
    "paragraph added before a block inside",
    "paragraph added after a block inside",
)


def is_found_beside(kind: str, language: str, seed: int) -> bool:
    """Whether a line that is added right beside a block is found at the next visit."""
    chance = random.Random(f"beside {kind} {language} {seed}")
    subject = copied(page(language, seed))
    # The block stands after half of the paragraphs: one more comes before it or after it.
    odd = kind == BESIDE[2]
    if len(subject.paragraphs) % 2 != odd:
        subject.paragraphs.pop()
    other = copied(subject)
    if kind == BESIDE[0]:
        noise = chance.choice(SIDE)
        other.footer.insert(0, subject.words(chance, 5))
    elif kind == BESIDE[1]:
        noise = chance.choice(FOOT)
        other.footer.append(subject.words(chance, 5))
    else:
        noise = chance.choice(INSIDE)
        other.paragraphs.insert(len(subject.paragraphs) // 2, paragraph(language, chance))
    clock, life = Clock(chance), Life(chance.getrandbits(32))

    def fetch(soon: bool) -> Sequence[str]:
        found: Sequence[str] = read_as_sent(
            fetched(subject, [noise], clock.fetch(soon=soon)), language
        )
        return found

    for _ in range(TO_LEARN):
        life.visit(fetch)
    first = clock.fetch()
    state = first.chance.getstate()
    life.copy = read_as_sent(fetched(subject, [noise], first), language)
    first.chance.setstate(state)

    def now(soon: bool) -> Sequence[str]:
        seen_by = clock.fetch(soon=True) if soon else first
        found: Sequence[str] = read_as_sent(fetched(other, [noise], seen_by), language)
        return found

    return life.visit(now)
