"""`recrawl add`, as people run it."""

from subprocess import PIPE

from recrawl.settings.settings import read_settings
from recrawl.store import open_store
from tests.cli.crawls import begin_in
from tests.cli.running import run, sentence
from tests.cli.running import start as start_verb
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import ending


def addresses(folder):
    with open_store(folder / "recrawl.db") as reader:
        return [each for some in reader.all_addresses() for each in some]


def test_a_site_is_written_down_with_its_pages(tmp_path):
    begin_in(tmp_path)
    with FaultServer({"/": answers.page(b"home")}).in_thread() as server:
        server.pages["/sitemap.xml"] = answers.status(
            200, server.address("/1").encode(), content_type="text/plain"
        )
        ended = run(
            "add", server.address("/"), "--local", "--weight", "2", "--links", "3", cwd=tmp_path
        )

        assert ended.code == 0
        assert ended.err.splitlines()[0] == f"Added {server.address('/')} to recrawl.toml."
        assert ": Found 2 pages, all new (1 sitemap, no feeds)." in ended.err
        assert addresses(tmp_path) == [server.address("/"), server.address("/1")]
    rule = read_settings((tmp_path / "recrawl.toml").read_text()).rules[0]
    assert (rule.weight, rule.links, rule.local, rule.exact) == (2.0, 3, True, False)


def test_the_crawl_does_not_look_again_at_what_was_just_added(tmp_path):
    begin_in(tmp_path)
    with FaultServer({"/": answers.page(b"home")}).in_thread() as server:
        run("add", server.address("/"), "--local", cwd=tmp_path)
        run("crawl", "--once", cwd=tmp_path)

        assert len(server.asked("/sitemap.xml")) == 1
        assert len(server.asked("/robots.txt")) == 1


def test_weights_are_read_before_anything_is_added(tmp_path):
    begin_in(tmp_path)
    settings = tmp_path / "recrawl.toml"
    before = 'weights = "views.csv"\n' + settings.read_text()
    settings.write_text(before)
    with FaultServer({"/p": answers.page(b"a page")}).in_thread() as server:
        words = ("add", server.address("/p"), "--page-only", "--local")
        assert "views.csv: cannot be read" in sentence(run(*words, cwd=tmp_path))
        assert settings.read_text() == before
        (tmp_path / "views.csv").write_text(f"page,weight\n{server.address('/p')},3\n")

        assert run(*words, cwd=tmp_path).code == 0
        assert addresses(tmp_path) == [server.address("/p")]


def test_one_page_is_only_that(tmp_path):
    begin_in(tmp_path)
    with FaultServer({"/p": answers.page(b"a page")}).in_thread() as server:
        ended = run("add", server.address("/p"), "--page-only", "--local", cwd=tmp_path)

        assert ended.code == 0
        assert addresses(tmp_path) == [server.address("/p")]
        assert [seen.path for seen in server.requests] == ["/robots.txt"]


def test_a_site_that_is_there_already_is_refused(tmp_path):
    begin_in(tmp_path)
    with FaultServer().in_thread() as server:
        run("add", server.address("/"), "--local", cwd=tmp_path)
        before = (tmp_path / "recrawl.toml").read_text()
        said = sentence(run("add", server.address("/"), "--local", cwd=tmp_path))

    assert said.endswith(" is already a [[site]]; `recrawl add --again` discovers its pages again")
    assert (tmp_path / "recrawl.toml").read_text() == before


def test_without_a_store_nothing_is_written(tmp_path):
    begin_in(tmp_path)
    (tmp_path / "recrawl.db").unlink()
    before = (tmp_path / "recrawl.toml").read_text()

    said = sentence(run("add", "http://127.0.0.1:9/", cwd=tmp_path))

    assert "not found" in said
    assert (tmp_path / "recrawl.toml").read_text() == before


def test_a_site_that_does_not_answer_is_not_added(tmp_path):
    """And nothing of it is remembered: once it answers it is added at once."""
    begin_in(tmp_path)
    before = (tmp_path / "recrawl.toml").read_text()
    with FaultServer({"/": answers.page(b"home")}).in_thread() as server:
        server.pages["/robots.txt"] = answers.status(500)
        said = sentence(run("add", server.address("/"), "--local", cwd=tmp_path))

        assert said == (
            f"{server.address('/')}: cannot fetch robots.txt (status 500); "
            "add --later to add it anyway"
        )
        assert (tmp_path / "recrawl.toml").read_text() == before
        assert addresses(tmp_path) == []
        server.pages["/robots.txt"] = answers.status(404)
        assert run("add", server.address("/"), "--local", cwd=tmp_path).code == 0
        assert addresses(tmp_path) == [server.address("/")]


def test_a_private_address_says_how_to_go_on(tmp_path):
    begin_in(tmp_path)
    before = (tmp_path / "recrawl.toml").read_text()
    with FaultServer().in_thread() as server:
        said = sentence(run("add", server.address("/"), cwd=tmp_path))

        assert said.endswith("(127.0.0.1 is not a public address); add --local to allow it")
        assert server.requests == []
        assert (tmp_path / "recrawl.toml").read_text() == before
        assert run("add", server.address("/"), "--local", cwd=tmp_path).code == 0


def test_later_asks_nothing(tmp_path):
    begin_in(tmp_path)
    with FaultServer().in_thread() as server:
        ended = run("add", server.address("/"), "--local", "--later", cwd=tmp_path)

        assert (ended.code, server.requests) == (0, [])
    assert len(read_settings((tmp_path / "recrawl.toml").read_text()).rules) == 1


