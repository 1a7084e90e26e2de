"""After a crawl that used each kind of secret, none is anywhere but in the requests."""

import gzip
import json
import shlex
import socket
import sqlite3
import sys
import urllib.request
from base64 import b64encode
from contextlib import ExitStack

import pytest
import zstandard

from tests.cli.crawls import AGENT, begin_in
from tests.cli.running import run, sentence
from tests.cli.running import start as start_verb
from tests.servers.answers import hang_up, in_turn, page, redirect
from tests.servers.faults import FaultServer
from tests.servers.locked import demanding, echo
from tests.servers.proxy import TestProxy
from tests.waiting import ending, wait_until

PUBLIC = "for members only"  # what pages say: it must be found wherever secrets are looked for
SECRETS = {
    "password": "Passw0rd-of-basic",
    "token": "t0ken-of-bearer-auth",
    "key": "k3y-of-a-header",
    "cookie": "c00kie-of-a-session",
    "proxy": "Passw0rd-of-a-proxy",
}
BASIC = b64encode(f"me:{SECRETS['password']}".encode()).decode()
PROXY = b64encode(f"me:{SECRETS['proxy']}".encode()).decode()
HIDDEN = [text.encode() for text in (*SECRETS.values(), BASIC, PROXY, "fresh-session")]
SITES = {
    "basic": (
        'user = "me"\npassword = "env:PASSWORD"',
        {"authorization": f"Basic {BASIC}"},
    ),
    "bearer": ('token = "file:token.txt"', {"authorization": f"Bearer {SECRETS['token']}"}),
    "header": ('headers = { "X-Api-Key" = "env:KEY" }', {"x-api-key": SECRETS["key"]}),
    "cookie": ('cookies = "cookies.txt"', {"cookie": f"session={SECRETS['cookie']}"}),
}
_ZSTD = b"\x28\xb5\x2f\xfd"  # how what is packed begins
PATHS = ("/", "/echo", "/denied", "/away", "/back", "/broken")


def pages(stranger, wanted):
    """Pages of a site that shows them to those who are logged in, and repeats what it is sent."""
    secret = next(iter(wanted.values()))
    first = page(f"<h1>{PUBLIC}</h1><p>one".encode(), set_cookie="s=fresh-session")
    second = page(f"<h1>{PUBLIC}</h1><p>two words more".encode(), set_cookie="s=fresh-session")
    found = {
        "/": demanding(in_turn(first, second), wanted),
        "/echo": echo,
        "/denied": demanding(first, {"x-never": "given"}, 403),
        "/away": redirect(stranger.address("/landing"), 302),
        "/back": redirect(f"/echo?said={secret.split()[-1]}", 302),
        "/broken": hang_up(f"HTTP/9 {secret} is what you sent\r\n\r\n".encode()),
    }
    return found | {"/robots.txt": demanding(page(b""), wanted)}


def settings(servers, stranger):
    """Settings with a page for each path of each site, the first of them through a proxy."""
    blocks = [f'agent = "{AGENT}"\nbudget = "100000/1d"\n[politeness]\ndelay = "0.01s"']
    for name, server in servers.items():
        keys = SITES[name][0]
        if name == "basic":
            keys += '\nproxy = "env:PROXY"'
        for path in PATHS:
            address = f'address = "{server.address(path)}"\nlocal = true\ninterval = "1s"'
            blocks.append(f"[[page]]\n{address}\n{keys}")
    blocks.append(f'[[site]]\naddress = "{stranger.address("/")}"\nlocal = true')
    return "\n".join([*blocks, ""])


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """A crawl in a folder, all that its verbs printed, and what a stranger was sent."""
    folder = tmp_path_factory.mktemp("crawl")
    run("init", folder, "--agent", AGENT)
    (folder / "token.txt").write_text(SECRETS["token"])
    line = f"127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\t{SECRETS['cookie']}\n"
    (folder / "cookies.txt").write_text(line)
    with ExitStack() as stack:
        stranger = stack.enter_context(FaultServer({"/landing": echo}).in_thread())
        servers = {}
        for name, (_, wanted) in SITES.items():
            served = FaultServer(pages(stranger, wanted))
            servers[name] = stack.enter_context(served.in_thread())
        proxy = stack.enter_context(TestProxy(("me", SECRETS["proxy"])).in_thread())
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("PASSWORD", SECRETS["password"])
        patch.setenv("KEY", SECRETS["key"])
        patch.setenv("PROXY", f"http://me:{SECRETS['proxy']}@127.0.0.1:{proxy.port}")
        (folder / "recrawl.toml").write_text(settings(servers, stranger))
        said = {"crawl": crawl(folder), **look(folder, servers["bearer"].address("/"))}
        said["proxy"] = "\n".join(host for host, _ in proxy.targets)
    return folder, said, {name: server.requests for name, server in servers.items()}, stranger


