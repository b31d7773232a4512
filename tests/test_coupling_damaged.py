"""Damaged couplings of real FMUs: each gets the sentence that it needs, and its healthy counterpart does not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_backends import Once
from helpers_coupling import couple as held_run
from helpers_coupling import rope_bounce, sampled_control
from helpers_coupling_faults import Signals, library, linear_fmu
from helpers_coupling_fmus import DESCRIPTION, fmu_of_types
from test_coupling_systems import archive, component, connector, structure

from gpmelica.core.errors import DescriptionError, GpmelicaError
from gpmelica.coupling.equal_steps import equal_steps
from gpmelica.coupling.fmus import FmuPart
from gpmelica.coupling.master import Settings
from gpmelica.coupling.network import Network, Wire
from gpmelica.coupling.participant import ClaimFailed, PartFailed
from gpmelica.coupling.report import lines
from gpmelica.coupling.system import CoupledSystem, open_system
from gpmelica.coupling.verdict import Coupled, Options, couple

UNITS = {"m": 'm="1"', "N": 'kg="1" m="1" s="-2"', "m/s": 'm="1" s="-1"', "m/s2": 'm="1" s="-2"'}
F, X, V, A = ("f", "N"), ("x", "m"), ("v", "m/s"), ("a", "m/s2")


@dataclass(frozen=True)
class Fmu:
    """A linear FMU with its faults; `faults` as in `linear_fmu`."""

    inputs: Signals
    outputs: Signals
    system: Mapping[str, Any]
    faults: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A coupling of FMUs.

    Parameters
    ----------
    fmus : FMUs by name of the element
    wires : pairs of `element.variable`
    options : wishes of the user
    notes : content of the annotation of the coupling
    units : units that connectors have in place of those of the variables, by `element.variable`
    """

    fmus: Mapping[str, Fmu | str]
    wires: tuple[tuple[str, str], ...]
    options: Mapping[str, Any] = field(default_factory=lambda: {"step": 0.01})
    notes: str = ""
    units: Mapping[str, str] = field(default_factory=dict)


def mass(m: float = 1.0, k: float = 10.0, x: float = 0.1, v: float = 0.0, bias: float = 0.0, **faults: Any) -> Fmu:
    """A mass on a spring to the ground that takes a force."""
    matrices = {"a": [[0, 1], [-k / m, 0]], "b": [[0], [1 / m]], "c": np.eye(2), "x": [x, v], "bias": [0, bias]}
    return Fmu([F], [X, V], matrices, faults)


def carried(**faults: Any) -> Fmu:
    """A mass of 1 kg on springs to the ground and to a point that it follows; returns the force on the point."""
    matrices = {"a": [[0, 1], [-1100, 0]], "b": [[0], [100]], "c": [[100, 0], [1, 0]], "d": [[-100], [0]]}
    return Fmu([X], [F, ("x2", "m")], matrices | {"x": [0, 0]}, faults)


def gain(output: float, name: str = "u", unit: str = "", **faults: Any) -> Fmu:
    """A part without states: y = output · u."""
    return Fmu([(name, unit)], [("y", unit)], {"d": [[output]]}, faults)


def spring(c: float) -> Fmu:
    """A spring between two points."""
    inputs = [("a.x", "m"), ("b.x", "m")]
    return Fmu(inputs, [("a.f", "N"), ("b.f", "N")], {"d": [[-c, c], [c, -c]]})


def oscillator(w: float, **faults: Any) -> Fmu:
    """cos(w t), without its slope."""
    return Fmu([], [("y", "")], {"a": [[0, 1], [-w * w, 0]], "c": [[1, 0]], "x": [1, 0]}, faults)


def lag(**faults: Any) -> Fmu:
    """A first-order lag of 0.1 s."""
    return Fmu([("u", "")], [("y", "")], {"a": [[-10]], "b": [[10]], "c": [[1]], "x": [0]}, faults)


_PAIR = (("A.x", "B.x"), ("B.f", "A.f"))
_LOOP = (("A.y", "B.u"), ("B.y", "A.u"))
_CHAIN = (("A.y", "B.u"),)
STUCK = {"canGetAndSetFMUstate": False}