def test_pages_of_a_site_are_discovered_again(tmp_path):
    begin_in(tmp_path)
    with FaultServer({"/": answers.page(b"home")}).in_thread() as server:
        run("add", server.address("/"), "--local", cwd=tmp_path)
        before = (tmp_path / "recrawl.toml").read_text()
        server.pages["/sitemap.xml"] = answers.status(
            200, server.address("/1").encode(), content_type="text/plain"
        )
        ended = run("add", server.address("/"), "--again", cwd=tmp_path)

        assert ended.code == 0, ended
        assert addresses(tmp_path) == [server.address("/"), server.address("/1")]
        assert (tmp_path / "recrawl.toml").read_text() == before
        said = sentence(run("add", server.address("/x"), "--again", cwd=tmp_path))
    assert said.endswith("/x yet; leave out --again to add it")


def test_a_list_is_added_and_what_is_not_taken_over_is_counted(tmp_path):
    begin_in(tmp_path)
    (tmp_path / "urls.yaml").write_text(
        "url: https://a.org/tea\nfilter:\n  - css: .price\n  - xpath: //p\n---\n"
        "url: https://a.org/coffee\nfilter: css:li >\n---\ncommand: date\n"
    )
    ended = run("add", "urls.yaml", "https://b.org", "--weight", "2", cwd=tmp_path)

    assert ended.code == 0, ended
    assert ended.err.splitlines() == [
        "urls.yaml: 2 addresses (urlwatch).",
        "  Not taken over: xpath filters: 1, commands: 1, CSS filters that cannot be read: 1.",
        "Added 3 blocks to recrawl.toml.",
        "The next `recrawl crawl` discovers their pages.",
    ]
    rules = read_settings((tmp_path / "recrawl.toml").read_text()).rules
    assert [(rule.address, rule.exact, rule.watch, rule.weight) for rule in rules] == [
        ("https://b.org/", False, (), 2.0),
        ("https://a.org/tea", True, (".price",), 2.0),
        ("https://a.org/coffee", True, (), 2.0),
    ]
    again = run("add", "urls.yaml", cwd=tmp_path)
    assert again.err.splitlines()[-1] == "Added 0 blocks to recrawl.toml; 2 were there already."


def test_an_address_of_a_list_joins_the_site_that_covers_it(tmp_path):
    """It is a page of the site, on its budget; what asks for more than the site gets a block."""
    begin_in(tmp_path)
    run("add", "https://a.org/", "--later", "--links", "1", cwd=tmp_path)
    run("set", "https://a.org/", "exclude=*.pdf", cwd=tmp_path)
    before = (tmp_path / "recrawl.toml").read_text()
    (tmp_path / "list").write_text("https://a.org/x\nhttps://a.org/y?utm_id=1\nhttps://a.org/z.pdf")

    ended = run("add", "list", "--links", "1", cwd=tmp_path)

    assert (ended.code, ended.err.splitlines()) == (
        0,
        [
            "list: 3 addresses.",
            "  Pages of [[site]] https://a.org/, on its budget: 2.",
            "  Left out by the filters of their site: 1.",
            "The next `recrawl crawl` visits 2 new pages of them.",
        ],
    )
    assert (tmp_path / "recrawl.toml").read_text() == before
    with open_store(tmp_path / "recrawl.db") as reader:
        waiting = [address for *_, address in reader.hints(0, 9)]
    assert waiting == ["https://a.org/x", "https://a.org/y"]
    (tmp_path / "list").write_text("https://a.org/x\nhttps://b.org/")
    for more in (["--weight", "2"], ["--page-only"]):
        assert "Added" in run("add", "list", *more, cwd=tmp_path).err.splitlines()[-2]
    rules = read_settings((tmp_path / "recrawl.toml").read_text()).rules
    assert [rule.address for rule in rules if rule.exact] == ["https://a.org/x", "https://b.org/"]
    assert len(rules) == 5


def test_a_list_may_come_from_the_standard_input(tmp_path):
    begin_in(tmp_path)
    process = start_verb("add", "-", cwd=tmp_path, stdin=PIPE, stderr=PIPE, text=True)
    with ending(process):
        _, said = process.communicate("https://a.org/\nhttps://a.org/x?y=1  # a page\nnothing\n")

    assert process.returncode == 0, said
    assert 'Not taken over: lines without an address: 1 (the first: line 3: "nothing")' in said
    rules = read_settings((tmp_path / "recrawl.toml").read_text()).rules
    assert [(rule.address, rule.exact) for rule in rules] == [
        ("https://a.org/", False),
        ("https://a.org/x?y=1", True),
    ]


def test_what_is_neither_an_address_nor_a_list_is_refused(tmp_path):
    begin_in(tmp_path)
    before = (tmp_path / "recrawl.toml").read_text()
    (tmp_path / "empty").write_text("# nothing\n")
    (tmp_path / "list").write_text("https://a.org/\n")

    for words, said in {
        ("example.org",): "example.org is neither a file nor an address; addresses begin with",
        ("empty",): "empty lists no address",
        (".",): ". cannot be read (is a directory)",
        ("list", "--budget", "lots"): "budget must be visits over a time",
    }.items():
        assert said in sentence(run("add", *words, cwd=tmp_path))
    assert (tmp_path / "recrawl.toml").read_text() == before
