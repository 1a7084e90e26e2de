"""Kill crawls at random instants, and check after each that nothing is lost or doubled.

    python scripts/kills.py [KILLS] [SEED]

A quarter each at any instant of writing, inside the saving of a checkpoint, inside the change from
one WARC file to the next, and inside a migration of the store.

Touches: processes, files, the standard output.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.kills.kinds import KINDS


def main(kills: int = 200, seed: int = 1) -> None:
    """Kill, and say how often and where."""
    chance = random.Random(seed)  # noqa: S311 - instants, no secrets
    print(f"{kills} kills, seed {seed}")
    for name, kind in KINDS.items():
        count = kills // len(KINDS)
        with tempfile.TemporaryDirectory() as folder:
            killed = kind(Path(folder))
            inside = sum(killed.kill(chance) for _ in range(count))
        print(f"{name}: {count} kills, {inside} inside; nothing lost, nothing doubled")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
