"""Exit codes: 0 done, 1 an error in one sentence, 2 a command line that makes no command.

A value is wrong in the same way wherever it stands, in an option, an argument or a file: 1.
"""

import pytest

from tests.cli.crawls import AGENT
from tests.cli.running import run, run_here, sentence

SITE = "https://example.org/"
METRICS_RULE = "--metrics must be a whole number, at least 0, at most 65535"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A crawl with one site and a log of visits; nothing is fetched."""
    folder = tmp_path_factory.mktemp("crawl")
    run("init", folder, "--agent", AGENT)
    run("add", SITE, "--later", cwd=folder)
    (folder / "visits.csv").write_text("page,visited_at,changed\na,2026-01-01,\na,2026-01-02,1\n")
    return folder


DONE = [
    ["--version"],
    ["--help"],
    ["crawl", "-h"],
    ["set"],
    ["status"],
    ["pages"],
    ["changes"],
    ["check"],
    ["estimate", "visits.csv"],
    ["remove", "https://example.org/*", "--yes"],
]
ERRORS = [
    # The value of an option or an argument.
    (["pages", "--limit", "x"], "--limit must be a whole number, at least 1 (got 'x')"),
    (["pages", "--limit", "0"], "--limit must be a whole number, at least 1 (got '0')"),
    (["pages", "--sort", "size"], "--sort must be one of rate, "),
    (["pages", "--status", "old"], "status must be one of new, "),
    (["changes", "--kind", "old"], "--kind must be one of new, "),
    (["changes", "--newest", "-1"], "--newest must be a whole number, at least 1 (got '-1')"),
    (["changes", "--since", "soon"], "--since must be a time"),
    (["crawl", "--for", "long"], "duration must look like 90s, "),
    (["crawl", "--metrics", "x"], f"{METRICS_RULE} (got 'x')"),
    (["crawl", "--metrics", "99999"], f"{METRICS_RULE} (got '99999')"),
    (["crawl", "--metrics", "-1"], f"{METRICS_RULE} (got '-1')"),
    (["worker", "--metrics", "99999"], f"{METRICS_RULE} (got '99999')"),
    (["crawl", "--on-change", "/no/such"], "--on-change: program not found"),
    (["add", "https://a.org", "--weight", "x"], "--weight must be a number (got 'x')"),
    (["add", "https://a.org", "--weight", "-1"], "https://a.org: weight must be a number above 0"),
    (["add", "example.org"], "example.org is neither a file nor an address"),
    (["set", SITE, "links=x"], "links must be a whole number, at least 0"),
    (["set", "linkz=1"], 'unknown key "linkz"'),
    (["export", "everything", "-o", "a.csv"], "WHAT must be one of visits, "),
    (["get", SITE, "--as", "pdf"], "--as must be one of "),
    (
        ["estimate", "visits.csv", "--level", "high"],
        "--level must be a share such as 0.95 or 95% (got 'high')",
    ),
    (["estimate", "visits.csv", "--level", "90"], "level must be "),
    (
        ["estimate", "visits.csv", "--false-changes", "nan"],
        "--false-changes must be between 0 and 1 (got nan)",
    ),
    (["get", SITE, "--fresh", "2"], "--fresh must be between 0 and 1 (got 2.0)"),
    (["crawl", "--for", "0s"], "duration must be above 0 (got '0s')"),
    (["estimate", "visits.csv", "--method", "guess"], "method must be one of "),
    (["import", "visits.csv", "--format", "word"], "--format must be one of "),
    (["init", "new", "--agent", "me"], "agent must be the name of your crawler with a contact"),
    # What is not there, or cannot be now.
    (["why", "https://example.org/x"], ""),
    (["status", "-c", "no.toml"], "no.toml not found"),
    (["estimate", "no.csv"], "no.csv"),
    (["init", ".", "--agent", AGENT], ""),
    (["add", SITE], "recrawl.toml, line "),
    (["hint", "https://a.org/"], "none of these pages belongs to a site"),
    (["remove", "https://example.org/x"], ""),
    (["remove", "--block", "https://a.org/"], "recrawl.toml has no [[site]] or [[page]]"),
]
WRONG_USAGE = [
    [],
    ["guess"],
    ["status", "--colour"],
    ["status", "extra"],
    ["add"],
    ["why"],
    ["pages", "--sort"],
    ["pages", "--csv", "--json"],
    ["pages", "-q", "-v"],
    ["changes", "--newest", "2", "--limit", "2"],
    ["get", SITE, "--fresh", "0.9", "--at", "2026-01-01"],
    ["crawl", "--warc-size", "1GB"],
    ["add", SITE, "--again", "--links", "1"],
    ["remove", "--warc", "a", SITE],
    ["set", "budget=1/1d", "--unset", "budget"],
    ["listing"],
    ["listing", "guess"],
]


@pytest.mark.parametrize("words", DONE, ids=" ".join)
def test_0_is_done(folder, words):
    ended = run(*words, cwd=folder)

    assert ended.code == 0, ended


@pytest.mark.parametrize(
    ("words", "said"), ERRORS, ids=lambda each: " ".join(each) if isinstance(each, list) else ""
)
def test_1_is_an_error_in_one_sentence(folder, words, said):
    assert sentence(run(*words, cwd=folder)).startswith(said)


@pytest.mark.parametrize("words", WRONG_USAGE, ids=" ".join)
def test_2_is_wrong_usage(folder, monkeypatch, words):
    monkeypatch.chdir(folder)
    ended = run_here(*words)

    assert ended.code == 2, ended
    assert "Usage: recrawl" in ended.out + ended.err or "requires an argument" in ended.err