def pair(first: Fmu | None = None, second: Fmu | None = None, **more: Any) -> Case:
    """Two masses by force and displacement."""
    return Case({"A": first or mass(), "B": second or carried()}, _PAIR, **more)


def sprung(c: float, first: Fmu | None = None) -> Case:
    """Two masses of 1 kg and the spring between them."""
    wires = (("A.x", "law.a.x"), ("B.x", "law.b.x"), ("law.a.f", "A.f"), ("law.b.f", "B.f"))
    return Case({"A": first or mass(), "B": mass(k=40.0, x=0.0), "law": spring(c)}, wires)


def accelerated(ratio: float, **options: Any) -> Case:
    """A mass that a force drives, and one of `ratio` times its mass that takes the acceleration."""
    free = Fmu([F], [A], {"d": [[-1.0]]}, STUCK)
    driven = Fmu([A], [F], {"d": [[ratio]]}, STUCK)
    return Case({"A": free, "B": driven}, (("A.a", "B.a"), ("B.f", "A.f")), {"step": 0.01} | options)


def looped(first: Fmu, second: float, more: float = 0.0) -> Case:
    """An algebraic loop; the second part adds a state of the constant value `more`."""
    other = Fmu([("u", "")], [("y", "")], {"d": [[second]], "c": [[1.0]], "x": [more], "a": [[0.0]]})
    return Case({"A": first, "B": other}, _LOOP)


def bounce(restores: bool) -> CoupledSystem:
    """A load that falls into a rope, whose event the load can or cannot repeat."""
    network = rope_bounce()
    network.parts[0].abilities = network.parts[0].abilities.__class__(restores=restores)
    return CoupledSystem("bounce", network, stop=0.2)


def typed(step: str) -> Case:
    """An FMU 3.0 with a fixed internal step."""
    return Case({"A": step}, ())


_SAMPLED = '<Sampled element="A" period="0.02"/>'
_PIN = '<Pin first="A.x" second="B.x" force="A.f" reaction="B.f"/>'


@dataclass(frozen=True)
class Damage:
    """A damaged coupling and its healthy counterpart, with the remark, or the error, and its sentence."""

    damaged: Case | Callable[[], CoupledSystem]
    healthy: Case | Callable[[], CoupledSystem]
    id: str
    sentence: str


