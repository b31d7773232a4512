/* Instance of the model, independent of the FMI version and of the integrator.

   Functions of the model-independent code that return bool return true on success; otherwise model->message contains
   the cause. No memory is allocated after model_create. */

#ifndef MODEL_H
#define MODEL_H

#include "equations.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Modes of an instance. The values are bits, so that sets of modes are masks. */
typedef enum {
    MODE_INSTANTIATED = 1,
    MODE_INITIALIZATION = 2,
    MODE_EVENT = 4,           /* model exchange */
    MODE_CONTINUOUS_TIME = 8, /* model exchange */
    MODE_STEP = 16,           /* co-simulation, between communication steps */
    MODE_TERMINATED = 32,
    MODE_INTERMEDIATE_UPDATE = 64 /* co-simulation in FMI 3.0: callback of the importer within a step */
} Mode;

/* Origin of the start states. */
typedef enum {
    START_GIVEN,   /* start parameters */
    START_DEFAULT, /* start parameters, which are the solution of the initial-state search; derivatives are those of
                      the solution */
    START_FOUND    /* solution of the initial-state search for modified parameters */
} StartMode;

/* Run-time state outside of the workspace. Together with the workspace and the solver's memory it is the FMU state,
   and restoring it continues a run bit by bit. The structure contains only plain numbers, so that any bytes are
   valid. All members except the first two have 8 bytes, so that there is no padding and equal states are equal bytes. */
typedef struct {
    uint32_t mode;  /* Mode */
    uint32_t dirty; /* bit 1 << group: the group must be evaluated before its results are read */
    double start_time;
    double stop_time; /* stop time, s; INFINITY: none */
    double tolerance; /* relative tolerance of the importer; 0: none */
    double last_successful_time;
    double step;           /* next step size of the adaptive solver, s; 0: unknown */
    double previous_error; /* error of the adaptive solver's last accepted step, for the step-size controller */
    double real_settings[N_REAL_SETTINGS];
    int64_t integer_settings[N_INTEGER_SETTINGS];
    int64_t counters[N_COUNTERS];
    int64_t chosen_method; /* method that replaces METHOD_AUTOMATIC; 0: not chosen. This and the following members
                              belong to solver_choice.c */
    double measured_time, measured_steps, measured_cost; /* begin of the current measurement */
    double stability_cost; /* evaluations per second that Dormand-Prince requires for stability */
    double patience;       /* Dormand-Prince steps until the next comparison of costs */
    int64_t settling;      /* 1: the method has just changed */
    int64_t start;         /* StartMode */
    int64_t orientation;   /* sign of the determinant of the coordinate partition; 0: unknown */
    double events_since;   /* begin of the interval in which state events are counted, s */
    int64_t events;        /* number of state events in this interval */
    int64_t projects;      /* 0: no projection yet, because the initial constraint violation has not decayed */
} RunState;

enum { MESSAGE_SIZE = 1024 };

typedef struct Model Model;

struct Model {
    bool co_simulation;
    RunState run;
    double *workspace; /* first part of the instance's memory block */
    double *memory;    /* follows the workspace: history of the inner solver, which is a part of the FMU state */
    size_t memory_size; /* size of the solver's memory, doubles */
    bool factored;     /* the scratch memory of the inner solver contains factors that belong to its memory */
    double *changes;   /* changes or adjoints of the workspace: see derivatives.c */
    double *shares;    /* contributions of a stage to the adjoints */
    double *solver;    /* scratch memory of the inner solver */
    double *saved;     /* states, switches, inputs, corrections and the solver's memory at the begin of a
                          communication step */
    double *indicators; /* n_relations event indicators at the begin of an inner step, and as many at its end */
    double *projected; /* states before a projection, and the change at one level */
    double *branch;    /* branch.c: states and derivatives before a singular configuration */
    double branch_time; /* time of these states, s */
    bool branch_is_known; /* the stored states belong to the current run */
    bool branch_is_open; /* the model is near a singular configuration */
    double regularity;   /* regularity of the constraints at the last evaluation; 0: unknown, or linearly dependent
                            constraints */
    double most_regular; /* largest regularity so far */
    bool leap_is_due;    /* the solver has reached the neighbourhood of a singular configuration, which a leap must
                            cross */
    double leap_at;      /* time at which the leap begins, s; INFINITY: no leap is planned */
    double leap_length;  /* length of the leap, s */
    double no_leap_before;   /* time from which no leap was necessary, s */
    double no_return_before; /* time before which inputs may have had other values, s */
    double *lengths;     /* zero_length.c: states and lengths of force elements at both ends of a step */
    double lengths_time; /* begin of this step, s */
    bool lengths_are_known; /* the lengths at the begin of the step are known */
    double *inputs_begin; /* inputs.c: values of the inputs at the begin of a communication step, followed by
                             derivatives */
    double *inputs_rates;
    double inputs_origin; /* begin of the communication step, s */
    bool inputs_move;     /* input derivatives are specified for the current step */
    /* NULL, or callback that may set the inputs when the inner solver needs them at a time during a step */
    void (*inputs_wanted)(Model *model, double time);
    double *w; /* scratch memory of a stage: that of its function, or row scales */
    const double **arg;
    double **res;
    bool event_is_due;   /* an inner step was shortened to end at a state event */
    bool stop_at_events; /* a communication step ends at an event; otherwise events are handled during the step */
    double end;          /* end of the current communication step, s */
    double longest_step; /* maximum length of an inner step, s */
    double step_begin;   /* begin of the last inner step, s */
    const double *slope; /* n_states derivatives at the current point, for the next inner step; NULL: unknown */
    /* NULL, or callback after an accepted inner step, which may set inputs and reduce `end` */
    void (*step_accepted)(Model *model);
    const char *function; /* current FMI call, for messages */
    char message[MESSAGE_SIZE];
};

double model_time(const Model *model); /* current time, s */

void model_changed(Model *model, uint32_t groups); /* marks groups for evaluation; bits as in RunState.dirty */

#if defined __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
bool model_fail(Model *model, const char *format, ...); /* stores a message and returns false */

/* Groups that depend on certain quantities. */
enum {
    AFTER_POINT = 1u << GROUP_DYNAMICS | 1u << GROUP_OUTPUTS, /* time, states, inputs, switches */
    AFTER_PARAMETERS = 1u << GROUP_PREPARE | 1u << GROUP_START | AFTER_POINT
};

#endif
