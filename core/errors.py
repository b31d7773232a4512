"""Exceptions that gpmelica raises for foreseeable errors.

GpmelicaError
├── DescriptionError      an input file is invalid (exit status 2)
├── MissingToolError      a compiler or package is not installed (exit status 3)
├── SolveError            a static, assembly or acceleration solve failed
├── UnknownNameError      no signal or parameter has this name (exit status 2); also a KeyError
└── BuildError            generated source code did not compile
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class GpmelicaError(Exception):
    """Base class of all errors that gpmelica raises deliberately.

    The message contains the place, the expected and the found value, and the remedy.

    Examples
    --------
    >>> import gpmelica as gp
    >>> try:
    ...     gp.load("examples/four_bar_3d.toml", simulation={"stop": -1.0})
    ... except gp.GpmelicaError as error:
    ...     print(type(error).__name__)
    DescriptionError
    """


@dataclass(frozen=True)
class Problem:
    """One problem of an input file or of an argument.

    Parameters
    ----------
    where
        Path of the key in the file, such as `links[3].mass`; empty if the problem concerns the whole
        file.
    message
        Expected value, found value, and remedy.

    Examples
    --------
    >>> import gpmelica as gp
    >>> print(gp.Problem("links[3].mass", "expected a number above 0, got -1.0"))
    links[3].mass: expected a number above 0, got -1.0
    """

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class DescriptionError(GpmelicaError):
    """Invalid description, state or result file, or invalid argument.

    Parameters
    ----------
    source
        File or argument that is invalid.
    problems
        All problems found, or the message of a single problem that concerns the whole file.

    Examples
    --------
    >>> import gpmelica as gp
    >>> error = gp.DescriptionError("crane.toml", [gp.Problem("gravity", "expected 3 values, got 2")])
    >>> print(error)
    crane.toml: gravity: expected 3 values, got 2
    >>> error.problems[0].where
    'gravity'
    """

    def __init__(self, source: str, problems: Sequence[Problem] | str) -> None:
        self.source = source
        self.problems = (Problem("", problems),) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(f"{source}: {problem}" for problem in self.problems))

    def __reduce__(self) -> tuple[type[DescriptionError], tuple[str, tuple[Problem, ...]]]:
        """Return the constructor and its arguments for pickling.

        Pickling sends the error from one process to another.
        """
        return type(self), (self.source, self.problems)


class MissingToolError(GpmelicaError):
    """Compiler or package that is required but not installed; the message contains the installation
    command.
    """


class SolveError(GpmelicaError):
    """Failure of a numerical solution; the message contains the time in s and the coordinates."""


class UnknownNameError(GpmelicaError, KeyError):
    """Unknown name of a signal, parameter or mode; the message contains the known names.

    Examples
    --------
    >>> import gpmelica as gp
    >>> run = gp.load("examples/four_bar_3d.toml", simulation={"stop": 0.02}).simulate()
    >>> try:
    ...     run["crank_angel"]
    ... except gp.UnknownNameError as error:
    ...     print(error)
    there is no signal 'crank_angel'; did you mean 'crank_angle'?
    """

    def __str__(self) -> str:
        return str(self.args[0])  # The method KeyError.__str__ would enclose the message in quotation marks.


class BuildError(GpmelicaError):
    """Generated source code that a compiler rejects; the message contains the compiler's output."""
