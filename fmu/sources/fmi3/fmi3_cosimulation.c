/* Co-simulation in FMI 3.0: event mode, early return and intermediate update (section 4.2). Scheduled execution is
   not supported. */

#include "cosimulation.h"
#include "derivatives.h"
#include "fmi3_instance.h"
#include "point.h"
#include "table.h"

#include <math.h>
#include <string.h>

/* ---- Instances -------------------------------------------------------------------------------------------------- */

static bool has_intermediate_values(const Variable *variable) {
    return variable->kind == VARIABLE_STATE || variable->kind == VARIABLE_OUTPUT || variable->kind == VARIABLE_INPUT;
}

static bool expect_intermediate_variables(Instance *self) {
    for (size_t i = 0; i < self->n_intermediate; i++) {
        const fmi3ValueReference reference = self->intermediate[i];
        if (variable_elements(&self->model, reference, false) == 0) return false;
        if (!has_intermediate_values(&equations.variables[reference]))
            return model_fail(&self->model, "%s (value reference %u) has no intermediate values",
                              equations.variables[reference].name, (unsigned)reference);
    }
    return true;
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String instanceName, fmi3String instantiationToken,
                                         fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                         fmi3Boolean eventModeUsed, fmi3Boolean earlyReturnAllowed,
                                         const fmi3ValueReference requiredIntermediateVariables[],
                                         size_t nRequiredIntermediateVariables,
                                         fmi3InstanceEnvironment instanceEnvironment,
                                         fmi3LogMessageCallback logMessage,
                                         fmi3IntermediateUpdateCallback intermediateUpdate) {
    (void)resourcePath, (void)visible;
    const size_t n = requiredIntermediateVariables == NULL ? 0 : nRequiredIntermediateVariables;
    Instance *self = new_instance("fmi3InstantiateCoSimulation", true, instanceEnvironment, logMessage, n);
    if (self == NULL) return NULL;
    self->event_mode_used = eventModeUsed;
    self->early_return_allowed = earlyReturnAllowed;
    self->intermediate_update = intermediateUpdate;
    if (n > 0) memcpy(self->intermediate, requiredIntermediateVariables, n * sizeof *self->intermediate);
    return finish_instance(self, expect_intermediate_variables(self), instanceName, instantiationToken, loggingOn);
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instanceName, fmi3String instantiationToken,
                                               fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
                                               fmi3InstanceEnvironment instanceEnvironment,
                                               fmi3LogMessageCallback logMessage,
                                               fmi3ClockUpdateCallback clockUpdate,
                                               fmi3LockPreemptionCallback lockPreemption,
                                               fmi3UnlockPreemptionCallback unlockPreemption) {
    (void)resourcePath, (void)visible, (void)clockUpdate, (void)lockPreemption, (void)unlockPreemption;
    Instance *self = new_instance("fmi3InstantiateScheduledExecution", false, instanceEnvironment, logMessage, 0);
    if (self != NULL)
        model_fail(&self->model, "the FMU has no scheduled execution, only model exchange and co-simulation");
    return finish_instance(self, false, instanceName, instantiationToken, loggingOn);
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clockReference,
                                      fmi3Float64 activationTime) {
    (void)clockReference, (void)activationTime;
    return finish(instance, ALLOWED(fmi3ActivateModelPartition));
}

/* ---- Steps ------------------------------------------------------------------------------------------------------ */

fmi3Status fmi3EnterStepMode(fmi3Instance instance) {
    if (!ALLOWED_CS(fmi3EnterStepMode)) return finish(instance, false);
    ((Model *)instance)->run.mode = MODE_STEP;
    return fmi3OK;
}

/* Returns the time at which the importer wants the communication step to end; immediately after an invalid call. The
   importer may set inputs. After a `finished` inner step it may also read outputs and request an early return. */
static double call_importer(Model *model, double time, bool finished) {
    Instance *self = (Instance *)model;
    const char *function = model->function;
    const fmi3Boolean may_return = finished && self->early_return_allowed;
    fmi3Boolean requested = fmi3False;
    fmi3Float64 when = model->end;
    model->run.mode = MODE_INTERMEDIATE_UPDATE;
    self->in_callback = true;
    self->intermediate_update(self->environment, time, fmi3True, finished, finished, may_return, &requested, &when);
    self->in_callback = false;
    model->function = function;
    model->run.mode = self->spoiled ? MODE_TERMINATED : MODE_STEP;
    if (self->spoiled) return model_time(model);
    return requested && may_return && when < model->end ? fmax(when, model_time(model)) : model->end;
}

