/* An importer by FMI 2.0 that is built with the FMU and the compiler's sanitizers: misuse, and calls in any order.
   Exit status 0: every call did what it should; a sanitizer's finding ends the program with another one. */

#include "expect.h"
#include "fmi2Functions.h"

#include <math.h>
#include <stdio.h>

static int logged; /* messages of the current check */

static void count(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status, fmi2String category,
                  fmi2String message, ...) {
    (void)environment, (void)instance, (void)status, (void)category;
    logged += message[0] != '\0';
}

static const fmi2CallbackFunctions CALLBACKS = {count, NULL, NULL, NULL, NULL};
static const char *const TOKEN = "{oscillator}";

#define FAILS(call)                  \
    do {                             \
        logged = 0;                  \
        EXPECT((call) == fmi2Error); \
        EXPECT(logged == 1);         \
    } while (0)

#define WORKS(call) EXPECT((call) == fmi2OK)

static int misuse(void) {
    const fmi2ValueReference beyond = 100000, time = 0;
    fmi2FMUstate state = NULL;
    fmi2Byte bytes[64] = {0};
    double values[8] = {0};
    size_t size = 0;
    EXPECT(fmi2Instantiate("x", fmi2CoSimulation, TOKEN, NULL, NULL, fmi2False, fmi2False) == NULL);
    EXPECT(fmi2Instantiate(NULL, fmi2CoSimulation, TOKEN, NULL, &CALLBACKS, fmi2False, fmi2False) == NULL);
    EXPECT(fmi2Instantiate("x", fmi2CoSimulation, NULL, NULL, &CALLBACKS, fmi2False, fmi2False) == NULL);
    EXPECT(fmi2DoStep(NULL, 0.0, 0.1, fmi2True) == fmi2Error);
    EXPECT(fmi2GetReal(NULL, NULL, 0, NULL) == fmi2Error);
    fmi2FreeInstance(NULL);
    fmi2Component c = fmi2Instantiate("x", fmi2ModelExchange, TOKEN, NULL, &CALLBACKS, fmi2False, fmi2False);
    EXPECT(c != NULL);
    FAILS(fmi2SetupExperiment(c, fmi2False, 0.0, NAN, fmi2False, 0.0));
    FAILS(fmi2SetupExperiment(c, fmi2True, -1.0, 0.0, fmi2False, 0.0));
    FAILS(fmi2SetupExperiment(c, fmi2False, 0.0, 1.0, fmi2True, 1.0));
    WORKS(fmi2EnterInitializationMode(c));
    WORKS(fmi2ExitInitializationMode(c));
    FAILS(fmi2NewDiscreteStates(c, NULL));
    FAILS(fmi2GetReal(c, NULL, 1, values));
    FAILS(fmi2GetReal(c, &time, 1, NULL));
    FAILS(fmi2GetReal(c, &beyond, 1, values));
    FAILS(fmi2GetInteger(c, &time, 1, (fmi2Integer *)values));
    FAILS(fmi2GetString(c, &time, 1, NULL));
    FAILS(fmi2GetDerivatives(c, values, 3));
    FAILS(fmi2GetDerivatives(c, NULL, 4));
    FAILS(fmi2GetFMUstate(c, NULL));
    FAILS(fmi2SetFMUstate(c, NULL));
    FAILS(fmi2DeSerializeFMUstate(c, bytes, sizeof bytes, &state));
    FAILS(fmi2SerializedFMUstateSize(c, NULL, &size));
    FAILS(fmi2CompletedIntegratorStep(c, fmi2True, NULL, NULL));
    FAILS(fmi2GetDirectionalDerivative(c, &time, 1, &time, 1, values, values));
    fmi2FreeInstance(c);
    return 0;
}

static unsigned draw(unsigned below) { /* a linear congruential generator: the same calls in every run */
    static unsigned seed = 1;
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % below;
}

/* Any call in any mode, with arguments of any kind. What counts is what the sanitizers see. */
static void any_call(fmi2Component c, fmi2FMUstate *state) {
    static const fmi2ValueReference position = 1, acceleration = 8;
    static const double NUMBERS[] = {0.0, 1e-12, 0.01, 0.37, 1.0, -1.0, 1e9, NAN, INFINITY, -INFINITY};
    const double a = NUMBERS[draw(10)], b = NUMBERS[draw(5)];
    const fmi2ValueReference references[2] = {draw(29), draw(29)};
    const size_t n = draw(3);
    double values[4] = {a, b, a, b}, now = 0.0;
    fmi2Integer integers[2] = {(int)draw(5), 100};
    const fmi2Integer orders[2] = {1, (int)draw(5)};
    fmi2Boolean booleans[2];
    fmi2EventInfo info;
    fmi2GetRealStatus(c, fmi2LastSuccessfulTime, &now);
    switch (draw(25)) {
    case 0: fmi2SetupExperiment(c, draw(2), a, b, draw(2), a); break;
    case 1: fmi2EnterInitializationMode(c); break;
    case 2: fmi2ExitInitializationMode(c); break;
    case 3: fmi2Terminate(c); break;
    case 4: fmi2Reset(c); break;
    case 5: fmi2SetReal(c, references, n, values); break;
    case 6: fmi2GetReal(c, references, n, values); break;
    case 7: fmi2SetInteger(c, references, n, integers); break;
    case 8: fmi2GetInteger(c, references, n, integers); break;
    case 9: fmi2GetFMUstate(c, state); break;
    case 10: fmi2SetFMUstate(c, *state); break;
    case 11: fmi2EnterEventMode(c); break;
    case 12: fmi2NewDiscreteStates(c, draw(4) ? &info : NULL); break;
    case 13: fmi2EnterContinuousTimeMode(c); break;
    case 14: fmi2SetTime(c, a); break;
    case 15: fmi2SetContinuousStates(c, values, 3 + n); break;
    case 16: fmi2GetDerivatives(c, values, 4); break;
    case 17: fmi2CompletedIntegratorStep(c, fmi2True, booleans, booleans + 1); break;
    case 18: fmi2GetNominalsOfContinuousStates(c, values, 4); break;
    case 19: fmi2SetRealInputDerivatives(c, references, n, orders, values); break;
    case 20: fmi2GetRealOutputDerivatives(c, references, n, orders, values); break;
    case 21: fmi2GetDirectionalDerivative(c, references, n, references + 1, 1, &a, values); break;
    case 22: fmi2GetDirectionalDerivative(c, &acceleration, 1, &position, 1, &a, values); break;
    default: fmi2DoStep(c, now, a < 1e6 ? a : b, fmi2True); break;
    }
}

static int any_calls(fmi2Type type) {
    fmi2FMUstate state = NULL;
    fmi2Component c = fmi2Instantiate("any", type, TOKEN, NULL, &CALLBACKS, fmi2False, fmi2False);
    EXPECT(c != NULL);
    for (int i = 0; i < 50000; i++) any_call(c, &state);
    WORKS(fmi2FreeFMUstate(c, &state));
    fmi2FreeInstance(c);
    return 0;
}

int main(void) {
    return misuse() || any_calls(fmi2CoSimulation) || any_calls(fmi2ModelExchange);
}
