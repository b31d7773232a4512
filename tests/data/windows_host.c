/* Runs an FMI 2.0 co-simulation on Windows: host LIBRARY GUID STEPS STEP VALUE_REFERENCE...; prints the values. */

#include "fmi2Functions.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

static void log_message(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                        fmi2String message, ...) {
    (void)environment, (void)name, (void)status, (void)category;
    va_list arguments;
    va_start(arguments, message);
    vfprintf(stderr, message, arguments);
    va_end(arguments);
}

#define FUNCTION(name) fmi2##name##TYPE *name = (fmi2##name##TYPE *)(void *)GetProcAddress(library, "fmi2" #name)

int main(int count, char *words[]) {
    if (count < 5) return 2;
    HMODULE library = LoadLibraryA(words[1]);
    if (library == NULL) return 3;
    FUNCTION(Instantiate);
    FUNCTION(SetupExperiment);
    FUNCTION(EnterInitializationMode);
    FUNCTION(ExitInitializationMode);
    FUNCTION(DoStep);
    FUNCTION(GetReal);
    FUNCTION(FreeInstance);
    const fmi2CallbackFunctions callbacks = {log_message, calloc, free, NULL, NULL};
    fmi2Component fmu = Instantiate("instance", fmi2CoSimulation, words[2], "", &callbacks, fmi2False, fmi2False);
    if (fmu == NULL) return 4;
    fmi2Status worst = SetupExperiment(fmu, fmi2True, 1e-9, 0.0, fmi2False, 0.0);
    worst |= EnterInitializationMode(fmu);
    worst |= ExitInitializationMode(fmu);
    const double step = atof(words[4]);
    for (int k = 0; k < atoi(words[3]); k++) worst |= DoStep(fmu, k * step, step, fmi2True);
    for (int k = 5; k < count; k++) {
        const fmi2ValueReference reference = (fmi2ValueReference)atoi(words[k]);
        fmi2Real value;
        worst |= GetReal(fmu, &reference, 1, &value);
        printf("%.17g\n", value);
    }
    FreeInstance(fmu);
    return worst == fmi2OK ? 0 : 5;
}
