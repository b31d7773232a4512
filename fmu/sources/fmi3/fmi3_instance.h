/* Common parts of the FMI 3.0 functions: permitted modes, statuses and logging. Section numbers refer to FMI 3.0.2.

   An invalid call returns fmi3Error and ends the run: the instance is terminated, and a reset or the restoration of
   an earlier state makes it usable again (section 2.3.1). A valid call whose result cannot be computed returns
   fmi3Discard, and the instance remains in its previous state (section 2.2.3). */

#ifndef FMI3_INSTANCE_H
#define FMI3_INSTANCE_H

#include "calls.h"

#if defined __clang__ /* the standard's header declares two functions without arguments as () */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wstrict-prototypes"
#include "fmi3Functions.h"
#pragma clang diagnostic pop
#else
#include "fmi3Functions.h"
#endif

/* Categories of messages, as bits. */
enum { LOG_ERRORS = 1, LOG_DISCARDED = 2, LOG_ALL = LOG_ERRORS | LOG_DISCARDED };

typedef struct {
    Model model; /* first member, so that an fmi3Instance also points to the model */
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log_message;
    unsigned logged; /* logged categories */
    fmi3IntermediateUpdateCallback intermediate_update;
    bool event_mode_used, early_return_allowed;
    bool in_callback, spoiled; /* whether a callback of the importer is running, and whether an invalid call was made
                                  during it */
    size_t n_intermediate; /* number of variables that may be accessed in an intermediate update */
    fmi3ValueReference intermediate[];
} Instance;

/* Creates an instance in two steps; between them, the caller sets and checks what is specific to the interface type. */
Instance *new_instance(const char *function, bool co_simulation, fmi3InstanceEnvironment environment,
                       /* NULL if there is not enough memory */
                       fmi3LogMessageCallback log_message, size_t n_intermediate);
fmi3Instance finish_instance(Instance *self, bool right, fmi3String name, fmi3String token, fmi3Boolean logging_on);

/* Ends a call. */
fmi3Status finish(fmi3Instance instance, bool right);             /* fmi3OK or fmi3Error */
fmi3Status finish_computed(fmi3Instance instance, bool computed); /* fmi3OK or fmi3Discard */
void log_status(const Instance *instance, fmi3Status status);

/* Modes in which each function may be called (sections 2.3, 3.2, 4.2), and the kind of instance. */
#define ALLOWED(function) call_allowed(instance, #function, MODES_##function)
#define ALLOWED_ME(function) (ALLOWED(function) && expect_kind(instance, false))
#define ALLOWED_CS(function) (ALLOWED(function) && expect_kind(instance, true))

bool expect_kind(fmi3Instance instance, bool co_simulation);
/* for an intermediate update (section 4.2.2) */
bool expect_accessible(fmi3Instance instance, fmi3ValueReference reference);

enum {
    RUNNING = MODE_EVENT | MODE_CONTINUOUS_TIME | MODE_STEP,
    INITIALIZED = RUNNING | MODE_TERMINATED,
    ANY = MODE_INSTANTIATED | MODE_INITIALIZATION | INITIALIZED,
    SOLVED = MODE_INITIALIZATION | MODE_EVENT | MODE_CONTINUOUS_TIME | MODE_TERMINATED /* model exchange */
};

#define MODES_fmi3SetDebugLogging ANY
#define MODES_fmi3EnterInitializationMode MODE_INSTANTIATED
#define MODES_fmi3ExitInitializationMode MODE_INITIALIZATION
#define MODES_fmi3EnterEventMode (MODE_CONTINUOUS_TIME | MODE_STEP)
#define MODES_fmi3Terminate RUNNING
#define MODES_fmi3Reset ANY
#define MODES_fmi3Get (ANY | MODE_INTERMEDIATE_UPDATE)
#define MODES_fmi3Set (MODE_INSTANTIATED | MODE_INITIALIZATION | RUNNING | MODE_INTERMEDIATE_UPDATE)
#define MODES_fmi3GetNumberOfVariableDependencies ANY
#define MODES_fmi3GetVariableDependencies ANY
#define MODES_fmi3GetFMUState ANY
#define MODES_fmi3SetFMUState ANY
#define MODES_fmi3FreeFMUState ANY
#define MODES_fmi3SerializedFMUStateSize ANY
#define MODES_fmi3SerializeFMUState ANY
#define MODES_fmi3DeserializeFMUState ANY
#define MODES_fmi3GetDirectionalDerivative (MODE_INITIALIZATION | INITIALIZED)
#define MODES_fmi3GetAdjointDerivative MODES_fmi3GetDirectionalDerivative
#define MODES_fmi3EnterConfigurationMode (MODE_INSTANTIATED | MODE_EVENT | MODE_STEP)
#define MODES_fmi3ExitConfigurationMode 0 /* there are no structural parameters */
#define MODES_fmi3EvaluateDiscreteStates MODE_EVENT
#define MODES_fmi3UpdateDiscreteStates MODE_EVENT

#define MODES_fmi3EnterContinuousTimeMode MODE_EVENT
#define MODES_fmi3CompletedIntegratorStep MODE_CONTINUOUS_TIME
#define MODES_fmi3SetTime MODE_CONTINUOUS_TIME
#define MODES_fmi3SetContinuousStates MODE_CONTINUOUS_TIME
#define MODES_fmi3GetContinuousStateDerivatives SOLVED
#define MODES_fmi3GetEventIndicators SOLVED
#define MODES_fmi3GetContinuousStates SOLVED
#define MODES_fmi3GetNominalsOfContinuousStates SOLVED
#define MODES_fmi3GetNumberOfEventIndicators ANY
#define MODES_fmi3GetNumberOfContinuousStates ANY

#define MODES_fmi3EnterStepMode MODE_EVENT
#define MODES_fmi3GetOutputDerivatives (MODE_STEP | MODE_TERMINATED | MODE_INTERMEDIATE_UPDATE)
#define MODES_fmi3DoStep MODE_STEP
#define MODES_fmi3ActivateModelPartition 0 /* there is no scheduled execution */

#endif
