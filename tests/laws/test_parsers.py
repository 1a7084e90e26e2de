"""Every parser is fuzzed: whoever adds a module to these rooms adds an entry, too."""

import importlib
import pkgutil

import recrawl
from tests.fuzz.registry import NO_PARSERS, PARSERS, ROOMS

FUZZED = {name.partition(":")[0] for parser in PARSERS for name in parser.modules}


def modules_of(room):
    """Names of the modules of a room and of all packages in it."""
    package = importlib.import_module(f"recrawl.{room}")
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [module.name for module in found if not module.ispkg]


def test_every_module_that_reads_what_others_wrote_is_fuzzed():
    exempt = {f"recrawl.{name}" for name in NO_PARSERS}

    missing = [
        module for room in ROOMS for module in modules_of(room) if module not in FUZZED | exempt
    ]

    assert not missing, "add an entry in tests/fuzz/parsers, or a reason in NO_PARSERS"


def test_no_module_is_both_fuzzed_and_exempt_and_none_is_gone():
    exempt = {f"recrawl.{name}" for name in NO_PARSERS}
    there = {module.name for module in pkgutil.walk_packages(recrawl.__path__, "recrawl.")}

    assert not exempt & FUZZED
    assert exempt | FUZZED <= there


def test_every_part_of_a_module_that_an_entry_names_is_there():
    for parser in PARSERS:
        for name in parser.modules:
            module, _, part = name.partition(":")
            assert hasattr(importlib.import_module(module), part or "__name__"), name


def test_parsers_have_names_of_their_own():
    assert len({parser.name for parser in PARSERS}) == len(PARSERS)
