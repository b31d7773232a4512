"""Integrators as FMUs 3.0 in C that ask for their input in intermediate updates, or claim this wrongly."""

from __future__ import annotations

from pathlib import Path

from helpers_coupling_fmus import INITIALISATION, compiled_fmu

_DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="Integrator" instantiationToken="{kind}">
  <CoSimulation modelIdentifier="Integrator" canHandleVariableCommunicationStepSize="true"
      providesIntermediateUpdate="true"/>
  <DefaultExperiment startTime="0" stopTime="1"/>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
    <Float64 name="u" valueReference="1" causality="input" start="0"/>
    <Float64 name="y" valueReference="2" causality="output"/>
    <Float64 name="x" valueReference="3" causality="local"/>
    <Float64 name="der(x)" valueReference="4" causality="local" derivative="3"/>
  </ModelVariables>
  <ModelStructure>
    <Output valueReference="2"/><ContinuousStateDerivative valueReference="4"/>
  </ModelStructure>
</fmiModelDescription>
"""
_CODE = """
#include <stdlib.h>
#include <string.h>
#include "fmi3Functions.h"

typedef struct {
    double u, x;
    fmi3Boolean inside, refuses, silent, fatal, dead;
    fmi3InstanceEnvironment environment;
    fmi3IntermediateUpdateCallback update;
} Instance;

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String path, fmi3Boolean visible,
    fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early, const fmi3ValueReference required[],
    size_t count, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
    fmi3IntermediateUpdateCallback update) {
    (void)name, (void)path, (void)visible, (void)logging, (void)event_mode, (void)early, (void)required;
    (void)count, (void)log;
    Instance *one = calloc(1, sizeof *one);
    one->environment = environment, one->update = update;
    one->refuses = !strcmp(token, "refuses"), one->silent = !strcmp(token, "silent");
    one->fatal = !strcmp(token, "fatal");
    return one;
}

void fmi3FreeInstance(fmi3Instance one) { free(one); }

/* The midpoint rule with two updates of the input in each of ten parts of the step. */
fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 t, fmi3Float64 h, fmi3Boolean keep, fmi3Boolean *event,
    fmi3Boolean *end, fmi3Boolean *early, fmi3Float64 *reached) {
    (void)keep;
    Instance *one = instance;
    one->inside = one->update != NULL;
    for (int k = 1; k <= 20; ++k) {
        fmi3Boolean requested = fmi3False;
        fmi3Float64 when = 0;
        fmi3Boolean finished = k % 2 == 0;
        if (one->update)
            one->update(one->environment, t + h * k / 20, !one->silent, finished, finished, fmi3False, &requested,
                &when);
        if (!finished) one->x += h / 10 * one->u;
    }
    one->inside = fmi3False;
    if (one->dead) return fmi3Fatal;
    *event = *end = *early = fmi3False, *reached = t + h;
    return fmi3OK;
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
    const fmi3Float64 values[], size_t values_count) {
    (void)references, (void)values_count;
    Instance *one = instance;
    if (one->dead) abort();
    if (one->inside && one->fatal) {
        one->dead = fmi3True;
        return fmi3Fatal;
    }
    if (one->inside && (one->refuses || one->silent)) return fmi3Error;
    if (count) one->u = values[0];
    return fmi3OK;
}

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
    fmi3Float64 values[], size_t values_count) {
    (void)references, (void)values_count;
    if (count) values[0] = ((Instance *)instance)->x;
    return fmi3OK;
}
"""
KINDS = ("asking", "refuses", "silent", "fatal")


def integrators(folder: Path) -> None:
    """Write FMUs without rollback of ẏ = u into a folder, by the way that they treat intermediate updates.

    `asking.fmu` asks for its input, `refuses.fmu` then returns an error for it, and `silent.fmu` does not ask.
    `fatal.fmu` returns a fatal error for it, and ends the process at another call.
    """
    for kind in KINDS:
        (folder / kind).mkdir()
        description = _DESCRIPTION.format(kind=kind)
        fmu = compiled_fmu(folder / kind, "Integrator", _CODE + INITIALISATION, description)
        fmu.rename(folder / f"{kind}.fmu")