def crawl(folder):
    """What a crawl prints, and Prometheus reads, until each page has changed."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = [sys.executable, "-c", "import sys; open('told.json', 'a').write(sys.stdin.read())"]
    words = ["--log", "visits.jsonl", "--warc", "warc", "--metrics", port]
    more = {"cwd": folder, "stdout": -1, "stderr": -1, "text": True}
    command = start_verb("crawl", *words, "--on-change", shlex.join(program), **more)
    with ending(command) as process:
        told = folder / "told.json"
        wait_until(lambda: told.exists() and told.read_text().count(".changed") >= len(SITES))
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            metrics = answer.read().decode()
        process.terminate()
        out, err = process.communicate()
    assert process.returncode == 0, err
    return metrics + out + err


def look(folder, address):
    """What every verb prints, by its words."""
    found = {}
    for words in (
        *(
            ["status"],
            ["status", "--json"],
            ["pages"],
            ["pages", "--json"],
            ["check", "recrawl.db"],
        ),
        *(["why", address], ["why", address, "--json"], ["history", address, "--json"]),
        *(["diff", address], ["changes"], ["changes", "--json", "--with", "text,diff,chunks"]),
        *(["get", address], ["get", address, "--as", "html"], ["backup", "recrawl.db", "copy.db"]),
        *(["export", what, "-o", f"{what}.jsonl"] for what in ("visits", "pages", "copies")),
        ["get", address.replace("http://", f"http://me:{SECRETS['password']}@")],
    ):
        ended = run(*words, cwd=folder)
        found[" ".join(map(str, words[:3]))] = ended.out + ended.err
    return found


def contents(path):
    """Bytes of a file, and all that is packed in it."""
    raw = path.read_bytes()
    yield raw
    if path.name.endswith(".gz"):
        yield gzip.decompress(raw)
    if raw.startswith(b"SQLite format 3"):
        with sqlite3.connect(path) as store:
            tables = store.execute("select name from sqlite_schema where type = 'table'")
            for (table,) in tables.fetchall():
                for row in store.execute(f'select * from "{table}"'):  # noqa: S608 - its own name
                    yield from map(unpacked, row)


def unpacked(value):
    """A value of a store, out of its packing."""
    raw = value if isinstance(value, bytes) else str(value).encode()
    if raw.startswith(_ZSTD):
        return zstandard.ZstdDecompressor().decompressobj().decompress(raw)
    return raw


def test_every_site_was_asked_with_its_secret_and_a_stranger_with_none(crawled):
    _, said, requests, stranger = crawled

    for name, (_, wanted) in SITES.items():
        for header, value in wanted.items():
            sent = [each.headers.get(header) for each in requests[name]]
            assert set(sent) == {value}
        assert {each.path for each in requests[name]} >= {*PATHS, "/robots.txt"}
    assert stranger.asked("/landing")
    for each in stranger.requests:
        assert not any(secret.decode() in str(each.headers) for secret in HIDDEN)
    assert "127.0.0.1" in said["proxy"]


def test_no_file_of_the_crawl_holds_a_secret(crawled):
    """The store with all that is packed in it, its backup, the WARC files, logs and exports."""
    folder, *_ = crawled
    given = {"token.txt", "cookies.txt"}
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in given]

    public = set()
    for path in files:
        for content in contents(path):
            assert not [secret for secret in HIDDEN if secret in content], path
            if PUBLIC.encode() in content:
                public.add(path.relative_to(folder).parts[0])

    # What pages say was found by the very same search.
    assert public >= {"recrawl.db", "copy.db", "warc", "copies.jsonl"}
    assert {"visits.jsonl", "told.json"} <= {path.name for path in files}


def test_nothing_that_is_printed_holds_a_secret(crawled):
    """The crawl with its remarks, the figures of Prometheus, and every verb."""
    _, said, *_ = crawled

    for words, text in said.items():
        assert not [secret for secret in HIDDEN if secret.decode() in text], words
    assert "recrawl_visits" in said["crawl"]
    assert any(PUBLIC in text for words, text in said.items() if words.startswith("get "))
    assert json.loads(said["status --json"])


def test_a_wrong_secret_is_told_while_it_crawls(crawled):
    _, said, requests, _ = crawled

    assert len(requests) == len(SITES)
    assert "answers 403 to the credentials in its settings; check them." in said["crawl"]


def test_a_variable_that_is_missing_ends_the_crawl_before_it_begins(crawled, monkeypatch):
    folder, *_ = crawled
    for name in ("PASSWORD", "KEY", "PROXY"):
        monkeypatch.delenv(name, raising=False)

    said = sentence(run("crawl", "--once", cwd=folder))

    assert said.endswith(": no such environment variable is set")


def test_a_variable_that_is_missing_stops_only_what_needs_it(tmp_path, monkeypatch):
    """Each of these asks one site, or none at all."""
    monkeypatch.delenv("NOWHERE", raising=False)
    begin_in(tmp_path)
    with ExitStack() as stack:
        pages = {"/": page(b"home"), "/more": page(b"more")}
        plain, closed = (stack.enter_context(FaultServer(pages).in_thread()) for _ in range(2))
        for server in (plain, closed):
            assert run("add", server.address("/"), "--local", cwd=tmp_path).code == 0
        assert run("crawl", "--once", cwd=tmp_path).code == 0
        with (tmp_path / "recrawl.toml").open("a") as file:
            file.write('token = "env:NOWHERE"\n')  # of the last site
        asked = len(closed.requests)

        def ended(*words):
            return run(*words, cwd=tmp_path)

        for words in (
            ("find", plain.address("/")),
            ("add", "--again", plain.address("/")),
            ("add", plain.address("/more"), "--page-only", "--local"),
            ("add", closed.address("/more"), "--page-only", "--local", "--later"),
            ("get", plain.address("/"), "--fresh", "0.99999"),
            ("get", closed.address("/")),
            ("set", plain.address("/"), "weight=2"),
            *(("status",), ("pages",), ("why", closed.address("/")), ("changes",)),
            ("hint", closed.address("/")),
            ("remove", closed.address("/more"), "--block", "--yes"),
        ):
            assert ended(*words).code == 0, words
        for words in (
            ("find",),
            ("find", closed.address("/")),
            ("add", "--again", closed.address("/")),
            ("add", closed.address("/more"), "--page-only", "--local"),
            ("get", closed.address("/"), "--fresh", "0.99999"),
            ("crawl", "--once"),
        ):
            said = sentence(ended(*words))
            assert said == (
                f"{closed.address('/')}: token env:NOWHERE: no such environment variable is set"
            ), words
        assert len(closed.requests) == asked
