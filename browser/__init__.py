"""Simulation in a web browser: compilation of an FMU to WebAssembly, and the HTML page that runs it."""

from .page import LivePart as LivePart
from .page import live_part as live_part
from .wasm import check_compiler as check_compiler
