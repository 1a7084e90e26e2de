"""What users install: locked with hashes, under allowed licences, and built the same twice."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest

from scripts.licences import EXCEPTIONS, allows, is_allowed, licence_of, pinned

ROOT = Path(__file__).parents[1]
LOCKS = ["requirements.lock", "requirements-all.lock", "requirements-dev.lock"]
ENGINES = "requirements-engines.lock"  # of the extras that are in no other lock
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def versions(lock):
    return {(each.name, each.version) for each in pinned(ROOT / lock)}


def names(requirements):
    return {re.split(r"[\[<>=!~;]", each)[0].strip() for each in requirements}


@pytest.mark.parametrize("lock", [*LOCKS, ENGINES])
def test_every_locked_package_has_hashes(lock):
    packages = pinned(ROOT / lock)
    text = (ROOT / lock).read_text()

    assert len(packages) == len(re.findall(r"^[A-Za-z0-9]", text, re.MULTILINE))
    assert all(each.hashes for each in packages)


def test_users_get_what_the_tests_ran_with():
    base, everything, development = map(versions, LOCKS)

    assert base < everything < development
    assert base < versions(ENGINES)


def test_engines_come_on_top_of_what_is_installed_for_tests():
    """A package that both locks name has one version in both, for each Python."""
    ours, theirs = dict(versions(LOCKS[2])), versions(ENGINES)
    both = {name for name, _ in theirs} & set(ours)

    assert {each for each in theirs if each[0] in both} <= versions(LOCKS[2])


def test_the_locks_hold_what_the_package_requires():
    extras = PROJECT["optional-dependencies"]
    optional = names(each for group in extras.values() for each in group) - {"recrawl"}
    engines = {"pyspark", "ray"}

    assert names(PROJECT["dependencies"]) <= {name for name, _ in versions(LOCKS[0])}
    assert optional - engines <= {name for name, _ in versions(LOCKS[1])}
    assert engines <= {name for name, _ in versions(ENGINES)}
    assert not optional & {name for name, _ in versions(LOCKS[0])}


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("MPL-2.0 AND MIT", True),
        ("Apache-2.0 OR GPL-3.0-only", True),
        ("MIT AND (GPL-2.0-only OR BSD-3-Clause)", True),
        ("GPL-3.0-or-later", False),
        ("AGPL-3.0-only", False),
        ("LGPL-2.1-only", False),
        ("MIT AND GPL-2.0-only", False),
        ("(MIT AND GPL-2.0-only) OR AGPL-3.0-only", False),
        ("LicenseRef-GNU-Affero-General-Public-License-v3", False),
        ("", False),
        ("(MIT", False),
        ("MIT)", False),
        ("MIT Apache-2.0", False),
    ],
)
def test_a_licence_must_leave_a_choice_that_is_allowed(expression, allowed):
    assert is_allowed(expression) is allowed


def package(folder, **fields):
    """A package that is installed in a folder and says this of itself."""
    about = folder / "strange-1.0.dist-info"
    about.mkdir(parents=True)
    head = "Metadata-Version: 2.4\nName: strange\nVersion: 1.0\n"
    lines = [f"{name.replace('_', '-')}: {value}\n" for name, value in fields.items()]
    (about / "METADATA").write_text(head + "".join(lines))


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        ({"License_Expression": "MIT"}, "MIT"),
        ({"License": "Apache 2.0"}, "Apache-2.0"),
        ({"Classifier": "License :: OSI Approved :: ISC License (ISCL)"}, "ISC"),
        ({"License_Expression": "GPL-3.0-only", "License": "MIT"}, "GPL-3.0-only"),
        (
            {"License": "GPLv3", "Classifier": "License :: OSI Approved :: MIT License"},
            "LicenseRef-GPLv3",
        ),
        (
            {"Classifier": "License :: OSI Approved :: GNU Affero General Public License v3"},
            "LicenseRef-GNU-Affero-General-Public-License-v3",
        ),
        ({}, ""),
    ],
)
def test_a_package_says_its_licence_in_several_ways(tmp_path, monkeypatch, fields, licence):
    package(tmp_path, **fields)
    monkeypatch.syspath_prepend(tmp_path)

    assert licence_of("strange") == licence


def checked(*locks, path=""):
    environment = os.environ | {"PYTHONPATH": str(path)}
    command = [sys.executable, "scripts/licences.py", *map(str, locks)]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_all_locked_packages_have_a_licence_that_is_allowed():
    ended = checked(*LOCKS)

    assert (ended.returncode, ended.stdout.splitlines()[1:]) == (0, [])


def test_a_package_of_another_or_an_unknown_licence_is_refused(tmp_path):
    package(tmp_path, License_Expression="AGPL-3.0-only")
    lock = tmp_path / "requirements.lock"
    lock.write_text(f"strange==1.0 \\\n    --hash=sha256:{'0' * 64}\nnowhere==2.0\nrich==15.0.0\n")

    ended = checked(lock, path=tmp_path)

    assert ended.returncode == 1
    assert ended.stdout.splitlines() == [
        "nowhere: licence not known is not allowed (scripts/licences.py)",
        "strange: licence AGPL-3.0-only is not allowed (scripts/licences.py)",
        "3 packages, 2 refused.",
    ]


def test_exceptions_are_of_packages_that_are_locked():
    assert set(EXCEPTIONS) <= {name for lock in LOCKS for name, _ in versions(lock)}


def bill(lock):
    command = [sys.executable, "scripts/sbom.py", lock]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_the_bill_of_materials_names_every_locked_package():
    text = bill("requirements-all.lock")
    found = json.loads(text)

    assert (found["bomFormat"], found["specVersion"], found["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(
        r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", found["serialNumber"]
    )
    components = found["components"]
    assert {(each["name"], each["version"]) for each in components} == versions(LOCKS[1])
    assert all(each["purl"] == each["bom-ref"] for each in components)
    assert all(allows(each["name"], each["licenses"][0]["expression"]) for each in components)
    assert bill("requirements-all.lock") == text  # no time, and no chance


def test_the_bill_of_materials_says_what_needs_what():
    found = json.loads(bill("requirements.lock"))
    ours = found["metadata"]["component"]["bom-ref"]
    needs = {each["ref"]: set(each["dependsOn"]) for each in found["dependencies"]}

    assert set(needs) == {ours} | {each["bom-ref"] for each in found["components"]}
    assert set().union(*needs.values()) == set(needs) - {ours}  # each is needed by some other
    asked = {need.removeprefix("pkg:pypi/").split("@")[0] for need in needs[ours]}
    assert asked == names(PROJECT["dependencies"])


def built(folder, target):
    """Hash of what is built of a copy of the sources."""
    for name in ("src", "pyproject.toml", "README.md", "LICENSE"):
        source, place = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, place)
    for path in folder.rglob("*"):
        os.utime(path, (folder.stat().st_ino, folder.stat().st_ino))
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", "out"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (file,) = (folder / "out").iterdir()
    return file.name, sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize("target", ["wheel", "sdist"])
def test_the_same_sources_build_the_same_file(tmp_path, target):
    """In another folder, at another time, of files of another age."""
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()

    assert built(tmp_path / "one", target) == built(tmp_path / "two", target)
