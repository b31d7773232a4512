/* End of every FMI 2.0 call: status and logging. */

#include "fmi2_instance.h"

Model *model_of(fmi2Component c) { return c; }

void log_failure(const Instance *instance) {
    char text[DESCRIPTION_SIZE];
    if (instance->logger == NULL) return;
    describe_failure(&instance->model, "%#", text); /* the logger expects a printf format in which '#' also has a
                                                       meaning (section 2.1.5) */
    instance->logger(instance->environment, instance->name, fmi2Error, "logStatusError", text);
}

fmi2Status finish_call(fmi2Component c, bool ok) {
    if (ok) return fmi2OK;
    if (c != NULL) log_failure(c);
    return fmi2Error;
}