PAIR = pair()  # healthy counterpart of many couplings, which is judged once
DAMAGES = {
    "mass ratio beyond every limit": Damage(
        accelerated(1.5),
        accelerated(0.1),
        "error",
        "apparent mass of B, .*B is heavier: let it provide the motion",
    ),
    "mass ratio beyond the limit of the order": Damage(
        accelerated(0.5, method="sequential", order=2),
        accelerated(0.5, method="sequential", order=0),
        "mass_ratio",
        r"by 0\.5 in each step; order 2 is stable below 0\.143; .* lower --order",
    ),
    "stiff connection": Damage(
        sprung(1e6), sprung(100.0), "connection_above_step", r"1\.41e\+03 rad/s, is too high .* \(ωH = 14\)"
    ),
    "stiff connection at a period of a part": Damage(
        sprung(1e6, mass(k=(2.0 * np.pi / 0.01) ** 2)),
        sprung(100.0, mass(k=100.0)),
        "connection_above_step",
        "too high for the communication step",
    ),
    "vibration that is hidden at each step": Damage(
        Case({"A": oscillator(400.0 * np.pi), "B": lag()}, _CHAIN),
        Case({"A": oscillator(4.0), "B": lag()}, _CHAIN),
        "unreported_event",
        r"A\.y changes by .* the output jumps or vibrates inside the step",
    ),
    "slopes are ignored": Damage(pair(mass(deaf=0)), PAIR, "ignores_slopes", "A claims to interpolate its inputs"),
    "slopes are ignored from the second step": Damage(
        pair(mass(deaf=0.005)), PAIR, "ignores_slopes", "A claims to interpolate its inputs, but ignores their"
    ),
    "slopes are not taken": Damage(
        pair(mass(canInterpolateInputs=False)), PAIR, "takes_no_slopes", "A accepts no slopes of inputs"
    ),
    "state cannot be restored": Damage(
        pair(second=carried(**STUCK)), PAIR, "cannot_restore", "B cannot restore a state, so steps cannot"
    ),
    "state is restored wrongly": Damage(
        pair(mass(forgets=1)), PAIR, "restores_wrongly", "A claims to save and restore its state, but two steps"
    ),
    "state at rest is restored wrongly": Damage(
        pair(mass(x=0.0, forgets=1), Fmu([X], [F], {"d": [[-5.0]]})),
        pair(mass(x=0.0), Fmu([X], [F], {"d": [[-5.0]]})),
        "restores_wrongly",
        "A claims to save and restore its state, but two steps",
    ),
    "state cannot be saved": Damage(
        pair(mass(fails=1)),
        PAIR,
        "restores_wrongly",
        r"A claims to save .*, but reports an error at t = 0 s",
    ),
    "restoring the state fails": Damage(
        pair(mass(fails=2)),
        PAIR,
        "restores_wrongly",
        r"A claims to save .*, but reports an error at t = 0\.01",
    ),
    "restoring the state fails later": Damage(
        pair(mass(fails=2, after=0.2)),
        PAIR,
        "restores_wrongly",
        r"A claims to save .*, but reports an error at t = 0\.\d+ s: fmi2SetFMUstate",
    ),
    "slopes of inputs fail from the second step": Damage(
        pair(mass(fails=3, after=0.005)),
        PAIR,
        "ignores_slopes",
        "A claims to interpolate its inputs, but reports",
    ),
    "slopes of inputs fail later": Damage(
        pair(mass(fails=3, after=0.2)),
        PAIR,
        "ignores_slopes",
        r"A claims to interpolate its inputs, but reports an error at t = 0\.\d+ s: .*; it gets their means",
    ),
    "slopes of outputs fail": Damage(
        pair(mass(fails=4)),
        PAIR,
        "gives_no_slopes",
        "A claims to give slopes of its outputs, but reports an error",
    ),
    "slopes of outputs are no numbers later": Damage(
        pair(mass(lost=0.2)),
        PAIR,
        "gives_no_slopes",
        "A claims to give slopes .* returns nan for x",
    ),
    "directional derivatives fail": Damage(
        pair(second=carried(fails=5)),
        PAIR,
        "gives_no_derivatives",
        "B claims to give directional derivatives, but reports an error at t = 0 s: .*; they are not used",
    ),
    "simulation ends early": Damage(
        pair(mass(stops=0.2)),
        PAIR,
        "ended_early",
        r"A asks to end the simulation at t = 0\.2 s, before the final time of 0\.3 s; the results end there",
    ),
    "states are not listed": Damage(
        pair(mass(states=False)), PAIR, "lists_no_states", "A lists no states, but its outputs depend on earlier"
    ),
    "coarse step of an FMU": Damage(
        typed("0.005"), typed("0.0001"), "coarse_step", r"A integrates with a fixed step of 0\.005 s"
    ),
    "coarse tolerance of an FMU": Damage(
        pair(mass(tolerance="1e-3")),
        pair(mass(tolerance="1e-6")),
        "coarse_tolerance",
        r"A integrates with a tolerance of 0\.001, and the coupling is asked for 0\.0001",
    ),
    "loop without a solution": Damage(
        looped(gain(1.0), 1.0, 1.0), looped(gain(1.0), -3.0, 1.0), "error", r"loop of A\.u, B\.u has no solution"
    ),
    "loop with infinitely many solutions": Damage(
        looped(gain(1.0), 1.0, 0.0), looped(gain(1.0), -3.0), "error", "has infinitely many solutions at the start"
    ),
    "loop with two solutions": Damage(
        looped(gain(0.0, square=1.0), 1.0, -2.0),
        looped(gain(0.5), 1.0, -2.0),
        "several_solutions",
        "several solutions at the start: A.y = 4 is taken, 1 is another one",
    ),
    "jump that is not reported": Damage(
        Case({"A": oscillator(4.0, jump=0.25), "B": lag()}, _CHAIN),
        Case({"A": oscillator(4.0), "B": lag()}, _CHAIN),
        "unreported_event",
        r"A\.y changes by 0\.9\d* in one step near t = 0\.2\d* s",
    ),
    "event that cannot be repeated": Damage(
        lambda: bounce(restores=False),
        lambda: bounce(restores=True),
        "event_inside_step",
        "1 events lie inside communication steps, and not all FMUs can go back",
    ),
    "sample times off the grid": Damage(
        Case({"A": oscillator(4.0), "B": lag()}, _CHAIN, {"step": 0.007}, _SAMPLED),
        Case({"A": oscillator(4.0), "B": lag()}, _CHAIN, {"step": 0.01}, _SAMPLED),
        "sample_off_grid",
        r"the sample period 0\.02 s of A is no multiple of the step of 0\.007 s",
    ),
    "missing unit": Damage(
        Case({"A": oscillator(4.0), "B": gain(1.0, unit="m")}, _CHAIN),
        Case({"A": gain(1.0, unit="m"), "B": gain(1.0, unit="m")}, _CHAIN),
        "missing_unit",
        r"A\.y has no known unit, so the units of the connection cannot be checked",
    ),
    "units that do not fit": Damage(
        pair(units={"B.x": "N"}),
        PAIR,
        "error",
        "expected a unit that converts to N, got m at A.x",
    ),
    "two drivers of one input": Damage(
        Case({"A": oscillator(4.0), "B": lag()}, (*_CHAIN, ("B.y", "B.u"))),
        Case({"A": oscillator(4.0), "B": lag()}, _CHAIN),
        "error",
        r"input B\.u: is connected to two outputs, A\.y and B\.y; remove one",
    ),
    "own equilibrium": Damage(
        pair(mass(x=0.00981, k=1000.0, bias=9.81), Fmu([X], [F], {"d": [[-50.0]]})),
        pair(mass(x=9.81 / 1050.0, k=1000.0, bias=9.81), Fmu([X], [F], {"d": [[-50.0]]})),
        "own_equilibrium",
        r"A starts in its own equilibrium, .* but f = -0\.49\d* N acts on it at the start",
    ),
    "input without a source": Damage(
        Case({"A": oscillator(4.0), "B": lag()}, ()),
        Case({"A": oscillator(4.0), "B": lag()}, _CHAIN),
        "unconnected_input",
        r"input B\.u is not connected and keeps its start value, 0",
    ),
    "pin that is open": Damage(
        Case({"A": mass(x=0.1), "B": mass(x=0.102)}, (), notes=_PIN),
        Case({"A": mass(x=0.1), "B": mass(x=0.1)}, (), notes=_PIN),
        "error",
        r"positions of both ends of the rigid connection of A\.x and B\.x differ by 0\.002",
    ),
    "pin whose sides move apart": Damage(
        Case({"A": mass(v=0.0), "B": mass(v=0.5)}, (), notes=_PIN),
        Case({"A": mass(v=0.5), "B": mass(v=0.5)}, (), notes=_PIN),
        "error",
        r"A\.v is 0 and B\.v is 0\.5 \(m/s\), so the first step would be an impact",
    ),
    "output that is no number": Damage(
        pair(mass(end=0.1)), pair(mass(end=5.0)), "error", r"coupling: A\.x is not finite after t = 0\.1 s"
    ),
    "unstable extrapolation": Damage(
        pair(mass(**STUCK), Fmu([X], [F], {"d": [[-1e5]]}), options={"step": 0.01, "stop": 2.0}),
        pair(mass(**STUCK), Fmu([X], [F], {"d": [[-10.0]]})),
        "error",
        r"the coupling is unstable at t = .* let all FMUs save and restore their states",
    ),
    "energy that the coupling creates": Damage(
        Case(
            {"A": mass(**STUCK), "B": Fmu([X, V], [F], {"d": [[-1000.0, 0.0]]})},
            (*_PAIR, ("A.v", "B.v")),
            {"step": 0.02, "order": 1},
        ),
        Case(
            {"A": mass(), "B": Fmu([X, V], [F], {"d": [[-1000.0, 0.0]]})}, (*_PAIR, ("A.v", "B.v")), {"step": 1e-3}
        ),
        "creates_energy",
        r"the coupling at A\.f · A\.v (creates|loses) .* of the energy transferred there",
    ),
}


