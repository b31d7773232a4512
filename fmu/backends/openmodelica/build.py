"""Compilation of a Modelica model to an FMU by the OpenModelica compiler omc."""

from __future__ import annotations

import re
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypedDict

from ....analysis.system import System
from ....core.errors import MissingToolError
from ....core.files import write_atomically
from ....core.progress import Progress, silent
from ....generator import modelica
from . import solver
from .answers import Answer
from .corrections import corrected
from .deadline import Deadline
from .diagnosis import Diagnosis
from .installation import Omc, find
from .log import Log
from .transport import Transport, connected

Kind = Literal["me", "cs", "me_cs"]
TIMEOUT = 600.0  # By default, an FMU build fails after this time, s.
LOG = "openmodelica.log"

_BALANCE = re.compile(r"has (\d+) equation\(s\) and (\d+) variable\(s\)")
_CVODE = 'setCommandLineOptions("--fmiFlags=s:cvode")'


@dataclass(frozen=True)
class BuildOutcome:
    """FMU that omc built, and facts about the build.

    Attributes
    ----------
    fmu : Path
        File of the FMU.
    fmi, kind : str
        Version of FMI; "me", "cs" or "me_cs".
    version : str
        Version of omc.
    transport : str
        Type of the connection to omc, "session" or "script".
    equations, unknowns : int
        Size of the model as counted by omc.
    seconds : float
        Wall time of the whole build, s.
    size : int
        Size of the file, bytes.
    solver : str
        Description of the co-simulation solver.
    log : Path
        Log of all statements and answers.
    warnings : tuple of str
        Warnings of omc during the build.
    """

    fmu: Path
    fmi: str
    kind: str
    version: str
    transport: str
    equations: int
    unknowns: int
    seconds: float
    size: int
    solver: str
    log: Path
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Request:
    """Instructions for building an FMU from a class in a Modelica source file.

    Attributes
    ----------
    name : str
        Name of the FMU.
    text : str
        Modelica source code.
    simulated : str
        Name of the Modelica class from which the FMU is built.
    fmi, kind : str
        Version of FMI; "me", "cs" or "me_cs".
    libraries : tuple of str
        Modelica libraries that the source requires.
    origins : Origins
        Elements of the description from which the source's lines and variables were generated.
        Error messages name these elements.
    """

    name: str
    text: str
    simulated: str
    fmi: str
    kind: Kind
    libraries: tuple[str, ...] = ()
    origins: modelica.Origins = field(default_factory=modelica.Origins)

    @property
    def cvode(self) -> bool:
        """Whether the solver CVODE is included in the FMU.

        CVODE is not included for model exchange, which needs no solver, and for FMI 3.0, with which omc's
        export fails.
        """
        return self.fmi == "2.0" and "cs" in self.kind

    @property
    def export(self) -> str:
        """Statement in omc's scripting language that builds the FMU."""
        return (
            f'buildModelFMU({self.simulated}, version="{self.fmi}", fmuType="{self.kind}",'
            f' fileNamePrefix="{self.name}")'
        )


def build(
    model: System,
    out: Path,
    *,
    fmi: str = "2.0",
    kind: Kind = "me_cs",
    omc: Omc | None = None,
    timeout: float = TIMEOUT,
    progress: Progress = silent,
    sessions: bool = True,
) -> BuildOutcome:
    """Compile the Modelica source of a model to `Name.fmu` in the folder `out`.

    `Name.mo`, `Name.mos` and a log are written to the same folder.

    Parameters
    ----------
    model : System
        Model of the mechanism.
    out : Path
        Output folder.
    fmi : str
        Version of FMI, "2.0" or "3.0".
    kind : str
        "me", "cs" or "me_cs".
    omc : Omc, optional
        OpenModelica compiler; found by `find` by default.
    timeout : float
        Maximum duration of the whole build, s.
    progress : callable
        Function that is called with each activity.
    sessions : bool
        Whether an interactive session is tried before scripts.

    Raises
    ------
    MissingToolError
        If no omc is found.
    OmcError
        If omc rejects the model. If possible, the message names the link, constraint or force that
        causes the error.
    OmcTimeout
        If omc exceeds the time limit.
    OmcDied
        If omc ends without an answer.
    """
    found = omc or find()
    source = model.modelica_source()
    write_atomically(out / f"{model.name}.mo", source.text)
    write_atomically(out / f"{model.name}.mos", modelica.script(model.program, model.mechanism))
    request = Request(model.name, source.text, modelica.experiment(model.name), fmi, kind, origins=source.origins)
    return compile_text(request, out, found, timeout=timeout, progress=progress, sessions=sessions)


