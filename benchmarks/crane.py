"""The crane of examples/crane.toml with a boom of any number of elements, made ready and built."""

from __future__ import annotations

import time
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpmelica import analysis
from gpmelica.analysis.system import System, assemble_system
from gpmelica.description import Description
from gpmelica.fmu.backends import native
from gpmelica.fmu.compilers.binaries import toolchains
from gpmelica.generator.program.items import TreeSolve

Array = NDArray[np.float64]
MOST = 64  # elements of a beam
FILE = Path(__file__).parents[1] / "examples" / "crane.toml"


@dataclass(frozen=True)
class Crane:
    """A crane's model and its FMU, with what it took to make it, in s."""

    model: System
    sources: native.Sources
    fmu: Path
    generation_s: float
    compile_s: float

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.model.mechanism.n

    @property
    def way(self) -> str:
        """Method by which the FMU solves for the accelerations: `recursion` or `dense`."""
        return (
            "recursion"
            if any(isinstance(item, TreeSolve) for item in self.model.native_program.items)
            else "dense"
        )

    @property
    def code_bytes(self) -> int:
        """Size of the generated C code."""
        return sum(len(text) for name, text in self.sources.files.items() if name.startswith("equations_"))

    def points(self, count: int) -> tuple[Array, Array]:
        """Seeded random q and q̇ near the start, shape (count, n) each; rad or m, and per second."""
        rng = np.random.default_rng(self.n)
        q, qd = (near + 1e-2 * rng.normal(size=(count, self.n)) for near in self.model.start)
        return q, qd

    def reference(self, q: Array, qd: Array) -> analysis.Evaluation:
        """The independent solver's evaluation at t = 0; q and qd of shape (n,)."""
        model = self.model
        return analysis.evaluate(replace(model.problem, dependent=model.dependent), 0.0, q, qd)


def _description(elements: int) -> dict[str, Any]:
    data = tomllib.loads(FILE.read_text(encoding="utf-8"))
    boom, jib = (next(link for link in data["links"] if link["name"] == name) for name in ("boom", "jib"))
    boom["beam"]["elements"] = min(elements, MOST)
    if elements > MOST:
        for key in ("mass", "com", "inertia"):
            del jib[key]
        jib["beam"] = boom["beam"] | {
            "length": data["points"]["E"]["position"][0],
            "elements": elements - MOST + 1,
        }
    return data


def build(elements: int, folder: Path, march: str = "") -> Crane:
    """Build the crane with a boom of `elements` elements; n = 9 + 3 (elements − 1).

    With more elements than a beam can have the rest is its jib's, which is rigid otherwise.

    march  processors that the FMU is for; "": any
    """
    data = _description(elements)
    times = [time.perf_counter()]
    chain = Description.model_validate(data)
    model = assemble_system(chain)
    sources = native.generate(model.native_program, chain)
    times.append(time.perf_counter())
    fmu = folder / f"{model.name}_{elements}.fmu"
    native.build(sources, fmu, toolchains("2.0", march=march), {})
    times.append(time.perf_counter())
    return Crane(model, sources, fmu, *np.diff(times))
