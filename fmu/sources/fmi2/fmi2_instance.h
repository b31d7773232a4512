/* Common parts of the FMI 2.0 functions: permitted modes and logging. Section numbers refer to FMI 2.0.4. */

#ifndef FMI2_INSTANCE_H
#define FMI2_INSTANCE_H

#include "calls.h"
#include "fmi2Functions.h"

typedef struct {
    Model model; /* first member, so that an fmi2Component also points to the model */
    fmi2CallbackLogger logger;
    fmi2ComponentEnvironment environment;
    char name[]; /* name of the instance */
} Instance;

Model *model_of(fmi2Component c);

/* Ends a call: returns fmi2OK, or logs the model's message and returns fmi2Error. */
fmi2Status finish_call(fmi2Component c, bool ok);
void log_failure(const Instance *instance);

/* Modes in which each function may be called (sections 2.1.6, 3.2.3, 4.2.4). */
#define ALLOWED(function) call_allowed(c, #function, MODES_##function)

enum {
    RUNNING = MODE_EVENT | MODE_CONTINUOUS_TIME | MODE_STEP,
    INITIALIZED = RUNNING | MODE_TERMINATED,
    ANY = MODE_INSTANTIATED | MODE_INITIALIZATION | INITIALIZED
};

#define MODES_fmi2SetDebugLogging ANY
#define MODES_fmi2SetupExperiment MODE_INSTANTIATED
#define MODES_fmi2EnterInitializationMode MODE_INSTANTIATED
#define MODES_fmi2ExitInitializationMode MODE_INITIALIZATION
#define MODES_fmi2Terminate RUNNING
#define MODES_fmi2Reset ANY
#define MODES_fmi2GetReal (MODE_INITIALIZATION | INITIALIZED)
#define MODES_fmi2GetInteger MODES_fmi2GetReal
#define MODES_fmi2GetBoolean MODES_fmi2GetReal
#define MODES_fmi2GetString MODES_fmi2GetReal
#define MODES_fmi2SetReal (MODE_INSTANTIATED | MODE_INITIALIZATION | RUNNING)
#define MODES_fmi2SetInteger (MODE_INSTANTIATED | MODE_INITIALIZATION | MODE_EVENT | MODE_STEP)
#define MODES_fmi2SetBoolean MODES_fmi2SetInteger
#define MODES_fmi2SetString MODES_fmi2SetInteger
#define MODES_fmi2GetFMUstate ANY
#define MODES_fmi2SetFMUstate ANY
#define MODES_fmi2FreeFMUstate ANY
#define MODES_fmi2SerializedFMUstateSize ANY
#define MODES_fmi2SerializeFMUstate ANY
#define MODES_fmi2DeSerializeFMUstate ANY
#define MODES_fmi2GetDirectionalDerivative (MODE_INITIALIZATION | INITIALIZED)

#define MODES_fmi2EnterEventMode (MODE_EVENT | MODE_CONTINUOUS_TIME)
#define MODES_fmi2NewDiscreteStates MODE_EVENT
#define MODES_fmi2EnterContinuousTimeMode MODE_EVENT
#define MODES_fmi2CompletedIntegratorStep MODE_CONTINUOUS_TIME
#define MODES_fmi2SetTime (MODE_EVENT | MODE_CONTINUOUS_TIME)
#define MODES_fmi2SetContinuousStates MODE_CONTINUOUS_TIME
#define MODES_fmi2GetDerivatives (MODE_INITIALIZATION | MODE_EVENT | MODE_CONTINUOUS_TIME | MODE_TERMINATED)
#define MODES_fmi2GetEventIndicators MODES_fmi2GetDerivatives
#define MODES_fmi2GetContinuousStates MODES_fmi2GetDerivatives
#define MODES_fmi2GetNominalsOfContinuousStates (MODE_INSTANTIATED | MODES_fmi2GetDerivatives)

#define MODES_fmi2SetRealInputDerivatives (MODE_INSTANTIATED | MODE_INITIALIZATION | MODE_STEP)
#define MODES_fmi2GetRealOutputDerivatives (MODE_STEP | MODE_TERMINATED)
#define MODES_fmi2DoStep MODE_STEP
#define MODES_fmi2CancelStep 0 /* no step is in progress during another call */
#define MODES_fmi2GetStatus (MODE_STEP | MODE_TERMINATED)
#define MODES_fmi2GetRealStatus MODES_fmi2GetStatus
#define MODES_fmi2GetIntegerStatus MODES_fmi2GetStatus
#define MODES_fmi2GetBooleanStatus MODES_fmi2GetStatus
#define MODES_fmi2GetStringStatus MODES_fmi2GetStatus

#endif
