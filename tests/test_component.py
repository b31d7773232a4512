"""FMUs as WebAssembly components: the interface of the layered standard's draft, and the native run's values."""

from __future__ import annotations

import zipfile
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from helpers_backends import Compiled, CompileModel, Fmu, Once, pendulum
from helpers_c_layer import zig
from helpers_component import Component, ComponentError, Instance

from gpmelica.analysis.system import assemble_system
from gpmelica.core.errors import DescriptionError
from gpmelica.description.load import from_data
from gpmelica.fmu.compilers.platforms import named
from gpmelica.fmu.component.interface import INTERFACES, TYPES, Type, definitions
from gpmelica.tasks.build import build_native

WASM = "binaries/wasm32-wasip2/Swing.wasm"
TIMES = np.linspace(0.0, 0.6, 61)
TOLERANCE = 1e-8


@pytest.fixture(scope="module")
def both(compile_model: CompileModel) -> Compiled:
    """A pendulum with a force as input and a moment that ends at a time event, for this system."""
    forces = [*pendulum()["forces"], {"name": "push", "joint": "cart", "input": True}]
    return compile_model(assemble_system(from_data(pendulum(name="Swing", forces=forces))), "3.0")


@pytest.fixture(scope="module")
def portable(once: Once, both: Compiled) -> Path:
    """The pendulum's FMU with nothing but a component."""
    if zig() is None:
        pytest.skip("ziglang is not installed")
    folder = once(
        "component", lambda to: build_native(both.model, to, fmi="3.0", platforms=named(["wasm32"], "3.0"))
    )
    return folder / "Swing.fmu"


@pytest.fixture(scope="module")
def component(portable: Path) -> Component:
    with zipfile.ZipFile(portable) as archive:
        return Component(archive.read(WASM))


def _references(both: Compiled, *names: str) -> list[int]:
    found = {v.name: v.valueReference for v in both.description.modelVariables}
    return [found[name] for name in names]


def _instance(both: Compiled, component: Component, kind: str) -> Instance:
    return Instance(component, kind, both.description.guid)


# ---- The archive ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_archive_follows_the_draft(portable: Path) -> None:
    """Component and manifest are where the draft requires them."""
    with zipfile.ZipFile(portable) as archive:
        names = archive.namelist()
        manifest = ElementTree.fromstring(archive.read("extra/org.modelica.fmi-ls-wasm/manifest.xml"))
    assert WASM in names
    assert [name for name in names if name.startswith("binaries/")] == [WASM]
    assert not [name for name in names if "adapter" in name]  # sources are those of the shared libraries
    space = "{http://fmi-standard.org/fmi-ls-manifest}fmi-ls-"
    assert manifest.attrib[f"{space}name"] == "org.modelica.fmi-ls-wasm"
    assert manifest.attrib[f"{space}description"] == "FMI Layered Standard for WebAssembly"


@pytest.mark.slow
def test_component_has_the_interfaces_of_the_draft(component: Component) -> None:
    """The engine's type checker sees the imports and exports that hosts of both kinds of FMU provide and call."""
    code = component.code.type
    assert set(code.imports(component.engine)) == {"fmi:fmi3/types@3.0.0", "fmi:fmi3/callbacks@3.0.0"}
    exports = code.exports(component.engine)
    assert set(exports) == {f"fmi:fmi3/{name}@3.0.0" for name in ("common", "model-exchange", "co-simulation")}
    assert component.call("common", "get-version") == "3.0"


# ---- Co-simulation ----------------------------------------------------------------------------------------------


def _component_run(both: Compiled, component: Component, names: list[str]) -> np.ndarray:
    (push, off), outputs = _references(both, "push", "off"), _references(both, *names)
    run = _instance(both, component, "co-simulation").start({off: 0.25}, TOLERANCE)
    rows = [run.get(outputs)]
    for t, after in pairwise(TIMES.tolist()):
        run.set({push: 3.0 * np.sin(20.0 * t)})
        step = run.call("do-step", t, after - t, True)
        assert getattr(step, "last-successful-time") == pytest.approx(after, abs=1e-12)
        rows.append(run.get(outputs))
    run.drop()
    return np.array(rows)


@pytest.mark.slow
def test_co_simulation_agrees_with_the_shared_library(both: Compiled, component: Component) -> None:
    """With an input, a changed parameter and a time event, all outputs differ by less than 1e-9 of their range."""
    with Fmu(both) as fmu:
        names = [name for name in fmu.outputs if name != "time"]
        fmu.start({"off": 0.25}, tolerance=TOLERANCE)
        expected = [fmu.get(names)]
        for t, after in pairwise(TIMES.tolist()):
            fmu.set({"push": 3.0 * np.sin(20.0 * t)})
            fmu.fmi.doStep(t, after - t)
            expected.append(fmu.get(names))
    found, wanted = _component_run(both, component, names), np.array(expected)
    assert len(names) > 5 and np.ptp(wanted, axis=0).max() > 1.0
    assert np.all(np.abs(found - wanted).max(axis=0) <= 1e-9 * np.maximum(np.ptp(wanted, axis=0), 1e-3))


