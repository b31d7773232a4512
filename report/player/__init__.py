"""Three-dimensional player of a mechanism's motion that is part of an HTML page and needs no other file."""

from .payload import packed, payload, poses
from .player import Player, legend, player_of, player_without_scene, seconds_of

__all__ = ["Player", "legend", "packed", "payload", "player_of", "player_without_scene", "poses", "seconds_of"]
