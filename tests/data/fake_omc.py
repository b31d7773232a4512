"""A stand-in for omc, for tests of what goes wrong: says what a real one (1.28-dev) says, in scripts and sessions.

The variable FAKE_OMC names what it is to do, separated by commas:

refuse      no session, as for root              silent   a session that never opens its port
syntax      loadFile fails                       unknown  checkModel fails, at line FAKE_OMC_LINE
unbalanced  too few equations for FAKE_OMC_VARIABLE       fails    the C compiler fails
            of line FAKE_OMC_LINE: the export says so
recovers    an error is told, the FMU is there   euler    the CVODE flag is lost
hang        the build never ends, nor does a child of it
die         a crash during the build             lost     it ends between two statements
fmi2        no FMI 3.0

FAKE_OMC_FMU is an FMU to hand out, else it has FAKE_OMC_INDICATORS event indicators; FAKE_OMC_TRACE is a file for
the statements and for the processes to be ended.
"""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import zmq

CONTENT_2 = '<ModelExchange completedIntegratorStepNotNeeded="false"/>'
# with a state whose start value is a parameter: `exact`, but no start
CONTENT_3 = (
    '<ModelExchange needsCompletedIntegratorStep="true"/>'
    '<Float64 name="upper_angle_state" causality="local" initial="exact" nominal="1.0" unit="rad"/>'
)
VERSION = "OpenModelica v1.28.0-dev-418-fake"
ROOT = """Error: You are trying to run OpenModelica as a server using the root user.
This is a very bad idea:
* The socket interface does not authenticate the user.
* OpenModelica allows execution of arbitrary commands."""
RECORD = """record OpenModelica.Scripting.ErrorMessage
    info = record OpenModelica.Scripting.SourceInfo
    filename = "{file}",
    readonly = false,
    lineStart = {line},
    columnStart = {column},
    lineEnd = {line},
    columnEnd = {column}
end OpenModelica.Scripting.SourceInfo;,
    message = "{text}",
    kind = .OpenModelica.Scripting.ErrorKind.translation,
    level = .OpenModelica.Scripting.ErrorLevel.{level},
    id = 5
end OpenModelica.Scripting.ErrorMessage;"""


def behaves(how: str) -> bool:
    return how in os.environ.get("FAKE_OMC", "").split(",")


