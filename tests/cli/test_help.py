"""What people see when they ask, and when they ask wrongly."""

import re
import shlex

import pytest
import typer

from recrawl import __version__
from recrawl.adapters.tables.outputs import FORMATS
from recrawl.cli.main import app
from recrawl.publish.copies.tables import FORMATS as COPY_FORMATS
from recrawl.rates import METHODS
from tests.cli.running import run, run_here

GROUP = typer.main.get_group(app)
VERBS = sorted(GROUP.commands)


def leaves(group=GROUP, words=()):
    """Every verb that can be run, with the words that call it."""
    for name, verb in group.commands.items():
        if hasattr(verb, "commands"):
            yield from leaves(verb, (*words, name))
        else:
            yield (*words, name), verb


LEAVES = dict(leaves())


def examples(verb):
    """Commands to paste from a verb's help."""
    helped = run_here(verb, "--help").out
    return re.findall(r"^ +(recrawl .*)$", helped, re.MULTILINE)


def test_help_names_every_verb():
    ended = run("--help")

    assert ended.code == 0
    assert ended.err == ""
    for verb in VERBS:
        assert re.search(rf"^  {verb}  ", ended.out, re.MULTILINE)


@pytest.mark.parametrize("words", [["-h"], ["estimate", "-h"], ["demo", "--help"]])
def test_help_is_help_everywhere(words):
    ended = run_here(*words)

    assert ended.code == 0
    assert ended.out.startswith("Usage: ")


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_says_in_one_sentence_what_it_does(verb):
    summary = (GROUP.commands[verb].help or "").split("\n")[0]

    assert summary.endswith(".")
    assert summary in run_here(verb, "--help").out


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_says_what_it_is_for(verb):
    for option in GROUP.commands[verb].params:
        assert getattr(option, "help", None), option.name


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_placeholders_say_what_is_wanted(words):
    """A word each, N for a number; no type of Python, no braces."""
    helped = run_here(*words, "--help").out

    assert not re.search(r"<[a-z]+[\[\]a-zA-Z|]*>", helped)
    assert "{" not in helped
    for parameter in LEAVES[words].params:
        name = parameter.metavar
        assert name is None or name == "N" or len(name) > 1, parameter.name


@pytest.mark.parametrize("words", [(), ("trends",), ("simulate",), ("listing",)], ids=" ".join)
def test_each_summary_fits_on_its_line(words):
    helped = run_here(*words, "--help").out
    _, *sections = re.split(r"^(?=[A-Z][^\n]*:$)", helped, flags=re.MULTILINE)
    rows = [row for each in sections[1:] for row in each.splitlines()[1:] if row.strip()]

    assert not [row for row in rows if not re.fullmatch(r"  \S+ +[A-Z].*\.", row)]
    assert max(map(len, rows)) <= 80


def test_an_option_has_one_meaning():
    """One placeholder by the name of an option, whatever the verb; some name what is grouped.

    A crawl serves other crawlers at a port that they know, the demo its dashboard at any.
    """
    found: dict[str, set[str | None]] = {}
    for verb in LEAVES.values():
        for parameter in verb.params:
            for option in parameter.opts:
                if option.startswith("--"):
                    found.setdefault(option, set()).add(parameter.metavar)

    several = {name: meant for name, meant in found.items() if len(meant) > 1}
    assert set(several) <= {
        "--by",
        "--classes",
        "--every",
        "--for",
        "--method",
        "--policy",
        "--serve",
    }


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_every_verb_can_be_quiet_or_say_more(words):
    options = {option for parameter in LEAVES[words].params for option in parameter.opts}

    assert {"-q", "-v"} <= options
    assert ("--csv" in options) <= ("--limit" in options)


@pytest.mark.parametrize("verb", VERBS)
def test_help_fits_on_a_screen_of_a_hundred_letters(verb):
    assert max(map(len, run_here(verb, "--help").out.split("\n"))) <= 100


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_shows_commands_to_paste(verb):
    """At least one, each of options that there are."""
    known = {word for option in GROUP.commands[verb].params for word in option.opts}

    assert examples(verb)
    for line in examples(verb):
        _, used, *words = shlex.split(line)
        assert used == verb
        assert {word for word in words if word.startswith("-")} <= known


def test_help_names_every_method():
    (option,) = (found for found in GROUP.commands["estimate"].params if found.name == "method")
    words = re.findall(r"[a-z][a-z-]+", getattr(option, "help", ""))

    assert set(words) - {"or", "for", "all", "of", "them"} == {*METHODS, "compare"}
    assert option.default in METHODS


def test_the_version_is_that_of_the_package():
    assert run("--version").out == f"recrawl {__version__}\n"


@pytest.mark.parametrize(
    "words",
    [
        ["estimate", "visits.csv", "--colour"],
        ["estimate"],
        ["estimate", "one.csv", "--column", "changed_at=when"],
        ["guess"],
        ["demo", "7"],
    ],
)
def test_wrong_usage_exits_with_2(words):
    ended = run_here(*words)

    assert ended.code == 2
    assert ended.out == ""
    assert "Usage: " in ended.err
    assert "Error: " in ended.err


def test_wrong_usage_of_the_real_command_exits_with_2():
    ended = run("estimate", "visits.csv", "--colour")

    assert ended.code == 2
    assert "No such option: --colour" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["trends", "visits.csv"], "recrawl trends pages visits.csv"),
        (["simulate", "pages.csv"], "recrawl simulate history pages.csv"),
        (["listing", "cars/"], "recrawl listing describe cars/"),
        (["visits.csv"], "recrawl estimate visits.csv"),
    ],
)
def test_a_file_in_place_of_a_verb_brings_up_the_verb(words, meant):
    ended = run_here(*words)

    assert ended.code == 2
    assert f"Did you mean `{meant}`?" in " ".join(ended.err.split())


def test_a_misspelt_verb_is_no_file():
    assert "Did you mean 'pages'?" in run_here("trends", "page").err


def test_output_formats_are_all_named():
    """Help of `export` says each ending that one of its kinds takes."""
    said = run_here("export", "--help").out

    assert [suffix for suffix in (*FORMATS, *COPY_FORMATS) if suffix not in said] == []


def test_two_ways_to_write_csv_are_two_options():
    said = run_here("estimate", "--help").out

    assert "--csv / --spreadsheet" not in said
    assert "  --csv  " in said
    assert "  --spreadsheet  " in said


def test_no_words_at_all_show_help():
    ended = run_here()

    assert ended.code == 2
    assert "Usage: recrawl" in ended.out + ended.err