@pytest.fixture(scope="module")
def binary(once: Once) -> bytes:
    """Library of the linear FMUs."""
    [path] = once("coupled_linear", lambda folder: library(folder) and None).glob("Linear.*")
    return path.read_bytes()


@pytest.fixture(scope="module")
def stepping(once: Once) -> Mapping[str, bytes]:
    """FMUs 3.0 with fixed internal steps, by the step."""

    def build(folder: Path) -> None:
        for step in ("0.005", "0.0001"):
            (folder / step).mkdir()
            text = DESCRIPTION.replace("<CoSimulation ", f'<CoSimulation fixedInternalStepSize="{step}" ')
            fmu_of_types(folder / step, text)

    folder = once("coupled_stepping", build)
    return {path.parent.name: path.read_bytes() for path in folder.glob("*/Types.fmu")}


Judge = Callable[[Case | Callable[[], CoupledSystem]], Coupled]


@pytest.fixture
def judge(binary: bytes, stepping: Mapping[str, bytes], tmp_path: Path) -> Judge:
    """Judge a coupling."""

    def judged(case: Case | Callable[[], CoupledSystem]) -> Coupled:
        if not isinstance(case, Case):
            return couple(case(), Options(step=0.01))
        folder = Path(tmp_path / str(len([*tmp_path.iterdir()])))
        folder.mkdir()
        opened = open_system(_written(case, folder, binary, stepping), folder / "unpacked")
        try:
            return couple(opened, Options(**{"stop": 0.3} | dict(case.options)))
        finally:
            opened.close()

    return judged


