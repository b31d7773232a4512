/* Functions of FMI 2.0 for model exchange and co-simulation, based on the version-independent functions.

   Errors are always logged, even if debug logging is off; there are no debug messages. The importer's allocateMemory
   is not used (canNotUseMemoryManagementFunctions), because FMI 3.0 does not have it and an instance consists of two
   blocks of memory. */

#include "checks.h"
#include "cosimulation.h"
#include "derivatives.h"
#include "evaluation.h"
#include "events.h"
#include "fmi2_instance.h"
#include "inputs.h"
#include "life.h"
#include "point.h"
#include "snapshot.h"
#include "variables.h"
#include "vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Instances (2.1.5) -------------------------------------------------------------------------------------- */

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }

const char *fmi2GetVersion(void) { return fmi2Version; }

static bool check_instantiation(Instance *instance, fmi2Type type, fmi2String token) {
    if (!expect_name(&instance->model, instance->name) || !expect_token(&instance->model, token)) return false;
    if (type != fmi2ModelExchange && type != fmi2CoSimulation)
        return model_fail(&instance->model, "the type is %d, expected %d (model exchange) or %d (co-simulation)",
                          (int)type, (int)fmi2ModelExchange, (int)fmi2CoSimulation);
    return model_create(&instance->model, type == fmi2CoSimulation);
}

fmi2Component fmi2Instantiate(fmi2String instanceName, fmi2Type fmuType, fmi2String fmuGUID,
                              fmi2String fmuResourceLocation, const fmi2CallbackFunctions *functions,
                              fmi2Boolean visible, fmi2Boolean loggingOn) {
    (void)fmuResourceLocation, (void)visible, (void)loggingOn;
    if (functions == NULL) return NULL; /* no logger is available */
    const char *name = instanceName ? instanceName : "";
    Instance *instance = calloc(1, sizeof *instance + strlen(name) + 1);
    if (instance == NULL) return NULL;
    strcpy(instance->name, name);
    instance->logger = functions->logger;
    instance->environment = functions->componentEnvironment;
    instance->model.function = "fmi2Instantiate";
    if (check_instantiation(instance, fmuType, fmuGUID)) return instance;
    log_failure(instance);
    free(instance);
    return NULL;
}

void fmi2FreeInstance(fmi2Component c) {
    if (c == NULL) return;
    model_destroy(model_of(c));
    free(c);
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean loggingOn, size_t nCategories,
                               const fmi2String categories[]) {
    (void)loggingOn;
    return finish_call(c, ALLOWED(fmi2SetDebugLogging) && expect_array(c, "categories", categories, nCategories));
}

/* ---- Initialisation, end and reset (2.1.6) ------------------------------------------------------------------ */

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real tolerance,
                               fmi2Real startTime, fmi2Boolean stopTimeDefined, fmi2Real stopTime) {
    return finish_call(c, ALLOWED(fmi2SetupExperiment) &&
                              model_set_up(model_of(c), toleranceDefined ? tolerance : 0.0, startTime,
                                           stopTimeDefined ? stopTime : INFINITY));
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
    return finish_call(c, ALLOWED(fmi2EnterInitializationMode) && model_enter_initialization(model_of(c)));
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
    return finish_call(c, ALLOWED(fmi2ExitInitializationMode) && model_exit_initialization(model_of(c)));
}

fmi2Status fmi2Terminate(fmi2Component c) {
    if (!ALLOWED(fmi2Terminate)) return finish_call(c, false);
    model_of(c)->run.mode = MODE_TERMINATED;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c) {
    if (!ALLOWED(fmi2Reset)) return finish_call(c, false);
    model_reset(model_of(c));
    return fmi2OK;
}

/* ---- Variables (2.1.7) -------------------------------------------------------------------------------------- */

static bool expect_arrays(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const void *value) {
    return expect_array(c, "vr", vr, nvr) && expect_array(c, "value", value, nvr);
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Real value[]) {
    bool ok = ALLOWED(fmi2GetReal) && expect_arrays(c, vr, nvr, value);
    for (size_t i = 0; ok && i < nvr; i++) ok = variable_get_real(model_of(c), vr[i], &value[i]);
    return finish_call(c, ok);
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Real value[]) {
    bool ok = ALLOWED(fmi2SetReal) && expect_arrays(c, vr, nvr, value);
    for (size_t i = 0; ok && i < nvr; i++) ok = variable_set_real(model_of(c), vr[i], value[i]);
    return finish_call(c, ok);
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Integer value[]) {
    bool ok = ALLOWED(fmi2GetInteger) && expect_arrays(c, vr, nvr, value);
    for (size_t i = 0; ok && i < nvr; i++) ok = variable_get_integer(model_of(c), vr[i], &value[i]);
    return finish_call(c, ok);
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Integer value[]) {
    bool ok = ALLOWED(fmi2SetInteger) && expect_arrays(c, vr, nvr, value);
    for (size_t i = 0; ok && i < nvr; i++) ok = variable_set_integer(model_of(c), vr[i], value[i]);
    return finish_call(c, ok);
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Boolean value[]) {
    (void)vr, (void)value;
    return finish_call(c, ALLOWED(fmi2GetBoolean) && expect_none(c, nvr));
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2Boolean value[]) {
    (void)vr, (void)value;
    return finish_call(c, ALLOWED(fmi2SetBoolean) && expect_none(c, nvr));
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2String value[]) {
    (void)vr, (void)value;
    return finish_call(c, ALLOWED(fmi2GetString) && expect_none(c, nvr));
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const fmi2String value[]) {
    (void)vr, (void)value;
    return finish_call(c, ALLOWED(fmi2SetString) && expect_none(c, nvr));
}

