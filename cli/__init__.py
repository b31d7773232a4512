"""Command line of gpmelica: options, progress bars and one function per command."""

from .app import main as main
