/* Functions of FMI 3.0 in the form that a WebAssembly component lifts (interface.py lists their types).

   Names of the exports are those of the FMI layered standard for WebAssembly. Arguments and results follow the canonical
   ABI of the component model: a list is an address and a length, and a result that is not a single number is returned
   by its address. A component is called by one caller at a time, so results are static. */

#include "fmi3_instance.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(name)))
#define IMPORT(name) __attribute__((import_module("host"), import_name(name)))

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Block of memory for arguments and results of one call. */
typedef struct Block {
    struct Block *previous;
    double content[];
} Block;

static Block *blocks;

static void *allocate(size_t size) {
    Block *block = malloc(sizeof *block + size);
    if (block == NULL) __builtin_trap();
    block->previous = blocks;
    blocks = block;
    return block->content;
}

/* The host allocates arguments by this function. */
EXPORT("realloc") void *reallocate(const void *old, size_t old_size, size_t alignment, size_t size) {
    (void)alignment;
    void *content = allocate(size);
    if (old_size > 0) memcpy(content, old, old_size < size ? old_size : size);
    return content;
}

/* The host calls this function after it has read a result. */
EXPORT("release") void release(const void *result) {
    (void)result;
    while (blocks != NULL) {
        Block *previous = blocks->previous;
        free(blocks);
        blocks = previous;
    }
}

/* ---- Arguments and results --------------------------------------------------------------------------------------- */

typedef struct {
    const void *content;
    size_t n;
} List;

typedef struct {
    fmi3ValueReference reference;
    fmi3UInt32 order;
} Request;

#define RESULT(Value)                                                                                                  \
    static struct {                                                                                                    \
        uint8_t failed;                                                                                                \
        union {                                                                                                        \
            Value value;                                                                                               \
            uint8_t status;                                                                                            \
        } is;                                                                                                          \
    } result;                                                                                                          \
    if ((result.failed = status > fmi3Warning)) result.is.status = (uint8_t)status;                                    \
    else result.is.value

static const void *list_result(fmi3Status status, const void *content, size_t n) {
    RESULT(List) = (List){content, n};
    return &result;
}

static const void *number_result(fmi3Status status, size_t number) {
    RESULT(uint64_t) = number;
    return &result;
}

