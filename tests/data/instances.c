/* An importer of a generated co-simulation FMU, compiled with its sources: thousands of lives of an instance, many
   threads, and states with other bytes. FMI_VERSION 2 or 3, TOKEN, and the value references TIME, INPUT, OUTPUT,
   ACCELERATION and MAX_STEPS come from the command line of the compiler.

   Argument: how many lives and resets. Exit status 0: every call did what it should. */

#define _POSIX_C_SOURCE 200809L

#include "damage.h"
#include "expect.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* ---- Both versions of the standard as one ------------------------------------------------------------------- */

typedef struct {
    void *component;
    int logged; /* messages that are not empty */
} Fmu;

#if FMI_VERSION == 2

#include "fmi2Functions.h"

enum { OK = fmi2OK, ERROR = fmi2Error };

static void log_message(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status,
                        fmi2String category, fmi2String message, ...) {
    (void)instance, (void)status, (void)category;
    ((Fmu *)environment)->logged += message[0] != '\0';
}

static int create(Fmu *fmu) {
    fmi2CallbackFunctions callbacks = {log_message, NULL, NULL, NULL, fmu};
    fmu->logged = 0;
    fmu->component = fmi2Instantiate("life", fmi2CoSimulation, TOKEN, NULL, &callbacks, fmi2False, fmi2False);
    return fmu->component != NULL ? OK : ERROR;
}

static int enter(Fmu *fmu) {
    if (fmi2SetupExperiment(fmu->component, fmi2True, 1e-6, 0.0, fmi2False, 0.0) != fmi2OK) return ERROR;
    return fmi2EnterInitializationMode(fmu->component);
}

static int leave(Fmu *fmu) { return fmi2ExitInitializationMode(fmu->component); }
static int reset(Fmu *fmu) { return fmi2Reset(fmu->component); }
static int step(Fmu *fmu, double t, double h) { return fmi2DoStep(fmu->component, t, h, fmi2True); }
static void destroy(Fmu *fmu) { fmi2FreeInstance(fmu->component); }

static int get(Fmu *fmu, unsigned reference, double *value) {
    return fmi2GetReal(fmu->component, &reference, 1, value);
}

static int set(Fmu *fmu, unsigned reference, double value) {
    return fmi2SetReal(fmu->component, &reference, 1, &value);
}

static int set_integer(Fmu *fmu, unsigned reference, int value) {
    return fmi2SetInteger(fmu->component, &reference, 1, &value);
}

static int differentiate(Fmu *fmu, double *value) {
    const fmi2ValueReference unknown = ACCELERATION, known = INPUT;
    const double seed = 1.0;
    return fmi2GetDirectionalDerivative(fmu->component, &unknown, 1, &known, 1, &seed, value);
}

static int write_state(Fmu *fmu, char **bytes, size_t *size) {
    fmi2FMUstate state = NULL;
    int status = fmi2GetFMUstate(fmu->component, &state);
    if (status == fmi2OK) status = fmi2SerializedFMUstateSize(fmu->component, state, size);
    *bytes = status == fmi2OK ? malloc(*size) : NULL;
    if (*bytes != NULL) status = fmi2SerializeFMUstate(fmu->component, state, *bytes, *size);
    fmi2FreeFMUstate(fmu->component, &state);
    return *bytes != NULL ? status : ERROR;
}

static int read_state(Fmu *fmu, const char *bytes, size_t size) {
    fmi2FMUstate state = NULL;
    int status = fmi2DeSerializeFMUstate(fmu->component, bytes, size, &state);
    if (status == fmi2OK) status = fmi2SetFMUstate(fmu->component, state);
    fmi2FreeFMUstate(fmu->component, &state);
    return status;
}

#else

#include "fmi3Functions.h"

enum { OK = fmi3OK, ERROR = fmi3Error };

static void log_message(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                        fmi3String message) {
    (void)status, (void)category;
    ((Fmu *)environment)->logged += message[0] != '\0';
}

static int create(Fmu *fmu) {
    fmu->logged = 0;
    fmu->component = fmi3InstantiateCoSimulation("life", TOKEN, NULL, fmi3False, fmi3True, fmi3False, fmi3False,
                                                 NULL, 0, fmu, log_message, NULL);
    return fmu->component != NULL ? OK : ERROR;
}

static int enter(Fmu *fmu) {
    return fmi3EnterInitializationMode(fmu->component, fmi3True, 1e-6, 0.0, fmi3False, 0.0);
}

static int leave(Fmu *fmu) { return fmi3ExitInitializationMode(fmu->component); }
static int reset(Fmu *fmu) { return fmi3Reset(fmu->component); }
static void destroy(Fmu *fmu) { fmi3FreeInstance(fmu->component); }

static int step(Fmu *fmu, double t, double h) {
    fmi3Boolean event, terminate, early;
    double last;
    return fmi3DoStep(fmu->component, t, h, fmi3True, &event, &terminate, &early, &last);
}

static int get(Fmu *fmu, unsigned reference, double *value) {
    return fmi3GetFloat64(fmu->component, &reference, 1, value, 1);
}

static int set(Fmu *fmu, unsigned reference, double value) {
    return fmi3SetFloat64(fmu->component, &reference, 1, &value, 1);
}

