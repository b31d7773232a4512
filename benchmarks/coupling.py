"""Coupling methods: error over step, estimated errors of random systems, and time per FMU and step.

python benchmarks/coupling.py figure     # docs/coupling.png: error over the communication step, per method
python benchmarks/coupling.py random 200 # random linear systems: refused, diverged, estimated errors
python benchmarks/coupling.py overhead   # µs of the master per part and step, at order 0
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import helpers_coupling as systems
from helpers_coupling_parts import LinearPart

from gpmelica.core.errors import SolveError
from gpmelica.coupling.network import Network, Wire
from gpmelica.coupling.system import CoupledSystem
from gpmelica.coupling.verdict import Options, couple

DOCS = Path(__file__).parents[1] / "docs"
STEPS = (0.02, 0.01, 0.005, 0.0025)  # s
METHODS = {
    "sequential, held": ("sequential", 0),
    "sequential, linear": ("sequential", 1),
    "sequential, quadratic": ("sequential", 2),
    "iterated cubic Hermite": ("hermite", 2),
    "constant mean force": ("mean_force", 2),
}


def figure() -> None:
    """Draw the errors of two masses, of the quarter car and of a boom that is cut at its pin."""
    mpl.use("Agg")
    panels = pyplot.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
    canvas, (first, second, third) = panels
    for label, (method, order) in METHODS.items():
        make = systems.two_masses_and_law if method == "mean_force" else systems.two_masses
        runs = [systems.couple(make(), method, 2.0, step, order) for step in STEPS]
        errors = [systems.error(run["A.x"], systems.two_masses_exact(run.time)) for run in runs]
        _draw(first, label, errors)
        if method != "mean_force":
            runs = [systems.couple(systems.quarter_car(), method, 2.0, step, order) for step in STEPS]
            errors = [systems.error(r["chassis.v"], systems.quarter_car_exact(r.time)[1]) for r in runs]
            _draw(second, label, errors)
    for m1, m2 in ((800.0, 200.0), (200.0, 800.0), (10.0, 1000.0)):
        runs = [systems.couple(systems.boom(m1, m2), "pin", 1.0, step) for step in STEPS[:3]]
        errors = [
            systems.error(
                np.concatenate([run["lower.pin.x"], run["lower.pin.y"]]),
                systems.boom_exact(m1, m2, run.time).ravel(),
            )
            for run in runs
        ]
        _draw(third, f"{m1:g} : {m2:g} kg", errors)
    for axes, title in zip((first, second, third), ("two masses", "quarter car", "boom, rigid pin"), strict=True):
        axes.set(title=title, xlabel="communication step in ms", ylim=(1e-10, 10))
        axes.set_xticks([2.5, 5, 10, 20], ["2.5", "5", "10", "20"])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    first.set_ylabel("error, relative to the range")
    first.legend(fontsize=7)
    third.legend(fontsize=7)
    canvas.savefig(DOCS / "coupling.png", dpi=150)


def _draw(axes: pyplot.Axes, label: str, errors: list[float]) -> None:
    print(f"{label:24s}", " ".join(f"{error:.1e}" for error in errors), flush=True)
    axes.loglog(1e3 * np.array(STEPS[: len(errors)]), errors, marker="o", label=label)


def random(count: int) -> None:
    """Print how many random systems are refused, and the estimated errors over the true ones."""
    ratios, refused = [], 0
    for seed in range(count):
        network, matrix, start = systems.random_system(seed)
        try:
            run = couple(CoupledSystem("random", network, stop=2.0), Options(step=0.05))
        except SolveError:
            refused += 1
            continue
        exact = systems.random_exact(matrix, start, run.time[::5])
        found = np.array([run.signals[".".join(port)] for port in network.outputs])[:, ::5]
        ratios.append(run.error / np.max(np.max(np.abs(found - exact), axis=1) / np.ptp(exact, axis=1)))
    inside = np.mean([0.2 < ratio < 5.0 for ratio in ratios])
    quantiles = np.quantile(ratios, [0.0, 0.05, 0.5, 0.95, 1.0])
    print(f"{count} systems: {refused} refused, {100 * inside:.0f} % of the estimates within a factor of 5")
    print("estimated over true error, least, 5 %, median, 95 %, most:", " ".join(f"{q:.2f}" for q in quantiles))


class _Still(LinearPart):
    """A part that computes nothing, so that the time of a run is that of the master."""

    def advance(self, t: float, h: float, courses: np.ndarray) -> tuple[float, bool]:
        """Reach the end."""
        return t + h, False

    def outputs_now(self) -> np.ndarray:
        """Return zeros."""
        return self._x

    def slopes_now(self, input_slopes: np.ndarray) -> np.ndarray:
        """Return zeros."""
        return self._x


def overhead() -> None:
    """Print the processor time of the master alone."""
    size = (np.zeros((2, 2)), np.zeros((2, 1)), np.eye(2))
    parts = [_Still(name, ["u"], ["x", "y"], *size, x=[0.0, 0.0], restores=False) for name in "AB"]
    network = Network(parts, [Wire(("A", "x"), ("B", "u")), Wire(("B", "x"), ("A", "u"))])
    found = []
    for _ in range(5):
        begun = time.process_time()
        run = systems.couple(network, "sequential", 10.0, 0.005, 0)
        found.append((time.process_time() - begun) / (2 * len(run.record.pieces)))
    print(f"{1e6 * min(found):.0f} µs per part and step at order 0")


if __name__ == "__main__":
    command, *numbers = sys.argv[1:]
    {"figure": figure, "random": lambda: random(*map(int, numbers)), "overhead": overhead}[command]()
