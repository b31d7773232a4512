/* Checks of call sequences and arguments for all FMI versions. */

#include "calls.h"

#include <stdio.h>
#include <string.h>

static const struct {
    Mode mode;
    const char *name;
} MODE_NAMES[] = {
    {MODE_INSTANTIATED, "instantiated"}, {MODE_INITIALIZATION, "initialization"},
    {MODE_EVENT, "event"},               {MODE_CONTINUOUS_TIME, "continuous-time"},
    {MODE_STEP, "step complete"},        {MODE_INTERMEDIATE_UPDATE, "intermediate update"},
    {MODE_TERMINATED, "terminated"},
};

/* Writes the names of the modes in a mask; text has MESSAGE_SIZE characters. */
static const char *mode_names(unsigned modes, char *text) {
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof MODE_NAMES / sizeof MODE_NAMES[0]; i++)
        if (modes & MODE_NAMES[i].mode)
            length += (size_t)snprintf(text + length, MESSAGE_SIZE - length, "%s%s", length ? ", " : "",
                                       MODE_NAMES[i].name);
    return length ? text : "none";
}

bool call_allowed(Model *model, const char *function, unsigned modes) {
    char actual[MESSAGE_SIZE], expected[MESSAGE_SIZE];
    if (model == NULL) return false;
    model->function = function;
    if (model->run.mode & modes) return true;
    return model_fail(model, "called in the mode: %s; expected one of: %s", mode_names(model->run.mode, actual),
                      mode_names(modes, expected));
}

bool expect_pointer(Model *model, const char *name, const void *pointer) {
    return pointer != NULL || model_fail(model, "the argument %s is NULL", name);
}

bool expect_array(Model *model, const char *name, const void *pointer, size_t n) {
    return n == 0 || expect_pointer(model, name, pointer);
}

bool expect_size(Model *model, const char *name, const void *pointer, size_t n, int expected) {
    if (n != (size_t)expected)
        return model_fail(model, "%s has %lu elements, expected %d", name, (unsigned long)n, expected);
    return expect_array(model, name, pointer, n);
}

bool expect_none(Model *model, size_t n) {
    return n == 0 || model_fail(model, "there are no variables of this type, expected none instead of %lu",
                                (unsigned long)n);
}

bool expect_first_order(Model *model, int order) {
    return order == 1 || model_fail(model, "the order of a derivative is %d, expected 1", order);
}

bool expect_token(Model *model, const char *token) {
    return (token != NULL && strcmp(token, equations.token) == 0) ||
           model_fail(model, "the token is %s, expected %s", token ? token : "NULL", equations.token);
}

bool expect_name(Model *model, const char *instance_name) {
    return (instance_name != NULL && strspn(instance_name, " \t\r\n") < strlen(instance_name)) ||
           model_fail(model, "the instance has no name");
}

void describe_failure(const Model *model, const char *doubled, char text[DESCRIPTION_SIZE]) {
    char plain[DESCRIPTION_SIZE / 2];
    snprintf(plain, sizeof plain, "%s: %s", model->function, model->message);
    for (const char *source = plain; *source != '\0'; source++) {
        if (strchr(doubled, *source)) *text++ = *source;
        *text++ = *source;
    }
    *text = '\0';
}
