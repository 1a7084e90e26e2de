"""Run every verb on strangers' stores, and on as many damaged ones as wanted.

    python scripts/hostile_stores.py [DAMAGED] [SEED]

Prints each run that ends in a traceback, a signal or more than a sentence, and the largest memory
and CPU time of all.

Touches: processes, files, the standard output.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.store.hostile import stores
from tests.store.hostile.corpus import HOSTILE
from tests.store.hostile.verbs import LOOKING, WRITING, VerbRunner

VERBS = (*LOOKING, *WRITING)


def main(damaged: int = 100, seed: int = 1) -> None:
    """Run them all."""
    spoils = dict(HOSTILE)
    for number in range(damaged):
        chance = random.Random(f"{seed} {number}")  # noqa: S311 - no secrets
        spoil = stores.flip if number % 2 else stores.flip_values
        spoils[f"damaged {number}"] = partial(spoil, chance=chance, count=chance.choice([1, 3, 30]))
    runs, troubles, memory, cpu = 0, 0, 0, 0.0
    with tempfile.TemporaryDirectory() as place, VerbRunner() as runner:
        whole, folder = Path(place) / "whole", Path(place) / "spoilt"
        stores.make(whole)
        for name, spoil_it in spoils.items():
            shutil.copytree(whole, folder)
            spoil_it(folder / "recrawl.db")
            for run in runner.run(folder, stores.URL, VERBS):
                runs, memory, cpu = runs + 1, max(memory, run.rss), max(cpu, run.cpu)
                if run.trouble:
                    troubles += 1
                    print(f"{name}: {run.verb}: {run.trouble}\n{run.err[-1000:]}")
            shutil.rmtree(folder)
    print(
        f"{len(spoils)} stores, {runs} runs, {troubles} in trouble; "
        f"at most {memory >> 20} MB and {cpu:.1f} s of CPU time"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
