"""Modes over a parameter or time, tracked from value to value by their shapes."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..core.errors import MissingToolError
from ..core.files import write_all
from ..core.strict_json import strict_json
from ..core.trajectory import Array
from .modes import Complex, Mode

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

_COINCIDE = 1e-6  # Two eigenvalues count as coincident if their relative distance is at most this value.
# Modes at successive values are the same mode only if their modal assurance criterion (MAC) exceeds this value.
_ANOTHER = 0.1
# A note warns of possibly confused modes if the modal assurance criterion (MAC) is below this value.
_DOUBTFUL = 0.5
_COLUMNS = ("mode", "frequency", "damping", "damped_frequency", "real", "imaginary", "assurance")


@dataclass(frozen=True, eq=False)
class ModeTracks:
    """Modes at K values of a parameter or of time: L modes, each tracked from value to value.

    Parameters
    ----------
    along
        Name of the varied quantity: `t` for the time, or a key of the description.
    unit
        Unit of the values; empty if unknown.
    values
        Values of the varied quantity, shape (K,).
    eigenvalues
        Eigenvalues with non-negative imaginary part in 1/s, shape (K, L); NaN where a mode does not
        exist.
    assurance
        Modal assurance criterion between the mode shapes at a value and at the previous value, weighted
        by the mass matrix. It is between 0 and 1, shape (K, L), and NaN without a previous value or
        where eigenvalues coincide.
    shapes
        Complex mode shapes, rad or m, shape (K, L, n), scaled as in `Mode`.
    coordinates
        Names of the n coordinates.
    notes
        One sentence for each value at which modes may have been confused.

    Examples
    --------
    >>> import gpmelica as gp
    >>> model = gp.load("examples/four_bar_3d.toml")
    >>> tracks = model.modes_along("links.crank.mass", [1.0, 2.0], equilibrium=True)
    >>> tracks
    <ModeTracks: 1 modes along links.crank.mass, 2 values>
    >>> tracks.frequency.shape
    (2, 1)
    >>> tracks.to_dataframe()["mode"].tolist()
    [1, 1]
    """

    along: str
    unit: str
    values: Array
    eigenvalues: Complex
    assurance: Array
    shapes: Complex
    coordinates: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def frequency(self) -> Array:
        """Undamped eigenfrequencies |λ|/2π in Hz, shape (K, L)."""
        return np.asarray(np.abs(self.eigenvalues) / (2 * math.pi))

    @property
    def damping(self) -> Array:
        """Damping ratios −Re λ/|λ|, shape (K, L); 0 for λ = 0."""
        size = np.abs(self.eigenvalues)
        return np.asarray(-self.eigenvalues.real / np.where(size == 0.0, 1.0, size))

    def __repr__(self) -> str:
        K, L = self.eigenvalues.shape
        return f"<ModeTracks: {L} modes along {self.along}, {K} values>"

    def to_dataframe(self) -> DataFrame:
        """Return the modes as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            Table with one row per mode at each value of the varied quantity; the columns are those of
            `modes_along.csv`.

        Raises
        ------
        MissingToolError
            If pandas is not installed.
        """
        try:
            from pandas import DataFrame
        except ImportError:
            raise MissingToolError("to_dataframe requires pandas; run pip install pandas") from None
        return DataFrame(self._rows(), columns=[self.along, *_COLUMNS])

    def figure(self) -> Figure:
        """Plot eigenfrequencies in Hz and damping ratios over the values, one line per mode.

        Returns
        -------
        matplotlib.figure.Figure
            Figure with two panels.
        """
        from .campbell import draw

        return draw(self.label, self.values, self.eigenvalues)

    @property
    def label(self) -> str:
        """Axis label of the varied quantity, with unit."""
        return f"{self.along} in {self.unit}" if self.unit else self.along

    def data(self) -> dict[str, Any]:
        """Return the tracked modes as plain data.

        Returns
        -------
        dict
            Values that the module `json` accepts. Complex numbers are pairs [real, imaginary]. If a mode
            does not exist for a value of the varied quantity, its entries for this value are None.
        """
        return {
            "along": self.along,
            "unit": self.unit,
            "values": self.values.tolist(),
            "modes": [self._mode(k) for k in range(self.eigenvalues.shape[1])],
            "coordinates": list(self.coordinates),
            "notes": list(self.notes),
        }

    def write(self, folder: Path) -> list[Path]:
        """Write `modes_along.json`, `modes_along.csv`, `modes_along.svg` and `modes_along.png`.

        Parameters
        ----------
        folder
            Folder of the files.

        Returns
        -------
        list of Path
            Paths of the files.
        """
        from ..report.plots.style import render, styled

        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([self.along, *_COLUMNS])
        writer.writerows([["" if math.isnan(cell) else repr(cell) for cell in row] for row in self._rows()])
        with styled():
            png, svg = render(self.figure())
        contents: dict[str, str | bytes] = {
            "modes_along.json": strict_json(self.data()),
            "modes_along.csv": stream.getvalue(),
            "modes_along.svg": svg,
            "modes_along.png": png,
        }
        return write_all(folder, contents)

    def _mode(self, k: int) -> dict[str, Any]:
        values = self.eigenvalues[:, k]
        return {
            "number": k + 1,
            "frequency": _plain(self.frequency[:, k]),
            "damping": _plain(self.damping[:, k]),
            "damped_frequency": _plain(values.imag / (2 * math.pi)),
            "eigenvalue": [None if math.isnan(v.real) else [v.real, v.imag] for v in values.tolist()],
            "assurance": _plain(self.assurance[:, k]),
            "shape": [
                None if math.isnan(v.real) else [[part.real, part.imag] for part in shape]
                for v, shape in zip(values.tolist(), self.shapes[:, k].tolist(), strict=True)
            ],
        }

    def _rows(self) -> list[list[float]]:
        return [
            [
                float(value),
                k + 1,
                float(self.frequency[i, k]),
                float(self.damping[i, k]),
                float(eigenvalue.imag / (2 * math.pi)),
                float(eigenvalue.real),
                float(eigenvalue.imag),
                float(self.assurance[i, k]),
            ]
            for i, value in enumerate(self.values)
            for k, eigenvalue in enumerate(self.eigenvalues[i])
            if not np.isnan(eigenvalue)
        ]


def tracks(
    along: str, unit: str, values: Sequence[float], found: Sequence[Sequence[Mode]], masses: Sequence[Array]
) -> ModeTracks:
    """Track modes from value to value by their shapes and eigenvalues.

    The modal assurance of two shapes a and b is |aᴴMb|²/(aᴴMa bᴴMb) with the mass matrix M (Allemang
    and Brown 1982, there without M). The modal assurance is 1 for equal shapes. The modal assurance is 0
    for two different undamped modes at the same value of the varied quantity. The shapes of coincident
    eigenvalues are arbitrary mixtures. Shapes after a coincidence are therefore compared with shapes
    before the coincidence. The modal assurance of the vectors (shape, λ·shape) is also used. This modal
    assurance distinguishes modes with equal shapes but different eigenvalues, such as the two modes of
    an overdamped motion.

    Parameters
    ----------
    along, unit : str
        Varied quantity and its unit.
    values : sequence of float
        Values of the varied quantity.
    found : sequence of sequence of Mode
        Modes at each value, with the same coordinates; at least one mode in total.
    masses : sequence of ndarray, shape (n, n)
        Mass matrix at each value.
    """
    lines: list[_Line] = []
    for k, (modes, M) in enumerate(zip(found, masses, strict=True)):
        _follow(lines, k, modes, M)
    coordinates = tuple(next(mode.shape for modes in found for mode in modes))
    shape = (len(values), len(lines))
    eigenvalues = np.full(shape, complex(np.nan, np.nan))
    assurance, shapes = np.full(shape, np.nan), np.full((*shape, len(coordinates)), complex(np.nan, np.nan))
    for column, line in enumerate(lines):
        for k, (mode, alike) in line.at.items():
            eigenvalues[k, column], assurance[k, column] = mode.eigenvalue, alike
            shapes[k, column] = list(mode.shape.values())
    notes = tuple(_notes(along, values, assurance))
    return ModeTracks(along, unit, np.array(values), eigenvalues, assurance, shapes, coordinates, notes)


@dataclass
class _Line:
    """Track of one mode along the varied quantity.

    The keys of `at` are indices of the values of the varied quantity. Each entry contains the mode
    at this value, and its modal assurance. The attributes `shape` and `eigenvalue` are compared with
    the modes at the next value.
    """

    shape: Complex
    eigenvalue: complex
    at: dict[int, tuple[Mode, float]] = field(default_factory=dict)


def _follow(lines: list[_Line], k: int, modes: Sequence[Mode], M: Array) -> None:
    shapes = [np.array(list(mode.shape.values()), dtype=np.complex128) for mode in modes]
    alive = [line for line in lines if k - 1 in line.at]
    alike: Array = np.array([[_assurance(line.shape, shape, M) for shape in shapes] for line in alive])
    near = [[_nearness(line.eigenvalue, mode.eigenvalue) for mode in modes] for line in alive]
    score = alike * np.array(near)
    pairs = linear_sum_assignment(-score) if alive and modes else ((), ())
    known = {int(column): int(row) for row, column in zip(*pairs, strict=True) if score[row, column] > _ANOTHER}
    for j, (mode, shape) in enumerate(zip(modes, shapes, strict=True)):
        alone = not any(_coincide(mode, other) for other in (*modes[:j], *modes[j + 1 :]))
        if j not in known:
            lines.append(_Line(shape, mode.eigenvalue, {k: (mode, np.nan)}))
            continue
        line = alive[known[j]]
        line.at[k] = (mode, float(alike[known[j], j]) if alone else np.nan)
        line.eigenvalue = mode.eigenvalue
        if alone:
            line.shape = shape


def _assurance(a: Complex, b: Complex, M: Array) -> float:
    sizes = float((a.conj() @ M @ a).real * (b.conj() @ M @ b).real)
    return min(float(np.abs(a.conj() @ M @ b)) ** 2 / sizes, 1.0) if sizes > 0.0 else 0.0


def _nearness(a: complex, b: complex) -> float:
    """Return the similarity of two eigenvalues a and b, which is 1 if they are equal.

    The similarity is the modal assurance of the vectors (1, a/s) and (1, b/s) with s² = |a||b|.
    """
    if a == b:
        return 1.0
    s = abs(a) * abs(b)
    if s == 0.0:
        return 0.0
    return float(abs(1.0 + a.conjugate() * b / s) ** 2 / ((1.0 + abs(a) / abs(b)) * (1.0 + abs(b) / abs(a))))


def _coincide(a: Mode, b: Mode) -> bool:
    return abs(a.eigenvalue - b.eigenvalue) <= _COINCIDE * abs(a.eigenvalue)


def _notes(along: str, values: Sequence[float], assurance: Array) -> list[str]:
    least = float(np.nanmin(np.append(assurance, 1.0)))
    if least >= _DOUBTFUL:
        return []
    k, mode = (int(place) for place in np.argwhere(assurance == least)[0])
    count = int(np.count_nonzero(assurance < _DOUBTFUL))
    return [
        f"modal assurance below {_DOUBTFUL} at {count} step(s) between values, the smallest {least:.2g} for mode"
        f" {mode + 1} from {along} = {values[k - 1]:g} to {values[k]:g}: curves may continue as other modes there;"
        " choose more closely spaced values"
    ]


def _plain(values: Array) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]
