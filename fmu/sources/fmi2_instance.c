/* Order of calls, checks of arguments and logging for FMI 2.0. */

#include "fmi2_instance.h"

#include <stdio.h>

static const struct {
    Mode mode;
    const char *name;
} MODE_NAMES[] = {
    {MODE_INSTANTIATED, "instantiated"},       {MODE_INITIALIZATION, "initialization"},
    {MODE_EVENT, "event"},                     {MODE_CONTINUOUS_TIME, "continuous-time"},
    {MODE_STEP, "step complete"},              {MODE_TERMINATED, "terminated"},
};

/* The names of the modes in a mask; text: MESSAGE_SIZE characters. */
static const char *mode_names(unsigned modes, char *text) {
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof MODE_NAMES / sizeof MODE_NAMES[0]; i++)
        if (modes & MODE_NAMES[i].mode)
            length += (size_t)snprintf(text + length, MESSAGE_SIZE - length, "%s%s", length ? ", " : "",
                                       MODE_NAMES[i].name);
    return length ? text : "none";
}

Model *model_of(fmi2Component c) { return &((Instance *)c)->model; }

bool call_allowed(fmi2Component c, const char *function, unsigned modes) {
    char actual[MESSAGE_SIZE], expected[MESSAGE_SIZE];
    if (c == NULL) return false;
    ((Instance *)c)->function = function;
    const uint32_t mode = model_of(c)->run.mode;
    if (mode & modes) return true;
    return model_fail(model_of(c), "called in the mode: %s; expected one of: %s", mode_names(mode, actual),
                      mode_names(modes, expected));
}

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
    snprintf(text, sizeof text, "%s: %s", instance->function, instance->model.message);
    escape(escaped, sizeof escaped, text);
    instance->logger(instance->environment, instance->name, fmi2Error, "logStatusError", escaped);
}

fmi2Status finish_call(fmi2Component c, bool ok) {
    if (ok) return fmi2OK;
    if (c != NULL) log_failure(c);
    return fmi2Error;
}

bool expect_pointer(fmi2Component c, const char *name, const void *pointer) {
    return pointer != NULL || model_fail(model_of(c), "the argument %s is NULL", name);
}

bool expect_array(fmi2Component c, const char *name, const void *pointer, size_t n) {
    return n == 0 || expect_pointer(c, name, pointer);
}

bool expect_size(fmi2Component c, const char *name, const void *pointer, size_t n, int expected) {
    if (n != (size_t)expected)
        return model_fail(model_of(c), "%s has %lu elements, expected %d", name, (unsigned long)n, expected);
    return expect_array(c, name, pointer, n);
}
