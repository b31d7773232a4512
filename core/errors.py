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
    """Base class of all gpmelica errors; the text names the place, the expectation, the finding
    and a remedy.
    """


@dataclass(frozen=True)
class Problem:
    """Problem of an input file.

    Attributes
    ----------
    where : str
        Key path in the file, such as `links[3].mass`.
    message : str
        What was expected, what was found and what to do.
    """

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class DescriptionError(GpmelicaError):
    """Error for an invalid description, state or result file, with all problems that were found.

    Parameters
    ----------
    source : str
        Name of the file.
    problems : sequence of Problem or str
        All problems; a string is a single problem without a key path.
    """

    def __init__(self, source: str, problems: Sequence[Problem] | str) -> None:
        self.source = source
        self.problems = (Problem("", problems),) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(f"{source}: {problem}" for problem in self.problems))

    def __reduce__(self) -> tuple[type[DescriptionError], tuple[str, tuple[Problem, ...]]]:
        """Return the constructor and its arguments, which pickle uses."""
        return type(self), (self.source, self.problems)


class MissingToolError(GpmelicaError):
    """Error for a required tool that is not installed; the text explains its installation."""


class SolveError(GpmelicaError):
    """Error for a numerical solve that failed; the text names the time and the coordinates."""


class UnknownNameError(GpmelicaError, KeyError):
    """Error for an unknown name; the text lists the known names."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would add quotation marks


class BuildError(GpmelicaError):
    """Error for generated source code that a compiler rejected; the text contains the compiler's
    output.
    """
