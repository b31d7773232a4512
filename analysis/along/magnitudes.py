"""Natural scales of a mechanism's signals, by which the difference of two runs is judged.

A signal that stays where it is has no range, and what is left of forces in balance is rounding. Then counts what
would be there without the balance: what the forces alone would do, what they would have to hold.
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

_SAMPLES = 25  # instants of the run that are looked at
_QUANTITIES = ("position", "velocity", "acceleration", "effort", "bristle")
_CANCELLED = 1e-8  # of what an expression's terms come to one by one
_LEFT = 1e-4  # of the forces, in the thought of a motion where they are in balance
_SHAKEN = 1e-6  # of a coordinate's place: a millionth of it is still far above what rounding leaves


def magnitudes(problem: InitialValueProblem, run: Trajectory) -> tuple[Magnitude, ...]:
    """Natural magnitudes of a reference run's signals.

    Accelerations: what the forces alone would do, term by term without regard of their signs, divided by the
    coordinate's own inertia; gravity over the mechanism's extent; a change of the velocity in the time of the run.
    Efforts: these times the inertia. Velocities: the largest one, positions: the range; of both at least a small
    part of what that acceleration comes to in the time of the run. Joint loads: the largest force or the weight,
    and the largest moment or that force on the link's size. Without a name: how far and how fast bodies move.

    All have a least scale by what a displacement of the coordinates by a millionth would do: where nothing acts,
    rounding is not compared with rounding.

    problem  equations that the run fulfils
    """
    found = _Samples(problem, run)
    known = (*found.bodies(), *found.coordinates(), *found.points(), *found.force_elements(), *found.loads())
    return (*known, *found.frames(), *found.knife_edges(), *found.energies(), *found.expressions(known))


def natural_accelerations(problem: InitialValueProblem, at: tuple[float, Array, Array, Array]) -> Array:
    """Return accelerations by unbalanced forces at one state, and gravity over the extent, shape (n,).

    Forces term by term, without regard of their signs.

    at      time in s, q and q̇ of shape (n,), states of friction and filters of shape (f + 2k,)
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
    """Least scales: by a displacement of all coordinates by a millionth of their places.

    position, speed, acceleration, effort   of the coordinates, shape (n,): rad or m, per s, per s², N·m or N
    travel, pace, jolt                      of a point: m, m/s, m/s²
    force                                   N: of all masses
    """

    position: Array
    speed: Array
    acceleration: Array
    effort: Array
    travel: float
    pace: float
    jolt: float
    force: float