/* Text with a terminating zero, which the host's texts do not have. */
static char *terminated(const char *text, size_t n) {
    char *copy = allocate(n + 1);
    if (n > 0) memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

/* Number of values of variables; an unknown variable counts as none, and the function of FMI reports it. */
static size_t values_of(fmi3Instance instance, const fmi3ValueReference *references, size_t n) {
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += (size_t)variable_elements(instance, references[i], false);
    return sum;
}

/* ---- Instances --------------------------------------------------------------------------------------------------- */

IMPORT("log-message")
void host_log(const char *name, size_t n_name, unsigned status, const char *category, size_t n_category,
              const char *text, size_t n_text);
IMPORT("new-model-exchange") unsigned new_model_exchange(fmi3Instance instance);
IMPORT("new-co-simulation") unsigned new_co_simulation(fmi3Instance instance);

static void log_message(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                        fmi3String message) {
    host_log(environment, strlen(environment), status, category, strlen(category), message, strlen(message));
}

/* The environment of an instance is its name, which each message contains. */
static char *kept(const char *name, size_t n) {
    char *copy = calloc(n + 1, 1);
    if (copy == NULL) __builtin_trap();
    if (n > 0) memcpy(copy, name, n);
    return copy;
}

static const void *handle(fmi3Instance instance, char *name, unsigned (*make)(fmi3Instance)) {
    static struct {
        uint8_t exists;
        uint32_t handle;
    } option;
    option.exists = instance != NULL;
    if (instance != NULL) option.handle = make(instance);
    else free(name);
    return &option;
}

static unsigned make_model_exchange(fmi3Instance instance) { return new_model_exchange(instance); }
static unsigned make_co_simulation(fmi3Instance instance) { return new_co_simulation(instance); }

EXPORT("instantiate-model-exchange")
const void *instantiate_model_exchange(const char *name, size_t n_name, const char *token, size_t n_token,
                                       const char *path, size_t n_path, unsigned visible, unsigned logging) {
    char *environment = kept(name, n_name);
    fmi3Instance instance =
        fmi3InstantiateModelExchange(environment, terminated(token, n_token), terminated(path, n_path), visible != 0,
                                     logging != 0, environment, log_message);
    return handle(instance, environment, make_model_exchange);
}

EXPORT("instantiate-co-simulation")
const void *instantiate_co_simulation(const char *name, size_t n_name, const char *token, size_t n_token,
                                      const char *path, size_t n_path, unsigned visible, unsigned logging,
                                      unsigned event_mode, unsigned early_return,
                                      const fmi3ValueReference *intermediate, size_t n_intermediate) {
    char *environment = kept(name, n_name);
    fmi3Instance instance = fmi3InstantiateCoSimulation(
        environment, terminated(token, n_token), terminated(path, n_path), visible != 0, logging != 0, event_mode != 0,
        early_return != 0, intermediate, n_intermediate, environment, log_message, NULL);
    return handle(instance, environment, make_co_simulation);
}

EXPORT("drop") void drop(fmi3Instance instance) {
    char *name = ((Instance *)instance)->environment;
    fmi3FreeInstance(instance);
    free(name);
}

EXPORT("get-version") const void *get_version(void) {
    static List version;
    version = (List){fmi3GetVersion(), strlen(fmi3GetVersion())};
    return &version;
}

EXPORT("set-debug-logging")
fmi3Status set_debug_logging(fmi3Instance instance, unsigned on, const List *categories, size_t n) {
    fmi3String *texts = allocate(n * sizeof *texts);
    for (size_t i = 0; i < n; i++) texts[i] = terminated(categories[i].content, categories[i].n);
    return fmi3SetDebugLogging(instance, on != 0, n, texts);
}

/* ---- Modes ------------------------------------------------------------------------------------------------------- */

#define TRANSITION(name, function)                                                                                     \
    EXPORT(name) fmi3Status call_##function(fmi3Instance instance) { return function(instance); }

TRANSITION("exit-initialization-mode", fmi3ExitInitializationMode)
TRANSITION("enter-event-mode", fmi3EnterEventMode)
TRANSITION("enter-step-mode", fmi3EnterStepMode)
TRANSITION("enter-continuous-time-mode", fmi3EnterContinuousTimeMode)
TRANSITION("enter-configuration-mode", fmi3EnterConfigurationMode)
TRANSITION("exit-configuration-mode", fmi3ExitConfigurationMode)
TRANSITION("evaluate-discrete-states", fmi3EvaluateDiscreteStates)
TRANSITION("terminate", fmi3Terminate)
TRANSITION("reset", fmi3Reset)

EXPORT("enter-initialization-mode")
fmi3Status enter_initialization_mode(fmi3Instance instance, unsigned has_tolerance, double tolerance, double start,
                                     unsigned has_stop, double stop) {
    return fmi3EnterInitializationMode(instance, has_tolerance != 0, tolerance, start, has_stop != 0, stop);
}

typedef struct {
    bool needs_update, terminate, nominals_changed, values_changed, has_next_event;
    double next_event;
} DiscreteStates;

EXPORT("update-discrete-states") const void *update_discrete_states(fmi3Instance instance) {
    DiscreteStates states = {0};
    const fmi3Status status =
        fmi3UpdateDiscreteStates(instance, &states.needs_update, &states.terminate, &states.nominals_changed,
                                 &states.values_changed, &states.has_next_event, &states.next_event);
    RESULT(DiscreteStates) = states;
    return &result;
}

/* ---- Variables --------------------------------------------------------------------------------------------------- */

#define GETTER_AND_SETTER(Type, name, elements)                                                                        \
    EXPORT("get-" name)                                                                                                \
    const void *get_##Type(fmi3Instance instance, const fmi3ValueReference *references, size_t n) {                    \
        const size_t n_values = elements;                                                                              \
        fmi3##Type *values = allocate(n_values * sizeof *values);                                                      \
        return list_result(fmi3Get##Type(instance, references, n, values, n_values), values, n_values);                \
    }                                                                                                                  \
    EXPORT("set-" name)                                                                                                \
    fmi3Status set_##Type(fmi3Instance instance, const fmi3ValueReference *references, size_t n,                       \
                          const fmi3##Type *values, size_t n_values) {                                                 \
        return fmi3Set##Type(instance, references, n, values, n_values);                                               \
    }

/* Only variables of this type may be arrays. */
GETTER_AND_SETTER(Float64, "float64", values_of(instance, references, n))
GETTER_AND_SETTER(Float32, "float32", n)
GETTER_AND_SETTER(Int8, "int8", n)
GETTER_AND_SETTER(Int16, "int16", n)
GETTER_AND_SETTER(Int32, "int32", n)
GETTER_AND_SETTER(Int64, "int64", n)
GETTER_AND_SETTER(UInt8, "uint8", n)
GETTER_AND_SETTER(UInt16, "uint16", n)
GETTER_AND_SETTER(UInt32, "uint32", n)
GETTER_AND_SETTER(UInt64, "uint64", n)
GETTER_AND_SETTER(Boolean, "boolean", n)

