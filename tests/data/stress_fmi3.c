/* An importer by FMI 3.0 that is built with the FMU and the compiler's sanitizers: any call in any order, also from
   the callback of an intermediate update. What counts is what the sanitizers see.
   Exit status 0: the instances lived to the end; a sanitizer's finding ends the program with another one. */

#include "fmi3Functions.h"

#include <math.h>
#include <stdio.h>

static fmi3Instance instance; /* that the callback belongs to */
static fmi3FMUState state;
static double now; /* the end of the last step */
static int updates; /* calls of the callback */

static unsigned draw(unsigned below) { /* a linear congruential generator: the same calls in every run */
    static unsigned seed = 1;
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % below;
}

static void ignore(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message) {
    (void)environment, (void)status, (void)category, (void)message;
}

static void values_and_modes(unsigned kind) {
    static const double NUMBERS[] = {0.0, 1e-12, 0.01, 0.37, 1.0, -1.0, 1e9, NAN, INFINITY, -INFINITY};
    const fmi3ValueReference references[2] = {draw(30), draw(30)};
    double values[4] = {NUMBERS[draw(10)], NUMBERS[draw(5)], 1.0, 2.0}, results[4];
    const size_t n = draw(3), m = draw(4);
    fmi3Int32 integers[4] = {(fmi3Int32)draw(4), 100, 1, 1};
    fmi3Boolean flags[5];
    switch (kind) {
    case 0: fmi3SetFloat64(instance, references, n, values, m); break;
    case 1: fmi3GetFloat64(instance, references, n, values, m); break;
    case 2: fmi3SetInt32(instance, references, n, integers, m); break;
    case 3: fmi3GetInt32(instance, references, n, integers, m); break;
    case 4: fmi3GetDirectionalDerivative(instance, references, n, references + 1, 1, values, m, results, n); break;
    case 5: fmi3GetAdjointDerivative(instance, references, n, references + 1, 1, values, n, results, m); break;
    case 6: fmi3GetOutputDerivatives(instance, references, n, integers + 2, values, m); break;
    case 7: fmi3SetTime(instance, values[0]); break;
    case 8: fmi3SetContinuousStates(instance, values, 2 + m); break;
    case 9: fmi3GetContinuousStateDerivatives(instance, values, 4); break;
    case 10: fmi3CompletedIntegratorStep(instance, fmi3True, flags, draw(4) ? flags + 1 : NULL); break;
    case 11: fmi3UpdateDiscreteStates(instance, flags, flags + 1, flags + 2, flags + 3, flags + 4, values); break;
    default: fmi3GetNumberOfVariableDependencies(instance, references[0], draw(4) ? &(size_t){0} : NULL); break;
    }
}

static void life(unsigned kind) {
    switch (kind) {
    case 0: fmi3EnterInitializationMode(instance, draw(2), 1e-6, 0.0, draw(2), draw(4) ? 1e3 : -1.0); break;
    case 1: fmi3ExitInitializationMode(instance); break;
    case 2: fmi3EnterEventMode(instance); break;
    case 3: fmi3EnterStepMode(instance); break;
    case 4: fmi3EnterContinuousTimeMode(instance); break;
    case 5: fmi3Terminate(instance); break;
    case 6: fmi3GetFMUState(instance, &state); break;
    case 7: fmi3SetFMUState(instance, state); break;
    case 8: fmi3EnterConfigurationMode(instance); break;
    default: if (draw(3) == 0) fmi3Reset(instance); break;
    }
}

static void step(void) {
    static const double SIZES[] = {0.0, 1e-12, 1e-3, 0.1, 1.0, 10.0, -1.0, NAN};
    fmi3Boolean event, terminate, early;
    fmi3GetFloat64(instance, &(fmi3ValueReference){0}, 1, &now, 1);
    fmi3DoStep(instance, draw(8) ? now : 0.5, SIZES[draw(8)], fmi3True, &event, &terminate, &early, &now);
}

static void update(fmi3InstanceEnvironment environment, fmi3Float64 time, fmi3Boolean set, fmi3Boolean get,
                   fmi3Boolean finished, fmi3Boolean early, fmi3Boolean *requested, fmi3Float64 *when) {
    (void)environment, (void)set, (void)get, (void)finished, (void)early;
    updates++;
    if (draw(6) == 0) values_and_modes(draw(13));
    if (draw(60) == 0) life(draw(10));
    if (draw(200) == 0) step();
    if (draw(200) == 0) fmi3FreeInstance(instance);
    *requested = draw(4) == 0;
    *when = draw(2) ? time + 0.01 : draw(8) ? -1.0 : NAN;
}

static void any_call(void) {
    if (draw(3) == 0) step();
    else if (draw(3)) values_and_modes(draw(13));
    else life(draw(10));
}

/* An error terminates an instance: each life begins with the calls in their order, and goes on without any. */
static int any_calls(fmi3Instance made, bool exchange) {
    fmi3Boolean flags[5];
    instance = made;
    if (instance == NULL) return 1;
    for (int run = 0; run < 20000; run++) {
        fmi3Reset(instance);
        if (draw(8) == 0) any_call();
        fmi3EnterInitializationMode(instance, fmi3True, 1e-4, 0.0, fmi3False, 0.0);
        if (draw(8) == 0) any_call();
        fmi3ExitInitializationMode(instance);
        fmi3UpdateDiscreteStates(instance, flags, flags + 1, flags + 2, flags + 3, flags + 4, &now);
        if (exchange) fmi3EnterContinuousTimeMode(instance);
        else fmi3EnterStepMode(instance);
        for (int i = 0; i < 12; i++) any_call();
    }
    fmi3FreeFMUState(instance, &state);
    fmi3FreeInstance(instance);
    return 0;
}

static fmi3Instance co_simulation(fmi3Boolean events, fmi3Boolean early, fmi3IntermediateUpdateCallback callback) {
    static const fmi3ValueReference REQUIRED[] = {1, 7, 18};
    return fmi3InstantiateCoSimulation("any", "{oscillator}", NULL, fmi3False, fmi3True, events, early, REQUIRED, 3,
                                       NULL, ignore, callback);
}

int main(void) {
    const fmi3Instance exchange = fmi3InstantiateModelExchange("any", "{oscillator}", NULL, fmi3False, fmi3True, NULL,
                                                               ignore);
    if (any_calls(exchange, true) || any_calls(co_simulation(fmi3True, fmi3True, update), false) ||
        any_calls(co_simulation(fmi3True, fmi3False, update), false))
        return 1;
    printf("%d updates\n", updates);
    return updates < 10000;
}
