"""Certificates are checked against the host that was asked."""

import asyncio
import shutil
import ssl
import subprocess

import pytest

from recrawl.fetch.fetcher import RequestLimits
from recrawl.parse.messages import Request
from tests.fetch.asking import SMALL, fetch_all
from tests.servers.answers import page
from tests.servers.faults import FaultServer

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate that nobody has signed, for the name of this machine but not its digits."""
    folder = tmp_path_factory.mktemp("tls")
    key, signed = folder / "key.pem", folder / "certificate.pem"
    kind = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    named = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = ["openssl", "req", *kind, *named, "-keyout", key, "-out", signed]
    subprocess.run(command, capture_output=True, check=True)
    return signed, key


@pytest.fixture
def serving(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


@pytest.fixture
def trusting(certificate):
    return ssl.create_default_context(cafile=certificate[0])


def asked(serving, trusting, host, limits=SMALL):
    async def run():
        async with FaultServer({"/": page(b"hello")}, tls=serving) as server:
            request = Request(server.address("/", host=host), local=True)
            (answer,) = await fetch_all([request], limits, trusting)
            return answer, server

    return asyncio.run(run())


def test_a_trusted_certificate_for_this_host_is_fine(serving, trusting):
    answer, _ = asked(serving, trusting, "localhost")

    assert (answer.body, answer.problem) == (b"hello", "")


def test_a_certificate_that_nobody_signed_is_not(serving):
    answer, server = asked(serving, None, "localhost")

    assert answer.problem == "tls"
    assert answer.detail.startswith("invalid certificate")
    assert not server.requests


def test_a_certificate_for_another_host_is_not(serving, trusting):
    answer, server = asked(serving, trusting, "127.0.0.1")

    assert answer.problem == "tls"
    assert not server.requests


def test_a_host_that_does_not_speak_tls_is_a_problem_of_tls():
    async def run():
        async def answer_plainly(reader, writer):
            await reader.read(10)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(answer_plainly, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        (answer,) = await fetch_all([Request(f"https://127.0.0.1:{port}/", local=True)])
        server.close()
        return answer

    answer = asyncio.run(run())
    assert answer.problem == "tls"


def test_a_handshake_that_never_ends_is_a_timeout():
    async def run():
        async with FaultServer() as server:  # which waits for a request in plain text
            address = server.address("/").replace("http:", "https:")
            limits = RequestLimits(connect_seconds=0.4)
            (answer,) = await fetch_all([Request(address, local=True)], limits)
            return answer

    answer = asyncio.run(run())
    assert answer.problem == "timeout"
    assert answer.detail == "no connection within 0.4 seconds"
