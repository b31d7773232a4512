"""Command line of gpmelica; each command calls a function of the package and prints its result."""

from __future__ import annotations

import errno
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.markup import escape
from rich.table import Table

from ..core.errors import DescriptionError, GpmelicaError, MissingToolError, UnknownNameError
from ..core.progress import Progress, renamed
from ..core.version import __version__
from ..options.common import DescribedVariant, Printed, PrintedVerdict
from ..options.exchange import NewOptions, ReactionsOptions
from ..options.model import (
    AnimateOptions,
    BuildFiles,
    BuildOptions,
    CheckOptions,
    CompareOptions,
    EvaluateOptions,
    Folder,
    ModelicaOptions,
    MotionOptions,
    RunOptions,
    SspOptions,
    ViewOptions,
)
from .console import (
    COLOURS,
    command_line,
    coverage_lines,
    emit,
    emit_strict,
    errors,
    printed,
    progress_bars,
    screen,
    show,
    show_remarks,
    verdict_table,
    write_each,
    wrote,
)
from .coupling import add_to as add_coupling
from .exchange import export_app, import_app
from .generated import command
from .linear import add_to as add_linear
from .results import add_to as add_results
from .results import show_reused
from .status import BAD_INPUT, DISAGREES, EXHAUSTED, MISSING_TOOL, OK, exit_status, load
from .studies import add_to

if TYPE_CHECKING:
    from ..api.model import Model

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Turn the description of a mechanism into readable Modelica, a verified FMU and a report.",
    epilog="Exit status: 0 ok; 1 a check or comparison failed; 2 invalid input; 3 a tool is missing;"
    " 4 disk or memory is full; 5 with --strict: the verdict is positive, but a value is questionable.",
    invoke_without_command=True,
)
app.add_typer(import_app, name="import")
app.add_typer(export_app, name="export")


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", help="print the version and exit")] = False,
) -> None:
    if version:
        sys.stdout.write(f"gpmelica {__version__}\n")
        raise typer.Exit


# An error with a listed number has its cause in the computer, e.g. a full disk, not in a path of the input.
_RESOURCES = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO}
_RESOURCES |= {errno.EMFILE, errno.ENFILE, errno.ENOMEM}


def main() -> NoReturn:
    """Run the command line and exit with one of the statuses that `--help` lists."""
    try:
        with printed():
            app(standalone_mode=True)
    except SystemExit as ended:
        if ended.code == BAD_INPUT:  # Typer has rejected the command-line arguments, so no command has run.
            from .misuse import withdraw_misused

            withdraw_misused(sys.argv[1:])
        raise
    except (DescriptionError, UnknownNameError) as error:
        _fail(BAD_INPUT, str(error))
    except MissingToolError as error:
        _fail(MISSING_TOOL, str(error))
    except GpmelicaError as error:
        _fail(DISAGREES, str(error))
    except OSError as error:
        _fail(*_file_error(error))
    except MemoryError:
        _fail(EXHAUSTED, "out of memory; the input is valid; use a computer with more memory")
    sys.exit(OK)


def _file_error(error: OSError) -> tuple[int, str]:
    text = f"{error.filename or 'file'}: {error.strerror or error}"
    if error.errno not in _RESOURCES:
        return BAD_INPUT, text
    return EXHAUSTED, f"{text}; the input is valid; free some disk space, or choose another folder by --out"


def _fail(status: int, message: str) -> NoReturn:
    errors.print(message, style="red", markup=False)
    sys.exit(status)


@command(app)
def check(source: DescribedVariant, options: CheckOptions, answer: Printed) -> None:
    """Validate a description; show bodies, coordinates, constraints and the initial state."""
    from ..description import faulty_cases

    model = load(source)
    found = model.check()
    drawn = model.draw(options.out) if options.draw else []
    faulty = {} if source.case else faulty_cases(source.file)
    if answer.as_json:
        files = {"files": [str(path) for path in drawn]} if options.draw else {}
        cases = {name: list(map(str, problems)) for name, problems in faulty.items()}
        emit(found.data() | files | ({"faulty_cases": cases} if cases else {}))
    else:
        show(found.tables(), drawn)
    if faulty:
        raise DescriptionError(str(source.file), [problem for problems in faulty.values() for problem in problems])
    raise typer.Exit(OK if found.consistent else DISAGREES)


@command(app)
def modelica(source: DescribedVariant, options: ModelicaOptions, answer: Printed) -> None:
    """Write the Modelica model Name.mo, and the script Name.mos that simulates it in OpenModelica."""
    from ..fmu.backends.backend import write_modelica

    model = load(source)
    wrote(write_modelica(model.prepared, model.folder(options.out), drives=options.drives), answer.as_json)