class _Samples:
    """Quantities that several states of the run share.

    inertia        shape (n,): smallest M_kk
    acceleration   shape (n,): see `magnitudes`
    place          shape (n,), rad or m: as far as a coordinate may be thought to go
    extent         m, of bodies, centres of mass and points
    least          of the signals' scales
    travel, speed  m, m/s: the largest of a body's origin or centre of mass from sample to sample
    """

    def __init__(self, problem: InitialValueProblem, run: Trajectory) -> None:
        mechanism = problem.mechanism
        self._mechanism, self._run = mechanism, run
        self._model, self._form = problem.model, problem.form
        all_of, rubbing = mechanism.coordinates, self._model.friction.coordinates
        self._q, self._qd = (run.columns(signal_names(all_of, level)) for level in ("position", "velocity"))
        self._z = run.columns(signal_names([all_of[k] for k in rubbing], "bristle"))
        self._states: list[KinematicState] = []
        self._lags = self._model.filters.lags(run)
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
        # of a point, m/s²
        self.linear = float(np.max(self.acceleration * lengths))

    def bodies(self) -> Iterator[Magnitude]:
        """Yield the scales of the whole mechanism, by which a coordinate at rest is judged."""
        yield Magnitude("", "m", "", self.travel)
        yield Magnitude("", "m/s", "", self.speed)

    def coordinates(self) -> Iterator[Magnitude]:
        """Positions, rates, accelerations, efforts and bristles of the generalised coordinates."""
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
        """Places and velocities of the named points; each point is an owner of its own."""
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
        """Origins, quaternions and angular velocities of links."""
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
        """The weight on the mechanism's extent, the largest kinetic one, and as far as the potential changes."""
        if self._mechanism.chain.outputs.energy:
            names = [measure.signal.name for measure in requested.energies()]
            weight = max(self._weights().values(), default=0.0)
            change = float(np.ptp(self._run.signals[names[1]]))
            size = max(weight * self.extent, self._largest(names[0]), change)
            least = self.least.force * self.extent
            yield from (Magnitude(name, "J", "energy", size, least) for name in names)

    def expressions(self, known: Iterable[Magnitude]) -> Iterator[Magnitude]:
        """Outputs, and what laws publish in further units: as far as they change, or would by their names."""
        sizes = {entry.signal: max(entry.size, entry.least) for entry in known}
        for element in self._mechanism.elements:
            for quantity, measure in element.signals.items():
                name, read = measure.signal.name, self._model.reader.reading
                if name not in sizes:
                    size = self._change(name, read(name, element.observed[quantity]), sizes)
                    yield Magnitude(name, measure.unit, element.name, size)
        for name, reading in self._model.outputs.items():
            unit = self._mechanism.chain.outputs.expressions[name].unit
            yield Magnitude(name, unit or f"unit of {name}", name, self._change(name, reading, sizes))

    def _change(self, signal: str, reading: CompiledExpression, sizes: Mapping[str, float]) -> float:
        """Return the change of an expression over the run, or what its names' magnitudes cause if that is more."""
        at = [reading.sizes(state) for state in self._states]
        slopes = np.max([gradient for _, gradient in at], axis=0)
        moved = [0.0, *(self._size_of(used, sizes) for used in reading.names[1:])]
        value = float(np.ptp(self._run.signals[signal]))
        return max(value, float(slopes @ moved), _CANCELLED * max(terms for terms, _ in at))

    def _size_of(self, name: str, sizes: Mapping[str, float]) -> float:
        """Return the magnitude of a name in expressions; names that are no signals have one by their level."""
        by_level = (_LEFT, _LEFT * self.linear * self.time, self.linear)
        return sizes.get(name.replace(".", "_"), by_level[level(name)])

    def force_elements(self) -> Iterator[Magnitude]:
        """Lengths and gaps, their rates, forces and efforts."""
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
        """Forces along the normals."""
        for edge in self._mechanism.nonholonomic:
            name = f"{edge.name}_force"
            yield Magnitude(name, "N", edge.name, self._largest(name), self.least.force)

    def loads(self) -> Iterator[Magnitude]:
        """Forces and moments in the joints."""
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
        """Least scales by such displacements from the start, shape (n,); lengths: m per unit of a coordinate."""
        q, qd, z = self._q[0], self._qd[0], self._z[0]

        def accelerations(at: Array) -> Array:
            state = self._model.state(float(self._run.time[0]), at, qd, lag=self._lags[0])
            return self._model.rates(state, self._form, z).qdd

        undisturbed = accelerations(q)
        acceleration = np.zeros(len(q))
        for shift in np.diag(changes):
            with suppress(SolveError):  # an expression has no value beyond the end of its domain
                acceleration += np.abs(accelerations(q + shift) - undisturbed)
        speed = np.sqrt(acceleration * changes)  # of an oscillation of that amplitude and acceleration
        travel, pace, jolt = (float(np.max(x * lengths)) for x in (changes, speed, acceleration))
        mass = sum(float(body.mass) for body in self._mechanism.bodies)
        effort = acceleration * self.inertia
        return _Shaken(changes, speed, acceleration, effort, travel, pace, jolt, mass * jolt)

    def _weights(self) -> dict[str, float]:
        """Link → N: what it and all that hangs on it weigh."""
        bodies = self._mechanism.bodies
        carried = [float(body.mass) for body in bodies]
        for b in reversed(range(len(bodies))):  # children come after their parents
            if bodies[b].parent != GROUND:
                carried[bodies[b].parent] += carried[b]
        weights: dict[str, float] = {}
        for body, mass in zip(bodies, carried, strict=True):
            weights.setdefault(body.link, mass * self.gravity)
        return weights

    def _sizes(self) -> dict[str, float]:
        """Link → m: how far its masses and what hangs on it are from its joint."""
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
        """1 rad or the extent, but of what a spring holds no more than the force bends it, rad or m."""
        free = 1.0 if coordinate.unit == "rad" else self.extent
        return free if coordinate.role != "elastic" else min(free, force / float(coordinate.stiffness or np.inf))

    def _moved(self, signal: str, acceleration: float, place: float) -> float:
        return max(float(np.ptp(self._run.signals[signal])), _LEFT * min(acceleration * self.time**2, place))

    def _speed(self, signal: str, acceleration: float) -> float:
        return max(self._largest(signal), _LEFT * acceleration * self.time)

    def _largest(self, signal: str) -> float:
        return float(np.max(np.abs(self._run.signals[signal])))


def _terms(forces: GeneralisedForces, found: Evaluation) -> Array:
    """Sum of the magnitudes of all that M q̈ = Q − h + effort is made of, shape (n,), N or N·m."""
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
