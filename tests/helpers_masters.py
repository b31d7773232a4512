"""The slewing example closed by masters that others wrote: its plant, its controller, and archives of both."""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from helpers_backends import Once

from gpmelica.analysis.system import System, assemble_system
from gpmelica.description.load import from_data
from gpmelica.fmu.backends import openmodelica
from gpmelica.fmu.backends.openmodelica import Omc
from gpmelica.tasks.build import build_native

SLEWING = Path(__file__).parents[1] / "examples" / "slewing"
PACKAGES = {"FMPy": "fmpy", "libcosim": "libcosimpy.CosimExecution", "ecos": "ecospy"}
BUILDERS = {"2.0": ("pythonfmu", "controller_fmi2.py"), "3.0": ("pythonfmu3", "controller.py")}


def masters() -> ModuleType:
    """The example's masters.py."""
    return _module(SLEWING / "masters.py")


def need_master(name: str) -> None:
    """Skip the test, with the reason, where a master's wheel is not installed or does not load."""
    try:
        if name == "ecos":
            masters().load_tbb()
        importlib.import_module(PACKAGES[name])
    except (ImportError, OSError, StopIteration) as error:
        pytest.skip(f"{name} does not load here: {error}")


def slewing(case: str) -> System:
    """A case of the example with a rigid boom, which compiles in a few seconds."""
    data = tomllib.loads((SLEWING / "slewing.toml").read_text(encoding="utf-8"))
    boom = next(link for link in data["links"] if link["name"] == "boom")
    boom["beam"]["elements"] = 1
    return assemble_system(from_data(data, case))


_APART = """
import importlib.util, json, os, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("masters", sys.argv[1])
masters = importlib.util.module_from_spec(spec)
spec.loader.exec_module(masters)
master, archive, stop, names, *steps = sys.argv[2:]
for step in steps:
    time, signals = masters.MASTERS[master](Path(archive), float(step), float(stop), names.split())
    print("found", json.dumps([time.tolist(), *(signals[name].tolist() for name in names.split())]), flush=True)
os._exit(0)
"""


def run_apart(
    master: str, archive: Path, steps: Sequence[float], stop: float, names: Sequence[str]
) -> list[np.ndarray]:
    """Times, s, and values of n signals, shape (1 + n, N), for each communication step.

    In a process of its own that ends without its exit functions: pythonfmu3's controllers read freed memory there.
    """
    command = [sys.executable, "-c", _APART, str(SLEWING / "masters.py"), master, str(archive), str(stop)]
    words = [*command, " ".join(names), *map(str, steps)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("found ")]
    return [np.array(json.loads(line.removeprefix("found "))) for line in lines]


_ALONE = """<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription name="Alone" version="1.0"
    xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
    xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon">
  <ssd:System name="System">
    <ssd:Elements>
      <ssd:Component name="Plant" type="application/x-fmu-sharedlibrary" source="resources/Plant.fmu">
        <ssd:Connectors>{connectors}</ssd:Connectors>
      </ssd:Component>
    </ssd:Elements>
  </ssd:System>
</ssd:SystemStructureDescription>
"""


def alone(fmu: Path, names: Iterable[str], folder: Path) -> Path:
    """Archive of an FMU and nothing else; names of its outputs.

    `write_ssp` leads the outputs out of the system, and such systems libcosim and ecos do not take.
    """
    connectors = "".join(
        f'<ssd:Connector name="{name}" kind="output"><ssc:Real/></ssd:Connector>' for name in names
    )
    path = folder / "Alone.ssp"
    with ZipFile(path, "w") as archive:
        archive.writestr("SystemStructure.ssd", _ALONE.format(connectors=connectors))
        archive.write(fmu, "resources/Plant.fmu")
    return path


def plant(once: Once, fmi: str, omc: Omc | None = None, case: str = "plant") -> Path:
    """The plant as an FMU of a version, native or by omc."""

    def build(folder: Path) -> None:
        if omc is None:
            build_native(slewing(case), folder, fmi=fmi)
        else:
            openmodelica.build(slewing(case), folder, fmi=fmi, omc=omc)

    return once(f"slewing_{case}_{fmi}_{'omc' if omc else 'native'}", build) / "SlewingCrane.fmu"


def controller(fmi: str, folder: Path, script: str | None = None) -> Path:
    """The example's controller, or another script's, as an FMU; skips where pythonfmu has no binary."""
    package, usual = BUILDERS[fmi]
    builder: Any = pytest.importorskip(package).FmuBuilder
    if not builder.has_binary():
        pytest.skip(f"{package} has no binary for this platform")
    try:
        return Path(
            builder.build_FMU(SLEWING / (script or usual), dest=folder, project_files=[SLEWING / "law.py"])
        )
    finally:
        sys.modules.pop("law", None)  # imported from a folder that is gone


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"slewing_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
