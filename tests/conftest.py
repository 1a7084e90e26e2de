"""How hypothesis searches: the same examples on every run in CI, fresh ones elsewhere."""

import os

from hypothesis import HealthCheck, settings

# The machine may be busy with other work: neither a slow example nor slow drawing is a failure.
_SHARED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("local", _SHARED)
settings.register_profile("ci", _SHARED, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "local")
