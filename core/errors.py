"""Every error that gpmelica raises on purpose.

GpmelicaError
├── DescriptionError      the input file is wrong (exit status 2)
├── MissingToolError      a compiler or package is not installed (exit status 3)
├── SolveError            a statics, assembly or acceleration solve failed
├── UnknownNameError      there is no signal or parameter of this name (exit status 2); a KeyError, too
└── BuildError            generated source did not compile
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class GpmelicaError(Exception):
    """Root of all errors; its text says what, where, what was expected, and what to do."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong with an input.

    Parameters:
        where    key path inside the file, such as `links[3].mass`
        message  what was expected, what was got, what to do
    """

    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class DescriptionError(GpmelicaError):
    """A description, state or result file that cannot be used; holds all problems found.

    problems   all of them; a text is that of the only one, which is nowhere in particular
    """

    def __init__(self, source: str, problems: Sequence[Problem] | str) -> None:
        self.source = source
        self.problems = (Problem("", problems),) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(f"{source}: {problem}" for problem in self.problems))

    def __reduce__(self) -> tuple[type[DescriptionError], tuple[str, tuple[Problem, ...]]]:
        """Return the constructor and its arguments, for other processes."""
        return type(self), (self.source, self.problems)


class MissingToolError(GpmelicaError):
    """A tool that the command needs is not there; the text says how to get it."""


class SolveError(GpmelicaError):
    """A numerical solve failed; the text names the time and the coordinates."""


class UnknownNameError(GpmelicaError, KeyError):
    """A name that is not there; the text says which are."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would quote it


class BuildError(GpmelicaError):
    """A compiler refused generated source; the text carries its output."""
