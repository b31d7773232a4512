"""Search for omc, and advice on its installation."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ....core.errors import MissingToolError

_DOCKER = "docker:"
_PROBE = 30.0  # s, for questions that take no time
# For the C of FMUs. In the function that lists all variables gcc would look for vectors, in a time that goes with
# the square of their number. What fills linear systems is to be optimised, which omc forbids. A loop over a table
# calls all equations; processors predict its targets better if the loop is unrolled.
_C_FLAGS = "-fno-tree-slp-vectorize -funroll-loops -DOMC_DISABLE_OPT="
_TOOLCHAIN = Path(__file__).parents[2] / "compilers" / "release.cmake"  # heeded by CMake from 3.21 on
_HOW = {
    "Linux": "the packages of https://openmodelica.org, or: conda install -c conda-forge openmodelica",
    "Windows": "the installer of https://openmodelica.org, which sets OPENMODELICAHOME",
    "Darwin": "the docker image, as there are no current packages for macOS",
}
_IMAGE = "openmodelica/openmodelica:v1.26.3-minimal"


@dataclass(frozen=True)
class Omc:
    """An OpenModelica compiler.

    program  path of the executable; its name inside the image where there is one
    image    docker image, or None for an omc on this machine
    """

    program: str
    image: str | None = None

    def __str__(self) -> str:
        return f"{_DOCKER}{self.image}" if self.image else self.program

    @property
    def environment(self) -> dict[str, str]:
        """Variables that omc needs: its own tools come first, and the user's flags for C last."""
        if self.image:
            return {}
        path = os.pathsep.join((str(Path(self.program).parent), os.environ.get("PATH", "")))
        flags = f"{_C_FLAGS} {os.environ.get('CFLAGS', '')}".rstrip()
        toolchain = os.environ.get("CMAKE_TOOLCHAIN_FILE", str(_TOOLCHAIN))
        return {"PATH": path, "CFLAGS": flags, "CMAKE_TOOLCHAIN_FILE": toolchain}

    def command(self, folder: Path) -> list[str]:
        """Return the command that runs omc in a folder; arguments follow."""
        # messages are read by their English names
        if self.image is None:
            return [self.program, "--locale=C"]
        options = ["--rm", "--init", *user(), *mounted(folder)]
        return ["docker", "run", *options, self.image, self.program, "--locale=C"]

    def version(self) -> str:
        """First line of what omc says of itself. Raises MissingToolError if it does not start."""
        answer = _ask([*self.command(Path.cwd()), "--version"], self.environment)
        if answer is None or answer.returncode != 0 or not answer.stdout.strip():
            said = answer.stderr.strip()[:200] if answer else "nothing"
            raise MissingToolError(f"{self} does not answer to --version; it says: {said}")
        return answer.stdout.strip().splitlines()[0]


def user() -> list[str]:
    """Docker's option to work under our own user, so that files are ours."""
    return [] if platform.system() == "Windows" else ["--user", f"{os.getuid()}:{os.getgid()}"]


def mounted(folder: Path) -> list[str]:
    """Docker's options to see a folder under its own name and to work there, with our flags for C."""
    variables = ("--env", f"HOME={folder}", "--env", f"CFLAGS={_C_FLAGS}")
    return ["--volume", f"{folder}:{folder}", "--workdir", str(folder), *variables]


def find(omc: str | None = None) -> Omc:
    """The omc to use: the given one, that of OPENMODELICAHOME, or the first on PATH.

    Parameters:
        omc  path of the executable, or `docker:IMAGE`

    Raises MissingToolError, which tells how to get one.
    """
    if omc is not None and omc.startswith(_DOCKER):
        return _in_docker(omc.removeprefix(_DOCKER))
    if omc is not None:
        found = shutil.which(omc)
        if found is None:
            raise MissingToolError(f"--omc: expected an executable or docker:IMAGE, got {omc!r}; it cannot be run")
        return Omc(str(Path(found).absolute()))
    home = os.environ.get("OPENMODELICAHOME")
    candidates = [str(Path(home) / "bin" / "omc")] if home else []
    for candidate in (*candidates, "omc"):
        if found := shutil.which(candidate):
            return Omc(str(Path(found).absolute()))
    missing = f"omc, OpenModelica's compiler, is missing: no {_looked(candidates)}"
    raise MissingToolError(f"{missing}\n{_how()}")


def _looked(candidates: list[str]) -> str:
    at_home = f"{candidates[0]} (OPENMODELICAHOME)" if candidates else "OPENMODELICAHOME"
    return f"{at_home} and no omc on PATH"


def _how() -> str:
    system = platform.system()
    return (
        f"get it on {system} from {_HOW.get(system, _HOW['Linux'])}\n"
        f"or in docker, anywhere: docker pull {_IMAGE}, then --omc {_DOCKER}{_IMAGE}\n"
        "or do without it: --compiler native"
    )


def _in_docker(image: str) -> Omc:
    if shutil.which("docker") is None:
        raise MissingToolError(
            f"--omc {_DOCKER}{image}: docker is not installed; see https://docs.docker.com/engine"
        )
    answer = _ask(["docker", "image", "inspect", "--format", "{{.Id}}", image], {})
    if answer is None or answer.returncode != 0:
        said = answer.stderr.strip()[:300] if answer else "docker does not answer"
        raise MissingToolError(f"--omc {_DOCKER}{image}: {said}\nget the image with: docker pull {image}")
    return Omc("omc", image)


def _ask(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=_PROBE, check=False, env=os.environ | environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
