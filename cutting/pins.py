"""Forces at pins in the initial state, and how the points of pins accelerate under forces.

Accelerations of the points depend linearly on the forces: a = a0 + W·f, with W by unit forces on the parts' FMUs.
The forces for which both points of each pair accelerate equally replace the joint. They have the minimum norm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..core.trajectory import Array
from ..coupling.fmus import FmuPart
from .archive import PartFmu
from .cuts import Cut, PointPair
from .fmus import MEMBERS
from .laws import AXES, ends_of

_UNIT = 1.0  # N, size of the forces that give W
_LIMIT, _RATIO = 0.1, 0.5  # product of a bushing's frequency and the step; damping ratio of a bushing
_RANK = 1e-9  # of singular values


@dataclass(frozen=True)
class PinStatics:
    """Forces and mobility of pins in the initial state.

    Parameters
    ----------
    forces : port → force on the first side, shape (3,), N
    mobility : accelerations between the sides per force, shape (3 k, 3 k), 1/kg, for the ports in their order
    """

    forces: Mapping[str, Array]
    mobility: Array

    def bushing(self, ports: Sequence[str], step: float) -> tuple[float, float]:
        """Stiffness, N/m, and damping, N·s/m, with which a master that holds its inputs is stable at a step, s."""
        order = [*self.forces]
        rows = [3 * order.index(port) + k for port in ports for k in range(3)]
        lightest = float(np.linalg.eigvalsh(self.mobility[np.ix_(rows, rows)])[-1])
        frequency = _LIMIT / step
        return float(f"{frequency**2 / lightest:.3g}"), float(f"{2.0 * _RATIO * frequency / lightest:.3g}")


class PartsAtStart:
    """Parts in the initial state, as FMUs that are unpacked into a folder; `close` ends them.

    Parameters
    ----------
    fmus : FMUs of the parts by element
    owner : link → element
    """

    def __init__(self, fmus: Mapping[str, PartFmu], owner: Mapping[str, str], folder: Path) -> None:
        self._owner, self._folder = owner, folder
        self._parts = {name: FmuPart(name, fmu.fmu, folder / name, fmu.parameters) for name, fmu in fmus.items()}
        self._given = {
            name: np.array([signal.start for signal in part.inputs]) for name, part in self._parts.items()
        }
        self._outputs = {name: _outputs(part, self._given[name]) for name, part in self._parts.items()}

    def close(self) -> None:
        """End the FMUs."""
        for part in self._parts.values():
            part.close()

    def motion(self, cut: Cut) -> dict[str, float]:
        """Positions and velocities of the ends of a law, as its inputs, m and m/s, by name."""
        return {
            f"{end}_{member}": self._outputs[self._owner[side.link]][f"{pair.port}.{member}"]
            for pair, ends in zip(cut.pairs, ends_of(cut), strict=True)
            for side, end in zip(pair.sides, ends, strict=True)
            for member in MEMBERS
            if member[0] != "f"
        }

    def act(self, cut: Cut, law: Path) -> None:
        """Let a rope's law act on the parts."""
        part = FmuPart(cut.name, law, self._folder / cut.name)
        try:
            forces = _outputs(part, np.array([signal.start for signal in part.inputs]))
        finally:
            part.close()
        (pair,) = cut.pairs
        for end, side in zip("ab", pair.sides, strict=True):
            element = self._owner[side.link]
            for k, signal in enumerate(self._parts[element].inputs):
                port, _, member = signal.name.rpartition(".")
                if port == pair.port:
                    self._given[element][k] = forces[f"{end}.{member}"]

    def statics(self, cuts: Sequence[Cut]) -> PinStatics:
        """Return forces and mobility of the pins of some cuts."""
        pairs = [pair for cut in cuts for pair in cut.pairs]
        gap, mobility = np.zeros(3 * len(pairs)), np.zeros((3 * len(pairs),) * 2)
        for element, part in self._parts.items():
            ends, given = [*_ends(pairs, part, self._owner)], self._given[element]
            rest = _slopes(part, given)
            for row, sign, _, output in ends:
                gap[row] += sign * rest[output]
            for column, by, k, _ in ends:
                change = given.copy()
                change[k] += _UNIT
                moved = (_slopes(part, change) - rest) / _UNIT
                for row, sign, _, output in ends:
                    mobility[row, column] += sign * by * moved[output]
        forces = np.linalg.lstsq(mobility, -gap, rcond=_RANK)[0].reshape(-1, 3)
        return PinStatics(
            {pair.port: force for pair, force in zip(pairs, np.asarray(forces, dtype=float), strict=True)},
            mobility,
        )


def _ends(
    pairs: Sequence[PointPair], part: FmuPart, owner: Mapping[str, str]
) -> Iterator[tuple[int, float, int, int]]:
    """Row of the gap, sign in it, input of the force and output of the velocity, for each end on a part."""
    inputs, outputs = ({s.name: k for k, s in enumerate(signals)} for signals in (part.inputs, part.outputs))
    for k, pair in enumerate(pairs):
        for sign, side in zip((1.0, -1.0), pair.sides, strict=True):
            if owner[side.link] == part.name:
                for i, axis in enumerate(AXES):
                    yield 3 * k + i, sign, inputs[f"{pair.port}.f{axis}"], outputs[f"{pair.port}.v{axis}"]


def _outputs(part: FmuPart, inputs: Array) -> dict[str, float]:
    """Outputs of an FMU in the initial state, by name."""
    part.start(0.0, inputs)
    part.begin()
    return {s.name: float(y) for s, y in zip(part.outputs, part.outputs_now(), strict=True)}


def _slopes(part: FmuPart, inputs: Array) -> Array:
    """Time derivatives of the outputs in the initial state for some inputs."""
    part.start(0.0, inputs)
    part.begin()
    return part.slopes_now(np.zeros(len(inputs)))
