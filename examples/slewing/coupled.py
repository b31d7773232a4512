"""Pack the slewing crane, its electric drive and its sampled controller into an SSP archive.

    gpmelica build slewing.toml --case coupled --out plant
    pythonfmu build -f electric_drive.py --handle-state
    pythonfmu build -f sampled_controller.py --handle-state
    python coupled.py plant/SlewingCrane.fmu ElectricDrive.fmu SampledController.fmu
    gpmelica cosim SlewingDrive.ssp --compare

The archive follows SSP 1.0: the description coupled.ssd as `SystemStructure.ssd`, and the FMUs in `resources`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from zipfile import ZipFile


def pack(path: Path, fmus: list[Path]) -> None:
    """Write the archive at the given path."""
    with ZipFile(path, "w") as archive:
        archive.write(Path(__file__).with_name("coupled.ssd"), "SystemStructure.ssd")
        for fmu in fmus:
            archive.write(fmu, f"resources/{fmu.name}")


if __name__ == "__main__":
    pack(Path("SlewingDrive.ssp"), [Path(name) for name in sys.argv[1:]])
