"""A crane drawn with the Modelica Standard Library's MultiBody, as an FMU by OpenModelica, in FMPy's CVODE."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import fmpy
import numpy as np
from fmpy.sundials import CVodeSolver
from helpers_backends import Compiled, Fmu
from helpers_multibody import chain, state_names
from numpy.typing import NDArray

from gpmelica.analysis.system import System
from gpmelica.fmu.backends import openmodelica
from gpmelica.fmu.backends.openmodelica.build import Request, compile_text
from gpmelica.runs.fmpy_runs.chatter import captured

Array = NDArray[np.float64]
PULSE = 0.1  # s


class MultibodyChain:
    """FMU by OpenModelica of a machine drawn with MultiBody.

    torque  on the first joint for the first 0.1 s, N·m
    point   of the last body, shape (3,), m

    Raises MissingToolError without omc.
    """

    def __init__(self, model: System, torque: float, point: Sequence[float], folder: Path) -> None:
        request = Request("Drawn", chain(model, "Drawn", point), "Drawn", "2.0", "me", ("Modelica",))
        built = compile_text(request, folder / "drawn", openmodelica.find(None), timeout=3600.0)
        self._compiled = Compiled(
            model, built.fmu, Path(fmpy.extract(str(built.fmu), str(folder / "unpacked_drawn")))
        )
        self._torque, self._log = torque, folder / "drawn.log"
        symbols = [c.symbol for c in model.mechanism.coordinates]
        self._names = dict(zip(symbols, state_names(model.mechanism), strict=False))  # those of q come first
        self._names |= {f"E_{axis}": f"tip.frame_b.r_0[{k + 1}]" for k, axis in enumerate("xyz")}

    def run(self, points: Array, tolerance: float, signals: Sequence[str]) -> tuple[Array, float]:
        """Values at points in time, s, shape (N, k); CPU time, s."""
        names = [self._names[signal] for signal in signals]
        with captured(self._log), Fmu(self._compiled, "me") as fmu:
            fmu.start({"torque": self._torque}).enter_continuous_time()
            solver = self._solver(fmu, float(points[-1]), tolerance)
            begin, t, values, pulls = time.process_time(), 0.0, [fmu.get(names)], True
            for point in points[1:]:
                while t < point - 1e-12:
                    _, _, t = solver.step(t, float(point))
                    fmu.fmi.setTime(t)
                    fmu.fmi.completedIntegratorStep()
                values.append(fmu.get(names))
                if pulls and t >= PULSE - 1e-9:
                    pulls = False
                    fmu.fmi.enterEventMode()
                    fmu.set({"torque": 0.0})
                    fmu.enter_continuous_time()
                    solver.reset(t)
            return np.array(values), time.process_time() - begin

    def _solver(self, fmu: Fmu, stop: float, tolerance: float) -> CVodeSolver:
        fmi = fmu.fmi
        return CVodeSolver(
            nx=self._compiled.description.numberOfContinuousStates,
            nz=0,
            get_x=fmi.getContinuousStates,
            set_x=fmi.setContinuousStates,
            get_dx=fmi.getDerivatives,
            get_z=fmi.getEventIndicators,
            get_nominals=fmi.getNominalsOfContinuousStates,
            set_time=fmi.setTime,
            input=None,
            startTime=0.0,
            maxStep=stop / 50,
            relativeTolerance=tolerance,
            maxNumSteps=10**6,
        )