/* Calls the importer after an inner step. */
static void update(Model *model) {
    if (!((Instance *)model)->spoiled) model->end = call_importer(model, model_time(model), true);
}

/* Calls the importer within an inner step, which may be repeated, to set the inputs at `time` (section 4.2.2). */
static void ask_for_inputs(Model *model, double time) {
    const Instance *self = (Instance *)model;
    if (!self->spoiled && !self->in_callback) model->end = call_importer(model, time, false);
}

static bool may_set_inputs(const Instance *self) {
    for (size_t i = 0; i < self->n_intermediate; i++)
        if (equations.variables[self->intermediate[i]].kind == VARIABLE_INPUT) return true;
    return false;
}

/* Sets the callbacks by which the importer takes part in a communication step. */
static void engage_importer(Instance *self) {
    const bool called = self->intermediate_update != NULL;
    self->model.stop_at_events = self->event_mode_used && self->early_return_allowed;
    self->model.step_accepted = called ? update : NULL;
    self->model.inputs_wanted = called && may_set_inputs(self) ? ask_for_inputs : NULL;
    self->spoiled = false;
}

static bool expect_results(fmi3Instance instance, const fmi3Boolean *event, const fmi3Boolean *terminate,
                           const fmi3Boolean *early, const fmi3Float64 *last) {
    return expect_pointer(instance, "eventHandlingNeeded", event) &&
           expect_pointer(instance, "terminateSimulation", terminate) &&
           expect_pointer(instance, "earlyReturn", early) && expect_pointer(instance, "lastSuccessfulTime", last);
}

fmi3Status fmi3DoStep(fmi3Instance instance, fmi3Float64 currentCommunicationPoint,
                      fmi3Float64 communicationStepSize, fmi3Boolean noSetFMUStatePriorToCurrentPoint,
                      fmi3Boolean *eventHandlingNeeded, fmi3Boolean *terminateSimulation, fmi3Boolean *earlyReturn,
                      fmi3Float64 *lastSuccessfulTime) {
    (void)noSetFMUStatePriorToCurrentPoint;
    if (!ALLOWED_CS(fmi3DoStep) ||
        !expect_results(instance, eventHandlingNeeded, terminateSimulation, earlyReturn, lastSuccessfulTime) ||
        !cosimulation_check(instance, currentCommunicationPoint, communicationStepSize))
        return finish(instance, false);
    Instance *self = instance;
    Model *model = &self->model;
    engage_importer(self);
    const bool computed = cosimulation_step(model, currentCommunicationPoint, communicationStepSize);
    if (self->spoiled) return fmi3Error; /* the invalid call has logged the error */
    *lastSuccessfulTime = model_time(model);
    *terminateSimulation = fmi3False;
    *eventHandlingNeeded = computed && self->event_mode_used && switches_are_due(model);
    *earlyReturn = computed && *lastSuccessfulTime < currentCommunicationPoint + communicationStepSize;
    return finish_computed(instance, computed);
}

/* All outputs are scalars. */
fmi3Status fmi3GetOutputDerivatives(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                    size_t nValueReferences, const fmi3Int32 orders[], fmi3Float64 values[],
                                    size_t nValues) {
    bool right = ALLOWED_CS(fmi3GetOutputDerivatives) &&
                 expect_array(instance, "valueReferences", valueReferences, nValueReferences) &&
                 expect_array(instance, "orders", orders, nValueReferences) &&
                 expect_size(instance, "values", values, nValues, (int)nValueReferences);
    for (size_t i = 0; right && i < nValueReferences; i++)
        right = expect_first_order(instance, orders[i]) && expect_accessible(instance, valueReferences[i]);
    if (!right || !model_expect_derivatives(instance, valueReferences, nValueReferences, NULL, 0))
        return finish(instance, false);
    return finish_computed(instance, model_output_rates(instance, valueReferences, nValueReferences, values));
}
