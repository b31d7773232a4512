"""The machine in motion, in space: a player that needs nothing but the page that it is in."""

from .player import Player, player_of, seconds_of, write_page

__all__ = ["Player", "player_of", "seconds_of", "write_page"]
