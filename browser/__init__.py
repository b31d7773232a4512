"""Simulation in a web browser: the FMU as WebAssembly, and the part of a page that runs it."""

from .page import LivePart as LivePart
from .page import live_part as live_part
from .wasm import check_compiler as check_compiler