@pytest.mark.slow
def test_a_restored_instance_repeats_its_run(both: Compiled, component: Component) -> None:
    """Bytes of a state go through the host and continue bit by bit, in another instance too."""
    outputs = _references(both, "cart_position", "rod_angle")
    first = _instance(both, component, "co-simulation").start({}, TOLERANCE)
    first.call("do-step", 0.0, 0.2, False)
    state = first.call("get-fmu-state")
    first.call("do-step", 0.2, 0.2, False)
    second = _instance(both, component, "co-simulation")
    second.call("set-fmu-state", state)
    second.call("do-step", 0.2, 0.2, False)
    assert first.get(outputs).tolist() == second.get(outputs).tolist()


# ---- Model exchange ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_model_exchange_agrees_with_the_shared_library(both: Compiled, component: Component) -> None:
    """State derivatives and directional derivatives are those of the shared library."""
    me = _instance(both, component, "model-exchange").start({})
    info = me.call("update-discrete-states")
    assert getattr(info, "next-event-time-defined") and getattr(info, "next-event-time") == pytest.approx(0.1)
    me.call("enter-continuous-time-mode")
    states = np.array(me.call("get-continuous-states")) + 0.1
    me.call("set-continuous-states", states.tolist())
    derivative = me.call("get-continuous-state-derivatives")
    rates = [v.name for v in both.description.modelVariables if v.derivative is not None]
    unknowns, knowns = _references(both, *rates), _references(both, "push")
    slope = me.call("get-directional-derivative", unknowns, knowns, [1.0])
    with Fmu(both, "me") as fmu:
        fmu.start({})
        fmu.fmi.updateDiscreteStates()
        fmu.fmi.enterContinuousTimeMode()
        fmu.fmi.setContinuousStates(np.ctypeslib.as_ctypes(states), len(states))
        values = np.zeros(len(states))
        fmu.fmi.getContinuousStateDerivatives(np.ctypeslib.as_ctypes(values), len(states))
        assert derivative == pytest.approx(values.tolist(), rel=1e-12)
        assert slope == pytest.approx(fmu.fmi.getDirectionalDerivative(unknowns, knowns, [1.0]), rel=1e-12)


@pytest.mark.slow
def test_every_function_takes_and_returns_its_types(both: Compiled, component: Component) -> None:
    """Types that no variable has accept empty lists; integers and dependencies are read."""
    run = _instance(both, component, "co-simulation").start({})
    for name, nothing in {"float32": [], "uint8": b"", "boolean": [], "string": [], "binary": []}.items():
        assert run.call(f"get-{name}", []) == nothing
        assert run.call(f"set-{name}", [], nothing) == "ok"
    assert run.call("get-int32", _references(both, "solver_method")) == [0]
    assert run.call("get-number-of-variable-dependencies", *_references(both, "rod_angle")) == 1
    (dependency,) = run.call("get-variable-dependencies", *_references(both, "rod_angle"))
    assert dependency.kind == "dependent"
    assert dependency.__dict__["independent-value-reference"] == _references(both, "rod_angle_state")[0]


# ---- Errors -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_errors_are_logged_with_the_name_of_the_instance(both: Compiled, component: Component) -> None:
    """An invalid value is an error whose message reaches the host; a wrong token makes no instance."""
    run = _instance(both, component, "co-simulation")
    component.log.clear()
    with pytest.raises(ComponentError, match="error"):
        run.call("get-float64", [99999])
    ((name, status, category, message),) = component.log
    assert (name, status, category) == ("instance", "error", "logStatusError")
    assert "fmi3GetFloat64" in message and "99999" in message
    assert Instance(component, "co-simulation", "{another}").handle is None


@pytest.mark.slow
def test_functions_that_fmi_does_not_have_say_so(both: Compiled, component: Component) -> None:
    """The draft has derivatives of inputs, FMI 3.0 has none."""
    run = _instance(both, component, "co-simulation").start({})
    component.log.clear()
    with pytest.raises(ComponentError):
        run.call("set-input-derivatives", [], [])
    assert "FMI 3.0 has no function for derivatives of inputs" in component.log[0][3]


# ---- Names of the platform, and the interface as text -----------------------------------------------------------


def test_platform_by_both_names() -> None:
    """The draft's name and the short name are one platform."""
    (platform,) = named(["wasm32", "wasm32-wasip2"], "3.0")
    assert (platform.name, platform.suffix, platform.is_webassembly) == ("wasm32-wasip2", ".wasm", True)


def test_fmi_2_has_no_component() -> None:
    """The layered standard is one of FMI 3.0, and the message names the option."""
    with pytest.raises(DescriptionError, match=r"wasm32.*FMI 2\.0 has no name.*--fmi 3\.0"):
        named(["wasm32"], "2.0")


def test_types_are_read_from_their_text() -> None:
    """Names, labels, brackets and results of the interface."""
    types = definitions(TYPES)
    assert len(types) == 8 and types["fmu-state"] == Type("list", (("", Type("u8")),))
    fields = [label for label, _ in types["interval-fraction"].parts]
    assert fields == ["counter", "resolution"]
    model_exchange, co_simulation = (definitions(interface.methods) for interface in INTERFACES)
    assert (len(model_exchange), len(co_simulation)) == (64, 56)
    step = co_simulation["do-step"].parts
    assert [label for label, _ in step] == [
        "current-communication-point",
        "communication-step-size",
        "no-set-fmu-state-prior-to-current-point",
        "->",
    ]
