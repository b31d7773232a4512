/* Entry points for JavaScript, which passes numbers and addresses but no C structures. */

#include "fmi2Functions.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* By CasADi (frames.py): frames of all bodies from coordinates and geometric parameters. */
int frames(const double **arguments, double **results, long long int *integers, double *work, int memory);

static char message[1024];

static void keep_message(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status,
                         fmi2String category, fmi2String text, ...) {
    (void)environment, (void)instance, (void)status, (void)category;
    va_list values;
    va_start(values, text);
    vsnprintf(message, sizeof message, text, values);
    va_end(values);
}

/* Memory for `size` bytes. The page never frees it: one worker lives for one simulation. */
void *browser_allocate(size_t size) { return calloc(1, size); }

/* Last message that the FMU logged; empty if there is none. */
const char *browser_message(void) { return message; }

/* Co-simulation instance in the state of fmi2Instantiate, or NULL. */
fmi2Component browser_instantiate(const char *guid) {
    static const fmi2CallbackFunctions callbacks = {keep_message, calloc, free, NULL, NULL};
    message[0] = '\0';
    return fmi2Instantiate("browser", fmi2CoSimulation, guid, "", &callbacks, fmi2False, fmi2False);
}

/* Positions and quaternions of all bodies into `result`, seven numbers per body, then three numbers per axis. */
void browser_frames(const double *coordinates, const double *parameters, double *result) {
    static double work[FRAMES_WORK];
    const double *arguments[] = {coordinates, parameters};
    frames(arguments, &result, NULL, work, 0);
}
