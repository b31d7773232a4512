"""The command line: thin; everything it does is in the package."""

from __future__ import annotations

import errno
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.markup import escape
from rich.table import Table

from ..core.errors import DescriptionError, GpmelicaError, MissingToolError, UnknownNameError
from ..core.version import __version__
from .console import (
    COLOURS,
    command_line,
    emit,
    emit_strict,
    errors,
    printed,
    progress_bars,
    screen,
    show,
    show_remarks,
    verdict_table,
    wrote,
)
from .coupling import add_to as add_coupling
from .exchange import export_app, import_app
from .linear import add_to as add_linear
from .options import (
    DISAGREES,
    OK,
    Case,
    CompilerName,
    File,
    Fmi,
    Input,
    Json,
    March,
    OmcPath,
    Out,
    Platforms,
    ReferenceResults,
    Strict,
    Timeout,
    exit_status,
)
from .studies import add_to

if TYPE_CHECKING:
    from ..api.model import Model

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="From a mechanism's description to readable Modelica, a verified FMU and a report.",
    epilog="Exit status: 0 ok; 1 a check or comparison failed; 2 bad input; 3 a tool is missing;"
    " 4 disk or memory is full; 5 with --strict: all is ok, but something is questionable.",
    invoke_without_command=True,
)
app.add_typer(import_app, name="import")
app.add_typer(export_app, name="export")


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", help="print the version")] = False,
) -> None:
    if version:
        sys.stdout.write(f"gpmelica {__version__}\n")
        raise typer.Exit


BAD_INPUT, MISSING_TOOL, EXHAUSTED = 2, 3, 4
# what a machine runs out of; all other errors of files are those of paths that are given
_RESOURCES = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO}
_RESOURCES |= {errno.EMFILE, errno.ENFILE, errno.ENOMEM}


def main() -> NoReturn:
    """Run the command line; the exit status is that of the epilogue of `--help`."""
    try:
        with printed():
            app(standalone_mode=True)
    except (DescriptionError, UnknownNameError) as error:
        _fail(BAD_INPUT, str(error))
    except MissingToolError as error:
        _fail(MISSING_TOOL, str(error))
    except GpmelicaError as error:
        _fail(DISAGREES, str(error))
    except OSError as error:
        _fail(*_file_error(error))
    except MemoryError:
        _fail(EXHAUSTED, "out of memory; nothing is wrong with the input")
    sys.exit(OK)


def _file_error(error: OSError) -> tuple[int, str]:
    """Exit status and message."""
    text = f"{error.filename or 'file'}: {error.strerror or error}"
    if error.errno not in _RESOURCES:
        return BAD_INPUT, text
    return EXHAUSTED, f"{text}; nothing is wrong with the input: make room, or choose another --out"


def _fail(status: int, message: str) -> NoReturn:
    errors.print(message, style="red", markup=False)
    sys.exit(status)


def _load(file: Path, case: str | None) -> Model:
    from ..api.model import load

    return load(file, case)


