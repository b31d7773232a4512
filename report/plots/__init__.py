"""Figures of a run: one file per kind of figure, one style for all."""

from .gallery import Picture, pictures, save

__all__ = ["Picture", "pictures", "save"]
