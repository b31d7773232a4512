"""Entry point of `python -m gpmelica`."""

from __future__ import annotations

from .cli import main

main()
