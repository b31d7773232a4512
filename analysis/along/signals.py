"""Signals of a reference run at the output times, under the names of the FMU variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.errors import SolveError
from ...core.trajectory import Array
from ...description.types.origin import closure_load, joint_load, of_point, row_force, support_load, violation
from ...mechanism import Mechanism
from ...reference.forces.joint_loads import COMPONENTS, CompiledJointLoads, axial_and_normal
from ...reference.integration.motion import FormulatedModel
from ...reference.kinematics.quantities import KinematicState
from ...reference.solve import requested
from ...reference.solve.gpme import CoordinatePartition
from ...reference.solve.model import Evaluation, ReferenceModel


@dataclass(frozen=True)
class Moment:
    """Kinematic state and friction states, shape (f,), at one output time."""

    state: KinematicState
    z: Array


@dataclass(frozen=True)
class _Sample(Moment):
    evaluation: Evaluation
    determinant: float


@dataclass(frozen=True)
class RequestedForces:
    """Reactions and multipliers that are signals of a run.

    Attributes
    ----------
    joints : CompiledJointLoads
        Joints whose reactions are signals.
    wrenches : bool
        Whether wrenches of closures and forces of supports are signals.
    multipliers : bool
        Whether the multiplier of each constraint equation is a signal.
    """

    joints: CompiledJointLoads
    wrenches: bool
    multipliers: bool


def signals(
    motion: FormulatedModel, moments: Sequence[Moment], wanted: RequestedForces
) -> tuple[dict[str, Array], dict[str, float]]:
    """Return all signals of a reference run, and scalar results of the whole run.

    Parameters
    ----------
    motion : FormulatedModel
        Equations of motion in the chosen formulation.
    moments : sequence of Moment
        States at the N output times.
    wanted : RequestedForces
        Reactions and multipliers among the signals.

    Returns
    -------
    signals : dict
        Signals of shape (N,), by name; see `simulation.simulate`.
    extra : dict
        Scalar results, by name.

    Raises
    ------
    SolveError
        If det C_d of a fixed coordinate partition changes sign.
    """
    samples, model, form = [], motion.model, motion.form
    for moment in moments:
        found = model.evaluate(moment.state, form, moment.z)
        samples.append(_Sample(moment.state, moment.z, found, float(form.determinant(found.C))))
    found_signals = _coordinates(model, samples) | _points(model, samples) | _loads(model, samples, wanted.joints)
    found_signals |= _force_elements(model, samples) | _requested(model, samples)
    states = [sample.state for sample in samples]
    found_signals |= model.filters.signals(states) | model.internal.signals(states)
    if wanted.wrenches:
        found_signals |= _closures(model, samples) | _supports(model, samples)
    extra: dict[str, float] = {}
    if model.constraints.names:
        found_signals |= _constraints(model.mechanism, samples) | _forces(model, samples, wanted.multipliers)
        extra |= _regularity(form.fixed, samples)
    if model.friction.coordinates:
        extra["friction_residual"] = max(sample.evaluation.friction_residual for sample in samples)
    return found_signals, extra


def _coordinates(model: ReferenceModel, samples: Sequence[_Sample]) -> dict[str, Array]:
    coordinates = model.mechanism.coordinates
    parts = {
        "position": np.array([sample.state.q for sample in samples]),
        "velocity": np.array([sample.state.qd for sample in samples]),
        "acceleration": np.array([sample.evaluation.qdd for sample in samples]),
    }
    found = {
        coordinate.signal(quantity).name: values[:, k]
        for k, coordinate in enumerate(coordinates)
        for quantity, values in parts.items()
    }
    z = np.array([sample.z for sample in samples])
    friction = enumerate(model.friction.coordinates)
    return found | {coordinates[k].signal("bristle").name: z[:, i] for i, k in friction}


def _points(model: ReferenceModel, samples: Sequence[_Sample]) -> dict[str, Array]:
    x = np.array([sample.state.x for sample in samples])
    x_dot = np.array([sample.state.x_dot for sample in samples])
    found = {}
    for name in model.mechanism.points:
        own = model.quantities.point(name)
        for axis, k in zip("xyz", own, strict=True):
            found[of_point(name, "position", axis).name] = x[:, k]
            found[of_point(name, "velocity", axis).name] = x_dot[:, k]
    return found


def _force_elements(model: ReferenceModel, samples: Sequence[_Sample]) -> dict[str, Array]:
    found = [model.forces.signals(sample.state) for sample in samples]
    return {name: np.array([values[name] for values in found]) for name in found[0]}


def _requested(model: ReferenceModel, samples: Sequence[_Sample]) -> dict[str, Array]:
    found = [requested.values(model, sample.state, sample.evaluation.qdd) for sample in samples]
    return {name: np.array([values[name] for values in found]) for name in found[0]}


def _loads(model: ReferenceModel, samples: Sequence[_Sample], joints: CompiledJointLoads) -> dict[str, Array]:
    if not joints.links:
        return {}
    loads = np.array([model.loads_at(joints, sample.state, sample.evaluation) for sample in samples])
    found = {
        joint_load(link, component).name: loads[:, j, i]
        for j, link in enumerate(joints.links)
        for i, component in enumerate(COMPONENTS)
    }
    for link, axis in joints.axes.items():
        pairs = np.array([axial_and_normal(load, axis) for load in loads[:, joints.links.index(link)]])
        found |= {joint_load(link, "axial").name: pairs[:, 0], joint_load(link, "normal").name: pairs[:, 1]}
    return found


def _closures(model: ReferenceModel, samples: Sequence[_Sample]) -> dict[str, Array]:
    wrenches = [model.closure_wrenches(sample.state, sample.evaluation) for sample in samples]
    return {
        closure_load(name, component).name: np.array([at[name][i] for at in wrenches])
        for name in wrenches[0]
        for i, component in enumerate(COMPONENTS)
    }


def _supports(model: ReferenceModel, samples: Sequence[_Sample]) -> dict[str, Array]:
    forces = [model.forces.on_base(sample.state) for sample in samples]
    return {
        support_load(name, component).name: np.array([at[name][i] for at in forces])
        for name in forces[0]
        for i, component in enumerate(COMPONENTS[:3])
    }


def _constraints(mechanism: Mechanism, samples: Sequence[_Sample]) -> dict[str, Array]:
    effort = np.array([sample.evaluation.drive for sample in samples])
    return {
        violation("position").name: np.array([np.linalg.norm(sample.evaluation.Phi) for sample in samples]),
        violation("velocity").name: np.array([np.linalg.norm(sample.evaluation.Phi_dot) for sample in samples]),
        **{mechanism.coordinates[k].signal("effort").name: effort[:, k] for k in mechanism.driven},
    }


def _forces(model: ReferenceModel, samples: Sequence[_Sample], every_row: bool) -> dict[str, Array]:
    """Return the Lagrange multiplier of each knife edge, or of every equation if `every_row` is true."""
    names, first = model.constraints.names, model.constraints.contact_rows.start
    values = np.array([sample.evaluation.multipliers for sample in samples])
    values[:, model.constraints.contact_rows] = [sample.evaluation.contacts for sample in samples]
    edges = range(first, first + len(model.mechanism.nonholonomic))
    return {row_force(names[k]).name: values[:, k] for k in (range(len(names)) if every_row else edges)}


def _regularity(partition: CoordinatePartition | None, samples: Sequence[_Sample]) -> dict[str, float]:
    """Return the smallest |det C_d| and the time at which it occurs, s.

    Raises
    ------
    SolveError
        If det C_d of a fixed coordinate partition changes sign, and was therefore zero between two
        output times.
    """
    determinants = np.array([sample.determinant for sample in samples])
    crossed = np.flatnonzero(determinants[1:] * determinants[:-1] < 0)
    if partition is not None and len(crossed):
        raise SolveError(partition.singular(samples[crossed[0]].state.t))
    k = int(np.argmin(np.abs(determinants)))
    return {"min_det": float(abs(determinants[k])), "min_det_time": samples[k].state.t}
