"""HTML report of a coupled run."""

from .page import write_page

__all__ = ["write_page"]
