"""A small FMU 3.0 in C with variables of types that generated FMUs do not have, and FMUs that are damaged."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path

import fmpy
from helpers_c_layer import HEADERS, compile_c, compiler

DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="Types" instantiationToken="types">
  <CoSimulation modelIdentifier="Types" canHandleVariableCommunicationStepSize="true"
      canGetAndSetFMUState="true"/>
  <TypeDefinitions>
    <EnumerationType name="Gear"><Item name="first" value="1"/><Item name="second" value="2"/></EnumerationType>
  </TypeDefinitions>
  <DefaultExperiment startTime="0" stopTime="1"/>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
    <Float32 name="u" valueReference="1" causality="input" variability="continuous" start="0.5"/>
    <Float32 name="y" valueReference="2" causality="output" variability="continuous" nominal="20"/>
    <Enumeration name="gear" valueReference="3" declaredType="Gear" causality="input" start="1"/>
    <Enumeration name="next" valueReference="4" declaredType="Gear" causality="output"/>
    <String name="text" valueReference="5" causality="parameter" variability="fixed"><Start value=""/></String>
    <Int32 name="length" valueReference="6" causality="output"/>
  </ModelVariables>
  <ModelStructure>
    <Output valueReference="2"/><Output valueReference="4"/><Output valueReference="6"/>
  </ModelStructure>
</fmiModelDescription>
"""

# Functions of an FMU 3.0 in C whose initialisation does nothing.
INITIALISATION = """
fmi3Status fmi3EnterInitializationMode(fmi3Instance one, fmi3Boolean defined, fmi3Float64 tolerance,
    fmi3Float64 start, fmi3Boolean stop_defined, fmi3Float64 stop) {
    (void)one, (void)defined, (void)tolerance, (void)start, (void)stop_defined, (void)stop;
    return fmi3OK;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance one) { (void)one; return fmi3OK; }
"""
_CODE = """
#include <string.h>
#include "fmi3Functions.h"

typedef struct {
    float u;
    fmi3Int64 gear;
    fmi3Int32 length;
} Instance;

static Instance instance;

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String path, fmi3Boolean visible,
    fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early, const fmi3ValueReference required[],
    size_t count, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
    fmi3IntermediateUpdateCallback update) {
    instance = (Instance){0.5F, 1, 0};
    (void)name, (void)token, (void)path, (void)visible, (void)logging, (void)event_mode, (void)early;
    (void)required, (void)count, (void)environment, (void)log, (void)update;
    return &instance;
}

void fmi3FreeInstance(fmi3Instance one) { (void)one; }

fmi3Status fmi3DoStep(fmi3Instance one, fmi3Float64 t, fmi3Float64 h, fmi3Boolean keep, fmi3Boolean *event,
    fmi3Boolean *end, fmi3Boolean *early, fmi3Float64 *reached) {
    (void)one, (void)keep;
    *event = *end = *early = fmi3False;
    *reached = t + h;
    return fmi3OK;
}

fmi3Status fmi3SetFloat32(fmi3Instance one, const fmi3ValueReference references[], size_t count,
    const fmi3Float32 values[], size_t values_count) {
    (void)one, (void)values_count;
    for (size_t k = 0; k < count; ++k) {
        if (references[k] != 1) return fmi3Error;
        instance.u = values[k];
    }
    return fmi3OK;
}

fmi3Status fmi3GetFloat32(fmi3Instance one, const fmi3ValueReference references[], size_t count,
    fmi3Float32 values[], size_t values_count) {
    (void)one, (void)values_count;
    for (size_t k = 0; k < count; ++k) {
        if (references[k] != 2) return fmi3Error;
        values[k] = 2.0F * instance.u;
    }
    return fmi3OK;
}

fmi3Status fmi3SetInt64(fmi3Instance one, const fmi3ValueReference references[], size_t count,
    const fmi3Int64 values[], size_t values_count) {
    (void)one, (void)values_count;
    for (size_t k = 0; k < count; ++k) {
        if (references[k] != 3) return fmi3Error;
        instance.gear = values[k];
    }
    return fmi3OK;
}

fmi3Status fmi3GetInt64(fmi3Instance one, const fmi3ValueReference references[], size_t count,
    fmi3Int64 values[], size_t values_count) {
    (void)one, (void)values_count;
    for (size_t k = 0; k < count; ++k) {
        if (references[k] != 4) return fmi3Error;
        values[k] = instance.gear + 1;
    }
    return fmi3OK;
}

fmi3Status fmi3SetString(fmi3Instance one, const fmi3ValueReference references[], size_t count,
    const fmi3String values[], size_t values_count) {
    (void)one, (void)values_count;
    for (size_t k = 0; k < count; ++k) {
        if (references[k] != 5) return fmi3Error;
        instance.length = (fmi3Int32)strlen(values[k]);
    }
    return fmi3OK;
}

fmi3Status fmi3GetInt32(fmi3Instance one, const fmi3ValueReference references[], size_t count,
    fmi3Int32 values[], size_t values_count) {
    (void)one, (void)values_count;
    for (size_t k = 0; k < count; ++k) {
        if (references[k] != 6) return fmi3Error;
        values[k] = instance.length;
    }
    return fmi3OK;
}

static Instance saved;

fmi3Status fmi3GetFMUState(fmi3Instance one, fmi3FMUState *state) {
    (void)one;
    saved = instance;
    *state = &saved;
    return fmi3OK;
}

fmi3Status fmi3SetFMUState(fmi3Instance one, fmi3FMUState state) {
    (void)one, (void)state;
    instance = saved;
    return fmi3OK;
}

fmi3Status fmi3FreeFMUState(fmi3Instance one, fmi3FMUState *state) { (void)one, (void)state; return fmi3OK; }
"""
_NAMES = re.compile(r"(fmi3\w+)TYPE")


def fmu_of_types(folder: Path, description: str = DESCRIPTION) -> Path:
    """FMU with y = 2 u of Float32, next = gear + 1 of an Enumeration, and the length of a String parameter."""
    return compiled_fmu(folder, "Types", _CODE + INITIALISATION, description)


def compiled_fmu(folder: Path, name: str, code: str, description: str) -> Path:
    """FMU 3.0 of C code; functions that the code does not define return an error."""
    command = compiler()
    assert command is not None
    names = {*_NAMES.findall((HEADERS / "fmi3FunctionTypes.h").read_text(encoding="utf-8"))}
    missing = sorted(function for function in names if f" {function}(" not in code)
    (folder / "code.c").write_text(code, encoding="utf-8")
    stubs = "\n".join(f"int {function}(void) {{ return 3; }}" for function in missing)  # fmi3Error
    (folder / "stubs.c").write_text(stubs + "\n", encoding="utf-8")
    library = folder / f"{name}{fmpy.sharedLibraryExtension}"
    compile_c(command, library, [folder / "code.c", folder / "stubs.c"], "-shared", "-fPIC")
    path = folder / f"{name}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", description)
        archive.write(library, f"binaries/{fmpy.platform_tuple}/{library.name}")
    return path


def without_binaries(fmu: bytes) -> bytes:
    """FMU that no platform can run."""
    found = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(fmu)) as old, zipfile.ZipFile(found, "w") as new:
        for name in old.namelist():
            if not name.startswith("binaries/"):
                new.writestr(name, old.read(name))
    return found.getvalue()
