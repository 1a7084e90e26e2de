"""Write the table of Gamma quantiles of the usual bands, which spares most verbs loading scipy.

    python scripts/quantiles.py

Touches: src/recrawl/arrays/gamma_scores.npy.
"""

from pathlib import Path

import numpy as np

from recrawl.arrays import special
from recrawl.arrays.special import KEPT, SCORES, scores

np.save(Path(special.__file__).with_name(SCORES), np.stack([scores(each) for each in KEPT]))
