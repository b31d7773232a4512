"""Descriptions from files of other formats, and back: URDF."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .exchange import Conversion, convert_urdf, from_urdf, to_urdf
    from .export_urdf import Exported

__all__ = ["Conversion", "Exported", "convert_urdf", "from_urdf", "to_urdf"]


def __getattr__(name: str) -> Any:
    """At the first use: the command line imports this package for its commands alone."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import exchange, export_urdf

    return getattr(export_urdf if name == "Exported" else exchange, name)
