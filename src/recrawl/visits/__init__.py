"""Visits, and the histories that estimators read.

Pure.
"""

from recrawl.visits.histories import Histories
from recrawl.visits.vetting import Vetting, histories_of
from recrawl.visits.visit import AnswerKind, Flag, GapOutcome, Visit

__all__ = ["AnswerKind", "Flag", "GapOutcome", "Histories", "Vetting", "Visit", "histories_of"]
