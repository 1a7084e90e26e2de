"""What people see on a terminal: a real one, as far as the command can tell."""

import contextlib
import os
import pty
import tempfile

import pytest

from recrawl.report.rates import COLUMNS
from tests.cli.running import run, run_here, start, write_log
from tests.preloaded import environment

NOW = "2026-03-01"
README_NEWS = [(1, ""), (3, "true"), (4, "true"), (5, "false"), (8, "true")]


@pytest.fixture
def log(tmp_path):
    rows = [(f"https://a.org/{page}", day, "true") for page in range(7) for day in (0, 86_400)]
    return write_log(tmp_path / "visits.csv", rows)


def on_a_terminal(*words, stream="stdout", columns=100):
    """What a terminal shows of one of the command's streams, line by line; and the other one."""
    ours, theirs = pty.openpty()
    shown = b""
    with tempfile.TemporaryFile() as rest:
        streams: dict = {"stdout": rest, "stderr": rest} | {stream: theirs}
        screen = environment(COLUMNS=str(columns), TERM="xterm")
        process = start(*words, env=screen, **streams)
        os.close(theirs)
        with contextlib.suppress(OSError):  # how Linux says that nobody writes any more
            while part := os.read(ours, 65_536):
                shown += part
        os.close(ours)
        assert process.wait() == 0, shown
        rest.seek(0)
        return shown.decode().replace("\r\n", "\n").splitlines(), rest.read().decode()


def test_a_terminal_shows_a_table(log):
    lines, _ = on_a_terminal("estimate", log, "--now", NOW)

    assert lines[0].split() == [
        "page",
        "visits",
        "changes",
        "every",
        "between",
        "fresh",
        "now",
        "status",
    ]
    assert len(lines) == 8
    assert lines[1].startswith("https://a.org/0")
    assert lines[1].endswith("all_changed")


def test_a_narrow_terminal_leaves_out_what_matters_least(tmp_path):
    """The log of README on 80 columns: the status says how far a rate is to be trusted."""
    page = "https://example.org/"
    news = [(f"{page}news", f"2026-01-0{day}", told) for day, told in README_NEWS]
    jobs = [(f"{page}jobs", f"2026-01-0{day}", "true") for day in (1, 3, 8)]
    about = [(f"{page}about", f"2026-01-0{day}", "false") for day in (1, 8)]
    log = write_log(
        tmp_path / "visits.csv", [*news, *jobs, *about, (f"{page}new", "2026-01-08", "")]
    )
    lines, said = on_a_terminal("estimate", log, "--now", "2026-01-09", columns=80)

    assert lines[0].split() == ["page", "changes", "every", "between", "fresh", "now", "status"]
    assert lines[3].startswith("example.org/about ")
    assert "No room for the column visits;" in said


def test_a_narrow_terminal_shows_the_names_of_policies():
    words = ["simulate", "world", "sections", "--pages", "20", "--for", "20d"]
    policy = "optimal-known"
    lines, said = on_a_terminal(*words, "--policy", f"uniform,{policy}", columns=80)

    assert any(line.startswith(f"{policy} ") for line in lines)
    assert "took" not in lines[0]
    assert "took; widen the terminal" in said


def test_a_terminal_shows_csv_where_it_is_asked_for(log):
    lines, _ = on_a_terminal("estimate", log, "--csv")

    assert lines[0] == ",".join(COLUMNS)


def test_a_terminal_shows_the_first_forty_pages(tmp_path):
    log = write_log(tmp_path / "visits.csv", [(f"/{number}", 0, "") for number in range(100)])
    lines, said = on_a_terminal("estimate", log)

    assert [line.split()[0] for line in lines[1:]] == [f"/{number}" for number in range(40)]
    assert "... and 60 more pages" in said


@pytest.mark.parametrize("form", [(), ("--json",), ("-o", "rates.csv")])
def test_a_limit_holds_wherever_rows_go(tmp_path, form):
    rows = [(f"/{number}", day, "") for number in range(100) for day in (0, 86_400)]
    log = write_log(tmp_path / "visits.csv", rows)
    lines, _ = on_a_terminal("estimate", log, "--limit", "7")
    assert [line.split()[0] for line in lines[1:]] == [f"/{number}" for number in range(7)]

    ended = run("estimate", log, "--limit", "7", *form, cwd=tmp_path)
    text = (tmp_path / "rates.csv").read_text() if "-o" in form else ended.out
    assert len(text.splitlines()) == 7 + ("--json" not in form)


