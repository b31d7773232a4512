"""FMUs of coupled systems: types of variables, damaged FMUs and archives, and what a failed run leaves."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_backends import Once
from helpers_cli import Command, fails
from helpers_coupling import couple as held_run
from helpers_coupling_events import event_fmus
from helpers_coupling_fmus import DESCRIPTION, fmu_of_types, without_binaries
from helpers_coupling_parts import OdePart, SampledPart
from helpers_coupling_updates import integrators
from test_coupling_systems import archive, component, connection, connector, structure

import gpmelica as gp
from gpmelica.core.errors import DescriptionError, SolveError
from gpmelica.coupling.fmus import FmuPart
from gpmelica.coupling.network import Network, Wire
from gpmelica.coupling.participant import PortSignal
from gpmelica.coupling.ssp import connections, read_ssp
from gpmelica.coupling.system import CoupledSystem, open_system
from gpmelica.coupling.verdict import Options, couple


@pytest.fixture(scope="module")
def types(once: Once) -> Path:
    """FMU 3.0 with variables of Float32, of an enumeration, and of a string."""
    return once("coupled_types", lambda folder: fmu_of_types(folder) and None) / "Types.fmu"


@pytest.fixture
def tidy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


# ---- Types --------------------------------------------------------------------------------------------------


def test_types_of_variables(types: Path, tmp_path: Path) -> None:
    """Float32, Enumeration and String variables are written and read by their own functions."""
    part = FmuPart("part", types, tmp_path / "unpacked", {"text": "four"})
    try:
        part.start(0.0, np.array([0.75, 2.0]))
        assert [signal.name for signal in part.outputs] == ["y", "next", "length"]
        assert [signal.nominal for signal in part.outputs] == [20.0, None, None]
        assert part.outputs_now() == pytest.approx([1.5, 3.0, 4.0])
        part.begin()
        assert part.advance(0.0, 0.1, np.array([[1.25, 0, 0, 0], [1.0, 0, 0, 0]])) == (0.1, False)
        assert part.outputs_now() == pytest.approx([2.5, 2.0, 4.0])
        with pytest.raises(SolveError, match="part at t = 0 s: cannot convert float NaN to integer"):
            part.try_inputs(np.array([1.0, np.nan]))
    finally:
        part.close()


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"none": 1.0}, "has no variable none"),
        ({"text": 1.0}, "parameter text: expected a value of the type String, got 1.0"),
        ({"gear": 1.5}, "parameter gear: expected a value of the type Enumeration, got 1.5"),
        ({"u": "fast"}, "parameter u: expected a value of the type Float32, got 'fast'"),
    ],
)
def test_parameters_of_another_type(types: Path, tmp_path: Path, values: dict[str, Any], sentence: str) -> None:
    """A value that the variable cannot have is refused and not rounded."""
    with pytest.raises(DescriptionError, match=sentence):
        FmuPart("part", types, tmp_path / "unpacked", values)


# ---- Event mode ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stairs(once: Once) -> Path:
    """Folder with the FMUs Stair and Feedthrough, which use event mode."""
    return once("coupled_events", event_fmus)


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.3, 1.0, None])
@pytest.mark.parametrize("names", [("Stair", "Feedthrough"), ("Feedthrough", "Stair")])
def test_stair_and_feedthrough(stairs: Path, tmp_path: Path, names: tuple[str, str], step: float | None) -> None:
    """A counter has exact event times, on and off the grid of steps, and its follower changes at these times."""
    parts = [FmuPart(name, stairs / f"{name}.fmu", tmp_path / name) for name in names]
    try:
        network = Network(parts, [Wire(("Stair", "counter"), ("Feedthrough", "number"))])
        run = couple(CoupledSystem("stairs", network, stop=3.5), Options(step=step))
    finally:
        for part in parts:
            part.close()
    assert run.record.events == [1.0, 2.0, 3.0]
    times, rows = np.array(run.record.times), [network.outputs.index(("Stair", "counter"))]
    rows.append(network.outputs.index(("Feedthrough", "same")))
    expected = 1.0 + np.floor(times)
    assert np.array(run.record.values)[:, rows] == pytest.approx(np.stack([expected, expected], axis=1), abs=0.0)
    before = run.record.sample(np.array([1.0, 1.0 + 1e-9, 2.0, 3.5]))[rows]
    assert before == pytest.approx(np.tile([1.0, 2.0, 2.0, 4.0], (2, 1)), abs=0.0)
    assert run.ok


@pytest.mark.parametrize("step", [0.3, None])
def test_end_in_event_mode(stairs: Path, tmp_path: Path, step: float | None) -> None:
    """A counter that asks to end the simulation in an event ends the run at the time of this event."""
    part = FmuPart("Stair", stairs / "Stair.fmu", tmp_path / "unpacked")
    try:
        run = couple(CoupledSystem("stair", Network([part], []), stop=12.0), Options(step=step))
    finally:
        part.close()
    assert run.record.times[-1] == run.time[-1] == 9.0
    assert run.record.values[-1] == pytest.approx([10.0], abs=0.0)
    assert [remark.id for remark in run.remarks] == ["ended_early"]
    assert (run.complete, run.agrees, run.ok) == (False, True, False)


# ---- Intermediate updates -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def updated(once: Once) -> Path:
    """Folder with integrators that ask for their input in intermediate updates, refuse it, or do not ask."""
    return once("coupled_updates", integrators)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("asking", ""),
        ("refuses", "refuses inputs in an intermediate update: .*"),
        ("silent", "ignores their slopes"),
    ],
)
def test_intermediate_updates(updated: Path, tmp_path: Path, kind: str, reason: str) -> None:
    """An integrator that ignores slopes of its input is named although it cannot restore a state, and gets means.

    Its input is a cubic polynomial, whose means give the same integral as the courses themselves.
    """
    rising = OdePart("rising", [], ["u"], lambda t, x, u: [x[0]], lambda t, x, u: [3.0 * t * t + 2.0], [1.0])
    part = FmuPart("follower", updated / f"{kind}.fmu", tmp_path / "unpacked")
    try:
        network = Network([rising, part], [Wire(("rising", "u"), ("follower", "u"))])
        run = couple(CoupledSystem("updates", network, stop=1.0), Options(step=0.05))
    finally:
        part.close()
    said = [remark.text for remark in run.remarks if remark.id == "ignores_slopes"]
    assert len(said) == bool(reason)
    assert all(
        re.match(f"follower claims to interpolate its inputs, but {reason}; it gets", text) for text in said
    )
    assert part.abilities.takes_courses is not bool(reason)
    exact = run.time**4 / 4.0 + run.time**2 + run.time
    tolerance = 1e-5 if kind == "asking" else 1e-10
    ends = slice(None, None, 50)  # the communication points
    assert run.signals["follower.y"][ends] == pytest.approx(exact[ends], abs=tolerance)


def test_fatal_error_in_an_intermediate_update(updated: Path, tmp_path: Path) -> None:
    """The run ends with the name of the FMU, and no other instance of this FMU is called any more."""
    rising = OdePart("rising", [], ["u"], lambda t, x, u: [x[0]], lambda t, x, u: [1.0], [1.0])
    fatal: dict[str, SolveError] = {}
    parts = [
        FmuPart(name, updated / "fatal.fmu", tmp_path / name, fatal=fatal) for name in ("follower", "spectator")
    ]
    try:
        network = Network([rising, *parts], [Wire(("rising", "u"), ("follower", "u"))])
        with pytest.raises(SolveError, match=r"follower at t = 0 s: .*fmi3SetFloat64 failed with status 4"):
            couple(CoupledSystem("updates", network, stop=1.0), Options(step=0.05))
        with pytest.raises(SolveError, match="follower at t = 0 s"):
            parts[1].outputs_now()
    finally:
        for part in parts:
            part.close()


def test_discrete_input_of_a_sampled_part(stairs: Path, tmp_path: Path) -> None:
    """A discrete input that a sampled part changes is set in event mode, since step mode does not allow it."""
    control = SampledPart("control", [], ["n"], lambda t, u: [round(t / 0.1)], 0.1)
    part = FmuPart("Feedthrough", stairs / "Feedthrough.fmu", tmp_path / "unpacked")
    try:
        network = Network([control, part], [Wire(("control", "n"), ("Feedthrough", "number"))])
        run = held_run(network, "sequential", 1.0, 0.1)
    finally:
        part.close()
    assert run["Feedthrough.same"] == pytest.approx(np.arange(11.0), abs=0.0)


# ---- Damaged archives ---------------------------------------------------------------------------------------


def test_fmu_without_a_binary(types: Path, tmp_path: Path, tidy: Path, gpmelica: Command) -> None:
    """The FMU is named with its platforms, the FMUs before it end, and no temporary files and no verdict stay."""
    files = {"types.fmu": types.read_bytes(), "bare.fmu": without_binaries(types.read_bytes())}
    parts = component("first", connector("y", "output"), source="resources/types.fmu")
    parts += component("second", connector("y", "output"), source="resources/bare.fmu")
    path = archive(tmp_path, structure(f"<ssd:Elements>{parts}</ssd:Elements>"), **files)
    out = tmp_path / "out"
    out.mkdir()
    (out / "result.json").write_text(json.dumps({"ok": True}), encoding="utf-8")
    with pytest.raises(DescriptionError, match=r"second: expected a binary for .*, found none; compile the FMU"):
        gp.cosim(path, out=out)
    assert not [*tidy.iterdir()]
    assert not [*out.iterdir()]
    fails(gpmelica("cosim", path, "--out", out), 2, "second: expected a binary for")
    assert not [*tidy.iterdir()]


def test_no_temporary_files_stay(types: Path, tmp_path: Path, tidy: Path) -> None:
    """An FMU is unpacked where the archive is, and nothing of either stays."""
    text = structure(f"<ssd:Elements>{component('a', connector('y', 'output'))}</ssd:Elements>")
    run = gp.cosim(archive(tmp_path, text, **{"a.fmu": types.read_bytes()}), tolerance=1e-3)
    assert run.coupled.worst
    assert run["a.y"] == pytest.approx(np.ones(1001))
    assert not [*tidy.iterdir()]


def test_bad_wishes_withdraw_an_older_verdict(types: Path, tmp_path: Path) -> None:
    """A verdict in the folder is that of the last call, also if its options are wrong; no folder, nothing gone."""
    text = structure(f"<ssd:Elements>{component('a', connector('y', 'output'))}</ssd:Elements>")
    path = archive(tmp_path, text, **{"a.fmu": types.read_bytes()})
    verdict = tmp_path / "out" / "result.json"
    verdict.parent.mkdir()
    for out, stays in ((None, True), (verdict.parent, False)):
        verdict.write_text("{}", encoding="utf-8")
        with pytest.raises(DescriptionError, match="tolerance: expected a number above 0"):
            gp.cosim(path, out=out, tolerance=-1.0)
        assert verdict.exists() == stays


_PIN = '<Pin first="a.x" second="a.y" force="a.f" reaction="a.g" joint="hinge"/>'


@pytest.mark.parametrize(
    ("coupling", "sentence"),
    [
        ('<Coupling xmlns="" tolerance="x"/>', "Coupling, tolerance: expected a number above 0, got x"),
        ('<Coupling xmlns="" step="-0.1"/>', "Coupling, step: expected a number above 0, got -0.1"),
        (
            '<Coupling xmlns=""><Sampled element="a" period="0"/></Coupling>',
            "Sampled a, period: expected a number above 0, got 0",
        ),
        (
            '<Coupling xmlns=""><Sampled element="a"/></Coupling>',
            "Sampled a: expected the attribute period, i.e. a sample period in s",
        ),
        (
            '<Coupling xmlns=""><Sampled element="b" period="1"/></Coupling>',
            "Sampled b: expected an element of the system, found none of this name; known are: a",
        ),
        (
            f'<Coupling xmlns=""><Whole source="w.fmu"><!-- none --></Whole>{4 * _PIN}</Coupling>',
            "joint hinge: expected pins along x, y and z of at most three points, found 4 pins",
        ),
    ],
)
def test_numbers_in_annotations(tmp_path: Path, coupling: str, sentence: str) -> None:
    """A value that is no number, or none that the key can have, is named with its place."""
    note = f'<ssd:Annotations><ssc:Annotation type="org.gpmelica.coupling">{coupling}</ssc:Annotation>'
    text = structure(
        f"<ssd:Elements>{component('a', connector('y', 'output'))}</ssd:Elements>", f"{note}</ssd:Annotations>"
    )
    with pytest.raises(DescriptionError) as caught:
        read_ssp(archive(tmp_path, text), tmp_path / "unpacked")
    assert sentence in str(caught.value)


# ---- Units --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("inner_unit", "wire"), [("m", 1e-3), ("", 1e-3), ("mm", 1e-3)])
def test_units_through_a_nested_system(tmp_path: Path, inner_unit: str, wire: float) -> None:
    """A value in mm reaches a variable in m once converted, whatever the connectors between them say."""
    inner = (
        f"<ssd:Connectors>{connector('in', 'input', inner_unit)}</ssd:Connectors>"
        f"<ssd:Elements>{component('part', connector('u', 'input'))}</ssd:Elements>"
        f"<ssd:Connections>{connection('in', 'part.u')}</ssd:Connections>"
    )
    text = structure(
        f"<ssd:Elements>{component('source', connector('y', 'output', 'mm'))}"
        f'<ssd:System name="inner">{inner}</ssd:System></ssd:Elements>'
        f"<ssd:Connections>{connection('source.y', 'inner.in')}</ssd:Connections>"
    )
    found = read_ssp(archive(tmp_path, text), tmp_path / "unpacked")
    [link], problems = connections(found, {("inner.part", "u"): PortSignal("u", "m")})
    assert not problems
    assert link.factor == pytest.approx(wire)
    assert link.unchecked is None
    [link], _ = connections(found, {("inner.part", "u"): PortSignal("u")})
    assert link.unchecked == ("inner.part", "u")
    _, [problem] = connections(found, {("inner.part", "u"): PortSignal("u", "kg")})
    assert "expected a unit that converts to kg" in str(problem)


def test_system_without_outputs(tmp_path: Path) -> None:
    """A system that gives no numbers has nothing to judge."""
    lines = [line for line in DESCRIPTION.splitlines() if "output" not in line.lower()]
    silent = fmu_of_types(tmp_path, "\n".join(lines))
    text = structure(f"<ssd:Elements>{component('a', connector('u', 'input'))}</ssd:Elements>")
    path = archive(tmp_path, text, **{"a.fmu": silent.read_bytes()})
    with pytest.raises(DescriptionError, match="expected at least one FMU with a numerical output"):
        gp.cosim(path)


# ---- Uncut mechanism ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "same", "sentence"),
    [
        ("resources/none.fmu", "", "Whole: expected the file resources/none.fmu in the archive, found none"),
        ("resources/text.fmu", "", "text.fmu: is not an FMU that FMPy can read"),
        ("resources/bare.fmu", "", "Whole: expected a binary for .*, found none; compile the FMU"),
        (
            "resources/a.fmu",
            '<Same signal="a.z" whole="y"/><Same signal="a.y" whole="w"/>',
            r"Whole: expected outputs a\.z, Whole\.w for the comparison, found no such outputs",
        ),
    ],
)
def test_uncut_machine_that_cannot_be_compared(
    types: Path, tmp_path: Path, source: str, same: str, sentence: str
) -> None:
    """The FMU of the uncut mechanism and its outputs are checked before any run."""
    note = f'<Coupling xmlns=""><Whole source="{source}">{same}</Whole></Coupling>'
    note = f'<ssc:Annotation type="org.gpmelica.coupling">{note}</ssc:Annotation>'
    part = component("a", connector("y", "output"))
    text = structure(f"<ssd:Elements>{part}</ssd:Elements>", f"<ssd:Annotations>{note}</ssd:Annotations>")
    fmu = types.read_bytes()
    files = {"a.fmu": fmu, "text.fmu": b"text", "bare.fmu": without_binaries(fmu)}
    with pytest.raises(DescriptionError, match=sentence):
        open_system(archive(tmp_path, text, **files), tmp_path / "unpacked")