/* No variables of these types and no clocks exist, so each list is empty or the call fails. */
#define GETTER_OF_NONE(name, function, ...)                                                                            \
    EXPORT("get-" name)                                                                                                \
    const void *get_##function(fmi3Instance instance, const fmi3ValueReference *references, size_t n) {                \
        return list_result(fmi3Get##function(instance, references, n, __VA_ARGS__), NULL, 0);                          \
    }
#define SETTER_OF_NONE(name, function, ...)                                                                            \
    EXPORT("set-" name)                                                                                                \
    fmi3Status set_##function(fmi3Instance instance, const fmi3ValueReference *references, size_t n,                   \
                              const void *values, size_t n_values) {                                                   \
        (void)values, (void)n_values;                                                                                  \
        return fmi3Set##function(instance, references, n, __VA_ARGS__);                                                \
    }

GETTER_OF_NONE("string", String, NULL, 0)
GETTER_OF_NONE("binary", Binary, NULL, NULL, 0)
GETTER_OF_NONE("clock", Clock, NULL)
GETTER_OF_NONE("interval-decimal", IntervalDecimal, NULL, NULL)
GETTER_OF_NONE("interval-fraction", IntervalFraction, NULL, NULL, NULL)
GETTER_OF_NONE("shift-decimal", ShiftDecimal, NULL)
GETTER_OF_NONE("shift-fraction", ShiftFraction, NULL, NULL)
SETTER_OF_NONE("string", String, NULL, 0)
SETTER_OF_NONE("binary", Binary, NULL, NULL, 0)
SETTER_OF_NONE("clock", Clock, NULL)
SETTER_OF_NONE("interval-decimal", IntervalDecimal, NULL)
SETTER_OF_NONE("interval-fraction", IntervalFraction, NULL, NULL)
SETTER_OF_NONE("shift-decimal", ShiftDecimal, NULL)
SETTER_OF_NONE("shift-fraction", ShiftFraction, NULL, NULL)

EXPORT("get-number-of-variable-dependencies")
const void *get_number_of_dependencies(fmi3Instance instance, fmi3ValueReference reference) {
    size_t n = 0;
    return number_result(fmi3GetNumberOfVariableDependencies(instance, reference, &n), n);
}

typedef struct {
    fmi3ValueReference dependent;
    uint32_t element_of_dependent;
    fmi3ValueReference independent;
    uint32_t element_of_independent;
    uint8_t kind; /* 0: dependent, the only kind of this FMU */
} Dependency;

EXPORT("get-variable-dependencies")
const void *get_dependencies(fmi3Instance instance, fmi3ValueReference dependent) {
    size_t n = 0;
    fmi3Status status = fmi3GetNumberOfVariableDependencies(instance, dependent, &n);
    if (status > fmi3Warning) return list_result(status, NULL, 0);
    Dependency *found = allocate(n * sizeof *found);
    fmi3ValueReference *independents = allocate(n * sizeof *independents);
    size_t *elements = allocate(n * sizeof *elements), *others = allocate(n * sizeof *others);
    fmi3DependencyKind *kinds = allocate(n * sizeof *kinds);
    status = fmi3GetVariableDependencies(instance, dependent, elements, independents, others, kinds, n);
    for (size_t i = 0; i < n; i++)
        found[i] = (Dependency){dependent, (uint32_t)elements[i], independents[i], (uint32_t)others[i], 0};
    return list_result(status, found, n);
}

/* ---- States of instances and derivatives ------------------------------------------------------------------------- */

static fmi3Status serialized(fmi3Instance instance, fmi3FMUState state, List *bytes) {
    const fmi3Status status = fmi3SerializedFMUStateSize(instance, state, &bytes->n);
    if (status > fmi3Warning) return status;
    fmi3Byte *content = allocate(bytes->n);
    bytes->content = content;
    return fmi3SerializeFMUState(instance, state, content, bytes->n);
}

EXPORT("get-fmu-state") const void *get_fmu_state(fmi3Instance instance) {
    fmi3FMUState state = NULL;
    List bytes = {NULL, 0};
    fmi3Status status = fmi3GetFMUState(instance, &state);
    if (status <= fmi3Warning) status = serialized(instance, state, &bytes);
    if (state != NULL) fmi3FreeFMUState(instance, &state);
    return list_result(status, bytes.content, bytes.n);
}

EXPORT("set-fmu-state") fmi3Status set_fmu_state(fmi3Instance instance, const fmi3Byte *bytes, size_t n) {
    fmi3FMUState state = NULL;
    fmi3Status status = fmi3DeserializeFMUState(instance, bytes, n, &state);
    if (status <= fmi3Warning) status = fmi3SetFMUState(instance, state);
    if (state != NULL) fmi3FreeFMUState(instance, &state);
    return status;
}

