"""FMUs of the parts of a cut mechanism and of the force laws between the parts.

A force law is an FMU without states. Variables of a connection point are named `port.member`, as in
the draft of SSP 2.1 (System Structure and Parameterization).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ..analysis.system import System, assemble_system
from ..core.progress import Progress, silent
from ..core.templates import fill
from ..description import Description
from ..description.load import from_data
from ..fmu.archive import terminals
from ..fmu.archive.licences import licences
from ..fmu.backends import native
from ..fmu.compilers import binaries
from ..report.fmu_page.contents import contents
from .laws import AXES, ForceLaw
from .parts import Tables

_NAME = re.compile(r'\bname="([^"]*)"')
MEMBERS = (*AXES, *(f"v{axis}" for axis in AXES), *(f"f{axis}" for axis in AXES))


@dataclass(frozen=True)
class FmuBuilder:
    """Builder of the FMUs of a cut mechanism.

    Parameters
    ----------
    fmi : version of FMI, `2.0` or `3.0`
    march : processors to build for, as for `gpmelica build --march`
    progress : function that is called with an activity and the completed fraction
    """

    fmi: str = "2.0"
    march: str = ""
    progress: Progress = silent

    @cached_property
    def _toolchains(self) -> list[binaries.Toolchain]:
        return binaries.toolchains(self.fmi, (), self.march)

    def machine(self, tables: Tables, fmu: Path, ports: Sequence[str] = (), source: str = "description") -> System:
        """Write the FMU of a mechanism or of one of its parts, and return the equations of motion.

        Parameters
        ----------
        tables : tables of the description
        fmu : path of the FMU to write
        ports : names of points in the description on which an input `<port>_f` exerts a force
        source : name of the description file, for messages

        Raises
        ------
        DescriptionError : if the description is invalid or has no equations of motion
        """
        chain = from_data(tables, source=source)
        model = assemble_system(chain, source)
        members = {
            f"{port}_{'f_' * (member[0] == 'f')}{member[-1] if member[0] == 'f' else member}": (port, member)
            for port in ports
            for member in MEMBERS
        }
        sources = native.generate(model.native_program, chain, self.fmi)
        self._build(sources, fmu, members, contents(model, self.fmi, self._toolchains))
        return model

    def law(self, law: ForceLaw, experiment: Description, fmu: Path) -> None:
        """Write the FMU of a force law.

        The description `experiment` provides the end time, the solver tolerance and the step.
        """
        members = {f"{port}_{member}": (port, member) for port in law.ports for member in MEMBERS}
        documents = licences(self._toolchains)
        self._build(native.generate(law.program(), experiment, self.fmi), fmu, members, documents)

    def _build(
        self,
        sources: native.Sources,
        fmu: Path,
        members: Mapping[str, tuple[str, str]],
        documents: Mapping[str, str | bytes],
    ) -> None:
        """Build an FMU whose variables at connection points have names of the form `port.member`.

        The port is the connection point, and the member is one of its variables, such as `fx`. The
        argument `members` maps the present name of each variable to its port and its member.
        """
        names = {variable: f"{port}.{member}" for variable, (port, member) in members.items()}
        text = _NAME.sub(lambda found: f'name="{names.get(found[1], found[1])}"', sources.description)
        if self.fmi != "2.0" and members:
            documents = {**documents, terminals.PATH: _terminals(names, members)}
        native.build(replace(sources, description=text), fmu, self._toolchains, documents, self.progress)


def _terminals(names: Mapping[str, str], members: Mapping[str, tuple[str, str]]) -> str:
    found: dict[str, dict[str, str]] = {}
    for variable, (port, member) in members.items():
        found.setdefault(port, {})[member] = names[variable]
    return fill("fmu/archive/terminals.xml.jinja", {"terminals": found})
