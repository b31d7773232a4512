"""The OpenModelica backend with a stand-in for omc: a real process that says what omc says, or worse."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers_openmodelica import StandIn, pendulum

from gpmelica.analysis.system import System
from gpmelica.core.errors import MissingToolError
from gpmelica.fmu.backends import openmodelica
from gpmelica.fmu.backends.fmu import Order
from gpmelica.fmu.backends.omc import OpenModelica
from gpmelica.fmu.backends.openmodelica import BuildOutcome, OmcDied, OmcError, OmcTimeout
from gpmelica.runs.fmpy_runs.chatter import captured

pytest_plugins = ["fixtures_openmodelica"]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is started by a shell script")

TRANSPORTS = pytest.mark.parametrize("sessions", [True, False], ids=["session", "script"])
NEVER = 60.0  # s: a deadline that comes only if something waits for what does not come
CVODE = 'setCommandLineOptions("--fmiFlags=s:cvode")'


@pytest.fixture(scope="module")
def model() -> System:
    """A small model with a constraint and an applied force."""
    return pendulum()


def _line(text: str, start: str) -> int:
    """Number of the first line that starts so, leading spaces apart."""
    return next(i for i, line in enumerate(text.splitlines(), start=1) if line.strip().startswith(start))


@pytest.mark.slow
@TRANSPORTS
def test_build_writes_all_files(stand_in: StandIn, model: System, tmp_path: Path, sessions: bool) -> None:
    """The folder contains the FMU, the Modelica source, the script and the log; the outcome
    contains omc's facts.
    """
    out, told = tmp_path / "out", []
    outcome = openmodelica.build(
        model, out, omc=stand_in.omc, progress=lambda what, fraction: told.append(what), sessions=sessions
    )
    assert isinstance(outcome, BuildOutcome)
    assert sorted(path.name for path in out.iterdir()) == [
        "Pendulum.fmu",
        "Pendulum.mo",
        "Pendulum.mos",
        "openmodelica.log",
    ]
    assert outcome.fmu == out / "Pendulum.fmu"
    assert outcome.size == outcome.fmu.stat().st_size
    assert outcome.transport == ("session" if sessions else "script")
    assert outcome.version == "OpenModelica v1.28.0-dev-418-fake"
    assert (outcome.equations, outcome.unknowns) == (961, 961)
    assert outcome.solver.startswith("CVODE")
    assert told == ["starting omc", "omc checks the model", "omc compiles the FMU"]
    assert "Class Pendulum.Experiment has 961 equation(s)" in outcome.log.read_text("utf-8")
    assert stand_in.leftovers() == []


@pytest.mark.slow
@TRANSPORTS
def test_statements(stand_in: StandIn, model: System, tmp_path: Path, sessions: bool) -> None:
    """Both ways say the same: CVODE before the export, the class to simulate, the name of the FMU."""
    openmodelica.build(model, tmp_path / "out", omc=stand_in.omc, sessions=sessions)
    assert stand_in.statements() == [
        "getVersion()",
        CVODE,
        'loadFile("Pendulum.mo")',
        "checkModel(Pendulum.Experiment)",
        'buildModelFMU(Pendulum.Experiment, version="2.0", fmuType="me_cs", fileNamePrefix="Pendulum")',
    ]


def test_refused_session(stand_in: StandIn, model: System, tmp_path: Path) -> None:
    """Refused, as for root: seen at once, said in the log, and done by scripts."""
    stand_in.does("refuse")
    outcome = openmodelica.build(model, tmp_path / "out", omc=stand_in.omc, timeout=NEVER)
    assert outcome.transport == "script"
    assert "no session: Error: You are trying to run OpenModelica as a server" in outcome.log.read_text("utf-8")


@pytest.mark.slow
def test_a_session_loads_nothing_that_builds() -> None:
    """The process of a session is there for OMPython alone, and starts faster without the package."""
    loads = "import runpy, sys; runpy.run_path(sys.argv[1]); print({'OMPython', 'gpmelica'} & set(sys.modules))"
    relay = Path(openmodelica.__file__).with_name("relay.py")
    done = subprocess.run([sys.executable, "-P", "-c", loads, relay], capture_output=True, text=True, check=True)
    assert done.stdout == "{'OMPython'}\n"


def test_silent_session(stand_in: StandIn, model: System, tmp_path: Path) -> None:
    """An omc that never opens its port is ended at the deadline."""
    stand_in.does("silent")
    stand_in.out_of_time_once("pid ")
    with pytest.raises(OmcTimeout, match=r"longer than 1 s \(start\)"):
        openmodelica.build(model, tmp_path / "out", omc=stand_in.omc, timeout=1.0)
    assert stand_in.survivors() == []


@pytest.mark.slow
@TRANSPORTS
def test_syntax_error(stand_in: StandIn, model: System, tmp_path: Path, sessions: bool) -> None:
    """A text that omc cannot read stops everything: omc would ask the network for the missing class."""
    stand_in.does("syntax")
    with pytest.raises(OmcError, match=r"cannot read the Modelica source\n  Pendulum\.mo:3: Missing token"):
        openmodelica.build(model, tmp_path / "out", omc=stand_in.omc, sessions=sessions)
    assert stand_in.statements()[-1] == 'loadFile("Pendulum.mo")'


@pytest.mark.slow
@TRANSPORTS
@pytest.mark.parametrize(
    ("start", "origin"),
    [
        ("Phi[1] =", "constraint level"),
        ("R[2,:,:] =", "link lower"),
        ("parameter SI.Mass upper_mass", "link upper"),
        ("push_x =", "applied force push"),
        ("M[1,1] =", "mass matrix and inertia forces"),
    ],
)
def test_error_with_a_place(
    stand_in: StandIn, model: System, tmp_path: Path, sessions: bool, start: str, origin: str
) -> None:
    """omc's error names our line and the link, constraint or force that it comes from."""
    number = _line(model.modelica(), start)
    stand_in.does("unknown", line=number)
    with pytest.raises(OmcError) as caught:
        openmodelica.build(model, tmp_path / "out", omc=stand_in.omc, sessions=sessions)
    text = 'Variable z not found in scope Pendulum.Experiment, "as it were".'
    assert f"\n  Pendulum.mo:{number}, {origin}: {text}\n" in str(caught.value)
    assert str(tmp_path / "out" / "openmodelica.log") in str(caught.value)
    assert [message.line for message in caught.value.messages] == [number]
    assert "buildModelFMU" not in stand_in.trace.read_text("utf-8")