def _written(case: Case, folder: Path, binary: bytes, stepping: Mapping[str, bytes]) -> Path:
    files, parts = {}, ""
    for name, fmu in case.fmus.items():
        ports: list[str] = []
        if isinstance(fmu, Fmu):
            signals = [(*s, k) for k, every in (("input", fmu.inputs), ("output", fmu.outputs)) for s in every]
            ports = [connector(port, k, case.units.get(f"{name}.{port}", unit)) for port, unit, k in signals]
            path = folder / f"{name}.fmu"
            files[path.name] = linear_fmu(binary, path, fmu.inputs, fmu.outputs, dict(fmu.system), **fmu.faults)
        else:
            files[f"{name}.fmu"], ports = stepping[fmu], [connector("y", "output")]
        parts += component(name, *ports, source=f"resources/{name}.fmu")
    wires = "".join(_connection(*wire) for wire in case.wires)
    system = f"<ssd:Elements>{parts}</ssd:Elements>" + f"<ssd:Connections>{wires}</ssd:Connections>" * bool(wires)
    note = (
        f'<ssc:Annotation type="org.gpmelica.coupling"><Coupling xmlns="">{case.notes}</Coupling></ssc:Annotation>'
    )
    units = "".join(f'<ssc:Unit name="{name}"><ssc:BaseUnit {base}/></ssc:Unit>' for name, base in UNITS.items())
    after = f"<ssd:Units>{units}</ssd:Units><ssd:Annotations>{note}</ssd:Annotations>"
    return archive(folder, structure(system, after), **files)


def _connection(start: str, end: str) -> str:
    (a, _, b), (c, _, d) = start.partition("."), end.partition(".")
    return f'<ssd:Connection startElement="{a}" startConnector="{b}" endElement="{c}" endConnector="{d}"/>'


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_sentence_of_a_damaged_coupling(damage: Damage, judge: Judge, judged_once: dict[int, set[str]]) -> None:
    """A damaged coupling has a remark or an error with the right sentence; the healthy one has neither."""
    if damage.id == "error":
        with pytest.raises(GpmelicaError, match=damage.sentence):
            judge(damage.damaged)
    else:
        run = judge(damage.damaged)
        said = [remark.text for remark in run.remarks if remark.id == damage.id]
        assert any(re.search(damage.sentence, text) for text in said), [*run.remarks]
    assert damage.id not in _ids(judge, damage.healthy, judged_once)


@pytest.fixture(scope="module")
def judged_once() -> dict[int, set[str]]:
    """Kinds of the remarks about couplings, by the identity of the coupling."""
    return {}


