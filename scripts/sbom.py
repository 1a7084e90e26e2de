"""Print a bill of materials of a lock: CycloneDX 1.6, in JSON.

    .venv/bin/python scripts/sbom.py requirements-all.lock > recrawl.cdx.json

Versions, and what needs what, are those of the lock; licences are those that the installed packages
name. The same lock gives the same bytes: there is no time in it, and its serial number is made of
the content.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from licences import Pinned, licence_of, pinned

from recrawl import __version__

_US = "recrawl"


def bill(lock: Path) -> dict[str, Any]:
    """Bill of materials of a lock."""
    packages = pinned(lock)
    needs: dict[str, set[str]] = defaultdict(set)
    for package in packages:
        for name in package.needed_by:
            needs[name].add(_reference(package.name, package.version))
    ours = _component(Pinned(_US, __version__, "", (), ()), "Apache-2.0") | {"type": "application"}
    graph = [(_US, _reference(_US, __version__))]
    graph += [(each.name, _reference(each.name, each.version)) for each in packages]
    content = {
        "metadata": {
            "component": ours,
            "properties": [
                {"name": "recrawl:lock", "value": lock.name},
                {"name": "recrawl:lock-sha256", "value": sha256(lock.read_bytes()).hexdigest()},
            ],
        },
        "components": [_component(each, licence_of(each.name)) for each in packages],
        "dependencies": [
            {"ref": reference, "dependsOn": sorted(needs[name])} for name, reference in graph
        ],
    }
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, json.dumps(content))}",
        "version": 1,
        **content,
    }


def _component(package: Pinned, licence: str) -> dict[str, Any]:
    reference = _reference(package.name, package.version)
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": reference,
        "name": package.name,
        "version": package.version,
        "purl": reference,
    }
    if licence:
        component["licenses"] = [{"expression": licence}]
    if package.marker:
        component["properties"] = [{"name": "recrawl:marker", "value": package.marker}]
    return component


def _reference(name: str, version: str) -> str:
    """Address of a package, whatever index it comes from."""
    return f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"


if __name__ == "__main__":
    print(json.dumps(bill(Path(sys.argv[1])), indent=2))
