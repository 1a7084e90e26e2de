"""The browser of the tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests.browsers import CHROMIUM, NO_BROWSER, unprivileged_chromium

_FILTERED = "2"  # system calls, by seccomp: what Chromium's sandbox does to those that show pages


def _processes(folder):
    """What /proc says of the processes of a browser, by what each is for."""
    found = {}
    for each in Path("/proc").glob("[0-9]*"):
        try:
            words = (each / "cmdline").read_bytes().replace(b"\0", b" ").decode().split()
            lines = (each / "status").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
        if any(str(folder) in word for word in words):
            kind = next((word for word in words if word.startswith("--type=")), "--type=browser")
            found[kind.partition("=")[2]] = dict(
                line.split(":\t", 1) for line in lines if ":\t" in line
            )
    return found


@pytest.mark.skipif(CHROMIUM is None, reason=NO_BROWSER)
def test_the_browser_of_the_tests_is_no_root_and_keeps_its_sandbox(capfd):
    with unprivileged_chromium() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=folder / "chromium")
        browser.new_page().goto("data:text/html,hello")
        found = _processes(folder)
        browser.close()

    assert {"browser", "renderer"} <= found.keys()
    assert all("0" not in each["Uid"].split() for each in found.values())
    if "without its sandbox" not in capfd.readouterr().err:
        assert found["renderer"]["Seccomp"] == _FILTERED
    assert os.getuid() != 0 or {each["Uid"].split()[0] for each in found.values()} == {"65534"}