@pytest.mark.slow
@TRANSPORTS
def test_unbalanced(stand_in: StandIn, model: System, tmp_path: Path, sessions: bool) -> None:
    """Equations and unknowns are compared, for omc calls that check successful; the variable is placed."""
    number = _line(model.modelica(), "SI.AngularVelocity w[")
    stand_in.does("unbalanced", variable="w[2,1]", line=number)
    with pytest.raises(OmcError, match="960 equations for 961 unknowns\n  Too few equations") as caught:
        openmodelica.build(model, tmp_path / "out", omc=stand_in.omc, sessions=sessions)
    assert f"\n  Pendulum.mo:{number}, motion: Variable w[2,1] does not" in str(caught.value)


@pytest.mark.slow
@TRANSPORTS
def test_failing_c_compiler(stand_in: StandIn, model: System, tmp_path: Path, sessions: bool) -> None:
    """The C compiler's words are in the message and in the log, and there is no FMU."""
    stand_in.does("fails")
    with pytest.raises(OmcError, match=r"no FMI 2\.0 FMU[\s\S]*make: \*\*\* Error 1"):
        openmodelica.build(model, tmp_path / "out", omc=stand_in.omc, sessions=sessions)
    assert "Pendulum.log:\ncc -c Crane.c" in (tmp_path / "out" / "openmodelica.log").read_text("utf-8")
    assert not (tmp_path / "out" / "Pendulum.fmu").exists()


@pytest.mark.slow
@TRANSPORTS
def test_error_that_does_no_harm(stand_in: StandIn, model: System, tmp_path: Path, sessions: bool) -> None:
    """An error that omc recovers from is logged; what counts is the FMU."""
    stand_in.does("recovers")
    outcome = openmodelica.build(model, tmp_path / "out", omc=stand_in.omc, sessions=sessions)
    assert "error: Internal error in a module" in outcome.log.read_text("utf-8")


