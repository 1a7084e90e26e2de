"""The files for systemd and Kubernetes: checked by those who read them, and their commands run."""

import configparser
import json
import shlex
import shutil
import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from tests.cli.running import run
from tests.crawl.test_workers import running_sites, said, settings_text
from tests.docs.pages import blocks
from tests.servers import postgres
from tests.waiting import started, wait_until

PAGES = Path(__file__).parents[2] / "docs" / "how-to"
RECRAWL = Path(sys.executable).with_name("recrawl")
SECRET = "only by the environment"  # noqa: S105 - none
INSTANCE = "1"


def block(page, kind):
    """The one block of a kind on a page."""
    (found,) = (each.text for each in blocks((PAGES / page).read_text()) if each.kind == kind)
    return found


def unit():
    """The unit for systemd, of one instance."""
    parser = configparser.RawConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign] # as its documentation says
    parser.read_string(block("systemd.md", "ini").replace("%i", INSTANCE))
    return parser["Service"]


def pod():
    return yaml.safe_load(block("kubernetes.md", "yaml"))["spec"]["template"]["spec"]


def verified(folder, text):
    """What systemd says of a unit."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("not run: systemd-analyze is not installed (Debian's package systemd)")
    file = folder / f"recrawl-worker@{INSTANCE}.service"
    file.write_text(text)
    words = ["systemd-analyze", "verify", file]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    return ended.returncode, [each for each in ended.stderr.splitlines() if file.name in each]


def test_systemd_takes_the_unit(tmp_path):
    text = block("systemd.md", "ini")
    here = text.replace("/opt/recrawl/bin/recrawl", str(RECRAWL))

    assert here != text
    assert verified(tmp_path, here) == (0, [])


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("RestartSec=", "RestarSec="), ("TimeoutStopSec=60", "TimeoutStopSec=soon")],
)
def test_systemd_would_say_what_is_wrong_with_a_unit(tmp_path, right, wrong):
    text = block("systemd.md", "ini")

    assert right in text
    assert verified(tmp_path, text.replace(right, wrong))[1] != []


def test_the_manifest_has_the_fields_that_kubernetes_knows():
    validate = pytest.importorskip("kubernetes_validate")
    for document in yaml.safe_load_all(block("kubernetes.md", "yaml")):
        validate.validate(document, validate.latest_version(), strict=True)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("terminationGracePeriodSeconds", "terminationGraceSeconds"),
        ("replicas: 4", "replicas: many"),
    ],
)
def test_a_wrong_field_of_the_manifest_would_be_found(right, wrong):
    validate = pytest.importorskip("kubernetes_validate")
    text = block("kubernetes.md", "yaml")
    assert right in text

    with pytest.raises(validate.ValidationError):
        validate.validate(
            yaml.safe_load(text.replace(right, wrong)), validate.latest_version(), strict=True
        )


def test_what_the_manifest_mounts_and_names_is_there():
    """Volumes, labels and the entry point of the image fit together."""
    (container,) = pod()["containers"]
    deployment = yaml.safe_load(block("kubernetes.md", "yaml"))["spec"]
    labels = deployment["template"]["metadata"]["labels"]

    assert deployment["selector"]["matchLabels"].items() <= labels.items()
    assert {each["name"] for each in container["volumeMounts"]} == {
        each["name"] for each in pod()["volumes"]
    }
    mount = container["volumeMounts"][0]["mountPath"]
    assert container["args"][2] == f"{mount}/recrawl.toml"
    lines = block("kubernetes.md", "dockerfile").splitlines()
    assert json.loads(lines[-1].removeprefix("ENTRYPOINT ")) == ["recrawl"]


def by_systemd(folder):
    """The unit's command, where it runs, and how long it may take to stop."""
    service = unit()
    program, *words = shlex.split(service["ExecStart"])
    assert Path(program).name == RECRAWL.name
    return SimpleNamespace(words=words, cwd=folder, seconds=int(service["TimeoutStopSec"]))


def by_kubernetes(folder):
    """The container's command with its settings mounted elsewhere, in a folder of its own."""
    (container,) = pod()["containers"]
    mounted = folder / "mounted"
    mounted.mkdir()
    shutil.copy(folder / "recrawl.toml", mounted)
    mount = container["volumeMounts"][0]["mountPath"]
    words = [each.replace(mount, str(mounted)) for each in container["args"]]
    cwd = folder / "home"
    cwd.mkdir()
    return SimpleNamespace(words=words, cwd=cwd, seconds=pod()["terminationGracePeriodSeconds"])


@pytest.mark.parametrize("plan", [by_systemd, by_kubernetes])
def test_the_command_of_a_file_works_and_stops_in_time(tmp_path, plan):
    """As a process: it takes secrets from its environment, and stops at SIGTERM."""
    with postgres.place() as place, running_sites() as sites:
        login = 'user = "me"\npassword = "env:SITE_PASSWORD"\n'
        (tmp_path / "recrawl.toml").write_text(settings_text(place, sites) + login)
        run("init", cwd=tmp_path)
        planned = plan(tmp_path)
        variables = {"PGPASSWORD": "none is asked for", "SITE_PASSWORD": SECRET}
        with (
            (tmp_path / "worker.txt").open("w") as output,
            started(
                [RECRAWL, *planned.words],
                cwd=planned.cwd,
                env=variables,
                stdout=output,
                stderr=output,
            ) as process,
        ):
            wait_until(lambda: sites.logins)
            process.terminate()
            assert process.wait(planned.seconds) == 0, said(tmp_path, "worker")

        assert sites.logins == {f"Basic {b64encode(f'me:{SECRET}'.encode()).decode()}"}
        assert "Stopped after " in said(tmp_path, "worker")
        left = {each.name for each in planned.cwd.iterdir()} - {"recrawl.toml", "worker.txt"}
        assert left == ({"worker-1.log"} if plan is by_systemd else set())