@command(app)
def build(source: DescribedVariant, options: BuildOptions, files: BuildFiles, answer: Printed) -> None:
    """Write the Modelica model Name.mo, the script Name.mos and the compiled Name.fmu."""
    model = load(source)
    folder = model.folder(options.out)
    with progress_bars() as progress:
        fmu = model.build(**vars(options) | {"progress": progress})
        results = _reference_results(model, folder, options.fmi, files, progress)
    wrote([folder / f"{model.name}.mo", folder / f"{model.name}.mos", fmu.path, *results], answer.as_json)
    if not answer.as_json:
        screen.print(f"{fmu.backend.name}, {fmu.compiler}: {fmu.solver}", markup=False)
    if fmu.problems:
        _fail(DISAGREES, "\n".join(["the validation by FMPy found problems in the FMU:", *fmu.problems]))


@command(app)
def ssp(source: DescribedVariant, options: SspOptions, answer: Printed) -> None:
    """Write Name.ssp: an archive with the FMU, its parameter values, and a controller or a
    placeholder for a controller.
    """
    model = load(source)
    with progress_bars() as progress:
        archive = model.ssp(**vars(options) | {"progress": renamed(progress, "compiling: {}")})
    wrote([archive.with_suffix(".fmu"), archive], answer.as_json)


@command(app)
def run(context: typer.Context, source: DescribedVariant, options: RunOptions, answer: PrintedVerdict) -> None:
    """Build the model, simulate it by all available solvers, compare the results; write report.html
    and result.json.
    """
    from ..report.findings import lines
    from ..runs.compare.result import result
    from ..tasks.verdicts import withdraw_run

    withdraw_run(source.file, source.case, options.out)
    model = load(source)
    with progress_bars() as progress:
        report = model.run(**vars(options) | {"command": command_line(context), "progress": progress})
    if answer.as_json:
        emit_strict(result(report))
    else:
        screen.print(verdict_table(report.comparisons))
        for badge, text, colour in lines(report):
            screen.print(f"[{COLOURS[colour]}]{badge}[/]: {escape(text)}")
            if colour == "amber":
                show_remarks(report.plausible)
        for name, note in report.remarks:
            screen.print("note: " + (f"{name}: " if name else "") + note, markup=False)
        screen.print(f"report: {model.folder(options.out) / 'report.html'}", markup=False)
    raise typer.Exit(exit_status(report.ok, answer.strict and bool(report.plausible)))


@command(app)
def compare(options: CompareOptions, answer: Printed) -> None:
    """Compare two result files or FMUs signal by signal."""
    from ..core.recalled import reusing
    from ..options.checks import above_zero
    from ..runs.compare.compare import compare as compare_runs
    from ..runs.compare.compare import required_complete
    from ..runs.compare.result import comparison_data, coverage_data
    from ..runs.fmpy_runs.simulate import read_or_simulate

    above_zero("tolerance", options.tolerance)
    with reusing(options.fresh):
        (a, units), (b, _) = read_or_simulate(options.first), read_or_simulate(options.second)
    outcome = compare_runs(a, b, units, options.tolerance)
    outcome = required_complete(outcome) if options.complete else outcome
    if answer.as_json:
        emit_strict(comparison_data(outcome) | coverage_data(outcome))
    else:
        table = Table("signal", "max abs error", "relative to scale")
        for name, error in sorted(outcome.rel_error.items(), key=lambda item: -item[1]):
            table.add_row(name, f"{outcome.max_abs_error[name]:.3g}", f"{error:.3g}")
        screen.print(table)
        screen.print(verdict_table([outcome], in_part=not outcome.complete))
        for line in coverage_lines(outcome):
            screen.print(line, markup=False)
        if outcome.note:
            screen.print(f"note: {outcome.note}", markup=False)
        show_reused({a.name: a.reused, b.name: b.reused})
    raise typer.Exit(OK if outcome.ok else DISAGREES)


