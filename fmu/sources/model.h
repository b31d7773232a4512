/* One instance of the model, neutral about the FMI version and about who integrates.

   One file per FMI version translates the standard's calls into these functions; it owns the order of calls and
   the logging. Functions that return bool give true on success; false leaves the cause in model->message. Nothing
   is allocated after model_create. */

#ifndef MODEL_H
#define MODEL_H

#include "equations.h"

#include <stdbool.h>
#include <stdint.h>

/* Where an instance is in its life; bits, so that sets of modes are masks. */
typedef enum {
    MODE_INSTANTIATED = 1,
    MODE_INITIALIZATION = 2,
    MODE_EVENT = 4,           /* model exchange */
    MODE_CONTINUOUS_TIME = 8, /* model exchange */
    MODE_STEP = 16,           /* co-simulation, between two communication steps */
    MODE_TERMINATED = 32
} Mode;

/* Everything that changes during a run and is not in the workspace. With the workspace it is the instance's state:
   restoring both continues a run to the last bit. Plain numbers only, so that any bytes are a valid value. */
typedef struct {
    uint32_t mode;  /* Mode */
    uint32_t dirty; /* bit 1 << group: the group must be run before its results are read */
    double start_time;
    double stop_time; /* INFINITY: none */
    double tolerance; /* the importer's; 0: none given */
    double last_successful_time;
    double step;           /* what the adaptive solver tries next, s; 0: nothing known */
    double previous_error; /* of the adaptive solver's last accepted step, for its controller */
    double real_settings[N_REAL_SETTINGS];
    int32_t integer_settings[N_INTEGER_SETTINGS];
    int64_t counters[N_COUNTERS];
} RunState;

enum { MESSAGE_SIZE = 1024 };

typedef struct {
    bool co_simulation;
    RunState run;
    double *workspace; /* first of the instance's one block of memory */
    double *solver;    /* scratch of the inner solver */
    double *saved;     /* states and switches at the begin of a communication step */
    double *w;         /* scratch of a stage: CasADi's, or its solve's */
    long long int *iw;
    const double **arg;
    double **res;
    char message[MESSAGE_SIZE];
} Model;

/* model.c: life */
bool model_create(Model *model, bool co_simulation); /* false: no memory (message is set) */
void model_destroy(Model *model);
void model_reset(Model *model); /* start values, MODE_INSTANTIATED */
bool model_set_up(Model *model, double tolerance, double start_time, double stop_time); /* as in RunState */
bool model_enter_initialization(Model *model);
bool model_exit_initialization(Model *model);

/* model.c: time, states and events */
bool model_set_time(Model *model, double time);
bool model_set_states(Model *model, const double *states);
void model_update_switches(Model *model);    /* sets those whose event time has come */
double model_next_event(const Model *model); /* s; INFINITY: none */
void model_move(Model *model, double time, const double *states); /* unchecked, for inner solvers */

/* evaluation.c */
void model_changed(Model *model, uint32_t groups);    /* marks groups, bits as in RunState.dirty */
bool model_evaluate(Model *model, Group last);        /* runs the dirty groups up to and including `last` */
bool model_derivatives(Model *model, double *values); /* evaluates; copies to n_states values */

/* variables.c: by value reference */
bool variable_get_real(Model *model, unsigned reference, double *value);
bool variable_set_real(Model *model, unsigned reference, double value);
bool variable_get_integer(Model *model, unsigned reference, int32_t *value);
bool variable_set_integer(Model *model, unsigned reference, int32_t value);
const char *variable_name(VariableKind kind, int index);

/* message.c */
#if defined __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
bool model_fail(Model *model, const char *format, ...); /* writes the message; always false */

/* Groups that depend on something. */
enum {
    AFTER_POINT = 1u << GROUP_DYNAMICS | 1u << GROUP_OUTPUTS, /* time, states, inputs, switches */
    AFTER_PARAMETERS = 1u << GROUP_PREPARE | AFTER_POINT
};

#endif
