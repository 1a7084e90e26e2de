"""What it costs to tell whether a page changed, over parsing it, measured in one run.

    python benchmarks/detection.py                   a page of 40 kB
    python benchmarks/detection.py --size 200000 --rounds 30

A page of text, links, lists and a table, as shops and newspapers write them, is read twice: bytes
in, outcome out. Decoding, what a reader sees, masks, signatures, and where these differ the share
of words that differ, all count; the lines of the copy are at hand. Peers parse the same bytes to a
tree and do nothing else. Each figure is the least of many rounds, in which all take turns.

Touches: nothing.
"""

from __future__ import annotations

import argparse
import random
import time
from typing import TYPE_CHECKING

import lxml.html
from resiliparse.parse.html import HTMLTree
from xxhash import xxh3_64_digest

from recrawl.detect.change import Change, Known, difference, read, reading
from recrawl.detect.masks import NO_MASKS, learnt
from recrawl.fetch.encodings import decoded
from recrawl.visits.status import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.detect.masks import Masks

MOST_RATIO = 2.5  # times parsing
HEADER = "text/html; charset=utf-8"
LETTERS = "abcdefghijklmnopqrstuvwxyzéü"


def made(size: int, *, clock: str = "12:00:01", price: str = "19.99", build: str = "a1") -> bytes:
    chance = random.Random(1)  # noqa: S311 # chance need not be secret
    known = ["".join(chance.choices(LETTERS, k=chance.randint(2, 10))) for _ in range(2500)]

    def words(count: int) -> str:
        return " ".join(chance.choices(known, k=count))

    parts = [
        f"<!DOCTYPE html>\n<html lang=en>\n<head>\n  <title>{words(4)}</title>\n",
        f'  <link rel="stylesheet" href="/style.css?{build}">\n  <script>var s = {{}};',
        "s.a = 1; " * 250,
        f'</script>\n</head>\n<body class="page">\n  <p class="now">Now {clock} UTC</p>\n',
        "<nav><ul>\n",
    ]
    parts += [
        f'    <li class="menu-item item-{number}"><a class="menu-link" href="/section/{number}/'
        f'?page=1" title="{words(2)}">{words(2)}</a></li>\n'
        for number in range(40)
    ]
    parts.append(
        f'</ul></nav>\n<main id="main">\n<h1>{words(6)}</h1><p>Price: <b>{price}</b></p>\n'
    )
    length = sum(map(len, parts))
    while length < size:
        number = chance.randint(1, 99999)
        parts.append(
            f'  <article class="card card--wide" id="card-{number}" data-id="{number}">\n'
            f'    <h2 class="card__title"><a href="/read/{number}">{words(6)}</a></h2>\n'
            f'    <p class="card__text">{words(18)} <em>{words(1)}</em> {words(14)} &amp; '
            f"{words(3)}</p>\n"
            f'    <div class="card__foot"><span class="date">2026-01-{number % 28 + 1:02}</span>'
            f'<span class="by">{words(2)}</span><img src="/{number}.jpg" alt="{words(2)}"></div>\n'
            f"  </article>\n"
        )
        length += len(parts[-1])
    parts.append("</main>\n</body>\n</html>\n")
    return "".join(parts).encode()


def told(body: bytes, signature: bytes, known: Known, masks: Masks) -> Change:
    """As a crawl does it: bytes first, and only then what a reader sees."""
    if xxh3_64_digest(body) == signature:
        return Change(Outcome.SAME, 0.0)
    return difference(known, read(decoded(body, HEADER), html=True), masks)


def cases(size: int) -> dict[str, tuple[Callable[[], object], Outcome]]:
    old = made(size)
    lines = read(decoded(old), html=True)
    later = read(decoded(made(size, clock="12:00:02")), html=True)
    masks = learnt(lines, later)
    assert masks
    signature = xxh3_64_digest(old)
    plain, blank = reading(lines), reading(lines, masks)
    kept = Known(plain.lines, plain.signature, plain.likeness)
    kept_masked = Known(blank.lines, blank.signature, blank.likeness)
    unkept = Known(None, plain.signature, plain.likeness)
    other = made(size, build="b2")
    noisy = made(size, build="b2", clock="23:59:59")
    changed = made(size, build="b2", price="21.99")
    both = made(size, build="b2", price="21.99", clock="23:59:59")
    return {
        "equal bytes": (lambda: told(old, signature, kept, NO_MASKS), Outcome.SAME),
        "equal text": (lambda: told(other, signature, kept, NO_MASKS), Outcome.COSMETIC),
        "equal text, masks": (lambda: told(noisy, signature, kept_masked, masks), Outcome.COSMETIC),
        "changed": (lambda: told(changed, signature, kept, NO_MASKS), Outcome.CHANGED),
        "changed, masks": (lambda: told(both, signature, kept_masked, masks), Outcome.CHANGED),
        "changed, old text not at hand": (
            lambda: told(changed, signature, unkept, NO_MASKS),
            Outcome.CHANGED,
        ),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--size", type=int, default=40_000, help="bytes of the page")
    options.add_argument("--rounds", type=int, default=60)
    chosen = options.parse_args()
    body = made(chosen.size, build="b2")
    text = body.decode()
    peers: dict[str, Callable[[], object]] = {
        "resiliparse": lambda: HTMLTree.parse(text),
        "resiliparse, from bytes": lambda: HTMLTree.parse_from_bytes(body),
        "lxml": lambda: lxml.html.fromstring(body),
    }
    ours = cases(chosen.size)
    for name, (tell, outcome) in ours.items():
        found = tell()
        assert isinstance(found, Change), name
        assert found.outcome is outcome, (name, found)
    best = dict.fromkeys((*peers, *ours), float("inf"))
    for _ in range(chosen.rounds):
        for name, run in (peers | {name: tell for name, (tell, _) in ours.items()}).items():
            began = time.perf_counter()
            for _ in range(5):
                run()
            best[name] = min(best[name], (time.perf_counter() - began) / 5)
    print(f"a page of {len(body):,} bytes with {body.count(b'<'):,} tags, milliseconds")
    for name in peers:
        print(f"  {name:32}{1000 * best[name]:8.3f}")
    print(f"{'':34}{'ms':>8}{'/ resiliparse':>16}{'/ lxml':>9}")
    for name in ours:
        ratio, other = best[name] / best["resiliparse"], best[name] / best["lxml"]
        mark = "" if other <= MOST_RATIO else f"  more than {MOST_RATIO} of lxml"
        print(f"  {name:32}{1000 * best[name]:8.3f}{ratio:16.2f}{other:9.2f}{mark}")


if __name__ == "__main__":
    main()
