"""The command line: options, progress and one function per command."""

from .app import main as main
