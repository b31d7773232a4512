/* The end of every call of FMI 2.0: its status and what is logged. */

#include "fmi2_instance.h"

Model *model_of(fmi2Component c) { return c; }

void log_failure(const Instance *instance) {
    char text[DESCRIPTION_SIZE];
    if (instance->logger == NULL) return;
    describe_failure(&instance->model, "%#", text); /* it takes a printf format in which '#' has a meaning too (2.1.5) */
    instance->logger(instance->environment, instance->name, fmi2Error, "logStatusError", text);
}

fmi2Status finish_call(fmi2Component c, bool ok) {
    if (ok) return fmi2OK;
    if (c != NULL) log_failure(c);
    return fmi2Error;
}
