"""Three-dimensional player of a machine's motion, self-contained in its page."""

from .player import Player, player_of, seconds_of

__all__ = ["Player", "player_of", "seconds_of"]
