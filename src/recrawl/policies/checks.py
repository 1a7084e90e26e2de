"""What parameters of policies must be.

Pure.
"""

from __future__ import annotations

import numpy as np

from recrawl.errors import InvalidParameter


def check_positive(**parameters: float) -> None:
    """Refuse parameters that are not positive, finite numbers."""
    for name, value in parameters.items():
        if not 0 < value < np.inf:
            raise InvalidParameter(f"{name} must be a positive, finite number (got {value})")


def check_order(**parameters: float) -> None:
    """Refuse positive numbers that do not rise in the order given."""
    check_positive(**parameters)
    values = list(parameters.values())
    if values != sorted(values):
        names = ", ".join(parameters)
        raise InvalidParameter(f"{names} must rise in this order (got {values})")