#define DERIVATIVE(name, Kind, side)                                                                                   \
    EXPORT(name)                                                                                                       \
    const void *get_##Kind(fmi3Instance instance, const fmi3ValueReference *unknowns, size_t n_unknowns,               \
                           const fmi3ValueReference *knowns, size_t n_knowns, const double *seed, size_t n_seed) {     \
        const size_t n = values_of(instance, side, n_##side);                                                          \
        double *values = allocate(n * sizeof *values);                                                                 \
        return list_result(fmi3Get##Kind##Derivative(instance, unknowns, n_unknowns, knowns, n_knowns, seed, n_seed,   \
                                                     values, n),                                                       \
                           values, n);                                                                                 \
    }

DERIVATIVE("get-directional-derivative", Directional, unknowns)
DERIVATIVE("get-adjoint-derivative", Adjoint, knowns)

EXPORT("get-output-derivatives")
const void *get_output_derivatives(fmi3Instance instance, const Request *requests, size_t n) {
    fmi3ValueReference *references = allocate(n * sizeof *references);
    fmi3Int32 *orders = allocate(n * sizeof *orders);
    double *values = allocate(n * sizeof *values);
    for (size_t i = 0; i < n; i++) references[i] = requests[i].reference, orders[i] = (fmi3Int32)requests[i].order;
    return list_result(fmi3GetOutputDerivatives(instance, references, n, orders, values, n), values, n);
}

EXPORT("set-input-derivatives")
fmi3Status set_input_derivatives(fmi3Instance instance, const Request *requests, size_t n, const double *values,
                                 size_t n_values) {
    (void)requests, (void)n, (void)values, (void)n_values;
    return finish(instance, call_allowed(instance, "set-input-derivatives", ANY) &&
                                model_fail(instance, "FMI 3.0 has no function for derivatives of inputs"));
}

/* ---- Model exchange ---------------------------------------------------------------------------------------------- */

EXPORT("set-time") fmi3Status set_time(fmi3Instance instance, double time) { return fmi3SetTime(instance, time); }

EXPORT("set-continuous-states")
fmi3Status set_continuous_states(fmi3Instance instance, const double *values, size_t n) {
    return fmi3SetContinuousStates(instance, values, n);
}

#define BLOCK(name, function, count)                                                                                   \
    EXPORT(name) const void *call_##function(fmi3Instance instance) {                                                  \
        size_t n = 0;                                                                                                  \
        fmi3Status status = count(instance, &n);                                                                       \
        double *values = allocate(n * sizeof *values);                                                                 \
        if (status <= fmi3Warning) status = function(instance, values, n);                                             \
        return list_result(status, values, n);                                                                         \
    }

BLOCK("get-continuous-states", fmi3GetContinuousStates, fmi3GetNumberOfContinuousStates)
BLOCK("get-continuous-state-derivatives", fmi3GetContinuousStateDerivatives, fmi3GetNumberOfContinuousStates)
BLOCK("get-nominals-of-continuous-states", fmi3GetNominalsOfContinuousStates, fmi3GetNumberOfContinuousStates)
BLOCK("get-event-indicators", fmi3GetEventIndicators, fmi3GetNumberOfEventIndicators)

EXPORT("get-number-of-continuous-states") const void *get_number_of_states(fmi3Instance instance) {
    size_t n = 0;
    return number_result(fmi3GetNumberOfContinuousStates(instance, &n), n);
}

EXPORT("get-number-of-event-indicators") const void *get_number_of_indicators(fmi3Instance instance) {
    size_t n = 0;
    return number_result(fmi3GetNumberOfEventIndicators(instance, &n), n);
}

typedef struct {
    bool event, terminate;
} CompletedStep;

EXPORT("completed-integrator-step") const void *completed_step(fmi3Instance instance, unsigned no_earlier_state) {
    CompletedStep step = {false, false};
    const fmi3Status status =
        fmi3CompletedIntegratorStep(instance, no_earlier_state != 0, &step.event, &step.terminate);
    RESULT(CompletedStep) = step;
    return &result;
}

/* ---- Co-simulation ----------------------------------------------------------------------------------------------- */

typedef struct {
    double time;
    bool event, terminate, early;
} Step;

EXPORT("do-step")
const void *do_step(fmi3Instance instance, double time, double length, unsigned no_earlier_state) {
    Step step = {0};
    const fmi3Status status = fmi3DoStep(instance, time, length, no_earlier_state != 0, &step.event, &step.terminate,
                                         &step.early, &step.time);
    RESULT(Step) = step;
    return &result;
}
