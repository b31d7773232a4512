"""Model → FMU, by omc."""

from __future__ import annotations

import re
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypedDict

from ....analysis.prepared import Prepared
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
TIMEOUT = 600.0  # s
LOG = "openmodelica.log"

_BALANCE = re.compile(r"has (\d+) equation\(s\) and (\d+) variable\(s\)")
_CVODE = 'setCommandLineOptions("--fmiFlags=s:cvode")'


@dataclass(frozen=True)
class BuildOutcome:
    """A built FMU and what is to be known of it.

    Parameters:
        fmu        the file
        fmi, kind  version of FMI; me, cs or me_cs
        version    what omc says of itself
        transport  session or script
        equations, unknowns  of the model, by omc's count
        seconds    wall time of the whole build
        size       of the file, bytes
        solver     what its co-simulation does
        log        everything that was said to omc and by it
        warnings   omc's warnings during the build
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
    """Order for an FMU: a class of a Modelica source, as `name`.fmu.

    Parameters:
        libraries  that the text needs
        origins    of its lines and variables, for messages
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
        """Whether CVODE goes into the FMU: omc's FMI 3.0 export fails with it, model exchange does not use it."""
        return self.fmi == "2.0" and "cs" in self.kind

    @property
    def export(self) -> str:
        """The statement that makes the FMU."""
        return (
            f'buildModelFMU({self.simulated}, version="{self.fmi}", fmuType="{self.kind}",'
            f' fileNamePrefix="{self.name}")'
        )


def build(
    model: Prepared,
    out: Path,
    *,
    fmi: str = "2.0",
    kind: Kind = "me_cs",
    omc: Omc | None = None,
    timeout: float = TIMEOUT,
    progress: Progress = silent,
    sessions: bool = True,
) -> BuildOutcome:
    """Compile a model's Modelica into `out/Name.fmu`; `Name.mo`, `Name.mos` and a log are left beside it.

    Parameters:
        fmi       2.0 or 3.0
        kind      me, cs or me_cs
        omc       see `find`
        timeout   s, for all of it
        progress  function that is called with an activity
        sessions  whether to try a session before scripts

    Raises MissingToolError without omc, OmcError with omc's reasons in the description's words if it refuses the
    model, OmcTimeout, OmcDied.
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
    """Build an FMU from any Modelica source; see `build`."""
    begin, log, deadline = time.perf_counter(), Log(), Deadline(timeout)
    fmu, log_file = out / f"{request.name}.fmu", out / LOG
    diagnosis = Diagnosis(request.origins, out / f"{request.name}.mo", log_file)
    # a working directory of its own: builds do not meet, and its path is plain whatever `out` is called
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
    """Facts about a build; see `BuildOutcome`."""

    version: str
    transport: str
    equations: int
    unknowns: int
    solver: str
    warnings: tuple[str, ...]


def _statements(
    request: Request, folder: Path, omc: Transport, diagnosis: Diagnosis, progress: Progress
) -> _Facts:
    """Everything that is said to omc, in order; each answer is judged before the next statement."""
    version = omc.ask("getVersion()").value
    if request.cvode:
        omc.ask(_CVODE, keep=True)  # has to come before the export; judged by what is in the FMU
    for library in request.libraries:
        if omc.ask(f"loadModel({library})", keep=True).value != "true":
            raise MissingToolError(f"omc has no library {library}; get it with: installPackage({library})")
    loaded = omc.ask(f'loadFile("{request.name}.mo")', keep=True)
    if loaded.value != "true":
        # with a class that is not there omc would go and look for it on the network
        raise diagnosis.error("cannot read the Modelica text", loaded.messages)
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
    """Numbers of equations and unknowns; omc calls a model with too few equations successfully checked."""
    checked = omc.ask(f"checkModel({request.simulated})")
    counts = _BALANCE.search(checked.value)
    if counts is None:
        raise diagnosis.error(f"refuses {request.simulated}", checked.messages)
    equations, unknowns = int(counts[1]), int(counts[2])
    if equations != unknowns:
        what = f"{request.simulated} has {equations} equations for {unknowns} unknowns"
        # the check says no more than that; the export fails at once, with the variable
        refused = omc.ask(request.export)
        raise diagnosis.error(what, refused.messages, "this is a fault of the generated text: please report it")
    return equations, unknowns


def _solver(request: Request, fmu: Path, exported: Answer, diagnosis: Diagnosis) -> str:
    """Return a sentence on the co-simulation solver; raises OmcError without an FMU, or for another solver."""
    if not zipfile.is_zipfile(fmu):
        hint = (
            "this omc may not export FMI 3.0 (1.28 does); for FMI 2.0: --fmi 2.0" if request.fmi == "3.0" else ""
        )
        raise diagnosis.error(f"no FMI {request.fmi} FMU of {request.simulated}", exported.messages, hint)
    found = solver.statement(fmu, request.name, request.kind)
    if request.cvode and found != solver.CVODE:
        what = f"the FMU's co-simulation would be {found}; expected CVODE, asked for by {_CVODE}"
        raise diagnosis.error(what, exported.messages, "take another version of omc, or --compiler native")
    return found


def _keep_logs(folder: Path, log: Log) -> None:
    """Add the output of the C compiler and its helpers to the log before the folder is removed."""
    for path in sorted(folder.rglob("*.log")):
        if path.is_file() and (text := path.read_text("utf-8", "replace").strip()):
            log.add(f"{path.relative_to(folder)}:\n{text[-20_000:]}")
