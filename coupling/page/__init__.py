"""Page about a coupled run: verdict, methods, errors, energy, signals, times and the comparison of methods."""

from .page import write_page

__all__ = ["write_page"]
