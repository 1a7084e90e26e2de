"""Bulk work: partitions of a log in, one file per partition out, on any engine.

`estimate_file` takes a path and writes a path: hand it to any engine with a list of paths. Sites
whose pages lie in several files need two passes more, `sample_file` and `fit_priors`. The verbs of
the command line with `--engine` do all of this.

Touches: files, processes.
"""

from recrawl.analysis.bulk.estimate import estimate_file, fit_priors, sample_file

__all__ = ["estimate_file", "fit_priors", "sample_file"]