def test_a_dash_is_the_standard_output(log):
    lines, _ = on_a_terminal("estimate", log, "--now", NOW, "-o", "-")
    rows = run_here("estimate", log, "--now", NOW, "--csv").out

    assert lines == rows.splitlines()
    as_json = run_here("estimate", log, "--now", NOW, "--json").out
    assert run_here("estimate", log, "--now", NOW, "--json", "-o", "-").out == as_json


def test_a_quiet_verb_prints_results_alone(log):
    assert run("estimate", log, "--now", NOW).err != ""
    assert run("estimate", log, "--now", NOW, "-q").err == ""
    shown, _ = on_a_terminal("estimate", log, "--now", NOW, "-q", stream="stderr")
    assert shown == []


def test_errors_are_never_quiet_and_say_where_if_asked(log):
    missing = log.parent / "none.csv"

    assert run("estimate", missing, "-q").err.startswith("Error: ")
    said = run("estimate", missing, "-v").err
    assert "Traceback" in said
    assert said.splitlines()[-1].startswith("Error: ")
    assert run("estimate", missing, "-v", "-q").code == 2


def test_page_names_do_nothing_to_a_terminal(tmp_path):
    """A name may hold letters that move the cursor or rename the window."""
    log = write_log(tmp_path / "visits.csv", [("/\x1b[2J\x1b]0;mine\x07", 0, "")])
    lines, _ = on_a_terminal("estimate", log)

    assert all(line.isprintable() for line in lines)


def test_progress_goes_to_a_terminal_and_never_between_the_rows(log):
    shown, rows = on_a_terminal("estimate", log, "--now", NOW, stream="stderr")

    assert any("reading visits" in line for line in shown)
    assert rows == run_here("estimate", log, "--now", NOW).out


def test_progress_is_not_shown_where_no_terminal_is(log):
    assert "reading visits" not in run("estimate", log).err


def test_a_narrow_terminal_gets_short_names(tmp_path):
    """The figures stay whole; the page's name is cut in its middle."""
    page = "https://example.org/" + "long/" * 20 + "end"
    log = write_log(tmp_path / "visits.csv", [(page, 0, ""), (page, 86_400, "true")])
    lines, _ = on_a_terminal("estimate", log, columns=80)

    assert max(map(len, lines)) <= 80
    assert lines[1].startswith("example.org/")
    assert "…" in lines[1]


# Colours, a window's title, a C1 control, text that runs backwards.
OBEYED = "\x1b[31m\x1b]0;title\x07\x9b2J\u202ecod"


def test_a_terminal_gets_no_control_characters_in_csv(tmp_path):
    log = write_log(tmp_path / "visits.csv", [(f"/a{OBEYED}", day, "true") for day in (0, 86_400)])

    lines, _ = on_a_terminal("estimate", log, "--now", NOW, "--csv")

    assert all(line.isprintable() for line in lines)
    assert lines[1].startswith("/a\\x1b[31m\\x1b]0;title\\x07\\x9b2J\\u202ecod,")


def test_a_pipe_gets_the_cells_as_they_are(tmp_path):
    log = write_log(tmp_path / "visits.csv", [(f"/a{OBEYED}", day, "true") for day in (0, 86_400)])

    assert f"\n/a{OBEYED}," in run("estimate", log, "--now", NOW, "--csv").out


def test_a_spreadsheet_gets_no_formulas(tmp_path):
    log = write_log(tmp_path / "visits.csv", [("=1+1", day, "true") for day in (0, 86_400)])

    piped = run("estimate", log, "--now", NOW, "--spreadsheet")
    written = run("estimate", log, "--now", NOW, "--spreadsheet", "-o", tmp_path / "rates.csv")

    assert piped.out.splitlines()[1].startswith("'=1+1,")
    assert (written.code, (tmp_path / "rates.csv").read_text()) == (0, piped.out)


@pytest.mark.parametrize("words", [["--json"], ["-o", "rates.jsonl"], ["-o", "rates.parquet"]])
def test_a_spreadsheet_is_csv(log, tmp_path, words):
    ended = run("estimate", log, "--spreadsheet", *words, cwd=tmp_path)

    assert ended.code == 2
    assert "--spreadsheet" in ended.err
