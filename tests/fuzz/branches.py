"""Which branches of our code inputs have reached, by coverage.py's tracer in C.

Only what is named by the entries counts, and only inside of functions: what runs when a module is
loaded is not reached by inputs.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from coverage import Coverage

if TYPE_CHECKING:
    from collections.abc import Sequence

_EXCLUDED = ("if TYPE_CHECKING:", r"\.\.\.$", "pragma: no cover", "except ImportError:")


class Branches:
    """Branches of some modules, as `Parser.modules` names them.

    Args:
        names: `package.module`, or `package.module:part`.
        data: File to keep what was reached in, so that several processes can add to it.
    """

    def __init__(self, names: Sequence[str], data: Path | None = None) -> None:
        self._coverage = Coverage(
            data_file=None if data is None else str(data),
            branch=True,
            config_file=False,
            include=list(_parts(names)),
            messages=False,
        )
        self._coverage.set_option("run:core", "ctrace")  # the others cannot be asked meanwhile
        for pattern in _EXCLUDED:
            self._coverage.exclude(pattern)

    def start(self) -> None:
        """Note what is reached from now on."""
        self._coverage.start()

    def stop(self) -> None:
        """Note no more; idempotent."""
        self._coverage.stop()

    def reached(self) -> int:
        """Number of steps from line to line seen so far: a measure to compare, no branches."""
        collector: Any = self._coverage._collector
        return sum(map(len, collector.data.values()))

    def save(self) -> None:
        """Keep what was reached in the file."""
        self._coverage.save()

    def add(self, files: Sequence[Path]) -> None:
        """Take in what other processes have kept."""
        self._coverage.combine([str(file) for file in files if file.exists()], keep=True)

    def counts(self, names: Sequence[str]) -> dict[str, tuple[int, int, list[str]]]:
        """By module: branches reached, branches there are, and where the others are.

        Args:
            names: The modules, or parts of them, that are counted.
        """
        wanted = _parts(names)
        with TemporaryDirectory(prefix="recrawl-fuzz-") as folder:
            report = Path(folder) / "coverage.json"
            self._coverage.json_report(
                list(wanted), outfile=str(report), ignore_errors=True, show_contexts=False
            )
            files = json.loads(report.read_text())["files"]
        found = {}
        for name, file in files.items():
            parts = wanted[str(Path(name).resolve())]
            reached = there = 0
            missing: list[str] = []
            for function, inside in file["functions"].items():
                if not function or ("" not in parts and function.partition(".")[0] not in parts):
                    continue
                reached += inside["summary"]["covered_branches"]
                there += inside["summary"]["num_branches"]
                missing += [f"{here} to {to}" for here, to in inside["missing_branches"]]
            found[_module_of(name)] = (reached, there, missing)
        return found


def _parts(names: Sequence[str]) -> dict[str, set[str]]:
    """Files of modules, and the names of the parts that are wanted of each; empty for all."""
    found: dict[str, set[str]] = {}
    for name in names:
        module, _, part = name.partition(":")
        file = str(importlib.import_module(module).__file__)
        found.setdefault(file, set()).add(part)
    return found


def _module_of(file: str) -> str:
    path = Path(file).resolve().with_suffix("")
    return ".".join(path.parts[len(path.parts) - path.parts[::-1].index("recrawl") :])
