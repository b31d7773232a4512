/* Functions of FMI 3.0 that all interface types share, and those of model exchange, based on the version-independent
   functions. Variables are in fmi3_variables.c, FMU state and partial derivatives in fmi3_state.c, co-simulation in
   fmi3_cosimulation.c. */

#include "checks.h"
#include "evaluation.h"
#include "events.h"
#include "fmi3_instance.h"
#include "life.h"
#include "point.h"
#include "variables.h"
#include "vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Instances (2.3.1) ---------------------------------------------------------------------------------------- */

const char *fmi3GetVersion(void) { return fmi3Version; }

fmi3Instance fmi3InstantiateModelExchange(fmi3String instanceName, fmi3String instantiationToken,
                                          fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                          fmi3InstanceEnvironment instanceEnvironment,
                                          fmi3LogMessageCallback logMessage) {
    (void)resourcePath, (void)visible;
    Instance *self = new_instance("fmi3InstantiateModelExchange", false, instanceEnvironment, logMessage, 0);
    return finish_instance(self, true, instanceName, instantiationToken, loggingOn);
}

/* An importer's callback cannot free the instance that called it. */
void fmi3FreeInstance(fmi3Instance instance) {
    Instance *self = instance;
    if (self == NULL || self->in_callback) return;
    model_destroy(&self->model);
    free(self);
}

static unsigned category(fmi3String name) {
    if (name != NULL && strcmp(name, "logStatusError") == 0) return LOG_ERRORS;
    return name != NULL && strcmp(name, "logStatusDiscard") == 0 ? LOG_DISCARDED : 0;
}

fmi3Status fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean loggingOn, size_t nCategories,
                               const fmi3String categories[]) {
    if (!ALLOWED(fmi3SetDebugLogging) || !expect_array(instance, "categories", categories, nCategories))
        return finish(instance, false);
    Instance *self = instance;
    unsigned chosen = nCategories == 0 ? LOG_ALL : 0;
    for (size_t i = 0; i < nCategories; i++) {
        const unsigned one = category(categories[i]);
        if (one == 0)
            return finish(instance, model_fail(instance, "there is no log category %s",
                                               categories[i] ? categories[i] : "NULL"));
        chosen |= one;
    }
    self->logged = loggingOn ? self->logged | chosen : self->logged & ~chosen;
    return fmi3OK;
}

/* ---- Initialisation, end and reset (2.3.2 to 2.3.4) ------------------------------------------------------------ */

static fmi3Status enter(fmi3Instance instance, bool right, Mode mode) {
    if (!right) return finish(instance, false);
    ((Model *)instance)->run.mode = mode;
    return fmi3OK;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean toleranceDefined, fmi3Float64 tolerance,
                                       fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64 stopTime) {
    if (!ALLOWED(fmi3EnterInitializationMode) ||
        !model_set_up(instance, toleranceDefined ? tolerance : 0.0, startTime, stopTimeDefined ? stopTime : INFINITY))
        return finish(instance, false);
    return finish_computed(instance, model_enter_initialization(instance));
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance instance) {
    if (!ALLOWED(fmi3ExitInitializationMode)) return finish(instance, false);
    if (!model_exit_initialization(instance)) return finish_computed(instance, false);
    const Instance *self = instance;
    return self->event_mode_used ? enter(instance, true, MODE_EVENT) : fmi3OK;
}

fmi3Status fmi3Terminate(fmi3Instance instance) { return enter(instance, ALLOWED(fmi3Terminate), MODE_TERMINATED); }

fmi3Status fmi3Reset(fmi3Instance instance) {
    if (!ALLOWED(fmi3Reset)) return finish(instance, false);
    model_reset(instance);
    return fmi3OK;
}

static bool no_structural_parameters(fmi3Instance instance) {
    return model_fail(instance, "there are no structural parameters, so that nothing can be configured");
}

fmi3Status fmi3EnterConfigurationMode(fmi3Instance instance) {
    return finish(instance, ALLOWED(fmi3EnterConfigurationMode) && no_structural_parameters(instance));
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance instance) {
    return finish(instance, ALLOWED(fmi3ExitConfigurationMode) && no_structural_parameters(instance));
}

/* ---- Events (2.3.6) --------------------------------------------------------------------------------------------- */

fmi3Status fmi3EnterEventMode(fmi3Instance instance) {
    const Instance *self = instance;
    const bool right = ALLOWED(fmi3EnterEventMode) &&
                       (!self->model.co_simulation || self->event_mode_used ||
                        model_fail(instance, "the instance was made with eventModeUsed = false"));
    return enter(instance, right, MODE_EVENT);
}

