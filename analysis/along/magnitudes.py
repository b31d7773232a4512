"""Reference magnitude of each signal: the value by which a difference between two runs is divided.

The range of a signal is not a suitable divisor for all signals. The range of a constant signal is zero.
The range of a sum of forces in equilibrium is only a rounding error. Reference magnitudes are therefore
computed from the absolute values of the individual forces, and from the accelerations that these
absolute values would cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ...core.errors import SolveError
from ...core.trajectory import Array, Magnitude, Trajectory
from ...description.types import requested
from ...description.types.origin import joint_load, of_point
from ...language.expressions import level
from ...mechanism import GROUND, Coordinate, signal_names
from ...reference.forces.generalised_forces import GeneralisedForces
from ...reference.forces.joint_loads import COMPONENTS
from ...reference.kinematics.extent import units_of_change
from ...reference.kinematics.quantities import CompiledExpression, KinematicState
from ...reference.solve.model import Evaluation
from ...reference.solve.solver import InitialValueProblem

_SAMPLES = 25  # States are sampled at no more than this many output times of the run.
_QUANTITIES = ("position", "velocity", "acceleration", "effort", "bristle")
# The assumed magnitude of an expression is at least this fraction of the sum of its terms' absolute values.
_CANCELLED = 1e-8
# The assumed magnitude of a signal is at least this fraction of the change that forces could cause during the run.
_LEFT = 1e-4
# A signal's least magnitude is its change if the coordinates move by this fraction of typical displacements.
_SHAKEN = 1e-6
_LATE = 1e-12  # The error of an event time t is assumed to be at most this value times max(t, 1 s).


def magnitudes(problem: InitialValueProblem, run: Trajectory) -> tuple[Magnitude, ...]:
    """Return the reference magnitudes of all signals of a run, for relative differences between runs.

    - Acceleration of a coordinate: sum of the absolute values of all force terms, divided by the
      diagonal element of the mass matrix. Two lower bounds apply. The first is the gravitational
      acceleration, divided by the mechanism's extent if the coordinate is a rotation. The second is the
      largest rate divided by the run's duration.
    - Effort: reference magnitude of the acceleration times the diagonal element of the mass matrix.
    - Velocity: largest absolute value during the run.
    - Position: range during the run.
    - Joint reaction force: largest force, at least the weight of the link's subtree.
    - Joint reaction moment: largest moment, at least the reference force times the size of the link.
    - Coordinates that do not move: largest displacement and largest speed of any body. In the result,
      the signal name of these two magnitudes is empty.

    Positions and velocities have a lower bound: a small fraction of the change that the reference
    acceleration would cause during the run. Most magnitudes also have the lower bound `least`. This
    bound is the change of the signal if each coordinate is displaced by 10⁻⁶ of a typical displacement.
    Typical displacements are 1 rad for rotations and the mechanism's extent for translations. Elastic
    coordinates can have smaller typical displacements. The lower bound `least` keeps differences small
    if they are only rounding errors. The displacements start from the initial position. For
    accelerations and forces, displacements also start from the positions at output times near events. The
    reason is that a contact that opens or closes at an output time multiplies the rounding errors of
    positions by its stiffness.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations of motion of the run.
    run : Trajectory
        Result of the reference solver.
    """
    found = _Samples(problem, run)
    known = (*found.bodies(), *found.coordinates(), *found.points(), *found.force_elements(), *found.loads())
    return (*known, *found.frames(), *found.knife_edges(), *found.energies(), *found.expressions(known))


def natural_accelerations(problem: InitialValueProblem, at: tuple[float, Array, Array, Array]) -> Array:
    """Return the acceleration of each coordinate that would result if no forces cancelled each other.

    The result, shape (n,), is the sum of the absolute values of all force terms, divided by the
    diagonal element of the mass matrix. Each acceleration is at least the gravitational acceleration,
    which is divided by the mechanism's extent if the coordinate is a rotation.

    Parameters
    ----------
    problem : InitialValueProblem
        Equations of the mechanism.
    at : tuple
        Time, s; q and q̇, shape (n,) each; friction and internal states, shape (f + s,).
    """
    mechanism, model, (t, q, qd, z) = problem.mechanism, problem.model, at
    bristles, lag = model.further(z)
    state = model.state(t, q, qd, lag=lag)
    found = model.evaluate(state, problem.form, bristles)
    gravity = float(np.linalg.norm(np.asarray(mechanism.gravity, dtype=float)))
    falling = gravity * units_of_change(mechanism, state.posture)[1]
    return np.maximum(_terms(model.forces(state), found) / np.diag(found.M), falling)


@dataclass(frozen=True)
class _Shaken:
    """Lower bounds of reference magnitudes.

    Reference magnitudes are divisors for differences between two runs.

    The bounds estimate the changes of the signals due to small displacements of the coordinates. Each
    coordinate is displaced by 10⁻⁶ of an upper bound of the coordinate's displacement.

    Parameters
    ----------
    position : ndarray, shape (n,)
        Lower bounds for coordinates, rad or m.
    speed : ndarray, shape (n,)
        Lower bounds for rates, rad/s or m/s.
    acceleration : ndarray, shape (n,)
        Lower bounds for accelerations, rad/s² or m/s².
    effort : ndarray, shape (n,)
        Lower bounds for efforts, N·m or N.
    travel : float
        Lower bound for displacements of points, m.
    pace : float
        Lower bound for velocities of points, m/s.
    jolt : float
        Lower bound for accelerations of points, m/s².
    force : float
        Lower bound for forces, N: total mass times `jolt`.
    energy : float
        Lower bound for energies, J. Events do not affect this bound, because energies are continuous.
    """

    position: Array
    speed: Array
    acceleration: Array
    effort: Array
    travel: float
    pace: float
    jolt: float
    force: float
    energy: float


class _Samples:
    """Sampled states of a run, from which the reference magnitudes of the run's signals are computed.

    Attributes
    ----------
    inertia : ndarray, shape (n,)
        Smallest value of the diagonal element M_kk of the mass matrix over the samples.
    acceleration : ndarray, shape (n,)
        Reference magnitudes of the accelerations; see `magnitudes`.
    place : ndarray, shape (n,)
        Upper bounds of the coordinates' displacements, rad or m.
    extent : float
        Largest extent of the mechanism over the samples, m. Centres of mass and named points are
        included.
    least : _Shaken
        Lower bounds of the reference magnitudes.
    travel, speed : float
        Largest displacement during the run (m), and largest mean speed between two samples (m/s). All
        body origins, centres of mass and named points are considered.
    """

    def __init__(self, problem: InitialValueProblem, run: Trajectory) -> None:
        mechanism = problem.mechanism
        self._mechanism, self._run = mechanism, run
        self._model, self._form = problem.model, problem.form
        all_of, rubbing = mechanism.coordinates, self._model.friction.coordinates
        self._q, self._qd = (run.columns(signal_names(all_of, level)) for level in ("position", "velocity"))
        self._z = run.columns(signal_names([all_of[k] for k in rubbing], "bristle"))
        self._states: list[KinematicState] = []
        self._lags = self._model.internal.lags(run)
        picked = np.unique(np.linspace(0, len(run.time) - 1, _SAMPLES).round().astype(int))
        forces, inertia, places = zip(*map(self._sample, picked.tolist()), strict=True)
        force, self.inertia = np.max(forces, axis=0), np.min(inertia, axis=0)
        extents = np.linalg.norm(np.ptp(places, axis=1), axis=1)
        self.extent, self.time = float(max(extents)) or 1.0, float(run.time[-1] - run.time[0])
        moved = np.linalg.norm(np.diff(places, axis=0), axis=2).max(axis=1, initial=0.0)
        self.travel = float(np.linalg.norm(np.ptp(places, axis=0), axis=1).max())
        self.speed = float(np.max(moved / np.diff(run.time[picked]), initial=0.0))
        lengths = np.array([self.extent if c.unit == "rad" else 1.0 for c in mechanism.coordinates])
        self.gravity = float(np.linalg.norm(np.asarray(mechanism.gravity, dtype=float)))
        rate = np.abs(self._qd).max(axis=0)
        self.acceleration = np.max([force / self.inertia, self.gravity / lengths, rate / self.time], axis=0)
        self.place = np.array([self._place(c, f) for c, f in zip(mechanism.coordinates, force, strict=True)])
        self.least = self._shaken(_SHAKEN * self.place, lengths)
        # Largest linear acceleration of any point of the mechanism, m/s².
        self.linear = float(np.max(self.acceleration * lengths))

    def bodies(self) -> Iterator[Magnitude]:
        """Yield the largest displacement and the largest speed of any body.

        These magnitudes are used for coordinates that do not move.
        """
        yield Magnitude("", "m", "", self.travel)
        yield Magnitude("", "m/s", "", self.speed)

    def coordinates(self) -> Iterator[Magnitude]:
        """Yield reference magnitudes for coordinates, rates, accelerations, efforts and bristle deflections."""
        for k, coordinate in enumerate(self._mechanism.coordinates):
            name = {quantity: coordinate.signal(quantity).name for quantity in _QUANTITIES}
            unit, owner, acceleration = coordinate.unit, coordinate.owner, float(self.acceleration[k])
            place = self._moved(name["position"], acceleration, self.place[k])
            yield Magnitude(name["position"], unit, owner, place, self.least.position[k])
            speed = self._speed(name["velocity"], acceleration)
            yield Magnitude(name["velocity"], f"{unit}/s", owner, speed, self.least.speed[k])
            least = self.least.acceleration[k]
            yield Magnitude(name["acceleration"], f"{unit}/s2", owner, acceleration, least)
            effort = acceleration * float(self.inertia[k])
            yield Magnitude(name["effort"], coordinate.effort_unit, owner, effort, self.least.effort[k])
            if name["bristle"] in self._run.signals:
                yield Magnitude(name["bristle"], unit, owner, self._largest(name["bristle"]))

    def points(self) -> Iterator[Magnitude]:
        """Yield reference magnitudes for positions, velocities and accelerations of the named points."""
        for name in self._mechanism.points:
            for axis in "xyz":
                place, velocity = (of_point(name, quantity, axis).name for quantity in ("position", "velocity"))
                owner = f"point {name}"
                moved, speed = self._moved(place, self.linear, self.extent), self._speed(velocity, self.linear)
                yield Magnitude(place, "m", owner, moved, self.least.travel)
                yield Magnitude(velocity, "m/s", owner, speed, self.least.pace)
                if name in self._mechanism.chain.accelerated:
                    acceleration = of_point(name, "acceleration", axis).name
                    yield Magnitude(acceleration, "m/s2", owner, self.linear, self.least.jolt)

    def frames(self) -> Iterator[Magnitude]:
        """Yield reference magnitudes for origins, quaternions and angular velocities of links."""
        for link in self._mechanism.chain.posed:
            for measure in requested.origins(link):
                moved = self._moved(measure.signal.name, self.linear, self.extent)
                yield Magnitude(measure.signal.name, measure.unit, link, moved, self.least.travel)
            for measure in requested.quaternions(link):
                yield Magnitude(measure.signal.name, measure.unit, link, 1.0)
            for measure in requested.omegas(link):
                speed = self._speed(measure.signal.name, self.linear / self.extent)
                yield Magnitude(measure.signal.name, measure.unit, link, speed, self.least.pace / self.extent)

    def energies(self) -> Iterator[Magnitude]:
        """Yield the reference magnitude of energies, J.

        The magnitude is the largest of three values: largest subtree weight times extent, largest kinetic
        energy, and range of the potential energy.
        """
        if self._mechanism.chain.outputs.energy:
            names = [measure.signal.name for measure in requested.energies()]
            weight = max(self._weights().values(), default=0.0)
            change = float(np.ptp(self._run.signals[names[1]]))
            size = max(weight * self.extent, self._largest(names[0]), change)
            yield from (Magnitude(name, "J", "energy", size, self.least.energy) for name in names)

    def expressions(self, known: Iterable[Magnitude]) -> Iterator[Magnitude]:
        """Yield reference magnitudes for output expressions, and for the output quantities of force elements.

        Quantities in `known` are skipped, because they already have a reference magnitude.
        """
        sizes = {entry.signal: max(entry.size, entry.least) for entry in known}
        for element in self._mechanism.elements:
            for quantity, measure in element.signals.items():
                name, read = measure.signal.name, self._model.reader.reading
                if name in sizes:
                    continue
                if quantity in element.states:
                    rate = self._change(read(name, element.states[quantity].rate), sizes)
                    size = max(self._range(name), self.time * rate)
                else:
                    size = max(self._range(name), self._change(read(name, element.observed[quantity]), sizes))
                yield Magnitude(name, measure.unit, element.name, size)
        for name, reading in self._model.outputs.items():
            unit = self._mechanism.chain.outputs.expressions[name].unit
            size = max(self._range(name), self._change(reading, sizes))
            yield Magnitude(name, unit or f"unit of {name}", name, size)

    def _range(self, signal: str) -> float:
        return float(np.ptp(self._run.signals[signal]))

    def _change(self, reading: CompiledExpression, sizes: Mapping[str, float]) -> float:
        """Return the estimated change of an expression, in the unit of the expression.

        The estimate is the larger of two values:

        - the change of the expression due to the estimated changes of its variables,
        - 10⁻⁸ times the sum of the magnitudes of all terms.
        """
        at = [reading.sizes(state) for state in self._states]
        slopes = np.max([gradient for _, gradient in at], axis=0)
        moved = [0.0, *(self._size_of(used, sizes) for used in reading.names[1:])]
        return max(float(slopes @ moved), _CANCELLED * max(terms for terms, _ in at))

    def _size_of(self, name: str, sizes: Mapping[str, float]) -> float:
        """Return the reference magnitude of a variable in an expression.

        If the variable is not a signal of the run, a default magnitude is returned.
        """
        by_level = (_LEFT, _LEFT * self.linear * self.time, self.linear)
        return sizes.get(name.replace(".", "_"), by_level[level(name)])

    def force_elements(self) -> Iterator[Magnitude]:
        """Yield reference magnitudes for lengths, gaps, rates, forces and moments of force elements."""
        weight = max(self._weights().values(), default=0.0)
        sizes = {
            "m": lambda name: self._moved(name, self.linear, self.extent),
            "m/s": lambda name: self._speed(name, self.linear),
            "N": lambda name: max(weight, self._largest(name)),
            "N.m": lambda name: max(weight * self.extent, self._largest(name)),
        }
        least = {"m": self.least.travel, "m/s": self.least.pace, "N": self.least.force}
        least["N.m"] = self.least.force * self.extent
        for part in self._mechanism.measured:
            for name, unit in ((measure.signal.name, measure.unit) for measure in part.signals.values()):
                if unit in sizes:
                    yield Magnitude(name, unit, part.name, sizes[unit](name), least[unit])

    def knife_edges(self) -> Iterator[Magnitude]:
        """Yield reference magnitudes for the normal forces of knife edges."""
        for edge in self._mechanism.nonholonomic:
            name = f"{edge.name}_force"
            yield Magnitude(name, "N", edge.name, self._largest(name), self.least.force)

    def loads(self) -> Iterator[Magnitude]:
        """Yield reference magnitudes for joint reaction forces and moments."""
        weights = self._weights()
        for link, size in self._sizes().items():
            name = {part: joint_load(link, part).name for part in (*COMPONENTS, "axial", "normal")}
            if name["fx"] not in self._run.signals:
                continue
            force = max(weights[link], *(self._largest(name[part]) for part in COMPONENTS[:3]))
            for part in (*COMPONENTS[:3], "axial", "normal"):
                yield Magnitude(name[part], "N", link, force, self.least.force)
            least = self.least.force * max(size, self.extent)
            for part in COMPONENTS[3:]:
                moment = max(self._largest(name[part]), force * size)
                yield Magnitude(name[part], "N.m", link, moment, least)

    def _sample(self, k: int) -> tuple[Array, Array, Array]:
        state = self._model.state(float(self._run.time[k]), self._q[k], self._qd[k], lag=self._lags[k])
        self._states.append(state)
        found = self._model.evaluate(state, self._form, self._z[k])
        frames = state.posture.T.transpose(1, 0, 2)[1:]
        centres = [
            frame[:3, :3] @ np.asarray(body.com, dtype=float) + frame[:3, 3]
            for frame, body in zip(frames, self._mechanism.bodies, strict=True)
        ]
        places = np.concatenate([frames[:, :3, 3], centres, state.places.position.T]) + state.posture.datum
        return _terms(self._model.forces(state), found), np.diag(found.M), places

    def _shaken(self, changes: Array, lengths: Array) -> _Shaken:
        """Return lower bounds of the reference magnitudes of the signals.

        Each coordinate is displaced slightly from the initial position and from the positions near
        events. The lower bounds are estimates of the changes that these displacements cause.

        Parameters
        ----------
        changes : ndarray, shape (n,)
            Displacements of the coordinates, rad or m.
        lengths : ndarray, shape (n,)
            Displacement of a point, m, due to a change of each coordinate by 1 rad or 1 m.
        """
        initial = self._differences(0, changes, (0, 1))
        # Second differences of accelerations are negligible, except near events.
        rows = self._rows_at_events()
        switching = [self._differences(row, self._near(row, changes), (-1, 0, 1)) for row in rows]
        acceleration = np.max([initial, *switching], axis=0)
        # A harmonic oscillation with amplitude s and acceleration amplitude a has the speed amplitude √(s a).
        speed = np.sqrt(initial * changes)
        travel, pace, jolt = (float(np.max(x * lengths)) for x in (changes, speed, acceleration))
        mass = sum(float(body.mass) for body in self._mechanism.bodies)
        energy = mass * float(np.max(initial * lengths)) * self.extent
        effort = acceleration * self.inertia
        return _Shaken(changes, speed, acceleration, effort, travel, pace, jolt, mass * jolt, energy)

    def _near(self, row: int, changes: Array) -> Array:
        """Return displacements of the coordinates, shape (n,), that are large compared with errors at events.

        An error of the event time changes the value of each coordinate. The returned displacement is at
        least 10⁶ times this change.
        """
        error = _LATE * max(1.0, float(self._run.time[row]))
        return np.asarray(np.maximum(changes, error / _SHAKEN * np.abs(self._qd[row])))

    def _differences(self, row: int, changes: Array, places: tuple[int, ...]) -> Array:
        """Return absolute finite differences of the accelerations, summed over all displacements, shape (n,).

        Parameters
        ----------
        row : int
            Index of the output time.
        changes : ndarray, shape (n,)
            Displacements of the coordinates, rad or m. Each coordinate is displaced separately.
        places : tuple of int
            Multiples of a displacement: (0, 1) for the first and (-1, 0, 1) for the second difference.
        """
        t, q, qd, z = float(self._run.time[row]), self._q[row], self._qd[row], self._z[row]

        def accelerations(at: Array) -> Array:
            return self._model.rates(self._model.state(t, at, qd, lag=self._lags[row]), self._form, z).qdd

        undisturbed, found = accelerations(q), np.zeros(len(q))
        for shift in np.diag(changes):
            with suppress(SolveError):  # An expression can be undefined at the displaced position.
                values = [accelerations(q + k * shift) if k else undisturbed for k in places]
                found += np.abs(np.diff(values, len(places) - 1, axis=0)[0])
        return found

    def _rows_at_events(self) -> list[int]:
        """Return the indices of output times near events, in ascending order.

        One output time is selected for each element with events: that with the smallest distance to an event.
        """
        nearest: dict[str, tuple[float, int]] = {}
        for event in self._run.events:
            row = int(np.argmin(np.abs(self._run.time - event.t)))
            distance = abs(float(self._run.time[row]) - event.t)
            nearest[event.label] = min(nearest.get(event.label, (distance, row)), (distance, row))
        return sorted({row for _, row in nearest.values()})

    def _weights(self) -> dict[str, float]:
        bodies = self._mechanism.bodies
        carried = [float(body.mass) for body in bodies]
        for b in reversed(range(len(bodies))):  # The list of bodies contains each parent before its children.
            if bodies[b].parent != GROUND:
                carried[bodies[b].parent] += carried[b]
        weights: dict[str, float] = {}
        for body, mass in zip(bodies, carried, strict=True):
            weights.setdefault(body.link, mass * self.gravity)
        return weights

    def _sizes(self) -> dict[str, float]:
        """Return the size of each link, m. The keys are the names of the links.

        The size of a body is the largest of three lengths: distance of the centre of mass from the frame's
        origin, distance of the farthest child joint, and radius of gyration. The size of a flexible link is
        the sum of the sizes of its rigid elements.
        """
        sizes: dict[str, float] = {}
        bodies = self._mechanism.bodies
        for b, body in enumerate(bodies):
            moments = max(float(np.trace(np.asarray(body.inertia, dtype=float))), 0.0)
            gyration = np.sqrt(moments / body.mass) if body.mass else 0.0
            children = [np.linalg.norm(np.asarray(c.offset, dtype=float)) for c in bodies if c.parent == b]
            size = max([np.linalg.norm(np.asarray(body.com, dtype=float)), gyration, *children])
            sizes[body.link] = sizes.get(body.link, 0.0) + float(size)
        return sizes

    def _place(self, coordinate: Coordinate, force: float) -> float:
        """Return an upper bound of a coordinate's displacement, rad or m.

        The bound is 1 rad for a rotation and the mechanism's extent for a translation. For an elastic
        coordinate, the bound is the deflection under the force `force` if this deflection is smaller.
        """
        free = 1.0 if coordinate.unit == "rad" else self.extent
        return free if coordinate.role != "elastic" else min(free, force / float(coordinate.stiffness or np.inf))

    def _moved(self, signal: str, acceleration: float, place: float) -> float:
        return max(float(np.ptp(self._run.signals[signal])), _LEFT * min(acceleration * self.time**2, place))

    def _speed(self, signal: str, acceleration: float) -> float:
        return max(self._largest(signal), _LEFT * acceleration * self.time)

    def _largest(self, signal: str) -> float:
        return float(np.max(np.abs(self._run.signals[signal])))


def _terms(forces: GeneralisedForces, found: Evaluation) -> Array:
    """Return Σ |term| over all terms of M q̈ = Q − h + effort, shape (n,), N or N·m."""
    parts = (
        forces.gravity,
        forces.elastic,
        forces.dissipative,
        forces.applied,
        found.friction,
        found.h,
        found.effort,
    )
    return np.asarray(sum(map(np.abs, parts)) + np.abs(found.M) @ np.abs(found.qdd))
