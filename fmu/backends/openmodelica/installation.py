"""Search for the OpenModelica compiler omc, and advice on its installation."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ....core.errors import MissingToolError

_DOCKER = "docker:"
_PROBE = 30.0  # A query for a version or a docker image fails after this time, s.
# Without -fno-tree-slp-vectorize, gcc needs a time of order n² for omc's function that lists all n variables.
# Option -funroll-loops accelerates the loop in which omc's C code evaluates all equations.
# By default, omc disables optimisation of functions that fill linear systems; -DOMC_DISABLE_OPT= enables it.
_C_FLAGS = "-fno-tree-slp-vectorize -funroll-loops -DOMC_DISABLE_OPT="
# CMake 3.21 and later versions read the file that the environment variable CMAKE_TOOLCHAIN_FILE names.
_TOOLCHAIN = Path(__file__).parents[2] / "compilers" / "release.cmake"
_HOW = {
    "Linux": "the packages of https://openmodelica.org, or: conda install -c conda-forge openmodelica",
    "Windows": "the installer of https://openmodelica.org, which sets OPENMODELICAHOME",
    "Darwin": "the docker image, as there are no current packages for macOS",
}
_IMAGE = "openmodelica/openmodelica:v1.26.3-minimal"


@dataclass(frozen=True)
class Omc:
    """OpenModelica compiler, installed on this machine or in a docker image.

    Attributes
    ----------
    program : str
        Path of the executable, or its name in the docker image.
    image : str or None
        Docker image; None for an omc on this machine.
    """

    program: str
    image: str | None = None

    def __str__(self) -> str:
        return f"{_DOCKER}{self.image}" if self.image else self.program

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables for omc.

        PATH begins with omc's own folder, so that omc uses the tools there. CFLAGS contains this
        package's options and then the user's.
        """
        if self.image:
            return {}
        path = os.pathsep.join((str(Path(self.program).parent), os.environ.get("PATH", "")))
        flags = f"{_C_FLAGS} {os.environ.get('CFLAGS', '')}".rstrip()
        toolchain = os.environ.get("CMAKE_TOOLCHAIN_FILE", str(_TOOLCHAIN))
        return {"PATH": path, "CFLAGS": flags, "CMAKE_TOOLCHAIN_FILE": toolchain}

    def command(self, folder: Path) -> list[str]:
        """Return the command that starts omc in a folder.

        The caller can append further arguments to the command.
        """
        # The parser of omc's messages expects English text.
        if self.image is None:
            return [self.program, "--locale=C"]
        options = ["--rm", "--init", *user(), *mounted(folder)]
        return ["docker", "run", *options, self.image, self.program, "--locale=C"]

    def version(self) -> str:
        """Return the first line of omc's version text.

        Raises
        ------
        MissingToolError
            If omc does not start.
        """
        answer = _ask([*self.command(Path.cwd()), "--version"], self.environment)
        if answer is None or answer.returncode != 0 or not answer.stdout.strip():
            said = answer.stderr.strip()[:200] if answer else "nothing"
            raise MissingToolError(f"{self} prints no version for the option --version; its output: {said}")
        return answer.stdout.strip().splitlines()[0]


def user() -> list[str]:
    """Return docker's option for the current user, so that created files belong to this user."""
    return [] if platform.system() == "Windows" else ["--user", f"{os.getuid()}:{os.getgid()}"]


def mounted(folder: Path) -> list[str]:
    """Return docker's options that mount a folder, make it the working directory, and set CFLAGS.

    The folder has the same path inside and outside the container.
    """
    variables = ("--env", f"HOME={folder}", "--env", f"CFLAGS={_C_FLAGS}")
    return ["--volume", f"{folder}:{folder}", "--workdir", str(folder), *variables]


def find(omc: str | None = None) -> Omc:
    """Return the omc to use.

    The search order is the argument, the environment variable OPENMODELICAHOME and PATH.

    Parameters
    ----------
    omc : str, optional
        Path of the executable, or `docker:IMAGE`.

    Raises
    ------
    MissingToolError
        If no omc is found; the text contains advice on the installation.
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
    missing = f"OpenModelica's compiler omc was not found: no {_looked(candidates)}"
    raise MissingToolError(f"{missing}\n{_how()}")


def _looked(candidates: list[str]) -> str:
    at_home = f"{candidates[0]} (OPENMODELICAHOME)" if candidates else "OPENMODELICAHOME"
    return f"{at_home} and no omc on PATH"


def _how() -> str:
    system = platform.system()
    return (
        f"install omc on {system} from {_HOW.get(system, _HOW['Linux'])}\n"
        f"or use docker: docker pull {_IMAGE}, then --omc {_DOCKER}{_IMAGE}\n"
        "or build without omc: --compiler native"
    )


def _in_docker(image: str) -> Omc:
    if shutil.which("docker") is None:
        raise MissingToolError(
            f"--omc {_DOCKER}{image}: docker is not installed; see https://docs.docker.com/engine"
        )
    answer = _ask(["docker", "image", "inspect", "--format", "{{.Id}}", image], {})
    if answer is None or answer.returncode != 0:
        said = answer.stderr.strip()[:300] if answer else "docker does not answer"
        raise MissingToolError(
            f"--omc {_DOCKER}{image}: docker could not run this image: {said}\n"
            f"get the image with: docker pull {image}"
        )
    return Omc("omc", image)


def _ask(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=_PROBE, check=False, env=os.environ | environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