def compile_text(
    request: Request,
    out: Path,
    omc: Omc,
    *,
    timeout: float = TIMEOUT,
    progress: Progress = silent,
    sessions: bool = True,
) -> BuildOutcome:
    """Build an FMU from any Modelica source.

    See `build` for the parameters that both functions have, and for the exceptions.
    """
    begin, log, deadline = time.perf_counter(), Log(), Deadline(timeout)
    fmu, log_file = out / f"{request.name}.fmu", out / LOG
    diagnosis = Diagnosis(request.origins, out / f"{request.name}.mo", log_file)
    # A temporary working directory separates concurrent builds, and its path has no special characters.
    with TemporaryDirectory(prefix="gpmelica-omc-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        (folder / f"{request.name}.mo").write_text(request.text, "utf-8")
        try:
            progress("starting omc", 0.0)
            with connected(omc, folder, deadline, log, sessions=sessions) as transport:
                facts = _statements(request, folder, transport, diagnosis, progress)
            write_atomically(fmu, corrected(folder / fmu.name))
        finally:
            _keep_logs(folder, log)
            write_atomically(log_file, log.text())
    seconds, size = time.perf_counter() - begin, fmu.stat().st_size
    return BuildOutcome(
        fmu=fmu, fmi=request.fmi, kind=request.kind, seconds=seconds, size=size, log=log_file, **facts
    )


class _Facts(TypedDict):
    version: str
    transport: str
    equations: int
    unknowns: int
    solver: str
    warnings: tuple[str, ...]


def _statements(
    request: Request, folder: Path, omc: Transport, diagnosis: Diagnosis, progress: Progress
) -> _Facts:
    """Send all statements of a build to omc; each answer is checked before the next statement."""
    version = omc.ask("getVersion()").value
    if request.cvode:
        omc.ask(_CVODE, keep=True)  # Options of omc must be set before the model is exported.
    for library in request.libraries:
        if omc.ask(f"loadModel({library})", keep=True).value != "true":
            raise MissingToolError(
                f"omc has no library {library}; install it in omc with: installPackage({library})"
            )
    loaded = omc.ask(f'loadFile("{request.name}.mo")', keep=True)
    if loaded.value != "true":
        # The build ends here, because omc would otherwise search for the missing class on the network.
        raise diagnosis.error("cannot read the Modelica source", loaded.messages)
    progress("omc checks the model", 0.0)
    equations, unknowns = _balance(request, omc, diagnosis)
    progress("omc compiles the FMU", 0.0)
    exported = omc.ask(request.export)
    solves = _solver(request, folder / f"{request.name}.fmu", exported, diagnosis)
    warnings = tuple(message.text for message in exported.messages if message.level == "warning")
    return _Facts(
        version=version,
        transport=omc.name,
        equations=equations,
        unknowns=unknowns,
        solver=solves,
        warnings=warnings,
    )


def _balance(request: Request, omc: Transport, diagnosis: Diagnosis) -> tuple[int, int]:
    """Return the numbers of equations and unknowns, and raise OmcError if they differ.

    omc itself reports success for a model with too few equations.
    """
    checked = omc.ask(f"checkModel({request.simulated})")
    counts = _BALANCE.search(checked.value)
    if counts is None:
        raise diagnosis.error(f"refuses {request.simulated}", checked.messages)
    equations, unknowns = int(counts[1]), int(counts[2])
    if equations != unknowns:
        what = f"{request.simulated} has {equations} equations for {unknowns} unknowns"
        # The model check of omc does not name the faulty variable, whereas the failing export does.
        refused = omc.ask(request.export)
        raise diagnosis.error(
            what, refused.messages, "this is an error of the generated Modelica source: please report it"
        )
    return equations, unknowns


def _solver(request: Request, fmu: Path, exported: Answer, diagnosis: Diagnosis) -> str:
    """Return a description of the co-simulation solver in the FMU.

    Raises
    ------
    OmcError
        If there is no FMU, or if its solver is not the requested one.
    """
    if not zipfile.is_zipfile(fmu):
        hint = (
            "this omc may not support FMI 3.0 (version 1.28 does); for FMI 2.0: --fmi 2.0"
            if request.fmi == "3.0"
            else ""
        )
        raise diagnosis.error(f"no FMI {request.fmi} FMU of {request.simulated}", exported.messages, hint)
    found = solver.statement(fmu, request.name, request.kind)
    if request.cvode and found != solver.CVODE:
        what = f"the FMU's co-simulation would be {found}; expected CVODE, as requested by {_CVODE}"
        raise diagnosis.error(what, exported.messages, "use another version of omc, or --compiler native")
    return found


def _keep_logs(folder: Path, log: Log) -> None:
    """Append the output of the C compiler and its tools to the log.

    The files with this output are in the working directory, which is removed later.
    """
    for path in sorted(folder.rglob("*.log")):
        if path.is_file() and (text := path.read_text("utf-8", "replace").strip()):
            log.add(f"{path.relative_to(folder)}:\n{text[-20_000:]}")