@app.command()
def check(
    file: File,
    case: Case = None,
    draw: Annotated[
        bool, typer.Option("--draw", help="write drawing.png, .svg and .html: the machine at its start")
    ] = False,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Validate a description; show bodies, coordinates, constraints and partition."""
    model = _load(file, case)
    found = model.check()
    drawn = model.draw(out) if draw else []
    if as_json:
        emit(found.data() | ({"files": [str(path) for path in drawn]} if draw else {}))
    else:
        show(found.tables(), drawn)
    raise typer.Exit(OK if found.consistent else DISAGREES)


@app.command()
def modelica(
    file: File,
    case: Case = None,
    out: Out = None,
    drives: Annotated[
        bool, typer.Option("--drives", help="NameDrives.mo, too: with flanges of the Modelica Standard Library")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write Name.mo, and Name.mos that simulates it in omc."""
    from ..fmu.backends.backend import write_modelica

    model = _load(file, case)
    wrote(write_modelica(model.prepared, model.folder(out), drives=drives), as_json)


@app.command()
def build(
    file: File,
    case: Case = None,
    out: Out = None,
    compiler: CompilerName = "auto",
    fmi: Fmi = "2.0",
    platforms: Platforms = None,
    march: March = "",
    reference_results: ReferenceResults = False,
    inputs: Input = None,
    omc: OmcPath = None,
    timeout: Timeout = 600.0,
    as_json: Json = False,
) -> None:
    """Write Name.mo, Name.mos and Name.fmu."""
    model = _load(file, case)
    folder = model.folder(out)
    systems = () if platforms is None else [name.strip() for name in platforms.split(",")]
    with progress_bars() as progress:
        fmu = model.build(
            out,
            compiler,
            fmi,
            platforms=systems,
            march=march,
            omc=omc,
            timeout=timeout,
            progress=progress,
        )
        results = _reference_results(model, folder, fmi, inputs, progress) if reference_results else []
    wrote([folder / f"{model.name}.mo", folder / f"{model.name}.mos", fmu.path, *results], as_json)
    if not as_json:
        screen.print(f"{fmu.backend.name}, {fmu.compiler}: {fmu.solver}", markup=False)
    if fmu.problems:
        _fail(DISAGREES, "\n".join(["FMPy finds fault with the FMU:", *fmu.problems]))


@app.command()
def ssp(
    file: File,
    case: Case = None,
    out: Out = None,
    controller: Annotated[
        Path | None, typer.Option(help="FMU to connect with the plant by the names of its variables")
    ] = None,
    fmi: Fmi = "2.0",
    march: March = "",
    as_json: Json = False,
) -> None:
    """Write Name.ssp: the plant's FMU and parameter values, and a controller or a place for one."""
    from ..api.model import FMI_VERSIONS, one_of
    from ..exchange.ssp.system import write_ssp
    from ..runs.fmpy_runs.opening import read_fmu
    from ..tasks.build import build_native

    one_of("fmi", fmi, FMI_VERSIONS)
    if controller is not None:
        read_fmu(controller)
    model = _load(file, case)
    folder = model.folder(out)
    with progress_bars() as progress:
        fmu = build_native(
            model.prepared, folder, lambda what: progress(f"compiling: {what}", 0.0), fmi, march=march
        )
    wrote([fmu.path, write_ssp(fmu.path, folder, controller)], as_json)


@app.command()
def run(
    context: typer.Context,
    file: File,
    case: Case = None,
    out: Out = None,
    inputs: Input = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            help="admissible error, relative to each signal's scale (1e-6, or 100 times the description's)"
        ),
    ] = None,
    rumoca: Annotated[bool, typer.Option(help="run the Modelica text in rumoca too")] = True,
    compiler: CompilerName = "auto",
    fmi: Fmi = "2.0",
    march: March = "",
    omc: OmcPath = None,
    timeout: Timeout = 600.0,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Do everything: Modelica, FMU, reference, comparison, report.html and result.json."""
    from ..report.report import lines
    from ..runs.compare.result import result
    from ..tasks.verdicts import withdraw_run

    withdraw_run(file, case, out)
    model = _load(file, case)
    with progress_bars() as progress:
        report = model.run(
            out,
            inputs=inputs,
            tolerance=tolerance,
            rumoca=rumoca,
            compiler=compiler,
            fmi=fmi,
            march=march,
            omc=omc,
            timeout=timeout,
            command=command_line(context),
            progress=progress,
        )
    if as_json:
        emit_strict(result(report))
    else:
        screen.print(verdict_table(report.comparisons))
        for badge, text, colour in lines(report):
            screen.print(f"[{COLOURS[colour]}]{badge}[/]: {escape(text)}")
        show_remarks(report.plausible)
        for name, note in report.remarks:
            screen.print("note: " + (f"{name}: " if name else "") + note, markup=False)
        screen.print(f"report: {model.folder(out) / 'report.html'}", markup=False)
    raise typer.Exit(exit_status(report.ok, strict and bool(report.plausible)))


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="result file (CSV) or FMU, taken as the truth")],
    second: Annotated[Path, typer.Argument(help="result file (CSV) or FMU")],
    tolerance: Annotated[float, typer.Option(help="admissible error, relative to each signal's scale")] = 1e-6,
    as_json: Json = False,
) -> None:
    """Compare two result files or FMUs, signal by signal."""
    from ..api.model import above_zero
    from ..runs.compare.compare import compare as compare_runs
    from ..runs.compare.result import comparison_data
    from ..runs.fmpy_runs.simulate import read_or_simulate

    above_zero("tolerance", tolerance)
    (a, units), (b, _) = read_or_simulate(first), read_or_simulate(second)
    outcome = compare_runs(a, b, units, tolerance)
    if as_json:
        emit_strict(comparison_data(outcome))
    else:
        table = Table("signal", "max abs error", "relative to scale")
        for name, error in sorted(outcome.rel_error.items(), key=lambda item: -item[1]):
            table.add_row(name, f"{outcome.max_abs_error[name]:.3g}", f"{error:.3g}")
        screen.print(table)
        screen.print(verdict_table([outcome]))
        if outcome.note:
            screen.print(f"note: {outcome.note}", markup=False)
    raise typer.Exit(OK if outcome.ok else DISAGREES)


@app.command()
def animate(
    file: File,
    case: Case = None,
    out: Out = None,
    inputs: Input = None,
    html: Annotated[bool, typer.Option("--html", help="page that plays in a browser (default)")] = False,
    gif: Annotated[bool, typer.Option("--gif", help="film for documents")] = False,
    mp4: Annotated[bool, typer.Option("--mp4", help="film by ffmpeg")] = False,
    result: Annotated[
        Path | None,
        typer.Option(help="result file (CSV) or FMU whose motion is shown, with the reference as its ghost"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write animation.html: the machine in motion, to be turned about and played; or a film."""
    from ..api.results import Run
    from ..runs.fmpy_runs.simulate import read_or_simulate

    model = _load(file, case)
    endings = [ending for ending, wanted in ((".html", html), (".gif", gif), (".mp4", mp4)) if wanted] or [".html"]
    with progress_bars() as progress:
        truth, shown = model.simulate(inputs, progress), None
        if result is not None:
            shown = Run(*read_or_simulate(result), truth.model, truth.inputs)
        path = model.folder(out) / "animation"
        run, ghost = (shown, truth) if shown else (truth, None)
        paths = [run.animate(path.with_suffix(e), ghost, case or "", progress) for e in endings]
    wrote(paths, as_json)


