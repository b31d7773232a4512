"""Compilation of an FMU's sources to a WebAssembly component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files

from ...core.progress import Progress, silent
from ..compilers.compiler import STRICT
from ..compilers.platforms import Platform
from ..compilers.reactor import reactor
from .component import component

_ADAPTER, _MANIFEST = "component_adapter.c", "extra/org.modelica.fmi-ls-wasm/manifest.xml"


def build(
    name: str,
    platform: Platform,
    sources: Mapping[str, str],
    flags: Mapping[str, Sequence[str]],
    progress: Progress = silent,
) -> dict[str, bytes]:
    """Compile a WebAssembly component; return the component and its manifest by their paths in the FMU.

    The layered standard for WebAssembly requires the manifest.

    Parameters
    ----------
    name : str
        Model identifier.
    platform : Platform
        Platform that names the folder and the file extension of the component.
    sources : mapping
        C sources and headers of an FMU of FMI 3.0 by their paths below `sources`.
    flags : mapping
        Compiler options of individual sources, which replace the strict warnings.
    progress : callable
        Function that is called with a text for each compiled source.

    Raises
    ------
    BuildError
        If the compiler fails.
    """
    own = files(__package__)
    texts = {**sources, _ADAPTER: (own / "adapter.c").read_text(encoding="utf-8")}
    core = reactor(texts, {**dict.fromkeys(texts, STRICT), **flags}, progress=progress)
    return {
        f"binaries/{platform.name}/{name}{platform.suffix}": component(core),
        _MANIFEST: (own / "manifest.xml").read_bytes(),
    }
