"""Computed torque for the arm with seven axes, in FMPy: one FMU is the plant, and its controller's model.

    gpmelica build seven_axis.toml --compiler native --out arm
    python computed_torque.py arm/SevenAxis.fmu

The torque that gives the accelerations a is M (a - a_0), where a_0 is what the arm does without torque, and M⁻¹
are the accelerations' derivatives by the torques, which the FMU gives exactly (fmi2GetDirectionalDerivative). With
a = d²r/dt² + 20 de/dt + 100 e for a target r the error e = r - q obeys d²e/dt² + 20 de/dt + 100 e = 0: from e_0 at
rest it is e_0 (1 + 10 t) exp(-10 t), as far as a sampled controller can.
"""

from __future__ import annotations

import shutil
import sys
from ctypes import c_double
from typing import Any

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Model, FMU2Slave

AXES = range(1, 8)
STIFFNESS, DAMPING = 100.0, 20.0  # 1/s², 1/s
OFFSET = np.array([0.2, -0.1, 0.15, 0.1, -0.2, 0.1, 0.3])  # rad, of the target from the arm at the start
SWING, PERIOD = 0.4, 2.0  # rad, s


def target(t: float, start: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angles, rad, rates and accelerations to follow, shape (7,) each; at rest at t = 0."""
    w = 2.0 * np.pi / PERIOD
    shape = np.ones(7)
    return (
        start + OFFSET + SWING * (1.0 - np.cos(w * t)) * shape,
        SWING * w * np.sin(w * t) * shape,
        SWING * w**2 * np.cos(w * t) * shape,
    )


class Model:
    """The FMU in model exchange, at states of the plant."""

    def __init__(self, folder: str, description: Any) -> None:
        self._fmu = FMU2Model(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=description.modelExchange.modelIdentifier,
            instanceName="model",
        )
        self._fmu.instantiate()
        self._fmu.setupExperiment()
        self._fmu.enterInitializationMode()
        self._fmu.exitInitializationMode()
        self._fmu.enterContinuousTimeMode()
        known = {v.name: v for v in description.modelVariables}
        names = [d.variable.derivative.name for d in description.derivatives]
        self._order = [names.index(f"a{k}_angle{part}_state") for part in ("", "_dot") for k in AXES]
        self._torques = [known[f"motor{k}"].valueReference for k in AXES]
        self._accelerations = [known[f"der(a{k}_angle_dot_state)"].valueReference for k in AXES]

    def torques(self, q: np.ndarray, qd: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """N·m, shape (7,), that give the accelerations `wanted`, rad/s², at angles q, rad, and rates qd, rad/s."""
        x = np.empty(14)
        x[self._order] = [*q, *qd]
        self._fmu.setContinuousStates((c_double * 14)(*x), 14)
        free = np.array(self._fmu.getReal(self._accelerations))
        columns = [
            self._fmu.getDirectionalDerivative(self._accelerations, [torque], [1.0]) for torque in self._torques
        ]
        return np.linalg.solve(np.transpose(columns), wanted - free)


def follow(fmu: str, stop: float = 1.0, step: float = 1e-3) -> tuple[np.ndarray, np.ndarray]:
    """Times, s, shape (N,), and errors, rad, shape (N, 7), of the loop that is closed every step, s."""
    description, folder = fmpy.read_model_description(fmu), fmpy.extract(fmu)
    known = {v.name: v.valueReference for v in description.modelVariables}
    torques = [known[f"motor{k}"] for k in AXES]
    angles, rates = ([known[f"a{k}_angle{part}"] for k in AXES] for part in ("", "_dot"))
    plant = FMU2Slave(
        guid=description.guid,
        unzipDirectory=folder,
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="plant",
    )
    plant.instantiate()
    plant.setupExperiment(startTime=0.0, stopTime=stop)
    plant.enterInitializationMode()
    plant.exitInitializationMode()
    model, start = Model(folder, description), np.array(plant.getReal(angles))
    times = step * np.arange(round(stop / step) + 1)
    errors = []
    for t in times:
        q, qd = np.array(plant.getReal(angles)), np.array(plant.getReal(rates))
        r, rd, rdd = target(t, start)
        errors.append(r - q)
        if t == times[-1]:
            break
        plant.setReal(torques, model.torques(q, qd, rdd + DAMPING * (rd - qd) + STIFFNESS * (r - q)))
        plant.doStep(t, step)
    plant.terminate()
    plant.freeInstance()
    shutil.rmtree(folder, ignore_errors=True)
    return times, np.array(errors)


def expected(times: np.ndarray) -> np.ndarray:
    """The error of a controller without samples, rad, shape (N, 7)."""
    decay = np.sqrt(STIFFNESS)
    return np.outer((1.0 + decay * times) * np.exp(-decay * times), OFFSET)


if __name__ == "__main__":
    for step in (2e-3, 1e-3, 5e-4):
        times, errors = follow(sys.argv[1], step=step)
        away = np.abs(errors - expected(times)).max()
        end = np.abs(errors[-1]).max()
        sys.stdout.write(f"{step:g} s: {end:.2g} rad from the target at the end, {away:.2g} rad from the law\n")
