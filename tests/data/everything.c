/* An importer by FMI 3.0 that is compiled with a generated FMU's sources and uses what they have: each inner solver,
   inputs asked for, projections, exact derivatives, the serialised state, model exchange.

   From the command line of the compiler: TOKEN, the number N_STATES, and the value references INPUT, OUTPUT,
   STATE, ACCELERATION and SOLVER_METHOD. Exit status 0: every call did what it should. */

#include "damage.h"
#include "expect.h"
#include "fmi3Functions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKS(call) EXPECT((call) == fmi3OK)

enum { METHODS = 3, STEPS = 5 };

static fmi3Instance instance; /* that the callbacks belong to */
static int updates;

static const fmi3ValueReference input = INPUT, output = OUTPUT, acceleration = ACCELERATION, method = SOLVER_METHOD;

static void show(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message) {
    (void)environment, (void)status;
    printf("%s: %s\n", category, message);
}

static void update(fmi3InstanceEnvironment environment, fmi3Float64 time, fmi3Boolean set, fmi3Boolean get,
                   fmi3Boolean finished, fmi3Boolean early, fmi3Boolean *requested, fmi3Float64 *when) {
    const double force = sin(10.0 * time);
    double value;
    (void)environment, (void)set, (void)finished, (void)early, (void)requested, (void)when;
    updates++;
    fmi3SetFloat64(instance, &input, 1, &force, 1);
    if (get) fmi3GetFloat64(instance, &output, 1, &value, 1);
}

static int initialize(fmi3Float64 tolerance) {
    fmi3Boolean flags[5];
    double next;
    WORKS(fmi3EnterInitializationMode(instance, fmi3True, tolerance, 0.0, fmi3False, 0.0));
    WORKS(fmi3ExitInitializationMode(instance));
    WORKS(fmi3UpdateDiscreteStates(instance, flags, flags + 1, flags + 2, flags + 3, flags + 4, &next));
    return 0;
}

/* d acceleration / d (state, input), forward and adjoint. */
static int derivatives(void) {
    const fmi3ValueReference knowns[2] = {STATE, INPUT};
    const double seed = 1.0;
    double column, row[2];
    WORKS(fmi3GetAdjointDerivative(instance, &acceleration, 1, knowns, 2, &seed, 1, row, 2));
    for (int i = 0; i < 2; i++) {
        WORKS(fmi3GetDirectionalDerivative(instance, &acceleration, 1, &knowns[i], 1, &seed, 1, &column, 1));
        EXPECT(fabs(column - row[i]) <= 1e-9 * (1.0 + fabs(column)));
    }
    return 0;
}

static int write_state(char **bytes, size_t *size) {
    fmi3FMUState state = NULL;
    WORKS(fmi3GetFMUState(instance, &state));
    WORKS(fmi3SerializedFMUStateSize(instance, state, size));
    *bytes = malloc(*size);
    EXPECT(*bytes != NULL);
    WORKS(fmi3SerializeFMUState(instance, state, (fmi3Byte *)*bytes, *size));
    WORKS(fmi3FreeFMUState(instance, &state));
    return 0;
}

/* Goes on from bytes, with what uses the pivots and indices in them first; 0: they are refused. */
static int take(const char *bytes, size_t size) {
    const double seed = 1.0;
    fmi3FMUState state = NULL;
    double value;
    if (fmi3DeserializeFMUState(instance, (const fmi3Byte *)bytes, size, &state) != fmi3OK) return 0;
    const fmi3Status status = fmi3SetFMUState(instance, state);
    fmi3FreeFMUState(instance, &state);
    fmi3GetDirectionalDerivative(instance, &acceleration, 1, &input, 1, &seed, 1, &value, 1);
    fmi3GetAdjointDerivative(instance, &acceleration, 1, &input, 1, &seed, 1, &value, 1);
    fmi3GetFloat64(instance, &acceleration, 1, &value, 1);
    return status == fmi3OK;
}

/* Writes the state out and takes it back. */
static int keep_state(void) {
    char *bytes;
    size_t size;
    if (write_state(&bytes, &size)) return 1;
    const int taken = take(bytes, size);
    free(bytes);
    return !taken;
}

static int damaged_states(void) {
    char *bytes;
    size_t size;
    if (write_state(&bytes, &size)) return 1;
    const int failed = altered_bytes(bytes, size, take) || replaced_numbers(bytes, size, take);
    free(bytes);
    return failed;
}

static int step(double time, double size) {
    fmi3Boolean event, terminate, early;
    fmi3Int32 order = 1;
    double reached, rate;
    WORKS(fmi3DoStep(instance, time, size, fmi3True, &event, &terminate, &early, &reached));
    EXPECT(!event && !terminate && !early && reached == time + size);
    WORKS(fmi3GetOutputDerivatives(instance, &output, 1, &order, &rate, 1));
    EXPECT(isfinite(rate));
    return 0;
}

static int co_simulation(fmi3Int32 chosen) {
    const fmi3ValueReference required[2] = {INPUT, OUTPUT};
    instance = fmi3InstantiateCoSimulation("all", TOKEN, NULL, fmi3False, fmi3True, fmi3True, fmi3True, required, 2,
                                           NULL, show, update);
    EXPECT(instance != NULL);
    WORKS(fmi3SetInt32(instance, &method, 1, &chosen, 1));
    if (initialize(1e-4)) return 1;
    WORKS(fmi3EnterStepMode(instance));
    for (int i = 0; i < STEPS; i++)
        if (step(0.05 * i, 0.05) || derivatives() || keep_state()) return 1;
    if (damaged_states()) return 1;
    WORKS(fmi3Terminate(instance));
    fmi3FreeInstance(instance);
    return 0;
}

/* States off the constraints are put back in an event. */
static int model_exchange(void) {
    double states[N_STATES], slopes[N_STATES], next;
    fmi3Boolean enter_event, terminate, flags[5];
    instance = fmi3InstantiateModelExchange("all", TOKEN, NULL, fmi3False, fmi3True, NULL, show);
    EXPECT(instance != NULL);
    if (initialize(1e-6)) return 1;
    WORKS(fmi3EnterContinuousTimeMode(instance));
    WORKS(fmi3GetContinuousStates(instance, states, N_STATES));
    states[0] += 1e-3;
    WORKS(fmi3SetTime(instance, 0.01));
    WORKS(fmi3SetContinuousStates(instance, states, N_STATES));
    WORKS(fmi3GetContinuousStateDerivatives(instance, slopes, N_STATES));
    if (derivatives()) return 1;
    WORKS(fmi3CompletedIntegratorStep(instance, fmi3True, &enter_event, &terminate));
    EXPECT(enter_event && !terminate);
    WORKS(fmi3EnterEventMode(instance));
    WORKS(fmi3UpdateDiscreteStates(instance, flags, flags + 1, flags + 2, flags + 3, flags + 4, &next));
    EXPECT(flags[3]);
    fmi3FreeInstance(instance);
    return 0;
}

int main(void) {
    for (fmi3Int32 chosen = 0; chosen <= METHODS; chosen++)
        if (co_simulation(chosen)) return 1;
    EXPECT(updates > 100);
    return model_exchange();
}