static int set_integer(Fmu *fmu, unsigned reference, int value) {
    return fmi3SetInt32(fmu->component, &reference, 1, &value, 1);
}

static int differentiate(Fmu *fmu, double *value) {
    const fmi3ValueReference unknown = ACCELERATION, known = INPUT;
    const double seed = 1.0;
    return fmi3GetDirectionalDerivative(fmu->component, &unknown, 1, &known, 1, &seed, 1, value, 1);
}

static int write_state(Fmu *fmu, char **bytes, size_t *size) {
    fmi3FMUState state = NULL;
    int status = fmi3GetFMUState(fmu->component, &state);
    if (status == fmi3OK) status = fmi3SerializedFMUStateSize(fmu->component, state, size);
    *bytes = status == fmi3OK ? malloc(*size) : NULL;
    if (*bytes != NULL) status = fmi3SerializeFMUState(fmu->component, state, (fmi3Byte *)*bytes, *size);
    fmi3FreeFMUState(fmu->component, &state);
    return *bytes != NULL ? status : ERROR;
}

static int read_state(Fmu *fmu, const char *bytes, size_t size) {
    fmi3FMUState state = NULL;
    int status = fmi3DeserializeFMUState(fmu->component, (const fmi3Byte *)bytes, size, &state);
    if (status == fmi3OK) status = fmi3SetFMUState(fmu->component, state);
    fmi3FreeFMUState(fmu->component, &state);
    return status;
}

#endif

/* ---- What is done with it ----------------------------------------------------------------------------------- */

enum { STEPS = 5, THREADS = 8, RUNS = 20 };

static int start(Fmu *fmu) {
    EXPECT(set_integer(fmu, MAX_STEPS, 1000) == OK);
    EXPECT(enter(fmu) == OK);
    EXPECT(leave(fmu) == OK);
    return 0;
}

/* Output after each step of a run whose input depends on its number. */
static int run(Fmu *fmu, int number, double results[STEPS]) {
    if (start(fmu)) return 1;
    for (int i = 0; i < STEPS; i++) {
        EXPECT(set(fmu, INPUT, 0.1 * (number % 7)) == OK);
        EXPECT(step(fmu, 0.02 * i, 0.02) == OK);
        EXPECT(get(fmu, OUTPUT, &results[i]) == OK && isfinite(results[i]));
    }
    return 0;
}

static int one_life(int number, double results[STEPS]) {
    Fmu fmu;
    EXPECT(create(&fmu) == OK);
    const int failed = run(&fmu, number, results);
    destroy(&fmu);
    return failed;
}

static long peak_memory(void) { /* in the unit of the system */
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* After a tenth of them, neither lives nor resets need any more memory. */
static int lives_and_resets(int count) {
    double results[STEPS];
    Fmu fmu;
    long before = 0;
    EXPECT(create(&fmu) == OK);
    for (int i = 0; i < count; i++) {
        if (i == count / 10) before = peak_memory();
        if (one_life(i, results) || run(&fmu, i, results)) return 1;
        EXPECT(reset(&fmu) == OK);
    }
    destroy(&fmu);
    printf("growth %.4f\n", (double)peak_memory() / (double)before - 1.0);
    return 0;
}

typedef struct {
    int number, failed;
    double results[STEPS];
} Work;

static void *work(void *argument) {
    Work *own = argument;
    for (int i = 0; i < RUNS && !own->failed; i++) own->failed = one_life(own->number, own->results);
    return NULL;
}

/* Threads at once, each with instances of its own, get bit for bit what one alone gets. */
static int threads(void) {
    pthread_t ids[THREADS];
    Work works[THREADS];
    for (int k = 0; k < THREADS; k++) {
        works[k] = (Work){.number = k};
        EXPECT(pthread_create(&ids[k], NULL, work, &works[k]) == 0);
    }
    for (int k = 0; k < THREADS; k++) {
        double alone[STEPS];
        pthread_join(ids[k], NULL);
        if (one_life(k, alone)) return 1;
        EXPECT(!works[k].failed);
        EXPECT(memcmp(alone, works[k].results, sizeof alone) == 0);
    }
    return 0;
}

/* ---- States that have been written out ------------------------------------------------------------------------ */

static Fmu restored;

static int take(const char *bytes, size_t size) {
    const int before = restored.logged;
    const int status = read_state(&restored, bytes, size);
    double value, time;
    if (status != OK) return restored.logged != before + 1; /* 0, with one message */
    differentiate(&restored, &value);
    get(&restored, TIME, &time);
    step(&restored, time, 1e-3);
    get(&restored, OUTPUT, &value);
    return 1;
}

static int damaged_states(void) {
    double results[STEPS];
    char *bytes;
    size_t size;
    EXPECT(create(&restored) == OK);
    if (run(&restored, 1, results)) return 1;
    EXPECT(write_state(&restored, &bytes, &size) == OK);
    const int failed = altered_bytes(bytes, size, take) || replaced_numbers(bytes, size, take);
    free(bytes);
    destroy(&restored);
    return failed;
}

int main(int argc, char **argv) {
    const int count = argc == 2 ? atoi(argv[1]) : 0;
    return damaged_states() || threads() || lives_and_resets(count);
}
