"""Two FMUs 3.0 in C with event mode, in one library: a counter with an event every second, and a feedthrough.

They behave like Stair and Feedthrough of the Reference-FMUs, and refuse calls that Step Mode does not allow.
"""

from __future__ import annotations

from pathlib import Path

from helpers_coupling_fmus import compiled_fmu

_DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="{name}" instantiationToken="{name}">
  <CoSimulation modelIdentifier="{name}" canHandleVariableCommunicationStepSize="true"
      canGetAndSetFMUState="true" hasEventMode="true" canReturnEarlyAfterIntermediateUpdate="true"/>
  <DefaultExperiment startTime="0" stopTime="10"/>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
    {variables}
  </ModelVariables>
  <ModelStructure>{outputs}</ModelStructure>
</fmiModelDescription>
"""
_VARIABLES = {
    "Stair": """<Int32 name="counter" valueReference="4" causality="output" variability="discrete"/>""",
    "Feedthrough": """<Float64 name="u" valueReference="1" causality="input" variability="continuous" start="0"/>
    <Float64 name="y" valueReference="2" causality="output" variability="continuous"/>
    <Int32 name="number" valueReference="3" causality="input" variability="discrete" start="0"/>
    <Int32 name="same" valueReference="4" causality="output" variability="discrete"/>""",
}
_CODE = """
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "fmi3Functions.h"

typedef enum {INITIALIZATION, EVENT, STEP} Mode;
typedef struct {
    fmi3Boolean stair, due;  // due: the counter changes in the next update of the discrete states
    Mode mode;
    double next, u;
    fmi3Int32 number, counter;
} Instance;

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String path, fmi3Boolean visible,
    fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early, const fmi3ValueReference required[],
    size_t count, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
    fmi3IntermediateUpdateCallback update) {
    (void)name, (void)path, (void)visible, (void)logging, (void)required, (void)count, (void)environment;
    (void)log, (void)update;
    if (!event_mode || !early) return NULL;
    Instance *one = calloc(1, sizeof *one);
    one->stair = !strcmp(token, "Stair"), one->next = 1.0, one->counter = one->stair;
    return one;
}

void fmi3FreeInstance(fmi3Instance one) { free(one); }

fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 t, fmi3Float64 h, fmi3Boolean keep, fmi3Boolean *event,
    fmi3Boolean *end, fmi3Boolean *early, fmi3Float64 *reached) {
    (void)keep;
    Instance *one = instance;
    if (one->mode != STEP || one->due) return fmi3Error;
    one->due = one->stair && t + h >= one->next;
    *event = one->due, *end = fmi3False, *early = one->due && t + h > one->next;
    *reached = *early ? one->next : t + h;
    return fmi3OK;
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *more, fmi3Boolean *terminate,
    fmi3Boolean *nominals, fmi3Boolean *values, fmi3Boolean *next_defined, fmi3Float64 *next) {
    Instance *one = instance;
    if (one->mode != EVENT) return fmi3Error;
    if (one->due) one->counter += 1, one->next += 1.0;
    one->due = fmi3False;
    *more = *nominals = *values = fmi3False, *terminate = one->counter == 10;
    *next_defined = one->stair, *next = one->next;
    return fmi3OK;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance one, fmi3Boolean defined, fmi3Float64 tolerance,
    fmi3Float64 start, fmi3Boolean stop_defined, fmi3Float64 stop) {
    (void)one, (void)defined, (void)tolerance, (void)start, (void)stop_defined, (void)stop;
    return fmi3OK;
}

static fmi3Status enter(Instance *one, Mode from, Mode to) {
    fmi3Status status = one->mode == from ? fmi3OK : fmi3Error;
    one->mode = to;
    return status;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance one) { return enter(one, INITIALIZATION, EVENT); }
fmi3Status fmi3EnterEventMode(fmi3Instance one) { return enter(one, STEP, EVENT); }
fmi3Status fmi3EnterStepMode(fmi3Instance one) { return enter(one, EVENT, STEP); }

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
    const fmi3Float64 values[], size_t values_count) {
    (void)references, (void)values_count;
    if (count) ((Instance *)instance)->u = values[0];
    return fmi3OK;
}

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
    fmi3Float64 values[], size_t values_count) {
    (void)references, (void)values_count;
    if (count) values[0] = ((Instance *)instance)->u;
    return fmi3OK;
}

fmi3Status fmi3SetInt32(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
    const fmi3Int32 values[], size_t values_count) {
    (void)references, (void)values_count;
    Instance *one = instance;
    if (one->mode == STEP) return fmi3Error;
    if (count) one->number = values[0];
    return fmi3OK;
}

fmi3Status fmi3GetInt32(fmi3Instance instance, const fmi3ValueReference references[], size_t count,
    fmi3Int32 values[], size_t values_count) {
    (void)references, (void)values_count;
    Instance *one = instance;
    if (count) values[0] = one->stair ? one->counter : one->number;
    return fmi3OK;
}

fmi3Status fmi3GetFMUState(fmi3Instance one, fmi3FMUState *state) {
    if (!*state) *state = malloc(sizeof(Instance));
    memcpy(*state, one, sizeof(Instance));
    return fmi3OK;
}

fmi3Status fmi3SetFMUState(fmi3Instance one, fmi3FMUState state) {
    memcpy(one, state, sizeof(Instance));
    return fmi3OK;
}

fmi3Status fmi3FreeFMUState(fmi3Instance one, fmi3FMUState *state) {
    (void)one;
    free(*state), *state = NULL;
    return fmi3OK;
}
"""


def event_fmus(folder: Path) -> None:
    """Write Stair.fmu and Feedthrough.fmu into a folder."""
    for name, variables in _VARIABLES.items():
        references = (2, 4) if name == "Feedthrough" else (4,)
        outputs = "".join(f'<Output valueReference="{k}"/>' for k in references)
        compiled_fmu(folder, name, _CODE, _DESCRIPTION.format(name=name, variables=variables, outputs=outputs))
