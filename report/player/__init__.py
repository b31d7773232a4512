"""Three-dimensional player of a mechanism's motion that is part of an HTML page and needs no other file."""

from .player import Player, player_of, seconds_of

__all__ = ["Player", "player_of", "seconds_of"]
