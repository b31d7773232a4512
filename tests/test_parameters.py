"""Numbers that are expressions of parameters: what follows them in the FMU is what a description with them has."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import fmpy
import helpers_problem as solving
import numpy as np
import pytest
from helpers_backends import Compiled, CompileData, Fmu, motion_signals
from helpers_parts import X, Y, Z, beam, body, link, machine
from helpers_program import Numeric

from gpmelica.analysis.system import System, assemble_system
from gpmelica.core.errors import DescriptionError
from gpmelica.description import Description
from gpmelica.description.fields.numbers import ParametricNumber, value_of
from gpmelica.description.load import from_data
from gpmelica.generator.modelica import start as modelica_start

Data = dict[str, Any]
SHORT = {"stop": 0.2, "output_step": 0.02}
SAME = 1e-9
SLOPES = 1e-6
# what random settings are taken from: FMU's parameter → its place in the description, lowest and highest value
RANGES = {
    "Loader": {
        "payload": ("parameters.payload", 20.0, 390.0),
        "reach": ("parameters.reach", 1.6, 2.9),
        "soil": ("parameters.soil", 3e5, 3e6),
        "tilt": ("parameters.tilt", 0.02, 0.3),
        "section": ("parameters.section", 1.5e-3, 3e-3),
        "mast_mass": ("links.mast.mass", 50.0, 200.0),
        "mast_angle_start": ("links.mast.joint.position", -1.0, 1.0),
        "boom_angle_dot_start": ("links.boom.joint.velocity", -0.1, 0.1),
    },
    "Linkage": {
        "r": ("parameters.r", 0.22, 0.38),
        "ratio": ("parameters.ratio", 2.2, 3.5),
        "slope": ("parameters.slope", -0.25, 0.35),
        "k": ("parameters.k", 20.0, 80.0),
        "coupler_angle_start": ("links.coupler.joint.position", -0.8, -0.5),
        "crank_angle_dot_start": ("links.crank.joint.velocity", -1.0, 3.0),
    },
}


def loader() -> Data:
    """A base on supports, a flexible boom on its mast, a load at its end; every kind of number follows."""
    parameters = {
        "payload": {"value": 100.0, "unit": "kg", "description": "mass of the load", "min": 10.0, "max": 400.0},
        "reach": {"value": 2.0, "unit": "m", "min": 1.5, "max": 3.0},
        "soil": {"value": 1e6, "unit": "N/m", "min": 1e5},
        "tilt": 0.1,
        "section": 2e-3,
    }
    corners = [(-1.0, -0.8), (-1.0, 0.8), (1.0, -0.8), (1.0, 0.8)]
    soil = {"stiffness": ["soil/2", "soil/2", "soil"], "damping": ["soil/100"] * 3}
    supports = [{"position": [x, f"{y}*(1 + tilt)", 0.0]} | soil for x, y in corners]
    base = {"mass": 900.0, "com": [0.0, 0.0, "-0.1*reach"], "inertia": [300.0, 400.0, 600.0], "supports": supports}
    section = {"area": "section", "Iy": "section^2/12", "Iz": "section^2/12", "J": "section^2/7"}
    tube = {
        "length": "reach",
        "density": 7850.0,
        "E": 2.1e11,
        "G": 8e10,
        "damping_time": "tilt/100",
        "elements": 2,
    }
    turned = {"dh": [0.0, "pi/2 + tilt/5", 0.0, 0.0]}
    tip = [[1.0, 0.0, 0.0, "reach"], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    links = [
        link("mast", "revolute", Z, "base", xyz=[0.0, 0.0, 0.4], rpy=[0.0, "tilt", 0.0], position=0.4)
        | body(120.0, [0.0, 0.0, 0.6], [20.0, 20.0, 5.0]),
        beam("boom", tube | section, "revolute", Z, "mast", **turned, position=0.5, damping="soil/1e4"),
        link("load", "revolute", Z, "boom", matrix=tip, position=-0.5, damping=20.0)
        | body("payload", [0.0, "-0.002*payload", 0.0], ["payload/10", "payload/10", "payload/12"]),
    ]
    return machine(
        *links,
        name="Loader",
        parameters=parameters,
        base=base,
        points={"E": {"link": "boom", "position": ["reach", 0.0, "section"]}},
        forces=[{"name": "turn", "joint": "mast", "effort": "20*payload*sin(3*t)"}],
        statics={"locked": ["mast", "boom", "load"]},
        simulation=SHORT,
    )


def linkage() -> Data:
    """Crank, coupler and slider on a tilted rail; the crank on a spring."""
    ratio, k = {"value": 2.5, "min": 1.5}, {"value": 40.0, "unit": "N.m/rad"}
    moments = [0.01, 0.02, 0.02]
    spring = {"stiffness": "k", "rest": "slope*2", "damping": "k/100"}
    links = [
        link("crank", "revolute", Z, position=0.5, velocity=2.0, **spring) | body(1.0, ["r/2", 0.0, 0.0], moments),
        link("coupler", "revolute", Z, "crank", xyz=["r", 0.0, 0.0], position=-0.7)
        | body("2*r", ["r*ratio/2", 0.0, 0.0], moments),
        link("slider", "prismatic", X, rpy=[0.0, 0.0, "slope"], position=1.0)
        | body("k/20", [0.1, 0.0, 0.0], moments),
    ]
    ends = {"a": {"link": "coupler", "xyz": ["r*ratio", 0.0, 0.0]}, "b": {"link": "slider"}}
    return machine(
        *links,
        name="Linkage",
        gravity=[0.0, -9.81, 0.0],
        parameters={"r": 0.3, "ratio": ratio, "slope": 0.2, "k": k},
        closures=[{"name": "pin", "type": "revolute"} | ends],
        points={"E": {"link": "slider", "position": [0.1, "r", 0.0]}},
        simulation=SHORT,
    )


FMI = {"Loader": "2.0", "Linkage": "3.0"}
MACHINES = {"Loader": loader, "Linkage": linkage}


@pytest.fixture(scope="module", params=MACHINES)
def compiled(request: pytest.FixtureRequest, compile_data: CompileData) -> Compiled:
    """One of the machines, as an FMU."""
    return compile_data(MACHINES[request.param](), FMI[request.param])


def _changed(data: Data, settings: Mapping[str, float]) -> System:
    return assemble_system(from_data(data, changes=settings))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["me", "cs"])
def test_the_start_is_that_of_a_description_with_the_numbers(compiled: Compiled, kind: str) -> None:
    """Equilibrium, closed loops, velocities and accelerations at random settings, as the reference has them."""
    name = compiled.model.name
    rng, ranges = np.random.default_rng(len(kind)), RANGES[name]
    with Fmu(compiled, kind) as fmu:
        for _ in range(3):
            chosen = {key: float(rng.uniform(low, high)) for key, (_, low, high) in ranges.items()}
            model = _changed(MACHINES[name](), {ranges[key][0]: value for key, value in chosen.items()})
            expected = solving.evaluate(model.mechanism, 0.0, *model.start, start=model.start).qdd
            moved = max(np.abs(a - b).max() for a, b in zip(model.start, compiled.model.start, strict=True))
            assert moved > 1e-3
            fmu.restart(chosen)
            for names, wanted in zip(motion_signals(model), (*model.start, expected), strict=True):
                assert np.abs(fmu.get(names) - wanted).max() < SAME * max(1.0, np.abs(wanted).max())


def test_initial_equations_of_the_modelica_source_hold_at_the_start() -> None:
    """Some multipliers of the closed loop balance the forces on all coordinates where the generator starts."""
    data = linkage()
    del data["links"][0]["joint"]["velocity"]
    model = assemble_system(from_data(data))
    program, (q, _) = model.program, model.start
    at = {state.variable: 0.0 for state in program.states} | {"time": 0.0}
    at |= dict(zip((state.variable for state in program.states), q, strict=False))
    values = Numeric(program, at)
    free = sorted(modelica_start.found(program))
    rows = len(program.start.equilibrium) if program.start is not None else 0
    assert (len(free), rows) == (3, 2)

    def sums(multipliers: np.ndarray) -> np.ndarray:
        values.values[modelica_start._MULTIPLIERS] = multipliers
        return np.array([values(modelica_start._sum(program, k)) for k in program.start.free])

    forces = sums(np.zeros(rows))
    per_multiplier = np.array([sums(unit) - forces for unit in np.eye(rows)]).T
    multipliers, _, rank, _ = np.linalg.lstsq(per_multiplier, -forces)
    assert rank == rows
    assert sums(multipliers) == pytest.approx(0.0, abs=1e-8 * np.abs(forces).max())
    assert values(program.start.Phi) == pytest.approx(0.0, abs=1e-9)


def test_the_start_without_changes_is_the_generators(compiled: Compiled) -> None:
    """To the last bit; so is one that is given, or that is not to follow."""
    model = compiled.model
    positions, velocities, _ = motion_signals(model)
    first = next(iter(RANGES[model.name]))
    with Fmu(compiled, "me") as fmu:
        for values, settings in (({}, {}), ({first: RANGES[model.name][first][2]}, {"solver_finds_start": 0})):
            fmu.restart(values | settings)
            assert fmu.get(positions).tolist() == model.start[0].tolist()
            assert fmu.get(velocities).tolist() == model.start[1].tolist()


def test_a_start_that_is_given_is_the_start(compile_data: CompileData) -> None:
    """Who sets the start of a coordinate that would be in equilibrium wants it there."""
    compiled = compile_data(loader(), "2.0")
    with Fmu(compiled, "me") as fmu:
        fmu.restart({"base_z_start": 0.01, "payload": 200.0})
        assert fmu.get(["base_z", "load_angle", "load_mass"]).tolist() == [0.01, -0.5, 200.0]


def test_derivatives_with_parameters_go_through_the_start(compiled: Compiled) -> None:
    """Directional derivatives in initialization mode against differences of starts found anew."""
    model, ranges = compiled.model, RANGES[compiled.model.name]
    unknowns = [name for names in motion_signals(model) for name in names]
    with Fmu(compiled, "me") as fmu:
        centre = {key: 0.5 * (low + high) for key, (_, low, high) in ranges.items()}
        fmu.initialization(centre)
        rows = fmu.references(unknowns)
        found = {k: fmu.fmi.getDirectionalDerivative(rows, fmu.references([k]), [1.0]) for k in centre}
        for key, (_, low, high) in ranges.items():
            h = 1e-3 * (high - low)
            near = {k: fmu.restart(centre | {key: centre[key] + k * h}).get(unknowns) for k in (-2, -1, 1, 2)}
            slope = (8 * (near[1] - near[-1]) - (near[2] - near[-2])) / (12 * h)
            for part in np.split(np.arange(len(rows)), 3):
                error = np.abs(np.array(found[key])[part] - slope[part]).max()
                size = max(np.abs(slope[part]).max(), 1e-3 * np.abs(slope).max(), 1e-3)
                assert error <= SLOPES * size, (key, error)


# FMU's parameter, value → what is said; after the first two the others are about what follows from it
REFUSED = [
    ({"payload": 401.0}, "payload is 401, expected at most 400"),
    ({"payload": -1e5}, "payload is -100000, expected at least 10"),
    ({"section": 0.0}, "section is 0, expected a number above 0"),
    ({"mast_mass": -1.0}, "mast_mass is -1, expected a number above 0"),
    ({"tilt": -0.1}, "boom_damping_time is -0.001, expected at least 0"),
]


@pytest.mark.parametrize(("values", "message"), REFUSED)
def test_values_out_of_bounds_are_refused(
    compile_data: CompileData, values: dict[str, float], message: str
) -> None:
    """When they are set, or, what follows from them, when the run is initialised: the error says what is wrong."""
    data = loader()
    with Fmu(compile_data(data, "2.0"), "cs") as fmu:
        with pytest.raises(fmpy.fmi1.FMICallException):
            fmu.restart(values)
        assert message in fmu.messages[-1]


def test_missing_equilibrium_is_an_error(compile_data: CompileData) -> None:
    """No equilibrium exists near that of the description."""
    with Fmu(compile_data(loader(), "2.0"), "cs") as fmu:
        with pytest.raises(fmpy.fmi1.FMICallException):
            fmu.restart({"gravity[1]": 1e9})
        assert re.search(
            "no static equilibrium was found in 200 steps for these parameters: residual .* of base_",
            fmu.messages[-1],
        )


def test_unstable_start_settles_in_a_stable_equilibrium(compile_data: CompileData) -> None:
    """With a mast that is far too high, the loader hangs on its supports, below its original
    position.
    """
    model = _changed(loader(), {"links.mast.com": [0.0, 0.0, 1e4]})
    with Fmu(compile_data(loader(), "2.0"), "me") as fmu:
        found = fmu.restart({"mast_com[3]": 1e4}).get(motion_signals(model)[0])
    assert np.abs(found).max() > 3.0
    assert found == pytest.approx(model.start[0], abs=SAME)


@pytest.mark.slow
def test_a_start_on_a_summit_is_refused(compile_data: CompileData) -> None:
    """A rod upright on a spring that no longer holds it, as nothing says which way it falls."""
    rod = link("rod", "revolute", Y, stiffness="k") | body(1.0, [0.0, 0.0, 0.5], [0.1, 0.1, 0.1])
    data = machine(rod, parameters={"k": 10.0})
    with Fmu(compile_data(data, "2.0"), "me") as fmu:
        with pytest.raises(fmpy.fmi1.FMICallException):
            fmu.restart({"k": 4.0})
        assert (
            "the static equilibrium near the previous one is unstable for these parameters: rod_angle"
            in fmu.messages[-1]
        )


def test_parameters_in_the_model_description(compile_data: CompileData) -> None:
    """Causality, unit, description and bounds are correct; dependent parameters are calculated and
    have a unit.
    """
    variables = {v.name: v for v in compile_data(loader(), "2.0").description.modelVariables}
    payload, mass, section = variables["payload"], variables["load_mass"], variables["section"]
    assert (payload.causality, payload.unit, payload.description) == ("parameter", "kg", "mass of the load")
    assert (payload.min, payload.max, payload.start) == ("10.0", "400.0", "100.0")
    said = (mass.causality, mass.initial, mass.unit, mass.start)
    assert said == ("calculatedParameter", "calculated", "kg", None)
    assert (section.min, section.max, variables["mast_mass"].min) == ("0.0", None, "0.0")


def test_an_expression_is_a_number_that_remembers_it() -> None:
    """The description has the number; written out and read again it is the expression."""
    chain = from_data(loader())
    again = Description.model_validate(chain.model_dump(by_alias=True))
    mass = again.links[2].mass
    assert isinstance(mass, ParametricNumber)
    assert (mass.value, mass.text, again == chain) == (100.0, "payload", True)


def test_parametric_numbers_have_no_arithmetic() -> None:
    """Code that computes with a parametric number must choose between its value and its
    expression.
    """
    mass = from_data(loader()).links[2].mass
    for operation in (operator.add, operator.mul, operator.truediv, operator.lt):
        with pytest.raises(TypeError):
            operation(mass, 2.0)
    assert value_of(mass) * 2.0 == 200.0


def test_numbers_are_equal_if_value_and_expression_are() -> None:
    """Another expression or a plain number of the same value differs, because parameters may change."""
    mass = from_data(loader()).links[2].mass
    assert isinstance(mass, ParametricNumber)
    again, other = replace(mass), replace(mass, text="2*payload - 100")
    assert (mass == again, hash(mass) == hash(again)) == (True, True)
    assert mass not in (100.0, other)


def test_changes_of_a_parameter_keep_its_unit_and_bounds() -> None:
    """In Python and in cases, a change replaces the number only; unit and bounds stay in force."""
    changed = from_data(loader(), changes={"parameters": {"payload": 150}}).parameters["payload"]
    assert (changed.value, changed.unit, changed.max) == (150.0, "kg", 400.0)
    with pytest.raises(DescriptionError, match=r"parameters\.payload\.value: expected at most 400, got 500"):
        from_data(loader(), changes={"parameters.payload": 500.0})


def resting(**changes: float) -> Data:
    """A load on the ground, and the rope that could lift it, slack by default; a lever beside."""
    values = {"payload": 50.0, "rope": 2.5, "lever": 8.0} | changes
    carriage = {
        key: value for key, value in link("load_x", "prismatic", X, position=0.2).items() if key not in body()
    }
    links = [
        carriage,
        link("load", "prismatic", Z, "load_x", position=0.1) | body("payload", inertia=[0.0, 0.0, 0.0]),
        link("lever", "revolute", Y, stiffness=300.0) | body("lever", [0.5, 0.0, 0.0], [0.1, 0.1, 0.1]),
    ]
    rope = {"name": "rope", "a": {"link": "ground", "point": [0.0, 0.0, 2.0]}, "b": {"link": "load"}}
    rope |= {"rest": "rope", "stiffness": 1e4, "damping": 10.0, "tension_only": True}
    ground = {"name": "earth", "link": "load", "plane": {"point": [0.0] * 3}, "stiffness": 1e5, "damping": 1e3}
    return machine(*links, parameters=values, contacts=[ground], lines=[rope], statics={"locked": []})


@pytest.mark.slow
def test_start_with_indifferent_equilibrium(compile_data: CompileData) -> None:
    """A load on the ground keeps its position; modified parameters move it deeper or lift it by
    its rope.
    """
    with Fmu(compile_data(resting()), "cs") as fmu:
        for changes in ({"payload": 80.0}, {"lever": 5.0}, {"rope": 1.5}, {"rope": 1.5, "payload": 20.0}):
            model = assemble_system(from_data(resting(**changes)))
            found = fmu.restart(changes).get(motion_signals(model)[0])
            assert found == pytest.approx(model.start[0], abs=1e-9), changes
            assert abs(model.start[0][0]) < 1e-9 if "rope" in changes else found[0] == 0.2
