"""Toolkit that turns a mechanism's description into readable Modelica, a verified FMU and a report.

>>> import gpmelica as gp
>>> run = gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.1}).simulate()
>>> round(float(run["E_x"][-1]), 6)
0.304697
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from .core import beginning as _beginning  # noqa: F401 - must be the first import, because it records its time

if TYPE_CHECKING:
    from .analysis import Reactions
    from .api.coupling import CoupledRun, cosim
    from .api.exchange import from_urdf, to_urdf
    from .api.model import Model, load
    from .api.optimum import optimize
    from .api.plots import plot
    from .api.results import Run
    from .api.sweeps import sweep
    from .core.errors import (
        BuildError,
        DescriptionError,
        GpmelicaError,
        MissingToolError,
        Problem,
        SolveError,
        UnknownNameError,
    )
    from .exchange.export_urdf import Exported
    from .fmu.backends.fmu import Fmu
    from .linear import Mode, Modes, ModeTracks, StateSpace
    from .plausibility import Remark
    from .runs.compare.compare import Comparison
    from .runs.compare.context import RunReport
    from .sweeps.optimize import Optimum
    from .sweeps.results import Sweep
    from .tasks.check import Summary
    from .tasks.loads import LoadSummary

__version__ = version("gpmelica")

__all__ = [
    "BuildError",
    "Comparison",
    "CoupledRun",
    "DescriptionError",
    "Exported",
    "Fmu",
    "GpmelicaError",
    "LoadSummary",
    "MissingToolError",
    "Mode",
    "ModeTracks",
    "Model",
    "Modes",
    "Optimum",
    "Problem",
    "Reactions",
    "Remark",
    "Run",
    "RunReport",
    "SolveError",
    "StateSpace",
    "Summary",
    "Sweep",
    "UnknownNameError",
    "cosim",
    "from_urdf",
    "load",
    "optimize",
    "plot",
    "sweep",
    "to_urdf",
]

# Public names by module. A module is imported at its first use, because solvers and compilers load slowly.
_MODULES = {
    "tasks.check": ("Summary",),
    "tasks.loads": ("LoadSummary",),
    "core.errors": (
        "BuildError",
        "DescriptionError",
        "GpmelicaError",
        "MissingToolError",
        "Problem",
        "SolveError",
        "UnknownNameError",
    ),
    "api.coupling": ("CoupledRun", "cosim"),
    "api.exchange": ("from_urdf", "to_urdf"),
    "exchange.export_urdf": ("Exported",),
    "fmu.backends.fmu": ("Fmu",),
    "runs.compare.compare": ("Comparison",),
    "runs.compare.context": ("RunReport",),
    "linear": ("Mode", "ModeTracks", "Modes", "StateSpace"),
    "api.model": ("Model", "load"),
    "plausibility": ("Remark",),
    "analysis": ("Reactions",),
    "api.results": ("Run",),
    "api.optimum": ("optimize",),
    "api.plots": ("plot",),
    "api.sweeps": ("sweep",),
    "sweeps.optimize": ("Optimum",),
    "sweeps.results": ("Sweep",),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_PLACES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