def _ids(judge: Judge, case: Case | Callable[[], CoupledSystem], known: dict[int, set[str]]) -> set[str]:
    if id(case) not in known:
        known[id(case)] = {remark.id for remark in judge(case).remarks}
    return known[id(case)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vibration that is hidden at each step", "jump that is not reported"])
def test_verdict_of_a_damaged_coupling(name: str, judge: Judge) -> None:
    """A vibration or a jump that the communication points hide is never green."""
    assert not judge(DAMAGES[name].damaged).ok
    assert judge(DAMAGES[name].healthy).ok


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damaged", "honest"),
    [
        ({"fails": 2, "after": 0.2}, {"canGetAndSetFMUstate": False}),
        ({"fails": 3, "after": 0.005}, {"canInterpolateInputs": False}),
        ({"lost": 0.1}, {"maxOutputDerivativeOrder": 0}),
        ({"fails": 5}, {"providesDirectionalDerivative": False}),
    ],
    ids=["restore", "take slopes", "numbers as slopes", "give derivatives"],
)
def test_claim_that_fails(judge: Judge, damaged: dict[str, Any], honest: dict[str, Any]) -> None:
    """An FMU that claims what it cannot do has the results of an FMU that does not claim it.

    The FMU answers no call after its error, so that it needs a new instance.
    """
    found, expected = judge(pair(mass(**damaged))), judge(pair(mass(**honest)))
    assert found.choices == expected.choices
    assert np.array_equal(found.record.values, expected.record.values)
    assert (found.error, found.ok) == (expected.error, expected.ok)


def test_values_that_an_fmu_may_refuse(binary: bytes, tmp_path: Path) -> None:
    """An FMU that refuses slopes breaks its claim, unless the slopes are NaN as in a diverging iteration."""
    linear_fmu(binary, tmp_path / "A", [F], [X], {"d": [[1.0]]}, fails=3)
    linear_fmu(binary, tmp_path / "B", [F], [X], {"d": [[np.inf]]})
    part, lost = (FmuPart(name, tmp_path / name, tmp_path / f"{name}_unpacked") for name in "AB")
    try:
        for slope, error in ((np.nan, PartFailed), (1.0, ClaimFailed)):
            part.start(0.0, np.zeros(1))
            part.begin()
            with pytest.raises(error, match=r"A .*fmi2SetRealInputDerivatives"):
                part.advance(0.0, 0.1, np.array([[0.0, slope, 0.0, 0.0]]))
        lost.start(0.0, np.zeros(1))
        lost.begin()
        assert lost.gains() is None  # 0 · ∞ is no number, so that the output is none
    finally:
        part.close()
        lost.close()


@pytest.mark.slow
def test_fatal_error(judge: Judge, tmp_path: Path) -> None:
    """After a fatal error the run ends with the FMU's message, and no function of the FMU is called any more."""
    with pytest.raises(GpmelicaError, match=r"A at t = 0\.\d+ s: fmi2SetRealInput.* failed with status 4"):
        judge(pair(mass(fails=3, after=0.1, status=4)))
    assert [*tmp_path.rglob("numbers.txt")]
    assert not [*tmp_path.rglob("*.called")]


@pytest.mark.slow
@pytest.mark.parametrize("restores", [True, False])
def test_run_that_an_fmu_ends(judge: Judge, restores: bool) -> None:
    """A run ends when an FMU asks for it, without rollback at the communication point before this time."""
    can = {"canGetAndSetFMUstate": restores}
    run, whole = (judge(pair(mass(stops=stops, **can), options={"step": 0.01})) for stops in (0.204, 1e9))
    assert run.time[-1] == pytest.approx(0.204 if restores else 0.2, abs=1e-12)
    assert not run.ok
    assert run.data()["complete"] is False
    assert next(lines(run)).endswith(f"the run is incomplete, A has ended it at t = {run.time[-1]:.9g} s")
    expected = np.interp(run.time, whole.time, whole.signals["A.x"])
    assert run.signals["A.x"] == pytest.approx(expected, abs=1e-4 if restores else 1e-3)


@pytest.mark.slow
def test_source_of_values_that_are_no_numbers(judge: Judge) -> None:
    """The error names the FMU that gives a value that is no number first, and not one that receives it."""
    law = Fmu([X], [F], {"d": [[-5.0]]})
    case = Case({"law": law, "mass": mass(end=0.1)}, (("mass.x", "law.x"), ("law.f", "mass.f")))
    with pytest.raises(GpmelicaError, match=r"coupling: mass\.x is not finite"):
        judge(case)
    with pytest.raises(GpmelicaError, match=r"mass\.x is not finite"):
        judge(replace(case, options={"step": 0.01, "method": "sequential"}))
    with pytest.raises(GpmelicaError, match=r"mass\.x is not finite at the start"):
        judge(replace(case, fmus={"law": law, "mass": mass(end=0.0)}))