@app.command()
def evaluate(
    file: File,
    state: Annotated[Path, typer.Option(help='JSON file {"t": 0.0, "q": […], "qd": […]}')],
    case: Case = None,
) -> None:
    """M, h, Q, Φ, C, γ and q̈ at one state, with inputs of zero, by every backend: JSON."""
    from ..runs.fmpy_runs.states import further_states, read_state
    from ..tasks.evaluate import evaluate as evaluate_model

    model = _load(file, case).prepared
    further = further_states(model.mechanism)
    emit_strict(evaluate_model(model, read_state(state, model.mechanism.n, len(further))))


@app.command()
def statics(file: File, case: Case = None, as_json: Json = False) -> None:
    """Equilibrium of base, beams and free joints."""
    model = _load(file, case)
    found = model.statics()
    if as_json:
        emit(found)
        return
    table = Table("coordinate", "equilibrium", "unit")
    for coordinate in model.coordinates:
        table.add_row(coordinate.name, f"{found[coordinate.name]:.9g}", coordinate.unit)
    screen.print(table)


add_linear(app)


@app.command()
def loads(file: File, case: Case = None, out: Out = None, inputs: Input = None, as_json: Json = False) -> None:
    """What the joints bear over a run: root mean square and peak, closure forces, drives; writes loads.csv."""
    from ..core.csv_file import write_csv

    model = _load(file, case)
    with progress_bars() as progress:
        summary = model.loads(inputs, progress)
    path = model.folder(out) / "loads.csv"
    write_csv(path, summary.marked_run())
    if as_json:
        emit_strict(summary.data())
        return
    screen.print(summary.table())
    for note in summary.notes():
        screen.print(note, markup=False)
    wrote([path], as_json)


@app.command()
def reactions(file: File, case: Case = None, out: Out = None, as_json: Json = False) -> None:
    """Which joint reactions a model of rigid bodies determines uniquely; with --out also writes reactions.json."""
    from ..tasks import reactions as solvability

    model = _load(file, case)
    found = model.reactions()
    if out is not None:
        from ..core.files import write_atomically
        from ..core.strict_json import strict_json

        write_atomically(out / "reactions.json", strict_json(solvability.data(found)))
    if as_json:
        emit_strict(solvability.data(found))
        return
    show(solvability.tables(model.prepared.mechanism, found), [out / "reactions.json"] if out else [])


add_to(app)
add_coupling(app)


@app.command()
def schema() -> None:
    """JSON Schema of the description, for editors."""
    from ..description import schema as description_schema

    emit(description_schema())


def _reference_results(model: Model, out: Path, fmi: str, inputs: Path | None, progress: Any) -> list[Path]:
    from ..runs.fmpy_runs.reference_results import write_reference_results

    truth = model.simulate(inputs, progress).trajectory
    return write_reference_results(model.prepared, out, fmi, truth, model.inputs(inputs))
