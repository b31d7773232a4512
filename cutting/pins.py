"""Initial forces at the cut joints of a mechanism.

A cut replaces a joint by pairs of coincident points of two parts. The relative accelerations a of
the points depend linearly on the forces f at the pairs: a = a₀ + W·f. Unit forces on the FMUs of
the parts give the matrix W. The result is the minimum-norm solution for a = 0.
"""

from __future__ import annotations

import math
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

_UNIT = 1.0  # The effect of forces on accelerations is measured with a force of this magnitude, N.
# A spring-damper (bushing) is stable if its angular frequency times the communication step is at most this value.
_LIMIT = 0.1
_RATIO = 0.5  # Spring-dampers that replace joints have this damping ratio.
# For stiff spring-dampers, the communication step is divided by at most this number.
_MOST_STEPS = 100
_NO_FORCE = 1e-300  # A force in a denominator is at least this value, N, which prevents a division by zero.
_RANK = 1e-9  # A singular value counts as zero if it is below this fraction of the largest singular value.


@dataclass(frozen=True)
class PinStatics:
    """Initial forces at the cut joints of a mechanism, and accelerations caused by unit forces.

    A cut replaces a joint by pairs of coincident points; opposite forces act on the two points.

    Parameters
    ----------
    forces : force on the first point of each pair, by name of the pair, shape (3,), N
    mobility : relative accelerations of the points of each pair per unit of force at each pair,
        1/kg; shape (3k, 3k) for k pairs in the order of `forces`
    """

    forces: Mapping[str, Array]
    mobility: Array

    def bushing(self, ports: Sequence[str], step: float) -> tuple[float, float]:
        """Return the stiffness, N/m, and the damping, N·s/m, of a spring-damper that replaces a joint.

        Both values depend on the communication step, s. With them, a co-simulation is stable even
        if inputs are constant during each step.
        """
        lightest, frequency = self._lightest(ports), _LIMIT / step
        return float(f"{frequency**2 / lightest:.3g}"), float(f"{2.0 * _RATIO * frequency / lightest:.3g}")

    def step(self, joints: Sequence[Sequence[str]], longest: float, deflection: float) -> float:
        """Return the longest communication step, s, for which spring-dampers are stable and stiff enough.

            The spring-dampers replace joints. A spring-damper is stiff enough if the initial force
            deflects it by at most `deflection`. The step is `longest` divided by an integer from 1 to
            100. A shorter step allows stiffer spring-dampers. If even the step `longest`/100 does not allow
        spring-dampers that are stiff enough, this step is returned.

            Parameters
            ----------
            joints : for each joint, the names of the pairs of points that replace the joint
            longest : upper limit of the step, s
            deflection : largest admissible deflection by the initial force, m
        """
        allowed = min(
            _LIMIT * math.sqrt(deflection / (max(self.force(ports), _NO_FORCE) * self._lightest(ports)))
            for ports in joints
        )
        return longest / min(math.ceil(longest / allowed), _MOST_STEPS)

    def force(self, ports: Sequence[str]) -> float:
        """Return the magnitude of the largest initial force, N, among the given pairs of points."""
        return max(float(np.linalg.norm(self.forces[port])) for port in ports)

    def _lightest(self, ports: Sequence[str]) -> float:
        """Return the largest relative acceleration per unit of force at the given pairs of points, 1/kg."""
        order = [*self.forces]
        rows = [3 * order.index(port) + k for port in ports for k in range(3)]
        return float(np.linalg.eigvalsh(self.mobility[np.ix_(rows, rows)])[-1])


class PartsAtStart:
    """FMUs of the parts of a cut mechanism in the initial state; `close` terminates the FMUs.

    Parameters
    ----------
    fmus : FMUs of the parts, by name of the SSP element
    owner : name of the SSP element that contains a link, by name of the link
    folder : folder into which the FMUs are unpacked
    """

    def __init__(self, fmus: Mapping[str, PartFmu], owner: Mapping[str, str], folder: Path) -> None:
        self._owner, self._folder = owner, folder
        self._parts = {name: FmuPart(name, fmu.fmu, folder / name, fmu.parameters) for name, fmu in fmus.items()}
        self._given = {
            name: np.array([signal.start for signal in part.inputs]) for name, part in self._parts.items()
        }
        self._outputs = {name: _outputs(part, self._given[name]) for name, part in self._parts.items()}

    def close(self) -> None:
        """Terminate the FMUs of all parts."""
        for part in self._parts.values():
            part.close()

    def motion(self, cut: Cut) -> dict[str, float]:
        """Return the initial positions, m, and velocities, m/s, of both ends of a force law.

        The keys are names of the force law's inputs.
        """
        return {
            f"{end}_{member}": self._outputs[self._owner[side.link]][f"{pair.port}.{member}"]
            for pair, ends in zip(cut.pairs, ends_of(cut), strict=True)
            for side, end in zip(pair.sides, ends, strict=True)
            for member in MEMBERS
            if member[0] != "f"
        }

    def act(self, cut: Cut, law: Path) -> None:
        """Compute the initial force of a rope, and apply it to the two parts that the rope connects."""
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
        """Return the initial forces, N, at the pairs of points of the given cuts, and the mobility, 1/kg.

        The mobility is the relative acceleration of the points of each pair per unit of force at
        each pair.
        """
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
    """Yield four numbers for each force component that acts on a part at a pair of points.

    - index of the component in the vector of relative accelerations of all pairs,
    - sign of the part's acceleration in this relative acceleration,
    - index of the force among the inputs of the part,
    - index of the velocity among the outputs of the part.
    """
    inputs, outputs = ({s.name: k for k, s in enumerate(signals)} for signals in (part.inputs, part.outputs))
    for k, pair in enumerate(pairs):
        for sign, side in zip((1.0, -1.0), pair.sides, strict=True):
            if owner[side.link] == part.name:
                for i, axis in enumerate(AXES):
                    yield 3 * k + i, sign, inputs[f"{pair.port}.f{axis}"], outputs[f"{pair.port}.v{axis}"]


def _outputs(part: FmuPart, inputs: Array) -> dict[str, float]:
    part.start(0.0, inputs)
    part.begin()
    return {s.name: float(y) for s, y in zip(part.outputs, part.outputs_now(), strict=True)}


def _slopes(part: FmuPart, inputs: Array) -> Array:
    """Return the time derivatives of an FMU's outputs in the initial state, for given inputs."""
    part.start(0.0, inputs)
    part.begin()
    return part.slopes_now(np.zeros(len(inputs)))