@pytest.mark.slow
@TRANSPORTS
def test_lost_cvode(stand_in: StandIn, model: System, tmp_path: Path, sessions: bool) -> None:
    """An FMU whose co-simulation would be explicit Euler is not handed out."""
    stand_in.does("euler")
    with pytest.raises(OmcError, match="co-simulation would be explicit Euler, one step per communication step"):
        openmodelica.build(model, tmp_path / "out", omc=stand_in.omc, sessions=sessions)
    assert not (tmp_path / "out" / "Pendulum.fmu").exists()


@pytest.mark.slow
def test_model_exchange_needs_no_solver(stand_in: StandIn, model: System, tmp_path: Path) -> None:
    """An FMU for model exchange alone is built without CVODE."""
    stand_in.does("euler")
    outcome = openmodelica.build(model, tmp_path / "out", omc=stand_in.omc, kind="me")
    assert outcome.solver == "none: for model exchange only"
    assert CVODE not in stand_in.statements()


@pytest.mark.slow
def test_fmi_3(stand_in: StandIn, model: System, tmp_path: Path) -> None:
    """FMI 3.0 is built without the flag that breaks it, and the outcome says what its co-simulation is."""
    outcome = openmodelica.build(model, tmp_path / "out", omc=stand_in.omc, fmi="3.0")
    assert CVODE not in stand_in.statements()
    assert outcome.solver == "explicit Euler, one step per communication step"
    with zipfile.ZipFile(outcome.fmu) as archive:
        description = archive.read("modelDescription.xml").decode("utf-8")
    assert 'name="upper_angle_state" causality="local" initial="calculated" nominal' in description
    assert '<ModelExchange needsCompletedIntegratorStep="false"/>' in description


@pytest.mark.slow
@pytest.mark.parametrize(("indicators", "said"), [(0, "true"), (12, "false")])
def test_completion_of_steps(stand_in: StandIn, model: System, tmp_path: Path, indicators: int, said: str) -> None:
    """An FMU without event indicators is spared the call in which omc's code sees two instants at once."""
    stand_in.does(indicators=indicators)
    outcome = openmodelica.build(model, tmp_path / "out", omc=stand_in.omc)
    with zipfile.ZipFile(outcome.fmu) as archive:
        description = archive.read("modelDescription.xml").decode("utf-8")
    assert f'completedIntegratorStepNotNeeded="{said}"' in description


@pytest.mark.slow
def test_euler_is_not_called_right(stand_in: StandIn, model: System, tmp_path: Path) -> None:
    """The co-simulation of FMI 3.0 is refused, which says why; that of 2.0 is not."""
    backend = OpenModelica(stand_in.omc)
    three, two = (backend.build(Order(model, tmp_path / fmi, fmi)) for fmi in ("3.0", "2.0"))
    assert "explicit Euler" in three.refused
    assert two.refused == ""


