/* End of every FMI 3.0 call: status and logging. */

#include "fmi3_instance.h"

#include "life.h"

#include <stdlib.h>

Instance *new_instance(const char *function, bool co_simulation, fmi3InstanceEnvironment environment,
                       fmi3LogMessageCallback log_message, size_t n_intermediate) {
    Instance *self = calloc(1, sizeof *self + n_intermediate * sizeof *self->intermediate);
    if (self == NULL) return NULL;
    self->model.function = function;
    self->model.co_simulation = co_simulation;
    self->environment = environment;
    self->log_message = log_message;
    self->n_intermediate = n_intermediate;
    return self;
}

/* Completes an instantiation. The reason of a failure is logged even if logging is off (section 2.3.1). */
fmi3Instance finish_instance(Instance *self, bool right, fmi3String name, fmi3String token, fmi3Boolean logging_on) {
    if (self == NULL) return NULL;
    self->logged = LOG_ALL;
    if (right && expect_name(&self->model, name) && expect_token(&self->model, token) &&
        model_create(&self->model, self->model.co_simulation)) {
        self->logged = logging_on ? LOG_ALL : 0;
        return self;
    }
    log_status(self, fmi3Error);
    free(self);
    return NULL;
}

void log_status(const Instance *instance, fmi3Status status) {
    const bool discarded = status == fmi3Discard;
    char text[DESCRIPTION_SIZE];
    if (instance->log_message == NULL || !(instance->logged & (discarded ? LOG_DISCARDED : LOG_ERRORS))) return;
    describe_failure(&instance->model, "#", text); /* '#' encloses value references (section 2.3.1) */
    instance->log_message(instance->environment, status, discarded ? "logStatusDiscard" : "logStatusError", text);
}

fmi3Status finish(fmi3Instance instance, bool right) {
    Instance *self = instance;
    if (right || self == NULL) return right ? fmi3OK : fmi3Error;
    if (self->in_callback) self->spoiled = true; /* the current step ends the run */
    else self->model.run.mode = MODE_TERMINATED;
    log_status(self, fmi3Error);
    return fmi3Error;
}

fmi3Status finish_computed(fmi3Instance instance, bool computed) {
    if (!computed) log_status(instance, fmi3Discard);
    return computed ? fmi3OK : fmi3Discard;
}

bool expect_kind(fmi3Instance instance, bool co_simulation) {
    Model *model = instance;
    return model->co_simulation == co_simulation ||
           model_fail(model, "is only for %s", co_simulation ? "co-simulation" : "model exchange");
}

static bool is_accessible(const Instance *self, fmi3ValueReference reference) {
    if (!self->in_callback) return true;
    for (size_t i = 0; i < self->n_intermediate; i++)
        if (self->intermediate[i] == reference) return true;
    return false;
}

bool expect_accessible(fmi3Instance instance, fmi3ValueReference reference) {
    return is_accessible(instance, reference) ||
           model_fail(instance, "value reference %u is not among the requiredIntermediateVariables",
                      (unsigned)reference);
}