/* The discrete states are the switches, which fmi3UpdateDiscreteStates sets. */
fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance instance) {
    return finish(instance, ALLOWED(fmi3EvaluateDiscreteStates));
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *discreteStatesNeedUpdate,
                                    fmi3Boolean *terminateSimulation, fmi3Boolean *nominalsOfContinuousStatesChanged,
                                    fmi3Boolean *valuesOfContinuousStatesChanged, fmi3Boolean *nextEventTimeDefined,
                                    fmi3Float64 *nextEventTime) {
    if (!ALLOWED(fmi3UpdateDiscreteStates) ||
        !expect_pointer(instance, "discreteStatesNeedUpdate", discreteStatesNeedUpdate) ||
        !expect_pointer(instance, "terminateSimulation", terminateSimulation) ||
        !expect_pointer(instance, "nominalsOfContinuousStatesChanged", nominalsOfContinuousStatesChanged) ||
        !expect_pointer(instance, "valuesOfContinuousStatesChanged", valuesOfContinuousStatesChanged) ||
        !expect_pointer(instance, "nextEventTimeDefined", nextEventTimeDefined) ||
        !expect_pointer(instance, "nextEventTime", nextEventTime))
        return finish(instance, false);
    bool moved;
    if (!model_handle_event(instance) || !model_settle(instance, &moved)) return finish_computed(instance, false);
    const double next = events_next_time(instance);
    *discreteStatesNeedUpdate = *terminateSimulation = *nominalsOfContinuousStatesChanged = fmi3False;
    *valuesOfContinuousStatesChanged = moved;
    *nextEventTimeDefined = isfinite(next);
    *nextEventTime = isfinite(next) ? next : 0.0;
    return fmi3OK;
}

/* ---- Model exchange (3.2) --------------------------------------------------------------------------------------- */

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance instance) {
    if (!ALLOWED_ME(fmi3EnterContinuousTimeMode)) return finish(instance, false);
    return finish_computed(instance, model_begin_steps(instance) && enter(instance, true, MODE_CONTINUOUS_TIME) == fmi3OK);
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance instance, fmi3Boolean noSetFMUStatePriorToCurrentPoint,
                                       fmi3Boolean *enterEventMode, fmi3Boolean *terminateSimulation) {
    (void)noSetFMUStatePriorToCurrentPoint;
    if (!ALLOWED_ME(fmi3CompletedIntegratorStep) || !expect_pointer(instance, "enterEventMode", enterEventMode) ||
        !expect_pointer(instance, "terminateSimulation", terminateSimulation))
        return finish(instance, false);
    bool due;
    if (!model_complete_step(instance, &due)) return finish_computed(instance, false);
    *enterEventMode = due;
    *terminateSimulation = fmi3False;
    return fmi3OK;
}

fmi3Status fmi3SetTime(fmi3Instance instance, fmi3Float64 time) {
    return finish(instance, ALLOWED_ME(fmi3SetTime) && model_set_time(instance, time));
}

fmi3Status fmi3SetContinuousStates(fmi3Instance instance, const fmi3Float64 continuousStates[],
                                   size_t nContinuousStates) {
    if (!ALLOWED_ME(fmi3SetContinuousStates) ||
        !expect_size(instance, "continuousStates", continuousStates, nContinuousStates, equations.n_states))
        return finish(instance, false);
    return finish_computed(instance, model_set_states(instance, continuousStates));
}

static fmi3Status copy_states(fmi3Float64 *values, const double *source) {
    copy_numbers(equations.n_states, source, values);
    return fmi3OK;
}

static const double *block(fmi3Instance instance, int offset) { return ((Model *)instance)->workspace + offset; }

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance instance, fmi3Float64 derivatives[],
                                             size_t nContinuousStates) {
    if (!ALLOWED_ME(fmi3GetContinuousStateDerivatives) ||
        !expect_size(instance, "derivatives", derivatives, nContinuousStates, equations.n_states))
        return finish(instance, false);
    if (!model_evaluate(instance, GROUP_DYNAMICS)) return finish_computed(instance, false);
    return copy_states(derivatives, block(instance, equations.blocks.derivatives));
}

fmi3Status fmi3GetEventIndicators(fmi3Instance instance, fmi3Float64 eventIndicators[], size_t nEventIndicators) {
    if (!ALLOWED_ME(fmi3GetEventIndicators) ||
        !expect_size(instance, "eventIndicators", eventIndicators, nEventIndicators, equations.n_relations))
        return finish(instance, false);
    return finish_computed(instance, model_event_indicators(instance, eventIndicators));
}

fmi3Status fmi3GetContinuousStates(fmi3Instance instance, fmi3Float64 continuousStates[], size_t nContinuousStates) {
    if (!ALLOWED_ME(fmi3GetContinuousStates) ||
        !expect_size(instance, "continuousStates", continuousStates, nContinuousStates, equations.n_states))
        return finish(instance, false);
    if (!model_evaluate(instance, GROUP_START)) return finish_computed(instance, false);
    return copy_states(continuousStates, block(instance, equations.blocks.states));
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance instance, fmi3Float64 nominals[],
                                             size_t nContinuousStates) {
    if (!ALLOWED_ME(fmi3GetNominalsOfContinuousStates) ||
        !expect_size(instance, "nominals", nominals, nContinuousStates, equations.n_states))
        return finish(instance, false);
    return copy_states(nominals, equations.nominals);
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance instance, size_t *nEventIndicators) {
    if (!ALLOWED_ME(fmi3GetNumberOfEventIndicators) ||
        !expect_pointer(instance, "nEventIndicators", nEventIndicators))
        return finish(instance, false);
    *nEventIndicators = (size_t)equations.n_relations;
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance instance, size_t *nContinuousStates) {
    if (!ALLOWED_ME(fmi3GetNumberOfContinuousStates) ||
        !expect_pointer(instance, "nContinuousStates", nContinuousStates))
        return finish(instance, false);
    *nContinuousStates = (size_t)equations.n_states;
    return fmi3OK;
}
