"""Records of options: their form on the command line and as arguments of functions."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

import gpmelica as gp
from gpmelica.cli.generated import command
from gpmelica.core.progress import renamed, silent
from gpmelica.options import coupling, exchange, linear, many, model
from gpmelica.options.keywords import taking
from gpmelica.options.option import Option, entries

METHODS = {
    "build": model.BuildOptions,
    "simulate": model.SimulateOptions,
    "run": model.RunOptions,
    "loads": model.MotionOptions,
    "linearize": linear.LinearizeOptions,
    "modes": linear.StateOptions,
    "modes_along": linear.ModesAlongOptions,
}
RECORDS = [
    kind
    for module in (coupling, exchange, linear, many, model)
    for kind in vars(module).values()
    if inspect.isclass(kind) and kind.__module__ == module.__name__
]


@dataclass(frozen=True)
class Painting:
    """Options of a painter.

    Parameters
    ----------
    colour
        Colour of the wall.
    coats
        Number of coats.
    told
        Function that is called with the colour.
    """

    colour: Annotated[str, Option("colour of the wall", unset="white")]
    coats: Annotated[int, Option("number of coats", "--layers", least=1)] = 2
    _: KW_ONLY
    glossy: Annotated[bool, Option("with gloss")] = True
    told: Callable[[str], None] | None = None


@dataclass(frozen=True)
class Wall:
    """Wall to paint."""

    name: Annotated[Path, Option("the wall", positional=True)]


@taking(Painting)
def painted(wall: str, options: Painting) -> tuple[str, Painting]:
    """Paint a wall."""
    return wall, options


def test_a_function_takes_the_fields_of_its_record() -> None:
    assert painted("north", "red", glossy=False) == ("north", Painting("red", 2, glossy=False))
    named: Any = painted
    assert named(wall="north", colour="red", coats=3) == ("north", Painting("red", 3))
    with pytest.raises(TypeError, match="gloss"):
        named("north", "red", gloss=False)
    with pytest.raises(TypeError, match="too many positional"):
        named("north", "red", 1, False)
    assert list(inspect.signature(painted).parameters) == ["wall", "colour", "coats", "glossy", "told"]
    assert (inspect.getdoc(painted) or "").startswith("Paint a wall.\n\nParameters\n----------\ncolour\n")


def test_a_command_has_the_options_of_its_records() -> None:
    """Fields without a form on the command line keep their default values; bounds are checked."""
    app, seen = typer.Typer(), list[Any]()

    @command(app)
    def paint(context: typer.Context, wall: Wall, options: Painting) -> None:
        """Paint."""
        seen.append((context.info_name, wall, options))

    def status(*words: str) -> int:
        return CliRunner().invoke(app, words).exit_code

    assert status("north") == 0
    assert seen.pop() == ("paint", Wall(Path("north")), Painting("white"))
    assert status("north", "--colour", "red", "--layers", "3", "--no-glossy") == 0
    assert seen.pop()[1:] == (Wall(Path("north")), Painting("red", 3, glossy=False))
    assert [status(), status("north", "--layers", "0"), status("north", "--told", "me")] == [2, 2, 2]
    assert not seen


@pytest.mark.parametrize("name", METHODS)
def test_python_and_the_command_line_have_the_same_options(name: str) -> None:
    """Names, order and default values of a method are those of the record from which the command is generated."""
    parameters = list(inspect.signature(getattr(gp.Model, name)).parameters.values())[1:]
    expected = list(inspect.signature(METHODS[name]).parameters.values())
    assert [(p.name, p.default, p.kind) for p in parameters] == [(p.name, p.default, p.kind) for p in expected]
    assert not any("Option(" in str(p) for p in parameters)
    text = inspect.getdoc(getattr(gp.Model, name)) or ""
    for parameter in parameters:
        assert f"\n{parameter.name}\n" in text or f"{parameter.name}, " in text


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_every_option_has_help_and_no_name_is_used_twice(record: type) -> None:
    found = list(entries(record))
    assert found
    assert all(entry.option.help for entry in found)
    assert len({entry.name for entry in found}) == len(found)


def test_records_go_to_other_processes() -> None:
    options = model.RunOptions("out", tolerance=1e-3)
    assert pickle.loads(pickle.dumps(options)) == options


def test_progress_under_another_name() -> None:
    told: list[tuple[str, float]] = []
    renamed(lambda *now: told.append(now), "FMU by omc: {}")("compiling", 0.5)
    renamed(lambda *now: told.append(now), "drawing")("the first figure", 1.0)
    assert told == [("FMU by omc: compiling", 0.5), ("drawing", 1.0)]
    renamed(silent, "nothing: {}")("done", 1.0)
