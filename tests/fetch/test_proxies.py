"""Requests through proxies: ours, which tells what it was asked, and those that others wrote."""

import asyncio
import shutil
import socket
import ssl
import subprocess
import time
from contextlib import contextmanager

import pytest
import trustme

from recrawl.errors import FetchFailed
from recrawl.fetch.access import AccessTable
from recrawl.fetch.http.client import HttpFetcher
from recrawl.fetch.http.proxies import check_target
from recrawl.parse.messages import Request
from recrawl.settings.settings import Settings
from tests.fetch.asking import AGENT, SMALL, check
from tests.fetch.sockets import connected_to
from tests.servers.answers import page
from tests.servers.faults import FaultServer
from tests.servers.proxy import TestProxy
from tests.waiting import HANGS_SECONDS

HIDDEN = "hunter2hunter2"
SCHEMES = ["http", "https", "socks5"]


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture(scope="module")
def serving(authority):
    """Certificates of a site and of a proxy, signed by an authority of our own."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("site.example", "localhost", "127.0.0.1").configure_cert(context)
    return context


@pytest.fixture
def folder(tmp_path, authority):
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    return tmp_path


async def fetched(folder, proxy, request, ca="ca.pem"):
    """The answer to a request through a proxy, and what people were told."""
    said: list[str] = []
    (folder / "proxy").write_text(proxy)
    settings = Settings(AGENT, proxy="file:proxy", ca=ca)
    fetcher = HttpFetcher(AGENT, SMALL, access=AccessTable(settings, folder), on_remark=said.append)
    try:
        answer = await fetcher.fetch(request)
        check(request, answer, SMALL)
        return answer, said
    finally:
        await fetcher.close()
        assert connected_to(int(proxy.rpartition(":")[2])) == 0


def asked(folder, serving, scheme, *, secure, login=None, given="", host="site.example", **more):
    """The answer of a site behind our proxy, the proxy, the site, and what people were told."""

    async def run():
        async with (
            FaultServer({"/x?y": page(b"hello")}, tls=serving if secure else None) as server,
            TestProxy(login, serving if scheme == "https" else None) as proxy,
        ):
            where = f"{scheme}://{given}localhost:{proxy.port}"
            request = Request(server.address("/x?y", host=host), **more)
            answer, said = await fetched(folder, where, request)
            return answer, proxy, server, said

    return asyncio.run(run())


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_page_comes_through_a_proxy_which_resolves_its_name(folder, serving, scheme, secure):
    answer, proxy, server, said = asked(folder, serving, scheme, secure=secure)

    assert (answer.status, answer.body, said) == (200, b"hello", []), answer.detail
    assert proxy.targets == [("site.example", server.port)]
    (seen,) = server.requests
    assert seen.path == "/x?y"
    assert seen.headers["host"] == f"site.example:{server.port}"
    assert seen.headers["user-agent"] == AGENT


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_proxy_learns_who_we_are_and_the_site_does_not(folder, serving, scheme, secure):
    login, given = ("me", HIDDEN), f"me:{HIDDEN}@"

    answer, _, server, _ = asked(folder, serving, scheme, secure=secure, login=login, given=given)

    assert (answer.status, answer.body) == (200, b"hello"), answer.detail
    assert not any("auth" in name for name in server.requests[0].headers)


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_proxy_that_denies_us_is_told_of_without_the_password(folder, serving, scheme, secure):
    login, given = ("me", "another"), f"me:{HIDDEN}@"

    answer, proxy, server, said = asked(
        folder, serving, scheme, secure=secure, login=login, given=given
    )

    assert answer.problem == "unreachable"
    assert answer.detail.startswith("the proxy ")
    assert scheme == "socks5" or "407" in answer.detail
    assert said == [f"Proxy localhost:{proxy.port}: {answer.detail}."]
    assert HIDDEN not in repr((answer, said))
    assert not server.requests


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_proxy_that_is_not_there_is_told_of(folder, serving, scheme, secure):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        where = f"{scheme}://127.0.0.1:{taken.getsockname()[1]}"
        request = Request(f"http{'s' * secure}://site.example/")
        answer, said = asyncio.run(fetched(folder, where, request))

    assert answer.problem == "unreachable"
    assert answer.detail.startswith("the proxy can")
    assert len(said) == 1


def test_a_host_behind_a_proxy_that_is_not_there_is_no_fault_of_the_proxy(folder):
    async def run():
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # and nobody listens
            request = Request(f"http://site.example:{taken.getsockname()[1]}/")
            async with TestProxy() as proxy:
                return await fetched(folder, f"socks5://127.0.0.1:{proxy.port}", request)

    answer, said = asyncio.run(run())

    assert (answer.problem, said) == ("refused", [])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_certificates_are_checked_behind_a_proxy(folder, serving, scheme):
    answer, _, server, _ = asked(folder, serving, scheme, secure=True, host="other.example")

    assert answer.problem == "tls", answer.detail
    assert not server.requests


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "intranet", "a.internal", "[::1]"])
def test_no_proxy_is_asked_for_a_machine_of_ours(folder, serving, scheme, host):
    answer, proxy, _, _ = asked(folder, serving, scheme, secure=False, host=host)

    assert answer.problem == "private"
    assert not proxy.targets


@pytest.mark.parametrize("scheme", SCHEMES)
def test_unless_the_settings_allow_it(folder, serving, scheme):
    answer, proxy, _, _ = asked(folder, serving, scheme, secure=False, host="intranet", local=True)

    assert answer.body == b"hello"
    assert proxy.targets[0][0] == "intranet"


@pytest.mark.parametrize(
    ("host", "public", "private"),
    [
        ("example.org", True, True),
        ("example.org.", True, True),
        ("93.184.215.14", True, True),
        ("2606:2800:220:1::1", True, True),
        ("10.0.0.1", False, True),
        ("::1", False, True),
        ("router", False, True),
        ("Printer.LOCAL.", False, True),
        ("a.home.arpa", False, True),
        ("169.254.169.254", False, False),
        ("fd00:ec2::254", False, False),
        ("metadata.google.internal", False, False),
        ("metadata", False, False),
    ],
)
def test_which_hosts_a_proxy_may_be_asked_for(host, public, private):
    for local, fine in ((False, public), (True, private)):
        if fine:
            check_target(host, local=local)
        else:
            with pytest.raises(FetchFailed, match="is not a public"):
                check_target(host, local=local)


def test_connections_through_a_proxy_are_kept_by_site_and_asked_for_by_none_directly(folder):
    """Many sites behind one proxy are no crowd at one address."""

    async def run():
        async with FaultServer({"/": page(b"hello")}) as server, TestProxy() as proxy:
            settings = Settings(AGENT, proxy=f"http://127.0.0.1:{proxy.port}")
            fetcher = HttpFetcher(AGENT, SMALL, access=AccessTable(settings, folder), per_address=2)
            requests = [
                Request(server.address("/", host=f"s{number}.example")) for number in range(10)
            ]
            answers = await asyncio.gather(*map(fetcher.fetch, requests))
            await fetcher.close()
            return answers, proxy

    answers, proxy = asyncio.run(run())

    assert [answer.problem for answer in answers] == [""] * 10
    assert {host for host, _ in proxy.targets} == {f"s{number}.example" for number in range(10)}


# An authority of one's own, without a proxy.


def test_a_certificate_of_an_own_authority_is_trusted_where_settings_say_so(folder, serving):
    async def run():
        async with FaultServer({"/": page(b"hello")}, tls=serving) as server:
            request = Request(server.address("/"), local=True)
            answers = []
            for ca in ("ca.pem", ""):
                access = AccessTable(Settings(AGENT, ca=ca), folder)
                fetcher = HttpFetcher(AGENT, SMALL, access=access)
                answers.append(await fetcher.fetch(request))
                await fetcher.close()
            return answers

    trusted, strange = asyncio.run(run())

    assert (trusted.body, strange.problem) == (b"hello", "tls")


# Proxies that others wrote.


@contextmanager
def child(command, port):
    """A program that listens at a port of loopback, until the block ends."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + HANGS_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        yield
    finally:
        process.terminate()
        process.wait(HANGS_SECONDS)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def tinyproxy(folder, port):
    lines = [f"Port {port}", "Listen 127.0.0.1", "Allow 127.0.0.1", f"BasicAuth me {HIDDEN}"]
    (folder / "tinyproxy.conf").write_text("\n".join([*lines, "MaxClients 20", ""]))
    return ["tinyproxy", "-d", "-c", str(folder / "tinyproxy.conf")], "http"


def microsocks(folder, port):
    del folder
    command = ["microsocks", "-i", "127.0.0.1", "-p", str(port), "-u", "me", "-P", HIDDEN]
    return command, "socks5"


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("program", [tinyproxy, microsocks])
def test_proxies_that_others_wrote_bring_the_page(folder, serving, program, secure):
    port = free_port()
    command, scheme = program(folder, port)
    if shutil.which(command[0]) is None:
        pytest.skip(f"needs {command[0]}, which is not installed")

    async def run(password):
        async with FaultServer({"/": page(b"hello")}, tls=serving if secure else None) as server:
            request = Request(server.address("/"), local=True)
            where = f"{scheme}://me:{password}@127.0.0.1:{port}"
            return await fetched(folder, where, request)

    with child(command, port):
        answer, _ = asyncio.run(run(HIDDEN))
        denied, said = asyncio.run(run("wrong-secret"))

    assert (answer.status, answer.body) == (200, b"hello"), answer.detail
    assert denied.problem in {"unreachable", ""}
    assert denied.status in {0, 401, 407}
    assert "wrong-secret" not in repr((denied, said))