def test_output_of_c_code_goes_into_the_log(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Output of omc's FMUs is redirected at the level of file descriptors, and only during the
    run.
    """
    log = tmp_path / "log"
    libc = ctypes.CDLL(None)
    libc.puts(b"before")
    for text in (b"one", b"two"):
        with captured(log):
            libc.puts(text)
    with captured(None):
        libc.puts(b"lost")
    libc.puts(b"after")
    libc.fflush(None)
    assert log.read_text() == "one\ntwo\n"
    assert capfd.readouterr().out == "before\nafter\n"


@pytest.mark.slow
def test_fmi_3_with_an_older_omc(stand_in: StandIn, model: System, tmp_path: Path) -> None:
    """An omc without FMI 3.0 is told apart from a bad model."""
    stand_in.does("fmi2")
    with pytest.raises(OmcError, match=r"Unknown FMU version 3\.0[\s\S]*this omc may not support FMI 3\.0"):
        openmodelica.build(model, tmp_path / "out", omc=stand_in.omc, fmi="3.0")


@pytest.mark.slow
@TRANSPORTS
@pytest.mark.parametrize(("how", "ending"), [("die", r"signal 11"), ("lost", r"exit status 0")])
def test_dying_omc(
    stand_in: StandIn, model: System, tmp_path: Path, sessions: bool, how: str, ending: str
) -> None:
    """A crash, or an omc that simply ends, is an error that names the statement, and takes no time."""
    stand_in.does(how)
    with pytest.raises(OmcDied, match=rf"omc ended \({ending}\) without an answer to (buildModelFMU|loadFile)"):
        openmodelica.build(model, tmp_path / "out", omc=stand_in.omc, sessions=sessions, timeout=NEVER)
    assert (tmp_path / "out" / "openmodelica.log").is_file()


@pytest.mark.slow
@TRANSPORTS
def test_timeout(stand_in: StandIn, model: System, tmp_path: Path, sessions: bool) -> None:
    """At the deadline omc and the compilers that it has started are ended."""
    stand_in.does("hang")
    stand_in.out_of_time_once("pid ")
    with pytest.raises(OmcTimeout, match=r"longer than 1\.5 s \(buildModelFMU.*increase the time limit"):
        openmodelica.build(model, tmp_path / "out", omc=stand_in.omc, sessions=sessions, timeout=1.5)
    assert stand_in.survivors() == []
    assert stand_in.leftovers() == []


@pytest.mark.slow
@TRANSPORTS
def test_interrupt(stand_in: StandIn, tmp_path: Path, sessions: bool) -> None:
    """Ctrl-C ends omc and its compilers too, though they are in a process group of their own."""
    stand_in.does("hang")
    code = (
        "import signal\n"
        "from pathlib import Path\n"
        "from helpers_openmodelica import pendulum\n"
        "from gpmelica.fmu.backends import openmodelica\n"
        # a test run in a shell's background inherits that it is to ignore Ctrl-C
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"omc = openmodelica.Omc({str(stand_in.program)!r})\n"
        f"openmodelica.build(pendulum(), Path({str(tmp_path / 'out')!r}), omc=omc, sessions={sessions})"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE) as process:
        begin = time.monotonic()
        while "pid" not in (stand_in.trace.read_text("utf-8") if stand_in.trace.exists() else ""):
            assert time.monotonic() - begin < 30.0, "the build has not begun"
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=20.0)
    assert b"KeyboardInterrupt" in complaint
    assert stand_in.survivors() == []


@pytest.mark.slow
@TRANSPORTS
def test_paths(stand_in: StandIn, model: System, tmp_path: Path, sessions: bool) -> None:
    """Folders with spaces and letters of other languages do no harm."""
    out = tmp_path / "Mein Kran, Größe 2" / "ожидание"
    outcome = openmodelica.build(model, out, omc=stand_in.omc, sessions=sessions)
    assert zipfile.is_zipfile(out / "Pendulum.fmu")
    assert outcome.log.parent == out


@pytest.mark.slow
@TRANSPORTS
def test_two_builds_at_once(stand_in: StandIn, model: System, tmp_path: Path, sessions: bool) -> None:
    """Builds at the same time, also into the same folder, do not meet."""
    folders = [tmp_path / name for name in ("a", "b", "same", "same")]
    with ThreadPoolExecutor(4) as pool:
        build = lambda out: openmodelica.build(model, out, omc=stand_in.omc, sessions=sessions)  # noqa: E731
        outcomes = list(pool.map(build, folders))
    assert [outcome.fmu for outcome in outcomes] == [folder / "Pendulum.fmu" for folder in folders]
    assert all(zipfile.is_zipfile(outcome.fmu) for outcome in outcomes)
    works = {_work(folder / "openmodelica.log") for folder in folders}
    assert len(works) == 3
    assert stand_in.leftovers() == []


def _work(log: Path) -> str:
    """Working directory of a build, from what omc called its FMU."""
    return next(line for line in log.read_text("utf-8").splitlines() if line.endswith("Pendulum.fmu"))


def test_found_at_home(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """OPENMODELICAHOME comes before PATH; PATH serves where it leads nowhere."""
    elsewhere = stand_in.program.parents[2] / "other" / "omc"
    elsewhere.parent.mkdir()
    elsewhere.symlink_to(stand_in.program)
    monkeypatch.setenv("PATH", f"{elsewhere.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("OPENMODELICAHOME", str(stand_in.program.parents[1]))
    assert openmodelica.find() == stand_in.omc
    monkeypatch.setenv("OPENMODELICAHOME", str(stand_in.program.parents[1] / "gone"))
    assert openmodelica.find() == openmodelica.Omc(str(elsewhere))
    assert openmodelica.find(str(stand_in.program)) == stand_in.omc
    assert openmodelica.find().version() == "OpenModelica v1.28.0-dev-418-fake"


def test_flags_of_the_user_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """User flags come last, so that they can override the package's flags; CMake reads both from the
    environment.
    """
    for name in ("CFLAGS", "CMAKE_TOOLCHAIN_FILE"):
        monkeypatch.delenv(name, raising=False)
    own = openmodelica.Omc("/no/omc").environment
    monkeypatch.setenv("CFLAGS", "-ftree-slp-vectorize -g")
    assert own["CFLAGS"]
    assert openmodelica.Omc("/no/omc").environment["CFLAGS"] == f"{own['CFLAGS']} -ftree-slp-vectorize -g"
    assert "$ENV{CFLAGS}" in Path(own["CMAKE_TOOLCHAIN_FILE"]).read_text()
    monkeypatch.setenv("CMAKE_TOOLCHAIN_FILE", "mine.cmake")
    assert openmodelica.Omc("/no/omc").environment["CMAKE_TOOLCHAIN_FILE"] == "mine.cmake"


def test_missing_omc_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without omc, a message appears within a second, with the searched places and advice on the
    installation.
    """
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("OPENMODELICAHOME", str(tmp_path / "gone"))
    begin = time.process_time()
    with pytest.raises(MissingToolError) as caught:
        openmodelica.find()
    assert time.process_time() - begin < 1.0
    for part in (str(tmp_path / "gone" / "bin" / "omc"), "PATH", "openmodelica.org", "docker pull", "native"):
        assert part in str(caught.value)


def test_wrong_program(tmp_path: Path) -> None:
    """An executable that does not exist, or is not omc, is said so."""
    with pytest.raises(MissingToolError, match=r"--omc: expected an executable or docker:IMAGE, got '/no/omc'"):
        openmodelica.find("/no/omc")
    program = tmp_path / "omc"
    program.write_text("#!/bin/sh\necho broken >&2; exit 4\n")
    program.chmod(0o755)
    with pytest.raises(MissingToolError, match="prints no version for the option --version; its output: broken"):
        openmodelica.find(str(program)).version()


def test_program_that_cannot_start(model: System, tmp_path: Path) -> None:
    """An omc that has gone since it was found is a missing tool."""
    with pytest.raises(MissingToolError, match="omc cannot be started: /no/omc"):
        openmodelica.build(model, tmp_path, omc=openmodelica.Omc("/no/omc"))


@pytest.mark.slow
def test_docker(docker: StandIn, model: System, tmp_path: Path) -> None:
    """In a docker image, by a session for an ordinary user and by scripts for root, whom omc does not serve."""
    omc = openmodelica.find("docker:fake")
    outcome = openmodelica.build(model, tmp_path / "out", omc=omc)
    assert outcome.transport == ("script" if os.getuid() == 0 else "session")
    assert zipfile.is_zipfile(outcome.fmu)
    assert omc.version() == "OpenModelica v1.28.0-dev-418-fake"
    assert docker.statements()[-1].startswith("buildModelFMU(Pendulum.Experiment")
    assert not [name for name in docker.leftovers() if name.endswith((".log", ".cid"))]


def test_docker_without_image(docker: StandIn) -> None:
    """An image that is not there is not fetched behind the user's back."""
    with pytest.raises(MissingToolError, match=r"No such image: gone\nget the image with: docker pull gone"):
        openmodelica.find("docker:gone")


def test_no_docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without docker, that is what is missing."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match="docker is not installed"):
        openmodelica.find("docker:openmodelica/openmodelica")
