/* An importer by FMI 2.0 that is linked with --wrap for malloc, calloc, realloc and free: a run that has begun allocates
   and frees nothing, whatever the solver. Exit status 0: it does not. */

#include "expect.h"
#include "fmi2Functions.h"

#include <stdlib.h>

enum { METHODS = 5, STEPS = 500 };

static long calls;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);
void *__wrap_malloc(size_t size) { return calls++, __real_malloc(size); }
void *__wrap_calloc(size_t n, size_t size) { return calls++, __real_calloc(n, size); }
void *__wrap_realloc(void *old, size_t size) { return calls++, __real_realloc(old, size); }
void __wrap_free(void *old) { calls++, __real_free(old); }

static void say(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status, fmi2String category,
                fmi2String message, ...) {
    (void)environment, (void)instance, (void)status, (void)category;
    printf("%s\n", message);
}

static const fmi2CallbackFunctions CALLBACKS = {say, NULL, NULL, NULL, NULL};

/* Steps of 1 ms with an input that changes, and an output. */
static int run(fmi2Component c, int method) {
    const fmi2ValueReference input = INPUT, output = OUTPUT, solver = SOLVER_METHOD;
    fmi2Real value = 0.0;
    EXPECT(fmi2SetInteger(c, &solver, 1, &method) == fmi2OK);
    EXPECT(fmi2SetupExperiment(c, fmi2False, 0.0, 0.0, fmi2False, 0.0) == fmi2OK);
    EXPECT(fmi2EnterInitializationMode(c) == fmi2OK);
    EXPECT(fmi2ExitInitializationMode(c) == fmi2OK);
    calls = 0;
    for (int i = 0; i < STEPS; i++) {
        const fmi2Real push = 1e-2 * (i % 7);
        EXPECT(fmi2SetReal(c, &input, 1, &push) == fmi2OK);
        EXPECT(fmi2DoStep(c, 1e-3 * i, 1e-3, fmi2True) == fmi2OK);
        EXPECT(fmi2GetReal(c, &output, 1, &value) == fmi2OK);
    }
    EXPECT(calls == 0);
    EXPECT(fmi2Reset(c) == fmi2OK);
    return 0;
}

int main(void) {
    fmi2Component c = fmi2Instantiate("run", fmi2CoSimulation, TOKEN, NULL, &CALLBACKS, fmi2False, fmi2False);
    EXPECT(c != NULL);
    EXPECT(calls > 0); /* they are counted */
    for (int method = 0; method < METHODS; method++)
        if (run(c, method)) return 1;
    fmi2FreeInstance(c);
    return 0;
}