def trace(text: str) -> None:
    if "FAKE_OMC_TRACE" in os.environ:
        with Path(os.environ["FAKE_OMC_TRACE"]).open("a", encoding="utf-8") as stream:
            stream.write(text + "\n")


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Compiler:
    """Answers statements; keeps its messages until they are asked for."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, str, str, int]] = []
        self.loaded = ""
        self.flags = ""

    def say(self, level: str, text: str, file: str = "", line: int = 0) -> None:
        self.messages.append((level, text, file, line))

    def answer(self, statement: str) -> str:
        """Value of a statement, as omc prints it."""
        trace(statement)
        name, _, rest = statement.partition("(")
        arguments = re.findall(r'"([^"]*)"', rest)
        match name:
            case "getVersion":
                return quoted(VERSION)
            case "setCommandLineOptions":
                self.flags = arguments[0]
                return "true"
            case "loadFile":
                return self.load(arguments[0])
            case "checkModel":
                return quoted(self.check(rest.rstrip(")")))
            case "buildModelFMU":
                version, _, prefix = arguments
                return quoted(self.build(rest.partition(",")[0], version, prefix))
            case "getErrorString":
                return quoted(self.error_string())
            case "getMessagesStringInternal":
                return self.records()
        return ""

    def load(self, file: str) -> str:
        if behaves("lost"):
            sys.exit(0)
        if behaves("syntax"):
            self.say("error", "Missing token: SEMICOLON", str(Path(file).resolve()), 3)
            return "false"
        self.loaded = file
        return "true"

    def check(self, model: str) -> str:
        if not self.loaded:
            self.say("error", "Curl error 6: Could not resolve host: libraries.openmodelica.org")
            self.say("error", f"Class {model} not found in scope <top>.")
            return ""
        if behaves("unknown"):
            line = int(os.environ["FAKE_OMC_LINE"])
            text = f'Variable z not found in scope {model}, "as it were".'
            self.say("error", text, str(Path(self.loaded).resolve()), line)
            return ""
        equations = 960 if behaves("unbalanced") else 961
        return (
            f"Check of {model} completed successfully.\n"
            f"Class {model} has {equations} equation(s) and 961 variable(s).\n"
            "367 of these are trivial equation(s)."
        )

    def build(self, model: str, version: str, prefix: str) -> str:
        if not self.check(model):
            return ""
        if behaves("fmi2") and version == "3.0":
            self.say("error", "Unknown FMU version 3.0. Only version 1.0 & 2.0 are supported.")
            return ""
        if behaves("unbalanced"):
            self.say("error", "Too few equations, under-determined system.")
            line, variable = int(os.environ["FAKE_OMC_LINE"]), os.environ["FAKE_OMC_VARIABLE"]
            text = f"Variable {variable} does not have any remaining equation to be solved in."
            self.say("warning", text, str(Path(self.loaded).resolve()), line)
            return ""
        if behaves("hang"):
            child = subprocess.Popen(["sleep", "300"])
            trace(f"pid {os.getpid()}\npid {child.pid}")
            time.sleep(300)
        if behaves("die"):
            os.kill(os.getpid(), signal.SIGSEGV)
        if behaves("fails") or (version == "3.0" and "cvode" in self.flags):
            log = "cc -c Crane.c\nfmi-export/fmu2_model_interface.h: No such file or directory\nmake: *** Error 1"
            Path(f"{prefix}.log").write_text(log)
            self.say("error", f"Error building simulator. Build log: {log}")
            return ""
        if behaves("recovers"):
            self.say("error", "Internal error in a module that is not needed")
        self.say("notification", "Building FMU for platform 'static' (1/1).")
        Path(f"{prefix}.fmu").write_bytes(self.fmu(prefix, version))
        return str(Path(f"{prefix}.fmu").resolve())

    def fmu(self, prefix: str, version: str) -> bytes:
        given, buffer = os.environ.get("FAKE_OMC_FMU"), io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            if given:
                with zipfile.ZipFile(given) as source:
                    for name in source.namelist():
                        archive.writestr(name, source.read(name))
            else:
                indicators = os.environ.get("FAKE_OMC_INDICATORS", "0")
                content = CONTENT_3 if version == "3.0" else CONTENT_2
                text = (
                    f'<fmiModelDescription modelName="{prefix}" numberOfEventIndicators="{indicators}">'
                    f"{content}</fmiModelDescription>"
                )
                archive.writestr("modelDescription.xml", text)
            if "s:cvode" in self.flags and not behaves("euler"):
                archive.writestr(f"resources/{prefix}_flags.json", '{\n  "s" : "cvode"\n}')
        return buffer.getvalue()

    def error_string(self) -> str:
        lines = []
        for level, text, file, line in self.messages:
            place = f"[{file}:{line}:5-{line}:18:writable] " if file else ""
            lines.append(f"{place}{level.capitalize()}: {text}\n")
        self.messages.clear()
        return "".join(lines)

    def records(self) -> str:
        records = [
            RECORD.format(
                file=file, line=line, column=5 if line else 0, text=text.replace('"', '\\"'), level=level
            )
            for level, text, file, line in self.messages
        ]
        self.messages.clear()
        return "{" + ", ".join(records) + "}\n"


def run_script(script: Path) -> None:
    """Every value on a line of its own; exit status 0 whatever happens."""
    compiler = Compiler()
    for line in script.read_text("utf-8").splitlines():
        sys.stdout.write(compiler.answer(line.rstrip(";")) + "\n")
        sys.stdout.flush()


def serve(key: str) -> None:
    """omc's server: a port file, then statements over ZeroMQ until `quit()`."""
    if behaves("refuse"):
        sys.stderr.write(f"{ROOT}\nExecution failed!\n")
        sys.exit(1)
    if behaves("silent"):
        trace(f"pid {os.getpid()}")
        time.sleep(300)
    socket = zmq.Context.instance().socket(zmq.REP)
    port = socket.bind_to_random_port("tcp://127.0.0.1")
    file = Path(tempfile.gettempdir()) / f"openmodelica.{os.environ.get('USER', 'nobody')}.port.{key}"
    file.write_text(f"tcp://127.0.0.1:{port}")
    sys.stdout.write(f"Created ZeroMQ Server.\nDumped server port in file: {file}")
    sys.stdout.flush()
    compiler = Compiler()
    while (statement := socket.recv_string()) != "quit()":
        answer = compiler.answer(statement)
        socket.send_string(answer if answer.endswith("\n") else answer + "\n")
    socket.send_string("quit requested, shutting server down\n")


def main() -> None:
    options = dict(argument.partition("=")[::2] for argument in sys.argv[1:] if argument.startswith("-"))
    if "--version" in options:
        sys.stdout.write(VERSION + "\n")
    elif "--interactive" in options:
        serve(options["-z"])
    else:
        run_script(Path(sys.argv[-1]))


main()
