"""What was seen: visits, and the histories that estimators read.

Pure.
"""

from recrawl.visits.histories import Histories
from recrawl.visits.vetting import Vetting, histories_of
from recrawl.visits.visit import Answer, Flag, Outcome, Visit

__all__ = ["Answer", "Flag", "Histories", "Outcome", "Vetting", "Visit", "histories_of"]