@pytest.mark.slow
def test_euler_steps_in_a_loop(binary: bytes, tmp_path: Path) -> None:
    """Two FMUs with explicit Euler steps of 1 ms, in a loop with held inputs, follow their recursion to rounding.

    The second FMU gets the mean of the cubic polynomial of the first one's output over each step.
    """
    a, b, h = -np.array([3.0, 2.0]), np.array([1.5, -4.0]), 1e-3
    faults = {"euler": 1, "step": h, "canInterpolateInputs": False, "canGetAndSetFMUstate": False}
    parts = []
    for k, name in enumerate("AB"):
        system = {"a": [[a[k]]], "b": [[b[k]]], "c": [[1.0]], "x": [1.0]}
        linear_fmu(binary, tmp_path / name, [("u", "")], [("y", "")], system, **faults)
        parts.append(FmuPart(name, tmp_path / name, tmp_path / f"{name}_unpacked"))
    try:
        network = Network(parts, [Wire(("A", "y"), ("B", "u")), Wire(("B", "y"), ("A", "u"))])
        run = held_run(network, "sequential", 0.5, h, 0)
    finally:
        for part in parts:
            part.close()
    x, y = 1.0, 1.0
    slope = a[0] * x + b[0] * y
    found = [(x, y)]
    for _ in range(500):
        new = x + h * (a[0] * x + b[0] * y)
        final = a[0] * new + b[0] * y
        mean = 0.5 * (x + new) + h * (slope - final) / 12.0
        x, y, slope = new, y + h * (a[1] * y + b[1] * mean), final
        found.append((x, y))
    assert pytest.approx(np.array(found), rel=1e-12, abs=1e-14) == np.array([run["A.y"], run["B.y"]]).T


@pytest.mark.slow
@pytest.mark.parametrize(("options", "restores"), [({}, True), ({"step": 0.0077}, True), ({}, False)])
def test_fmu_that_refuses_steps_of_other_lengths(judge: Judge, options: dict[str, float], restores: bool) -> None:
    """All steps of a run are equal and divide the duration, also if an event lies inside a step."""
    equal = mass(equal=1, canHandleVariableCommunicationStepSize=False, canGetAndSetFMUstate=restores)
    run = judge(pair(equal, options={"stop": 0.5} | options))
    steps = np.diff(run.record.times)
    assert steps == pytest.approx(steps[0], rel=1e-9)
    assert run.time[-1] == 0.5
    assert run.ok is (restores or not options)
    text = next(remark.text for remark in run.remarks if remark.id == "equal_steps")
    assert text.startswith(
        "A cannot handle communication steps of different lengths, so all steps have the length"
    )
    assert f"{steps[0]:.6g} s" in text
    assert steps[0] <= options.get("step", 0.5)


def test_equal_steps_divide_sample_periods() -> None:
    """The step divides the duration and the sample period, or the error asks for another duration."""
    network = sampled_control()
    network.parts[0].abilities = replace(network.parts[0].abilities, varies=False)
    settings = equal_steps(network, Settings(0.0, 0.3, step=0.013))
    assert (settings.step, settings.nominal) == (pytest.approx(0.01), pytest.approx(0.01))
    with pytest.raises(DescriptionError, match="plant supports only communication steps of equal length"):
        equal_steps(network, Settings(0.0, 0.3 + np.pi * 1e-3, step=0.013))


@pytest.mark.slow
def test_fmu_that_discards_long_steps(judge: Judge) -> None:
    """Steps that an FMU discards are repeated with half the length; an FMU that discards all ends the run."""
    run = judge(pair(mass(longest=0.004), options={"stop": 0.1, "step": 0.01}))
    assert run.ok
    assert run.rejected_steps >= 10
    with pytest.raises(GpmelicaError, match=r"A at t = 0 s: .*discard"):
        judge(pair(mass(longest=0.0)))
