"""The code that is checked: as it is, or with a fault in it.

A fault is a piece of source put in the place of another. The rooms that politeness is made of are
loaded anew with it, beside those that all other tests use; files on disk stay as they are.

Touches: the modules that are loaded.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOMS = (
    "recrawl.clock",
    "recrawl.frontier",
    "recrawl.state",
    "recrawl.fetch",
    "recrawl.scheduler",
    "recrawl.crawl",
    "recrawl.parse.robots",
    "recrawl.parse.headers",
)


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that somebody might make.

    Args:
        module: Where.
        right: A piece of its source, which occurs there once.
        wrong: What stands there instead.
        breaks: The rule of politeness that it breaks.
        scene: The script that shows it.
    """

    module: str
    right: str
    wrong: str
    breaks: str
    scene: str

    def applied(self, source: str) -> str:
        """The module's source with the fault."""
        assert source.count(self.right) == 1, f"{self.module} has no such line: {self.right}"
        return source.replace(self.right, self.wrong)


class _Faulty(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and loads one module with its fault."""

    def __init__(self, fault: Fault) -> None:
        self._fault = fault

    def find_spec(self, name: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        if name != self._fault.module:
            return None
        return importlib.util.spec_from_loader(name, self)

    def exec_module(self, module: Any) -> None:
        found = importlib.machinery.PathFinder.find_spec(
            module.__name__, sys.modules[module.__name__.rpartition(".")[0]].__path__
        )
        assert found is not None
        assert found.origin is not None
        source = self._fault.applied(Path(found.origin).read_text())
        exec(compile(source, found.origin, "exec"), module.__dict__)  # noqa: S102 - our own source


@contextmanager
def faulty(fault: Fault) -> Iterator[None]:
    """Let imports give the code with a fault."""
    before = {name: module for name, module in sys.modules.items() if _is_loaded_anew(name)}
    kept = {name: vars(sys.modules[name]).copy() for name in _PARENTS}
    finder = _Faulty(fault)
    for name in before:
        del sys.modules[name]
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if _is_loaded_anew(name)]:
            del sys.modules[name]
        sys.modules.update(before)
        for name, names in kept.items():  # which know their modules as attributes, too
            vars(sys.modules[name]).update(names)


_PARENTS = ("recrawl", "recrawl.parse")


def module(name: str) -> Any:
    """A module of the code that is checked."""
    return importlib.import_module(name)


def _is_loaded_anew(name: str) -> bool:
    return name.startswith(_ROOMS)
