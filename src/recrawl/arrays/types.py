"""Names for the array types that every room passes around.

Pure.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Ints: TypeAlias = npt.NDArray[np.int64]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Words: TypeAlias = npt.NDArray[np.uint64]
Changes: TypeAlias = npt.NDArray[np.int8]
Answers: TypeAlias = npt.NDArray[np.uint8]
Statuses: TypeAlias = npt.NDArray[np.uint8]
Checks: TypeAlias = npt.NDArray[np.uint32]
FlagBits: TypeAlias = npt.NDArray[np.uint32]
Instants: TypeAlias = npt.NDArray[np.datetime64]