@command(app)
def animate(source: DescribedVariant, options: AnimateOptions, answer: Printed) -> None:
    """Write an animation of the mechanism: a page that plays in a browser, or a film."""
    from ..api.results import Run
    from ..core.recalled import reusing
    from ..runs.fmpy_runs.simulate import read_or_simulate

    model = load(source)
    wanted = ((".html", options.html), (".gif", options.gif), (".mp4", options.mp4))
    endings = [ending for ending, is_wanted in wanted if is_wanted] or [".html"]
    with progress_bars() as progress:
        truth, shown = model.simulate(options.inputs, progress, fresh=options.fresh), None
        if options.result is not None:
            with reusing(options.fresh):
                shown = Run(*read_or_simulate(options.result), truth.model, truth.inputs)
        path = model.folder(options.out) / "animation"
        motion, ghost = (shown, truth) if shown else (truth, None)
        written = write_each(
            [path.with_suffix(ending) for ending in endings],
            lambda target: motion.animate(target, ghost, source.case or "", progress, live=options.live),
        )
    if not answer.as_json:
        show_reused({run.name: run.reused for run in (truth, shown) if run is not None})
    raise typer.Exit(written.show(answer.as_json))


@command(app)
def view(source: DescribedVariant, options: ViewOptions) -> None:
    """Show the mechanism in a local web page, which updates whenever the description file is saved."""
    from ..preview import view as preview

    def say(text: str) -> None:
        screen.print(text, markup=False, soft_wrap=True)
        # Output to a pipe is buffered; without a flush, a script would not receive the address.
        sys.stdout.flush()

    preview(source.file, source.case, options.port, options.browser, say)


@command(app)
def evaluate(source: DescribedVariant, options: EvaluateOptions) -> None:
    """Print mass matrix, forces, constraints and each backend's accelerations at one state as JSON."""
    from ..runs.fmpy_runs.states import further_states, read_state
    from ..tasks.evaluate import evaluate as evaluate_model

    model = load(source).prepared
    further = [*further_states(model).values()]
    emit_strict(evaluate_model(model, read_state(options.state, model.mechanism.n, further)))


@command(app)
def statics(source: DescribedVariant, answer: Printed) -> None:
    """Find the static equilibrium of the base, the beams and all joints that are not locked."""
    model = load(source)
    found = model.statics()
    if answer.as_json:
        emit(found)
        return
    table = Table("coordinate", "equilibrium", "unit")
    for coordinate in model.coordinates:
        table.add_row(coordinate.name, f"{found[coordinate.name]:.9g}", coordinate.unit)
    screen.print(table)


add_linear(app)


@command(app)
def loads(source: DescribedVariant, folder: Folder, options: MotionOptions, answer: Printed) -> None:
    """Compute root mean squares and peaks of joint reactions, drive efforts, support forces and loop-closure
    forces; write loads.csv.
    """
    from ..core.csv_file import write_csv

    model = load(source)
    with progress_bars() as progress:
        summary = model.loads(**vars(options) | {"progress": progress})
    path = model.folder(folder.out) / "loads.csv"
    write_csv(path, summary.marked_run())
    if answer.as_json:
        emit_strict(summary.data())
        return
    screen.print(summary.table())
    others = summary.other_table()
    if others.row_count:
        screen.print(others)
    for note in summary.notes():
        screen.print(note, markup=False)
    show_reused({summary.run.name: summary.run.reused})
    wrote([path], answer.as_json)


@command(app)
def reactions(source: DescribedVariant, options: ReactionsOptions, answer: Printed) -> None:
    """Show which joint reactions of a rigid-body model are unique; with --out also write
    reactions.json.
    """
    from ..core.files import write_atomically
    from ..core.strict_json import strict_json
    from ..tasks import reactions as solvability

    model = load(source)
    found = model.reactions()
    paths = [] if options.out is None else [options.out / "reactions.json"]
    for path in paths:
        write_atomically(path, strict_json(solvability.data(found)))
    if answer.as_json:
        emit_strict(solvability.data(found))
        return
    show(solvability.tables(model.prepared.mechanism, found), paths)


add_results(app)
add_to(app)
add_coupling(app)


@command(app, "new")
def new(options: NewOptions, answer: Printed) -> None:
    """Write a commented template of a description for your own mechanism, or copy an example."""
    from ..tasks.new import copy_example, write_start

    if options.name is None:
        wrote(copy_example(options.kind, options.out), answer.as_json)
    else:
        wrote([write_start(options.kind, options.name, options.out)], answer.as_json)


@app.command()
def schema() -> None:
    """Print the JSON Schema of descriptions, for editors."""
    from ..description import schema as description_schema

    emit(description_schema())


def _reference_results(model: Model, out: Path, fmi: str, files: BuildFiles, progress: Progress) -> list[Path]:
    from ..runs.fmpy_runs.reference_results import write_reference_results

    if not files.reference_results:
        return []
    truth = model.simulate(files.inputs, progress).trajectory
    return write_reference_results(model.prepared, out, fmi, truth, model.inputs(files.inputs))
