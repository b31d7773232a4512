/* The end of every call of FMI 2.0: its status and what is logged. */

#include "fmi2_instance.h"

#include <stdio.h>

Model *model_of(fmi2Component c) { return c; }

/* The logger takes a printf format in which '#' has a meaning too (2.1.5): doubled, both stand for themselves. */
static void escape(char *target, size_t size, const char *source) {
    size_t length = 0;
    for (; *source != '\0' && length + 3 < size; source++) {
        if (*source == '%' || *source == '#') target[length++] = *source;
        target[length++] = *source;
    }
    target[length] = '\0';
}

void log_failure(const Instance *instance) {
    char text[2 * MESSAGE_SIZE], escaped[2 * sizeof text];
    if (instance->logger == NULL) return;
    describe_failure(&instance->model, text, sizeof text);
    escape(escaped, sizeof escaped, text);
    instance->logger(instance->environment, instance->name, fmi2Error, "logStatusError", escaped);
}

fmi2Status finish_call(fmi2Component c, bool ok) {
    if (ok) return fmi2OK;
    if (c != NULL) log_failure(c);
    return fmi2Error;
}
