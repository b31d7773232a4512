"""Linear systems as FMUs 2.0 in C, whose faults are chosen: one library, and numbers in a file of each FMU."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
from helpers_c_layer import HEADERS, compile_c, compiler

_CODE = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fmi2Functions.h"

#define MOST 8
typedef struct {
    double a[MOST * MOST], b[MOST * MOST], c[MOST * MOST], d[MOST * MOST], bias[MOST], x[MOST], u[MOST];
    double du[3][MOST], t, step, jump, end, forgets, deaf, square, euler, longest;
    double fails, after, status, stops, lost, equal, first;
    int nx, nu, ny, dead, ended;
    char path[4096];
} Instance;

enum { GET_STATE = 1, SET_STATE, GIVE_SLOPES, GET_SLOPES, GET_DIRECTION };
static int fatal;  // after a fatal error, a call of any instance is noted in a file
static char note[5000];

static fmi2Status alive(Instance *one, int call) {
    if (fatal) fclose(fopen(note, "w"));
    if (one->dead) return fmi2Error;
    if (call == 0 || one->fails != call || one->t < one->after) return fmi2OK;
    one->dead = 1, fatal = one->status == fmi2Fatal;
    snprintf(note, sizeof note, "%s.called", one->path);
    return (fmi2Status)one->status;
}

#define CHECK(call) \
    fmi2Status status = alive(component, call); \
    if (status != fmi2OK) return status;

static void row(FILE *file, double *to, int count) {
    for (int k = 0; k < count; ++k) if (fscanf(file, "%lf", to + k) != 1) to[k] = NAN;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String place,
    const fmi2CallbackFunctions *calls, fmi2Boolean visible, fmi2Boolean logging) {
    (void)name, (void)type, (void)guid, (void)calls, (void)visible, (void)logging;
    Instance *one = calloc(1, sizeof *one);
    snprintf(one->path, sizeof one->path, "%s/numbers.txt", place + (strncmp(place, "file://", 7) ? 0 : 7));
    FILE *file = fopen(one->path, "r");
    if (!file || fscanf(file, "%d %d %d", &one->nx, &one->nu, &one->ny) != 3) return NULL;
    row(file, one->a, one->nx * one->nx), row(file, one->b, one->nx * one->nu);
    row(file, one->c, one->ny * one->nx), row(file, one->d, one->ny * one->nu);
    row(file, one->bias, one->nx), row(file, one->x, one->nx), row(file, &one->step, 1);
    row(file, &one->jump, 1), row(file, &one->end, 1), row(file, &one->forgets, 1);
    row(file, &one->deaf, 1), row(file, &one->square, 1), row(file, &one->euler, 1);
    row(file, &one->longest, 1), row(file, &one->fails, 1), row(file, &one->after, 1), row(file, &one->status, 1);
    row(file, &one->stops, 1), row(file, &one->lost, 1), row(file, &one->equal, 1);
    fclose(file);
    return one;
}

void fmi2FreeInstance(fmi2Component component) {
    alive(component, 0);
    free(component);
}

static void add(const double *matrix, const double *vector, double *to, int rows, int columns) {
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) to[i] += matrix[i * columns + j] * vector[j];
}

static void input(const Instance *one, double s, double *u) {
    for (int k = 0; k < one->nu; ++k)
        u[k] = one->u[k] + s * (one->du[0][k] + s / 2 * (one->du[1][k] + s / 3 * one->du[2][k]));
}

static void rate(const Instance *one, const double *x, const double *u, double *to) {
    memcpy(to, one->bias, sizeof one->bias);
    add(one->a, x, to, one->nx, one->nx), add(one->b, u, to, one->nx, one->nu);
}

fmi2Status fmi2DoStep(fmi2Component component, fmi2Real t, fmi2Real h, fmi2Boolean keep) {
    (void)keep;
    CHECK(0)
    Instance *one = component;
    if (h > one->longest) return fmi2Discard;
    if (one->equal != 0 && one->first != 0 && h != one->first) return fmi2Error;
    one->first = h;
    one->ended = t + h > one->stops + 1e-9;
    if (one->ended) h = one->stops - t;
    int count = (int)ceil(h / one->step - 1e-9);
    double e = h / count, u[MOST], k[4][MOST], x[MOST];
    for (int n = 0; n < count && one->euler != 0; ++n) {
        input(one, n * e, u), rate(one, one->x, u, k[0]);
        for (int j = 0; j < one->nx; ++j) one->x[j] += e * k[0][j];
    }
    for (int n = 0; n < count && one->euler == 0; ++n) {  // classical Runge-Kutta method
        for (int i = 0; i < 4; ++i) {
            double s = i == 0 ? 0 : i == 3 ? e : e / 2;
            for (int j = 0; j < one->nx; ++j) x[j] = one->x[j] + (i ? s * k[i - 1][j] : 0);
            input(one, n * e + s, u), rate(one, x, u, k[i]);
        }
        for (int j = 0; j < one->nx; ++j) one->x[j] += e / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    }
    input(one, h, u), memcpy(one->u, u, sizeof u);
    for (int j = 0; j < one->nu; ++j) one->du[0][j] += h * (one->du[1][j] + h / 2 * one->du[2][j]);
    memset(one->du[1], 0, 2 * sizeof one->du[1]);
    one->t = t + h;
    return one->ended ? fmi2Discard : fmi2OK;
}

fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference refs[], size_t n,
    const fmi2Real values[]) {
    CHECK(0)
    Instance *one = component;
    for (size_t k = 0; k < n; ++k) one->u[refs[k]] = values[k];
    return fmi2OK;
}

fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference refs[], size_t n, fmi2Real values[]) {
    CHECK(0)
    Instance *one = component;
    double y[MOST] = {0};
    add(one->c, one->x, y, one->ny, one->nx), add(one->d, one->u, y, one->ny, one->nu);
    y[0] += (one->t >= one->jump) + one->square * one->u[0] * one->u[0];
    if (one->t >= one->end) y[0] = NAN;
    for (size_t k = 0; k < n; ++k) values[k] = y[refs[k] - 100];
    return fmi2OK;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component component, const fmi2ValueReference refs[], size_t n,
    const fmi2Integer orders[], const fmi2Real values[]) {
    CHECK(GIVE_SLOPES)
    Instance *one = component;
    for (size_t k = 0; k < n && one->t < one->deaf; ++k) one->du[orders[k] - 1][refs[k]] = values[k];
    return fmi2OK;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component component, const fmi2ValueReference refs[], size_t n,
    const fmi2Integer orders[], fmi2Real values[]) {
    (void)orders;
    CHECK(GET_SLOPES)
    Instance *one = component;
    double dx[MOST], y[MOST] = {0};
    rate(one, one->x, one->u, dx);
    add(one->c, dx, y, one->ny, one->nx), add(one->d, one->du[0], y, one->ny, one->nu);
    for (size_t k = 0; k < n; ++k) values[k] = one->t >= one->lost ? NAN : y[refs[k] - 100];
    return fmi2OK;
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component component, const fmi2ValueReference of[], size_t n,
    const fmi2ValueReference by[], size_t m, const fmi2Real seed[], fmi2Real values[]) {
    CHECK(GET_DIRECTION)
    Instance *one = component;
    double du[MOST] = {0}, y[MOST] = {0};
    for (size_t k = 0; k < m; ++k) du[by[k]] = seed[k];
    add(one->d, du, y, one->ny, one->nu);
    for (size_t k = 0; k < n; ++k) values[k] = y[of[k] - 100];
    return fmi2OK;
}

fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean defined, fmi2Real tolerance, fmi2Real start,
    fmi2Boolean stop_defined, fmi2Real stop) {
    (void)defined, (void)tolerance, (void)stop_defined, (void)stop;
    ((Instance *)component)->t = start;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component component) { (void)component; return fmi2OK; }
fmi2Status fmi2ExitInitializationMode(fmi2Component component) { (void)component; return fmi2OK; }

fmi2Status fmi2GetBooleanStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Boolean *value) {
    Instance *one = component;
    *value = kind == fmi2Terminated && one->ended;
    return fmi2OK;
}

fmi2Status fmi2GetRealStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Real *value) {
    Instance *one = component;
    *value = kind == fmi2LastSuccessfulTime ? one->stops : 0;
    return fmi2OK;
}

fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate *state) {
    CHECK(GET_STATE)
    if (!*state) *state = malloc(sizeof(Instance));
    memcpy(*state, component, sizeof(Instance));
    return fmi2OK;
}

fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate state) {
    CHECK(SET_STATE)
    Instance *one = component;
    double last = one->nx ? one->x[one->nx - 1] : 0;
    memcpy(one, state, sizeof *one);
    if (one->forgets != 0) one->x[one->nx - 1] = last;
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate *state) {
    (void)component;
    free(*state), *state = NULL;
    return fmi2OK;
}
"""
_XML = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Linear" guid="linear" numberOfEventIndicators="0">
<CoSimulation modelIdentifier="Linear" {abilities}/>
<UnitDefinitions>
<Unit name="N"><BaseUnit kg="1" m="1" s="-2"/></Unit><Unit name="m"><BaseUnit m="1"/></Unit>
<Unit name="m/s"><BaseUnit m="1" s="-1"/></Unit><Unit name="m/s2"><BaseUnit m="1" s="-2"/></Unit>
</UnitDefinitions>
<DefaultExperiment startTime="0" stopTime="1"{tolerance}/>
<ModelVariables>{variables}</ModelVariables>
<ModelStructure><Outputs>{outputs}</Outputs>{derivatives}</ModelStructure>
</fmiModelDescription>
"""
_NAMES = re.compile(r"(fmi2\w+)TYPE")
_ABILITIES = {
    "canHandleVariableCommunicationStepSize": True,
    "canGetAndSetFMUstate": True,
    "canInterpolateInputs": True,
    "providesDirectionalDerivative": True,
}
Signals = Sequence[tuple[str, str]]  # names with units


def _attribute(name: str, value: Any) -> str:
    return f' {name}="{value}"' if value else ""


def library(folder: Path) -> Path:
    """Compile the library that all FMUs of `linear_fmu` share."""
    command = compiler()
    assert command is not None
    names = {*_NAMES.findall((HEADERS / "fmi2FunctionTypes.h").read_text(encoding="utf-8"))}
    missing = sorted(name for name in names if f" {name}(" not in _CODE)
    (folder / "linear.c").write_text(_CODE, encoding="utf-8")
    (folder / "stubs.c").write_text("".join(f"int {n}(void) {{ return 0; }}\n" for n in missing), encoding="utf-8")
    target = folder / f"Linear{fmpy.sharedLibraryExtension}"
    return compile_c(command, target, [folder / "linear.c", folder / "stubs.c"], "-shared", "-fPIC", "-O1")


def linear_fmu(
    binary: bytes, path: Path, inputs: Signals, outputs: Signals, system: dict[str, Any], **faults: Any
) -> bytes:
    """Content of an FMU of ẋ = A x + B u + bias, y = C x + D u.

    Parameters
    ----------
    binary : content of the library
    path : file to write
    inputs, outputs : names and units
    system : a, b, c, d, bias, x
    faults : capabilities of FMI 2.0; `states` False if the FMU lists none; `tolerance` of its experiment; `step`,
        s, of its integration; times `jump` and `end` at which the first output jumps by 1 and is no number;
        `forgets`: whether the last state is not restored; `deaf`: time from which slopes of inputs are ignored, s;
        `square`,
        factor of u² in the first output; `euler`: whether explicit Euler steps are taken;
        `longest`: length of the longest step, s, that is not discarded; `fails`: 1 to 5 for the function that
        returns `status` from the time `after` on, s: get state, set state, set input derivatives, get output
        derivatives, get directional derivative; `stops`: time at which the FMU ends the simulation, s; `lost`:
        time from which slopes of outputs are no numbers, s; `equal`: whether a step of another length than the
        first one is an error
    """
    n, n_u, n_y = (len(v) for v in (system.get("x", ()), inputs, outputs))
    shapes = {"a": (n, n), "b": (n, n_u), "c": (n_y, n), "d": (n_y, n_u), "bias": (n,), "x": (n,)}
    numbers = {"step": 1e-4, "jump": 1e9, "end": 1e9, "forgets": 0.0, "deaf": 1e9, "square": 0.0, "euler": 0.0}
    numbers |= {"longest": 1e9, "fails": 0.0, "after": 0.0, "status": 3.0, "stops": 1e9, "lost": 1e9, "equal": 0.0}
    rows = [np.array(system.get(k, np.zeros(shape)), dtype=float).reshape(shape) for k, shape in shapes.items()]
    rows.append(np.array([float(faults.pop(key, value)) for key, value in numbers.items()]))
    text = f"{n} {n_u} {n_y}\n" + "\n".join(" ".join(map(repr, row.ravel().tolist())) for row in rows)
    listed, tolerance = faults.pop("states", True), faults.pop("tolerance", None)
    abilities = {key: faults.pop(key, value) for key, value in _ABILITIES.items()}
    abilities["maxOutputDerivativeOrder"] = faults.pop("maxOutputDerivativeOrder", 1)
    assert not faults
    variables = [
        f'<ScalarVariable name="{name}" valueReference="{base + k}" causality="{kind}" variability="continuous">'
        f"<Real{_attribute('unit', unit)}{more}/></ScalarVariable>"
        for base, kind, signals, more in ((0, "input", inputs, ' start="0"'), (100, "output", outputs, ""))
        for k, (name, unit) in enumerate(signals)
    ]
    states = range(n if listed else 0)
    for name, base, more in (("x{}", 200, ""), ("der(x{})", 300, "derivative")):
        variables += [
            f'<ScalarVariable name="{name.format(k)}" valueReference="{base + k}" causality="local">'
            f"<Real{_attribute('derivative', more and n_u + n_y + k + 1)}/></ScalarVariable>"
            for k in states
        ]
    unknowns = [f'<Unknown index="{n_u + k + 1}"/>' for k in range(n_y)]
    rates = [f'<Unknown index="{n_u + n_y + n + k + 1}"/>' for k in states]
    description = _XML.format(
        abilities=" ".join(f'{key}="{str(value).lower()}"' for key, value in abilities.items()),
        tolerance=_attribute("tolerance", tolerance),
        variables="".join(variables),
        outputs="".join(unknowns),
        derivatives=f"<Derivatives>{''.join(rates)}</Derivatives>" if rates else "",
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", description)
        archive.writestr("resources/numbers.txt", text)
        archive.writestr(f"binaries/{fmpy.platform}/Linear{fmpy.sharedLibraryExtension}", binary)
    return path.read_bytes()
