"""Engines that reach nothing but this machine, and leave nothing on it."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[3]
_NEEDS = {"ray": "ray", "spark": "pyspark"}


def missing(engine):
    """Why an engine cannot be tried; empty if it can."""
    package = _NEEDS.get(engine)
    if package and importlib.util.find_spec(package) is None:
        return f"not run: {package} is not installed; `scripts/test` installs it where it can"
    if engine == "spark" and shutil.which("java") is None:
        return "not run: Spark needs Java 17, which `scripts/test` installs where it can"
    return ""


def environment(home):
    """Nothing leaves this machine, and nothing stays on it.

    Ray asks a cloud's address what machine it is on, unless a file in the home says so.
    """
    (home / "ray_bootstrap_config.yaml").write_text("{}\n", encoding="utf-8")
    ours = {
        "HOME": str(home),
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # half the start
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
        "RAY_ADDRESS": "local",  # whatever else runs on this machine
        "RAY_TMPDIR": str(home),
        "RAY_USAGE_STATS_ENABLED": "0",
        "SPARK_LOCAL_DIRS": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "TMPDIR": str(home),
    }
    return {**os.environ, **ours}
