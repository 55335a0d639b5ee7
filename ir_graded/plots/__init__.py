"""Pictures of finished results; they compute nothing. Matplotlib is imported when the first is drawn."""

from .profile import profile
from .scores import differences, leaderboard, unjudged

__all__ = ["differences", "leaderboard", "profile", "unjudged"]