/* ---- State of the instance (2.1.8) -------------------------------------------------------------------------- */

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *FMUstate) {
    return finish_call(c, ALLOWED(fmi2GetFMUstate) && snapshot_get(c, FMUstate));
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate FMUstate) {
    return finish_call(c, ALLOWED(fmi2SetFMUstate) && snapshot_set(c, FMUstate));
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *FMUstate) {
    if (!ALLOWED(fmi2FreeFMUstate)) return finish_call(c, false);
    if (FMUstate == NULL) return fmi2OK;
    free(*FMUstate);
    *FMUstate = NULL;
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate FMUstate, size_t *size) {
    if (!ALLOWED(fmi2SerializedFMUstateSize) || !expect_pointer(c, "FMUstate", FMUstate) ||
        !expect_pointer(c, "size", size))
        return finish_call(c, false);
    *size = snapshot_size();
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate FMUstate, fmi2Byte serializedState[], size_t size) {
    return finish_call(c, ALLOWED(fmi2SerializeFMUstate) && snapshot_write(c, FMUstate, serializedState, size));
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte serializedState[], size_t size,
                                   fmi2FMUstate *FMUstate) {
    return finish_call(c, ALLOWED(fmi2DeSerializeFMUstate) && snapshot_read(c, serializedState, size, FMUstate));
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference vUnknown_ref[], size_t nUnknown,
                                        const fmi2ValueReference vKnown_ref[], size_t nKnown,
                                        const fmi2Real dvKnown[], fmi2Real dvUnknown[]) {
    return finish_call(c, ALLOWED(fmi2GetDirectionalDerivative) &&
                              expect_array(c, "vUnknown_ref", vUnknown_ref, nUnknown) &&
                              expect_array(c, "vKnown_ref", vKnown_ref, nKnown) &&
                              expect_array(c, "dvKnown", dvKnown, nKnown) &&
                              expect_array(c, "dvUnknown", dvUnknown, nUnknown) &&
                              model_directional_derivative(model_of(c), vUnknown_ref, nUnknown, vKnown_ref, nKnown,
                                                           dvKnown, dvUnknown));
}

/* ---- Model exchange (3.2) ----------------------------------------------------------------------------------- */

fmi2Status fmi2EnterEventMode(fmi2Component c) {
    if (!ALLOWED(fmi2EnterEventMode)) return finish_call(c, false);
    model_of(c)->run.mode = MODE_EVENT;
    return fmi2OK;
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
    if (!ALLOWED(fmi2NewDiscreteStates) || !expect_pointer(c, "fmi2eventInfo", info)) return finish_call(c, false);
    bool moved;
    if (!model_handle_event(model_of(c)) || !model_settle(model_of(c), &moved)) return finish_call(c, false);
    const double next = events_next_time(model_of(c));
    const bool defined = isfinite(next);
    *info = (fmi2EventInfo){.valuesOfContinuousStatesChanged = moved,
                            .nextEventTimeDefined = defined,
                            .nextEventTime = defined ? next : 0.0};
    return fmi2OK;
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
    if (!ALLOWED(fmi2EnterContinuousTimeMode) || !model_begin_steps(model_of(c))) return finish_call(c, false);
    model_of(c)->run.mode = MODE_CONTINUOUS_TIME;
    return fmi2OK;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean noSetFMUStatePriorToCurrentPoint,
                                       fmi2Boolean *enterEventMode, fmi2Boolean *terminateSimulation) {
    (void)noSetFMUStatePriorToCurrentPoint;
    if (!ALLOWED(fmi2CompletedIntegratorStep) || !expect_pointer(c, "enterEventMode", enterEventMode) ||
        !expect_pointer(c, "terminateSimulation", terminateSimulation))
        return finish_call(c, false);
    bool due;
    if (!model_complete_step(model_of(c), &due)) return finish_call(c, false);
    *enterEventMode = due;
    *terminateSimulation = fmi2False;
    return fmi2OK;
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) {
    return finish_call(c, ALLOWED(fmi2SetTime) && model_set_time(model_of(c), time));
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t nx) {
    return finish_call(c, ALLOWED(fmi2SetContinuousStates) && expect_size(c, "x", x, nx, equations.n_states) &&
                         model_set_states(model_of(c), x));
}

