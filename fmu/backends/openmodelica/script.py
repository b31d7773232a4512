"""Connection to the OpenModelica compiler omc that runs omc once per statement, with a script.

Scripts are used if omc refuses an interactive session.
"""

from __future__ import annotations

from pathlib import Path

from .answers import Answer, of_script
from .deadline import Deadline
from .errors import OmcDied
from .installation import Omc
from .log import Log
from .process import Child


class Script:
    """Connection to omc that runs a script for each statement.

    A script consists of all earlier statements that have a lasting effect, followed by the new
    statement. Each run costs omc's start-up time. Long operations without a lasting effect, such as an
    export, are not repeated. A single script for all statements would have a disadvantage: after a
    failed `loadFile`, omc would continue and search for the class on the network.
    """

    name = "script"

    def __init__(self, omc: Omc, folder: Path, deadline: Deadline, log: Log) -> None:
        self._omc, self._folder, self._deadline, self._log = omc, folder, deadline, log
        self._kept: list[str] = []
        self._runs = 0

    def ask(self, statement: str, *, keep: bool = False) -> Answer:
        """Return omc's answer to a statement.

        Raises
        ------
        OmcTimeout
            If omc exceeds the time limit.
        OmcDied
            If omc ends without an answer.
        """
        self._runs += 1
        script = self._folder / f"statement_{self._runs}.mos"
        script.write_text("".join(f"{line};\n" for line in (*self._kept, statement, "getErrorString()")), "utf-8")
        command = [*self._omc.command(self._folder), script.name]
        child = Child(command, self._folder, f"{script.stem}.out", self._omc.environment)
        status = child.wait(self._deadline, statement)
        answer = of_script(child.text(), len(self._kept))
        if status < 0 or answer is None:
            raise OmcDied(statement, status, f"{child.text()}\n{child.complaints()}")
        if child.complaints():
            self._log.add(f"standard error: {child.complaints()}")
        self._log.exchange(statement, answer)
        if keep:
            self._kept.append(statement)
        return answer

    def close(self) -> None:
        """Do nothing, because no omc process runs between two statements."""
