"""The slewing example closed by masters that others wrote: its plant, its controller, and archives of both."""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from helpers_backends import Once

from gpmelica.fmu.backends.backend import build_native
from gpmelica.generator.description.load import from_data
from gpmelica.prepared import Prepared, prepare

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


def slewing(case: str) -> Prepared:
    """A case of the example with a rigid boom, which compiles in a few seconds."""
    data = tomllib.loads((SLEWING / "slewing.toml").read_text(encoding="utf-8"))
    boom = next(link for link in data["links"] if link["name"] == "boom")
    boom["beam"]["elements"] = 1
    return prepare(from_data(data, case))


_APART = """
import importlib.util, json, os, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("masters", sys.argv[1])
masters = importlib.util.module_from_spec(spec)
spec.loader.exec_module(masters)
master, archive, stop, name, *steps = sys.argv[2:]
for step in steps:
    time, signals = masters.MASTERS[master](Path(archive), float(step), float(stop), [name])
    print("found", json.dumps([time.tolist(), signals[name].tolist()]), flush=True)
os._exit(0)
"""


def run_apart(master: str, archive: Path, steps: Sequence[float], stop: float, name: str) -> list[np.ndarray]:
    """Times, s, and values of a signal, shape (2, N), for each communication step.

    In a process of its own that ends without its exit functions: pythonfmu3's controllers read freed memory there.
    """
    command = [sys.executable, "-c", _APART, str(SLEWING / "masters.py"), master, str(archive), str(stop), name]
    done = subprocess.run([*command, *map(str, steps)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("found ")]
    return [np.array(json.loads(line.removeprefix("found "))) for line in lines]


def plant(once: Once, fmi: str) -> Path:
    """The plant as an FMU of a version."""

    def build(folder: Path) -> None:
        build_native(slewing("plant"), folder, fmi=fmi)

    return once(f"slewing_{fmi}", build) / "SlewingCrane.fmu"


def controller(fmi: str, folder: Path) -> Path:
    """The example's controller as an FMU of a version; skips where pythonfmu has no binary."""
    package, script = BUILDERS[fmi]
    builder: Any = pytest.importorskip(package).FmuBuilder
    if not builder.has_binary():
        pytest.skip(f"{package} has no binary for this platform")
    try:
        return Path(builder.build_FMU(SLEWING / script, dest=folder, project_files=[SLEWING / "law.py"]))
    finally:
        sys.modules.pop("law", None)  # imported from a folder that is gone


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"slewing_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
