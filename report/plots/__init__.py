"""Figures of reports: one file per kind of figure, one style for all."""

from .choice import pictures
from .gallery import Picture, save

__all__ = ["Picture", "pictures", "save"]