static fmi2Status copy_states(fmi2Real *values, const double *source) {
    copy_numbers(equations.n_states, source, values);
    return fmi2OK;
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t nx) {
    if (!ALLOWED(fmi2GetDerivatives) || !expect_size(c, "derivatives", derivatives, nx, equations.n_states) ||
        !model_evaluate(model_of(c), GROUP_DYNAMICS))
        return finish_call(c, false);
    return copy_states(derivatives, model_of(c)->workspace + equations.blocks.derivatives);
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real eventIndicators[], size_t ni) {
    return finish_call(c, ALLOWED(fmi2GetEventIndicators) &&
                              expect_size(c, "eventIndicators", eventIndicators, ni, equations.n_relations) &&
                              model_event_indicators(model_of(c), eventIndicators));
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t nx) {
    if (!ALLOWED(fmi2GetContinuousStates) || !expect_size(c, "x", x, nx, equations.n_states) ||
        !model_evaluate(model_of(c), GROUP_START))
        return finish_call(c, false);
    return copy_states(x, model_of(c)->workspace + equations.blocks.states);
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x_nominal[], size_t nx) {
    if (!ALLOWED(fmi2GetNominalsOfContinuousStates) ||
        !expect_size(c, "x_nominal", x_nominal, nx, equations.n_states))
        return finish_call(c, false);
    return copy_states(x_nominal, equations.nominals);
}

/* ---- Co-simulation (4.2) ------------------------------------------------------------------------------------ */

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                       const fmi2Integer order[], const fmi2Real value[]) {
    bool ok = ALLOWED(fmi2SetRealInputDerivatives) && expect_arrays(c, vr, nvr, value) &&
              expect_array(c, "order", order, nvr);
    for (size_t i = 0; ok && i < nvr; i++) ok = model_set_input_derivative(model_of(c), vr[i], order[i], value[i]);
    return finish_call(c, ok);
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t nvr,
                                        const fmi2Integer order[], fmi2Real value[]) {
    bool ok = ALLOWED(fmi2GetRealOutputDerivatives) && expect_array(c, "vr", vr, nvr) &&
              expect_array(c, "order", order, nvr) && expect_array(c, "value", value, nvr);
    for (size_t i = 0; ok && i < nvr; i++) ok = expect_first_order(c, order[i]);
    return finish_call(c, ok && model_output_rates(model_of(c), vr, nvr, value));
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real currentCommunicationPoint, fmi2Real communicationStepSize,
                      fmi2Boolean noSetFMUStatePriorToCurrentPoint) {
    (void)noSetFMUStatePriorToCurrentPoint;
    return finish_call(c, ALLOWED(fmi2DoStep) &&
                         cosimulation_check(model_of(c), currentCommunicationPoint, communicationStepSize) &&
                         cosimulation_step(model_of(c), currentCommunicationPoint, communicationStepSize));
}

fmi2Status fmi2CancelStep(fmi2Component c) { return finish_call(c, ALLOWED(fmi2CancelStep)); }

/* Answers queries about asynchronous steps with fmi2Discard (section 4.2.3). */
static fmi2Status no_status(fmi2Component c, bool ok) { return ok ? fmi2Discard : finish_call(c, false); }

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind s, fmi2Status *value) {
    (void)s;
    return no_status(c, ALLOWED(fmi2GetStatus) && expect_pointer(c, "value", value));
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind s, fmi2Real *value) {
    const bool ok = ALLOWED(fmi2GetRealStatus) && expect_pointer(c, "value", value);
    if (!ok || s != fmi2LastSuccessfulTime) return no_status(c, ok);
    *value = model_of(c)->run.last_successful_time;
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind s, fmi2Integer *value) {
    (void)s;
    return no_status(c, ALLOWED(fmi2GetIntegerStatus) && expect_pointer(c, "value", value));
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind s, fmi2Boolean *value) {
    const bool ok = ALLOWED(fmi2GetBooleanStatus) && expect_pointer(c, "value", value);
    if (!ok || s != fmi2Terminated) return no_status(c, ok);
    *value = fmi2False;
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind s, fmi2String *value) {
    (void)s;
    return no_status(c, ALLOWED(fmi2GetStringStatus) && expect_pointer(c, "value", value));
}
