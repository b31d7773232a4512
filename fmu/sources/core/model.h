/* One instance of the model, neutral about the FMI version and about who integrates.

   Functions of the fixed part that return bool give true on success; false leaves the cause in model->message. Nothing
   is allocated after model_create. */

#ifndef MODEL_H
#define MODEL_H

#include "equations.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where an instance is in its life; bits, so that sets of modes are masks. */
typedef enum {
    MODE_INSTANTIATED = 1,
    MODE_INITIALIZATION = 2,
    MODE_EVENT = 4,           /* model exchange */
    MODE_CONTINUOUS_TIME = 8, /* model exchange */
    MODE_STEP = 16,           /* co-simulation, between two communication steps */
    MODE_TERMINATED = 32,
    MODE_INTERMEDIATE_UPDATE = 64 /* co-simulation by FMI 3.0: the importer is called back within a step */
} Mode;

/* What the start states are. */
typedef enum {
    START_GIVEN,   /* the start parameters */
    START_DEFAULT, /* the same, which are what is to be found: they have its derivatives */
    START_FOUND    /* found anew */
} StartMode;

/* Everything that changes during a run and is not in the workspace. With the workspace and the solver's memory it is
   the instance's state: restoring all continues a run to the last bit. Plain numbers only, so that any bytes are a
   valid value, and of 8 bytes but for the first two, so that nothing lies between them and equal states are equal
   bytes. */
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
    int64_t integer_settings[N_INTEGER_SETTINGS];
    int64_t counters[N_COUNTERS];
    int64_t chosen_method; /* in place of METHOD_AUTOMATIC, once it is known; by solver_choice.c, with what follows: */
    double measured_time, measured_steps, measured_cost; /* where its present measurement begins */
    double stability_cost; /* evaluations per second that Dormand-Prince needs to stay stable */
    double patience;       /* steps of Dormand-Prince until its cost is looked at */
    int64_t settling;      /* 1: the method has just been changed */
    int64_t start;         /* StartMode */
    int64_t orientation;   /* sign of the partition's determinant; 0: nothing known */
    double events_since;   /* s, since when changes of relations are counted */
    int64_t events;        /* their number */
    int64_t projects;      /* 0: the start's violation has not decayed yet, so that nothing is projected */
} RunState;

enum { MESSAGE_SIZE = 1024 };

typedef struct Model Model;

struct Model {
    bool co_simulation;
    RunState run;
    double *workspace; /* first of the instance's one block of memory */
    double *memory;    /* follows it: what the inner solver keeps from step to step; a part of the state */
    size_t memory_size; /* numbers in it */
    bool factored;     /* the inner solver's scratch holds factors that belong to its memory */
    double *changes;   /* of the workspace: see derivatives.c */
    double *shares;    /* what an adjoint sweep adds to the changes after one stage */
    double *solver;    /* scratch of the inner solver */
    double *saved;     /* states, switches, inputs, corrections and the solver's memory at the begin of a
                          communication step */
    double *indicators; /* n_relations, at the begin of an inner step; as many at its end */
    double *projected; /* states before a projection, and the change of one level */
    double *branch;    /* branch.c: states and derivatives before a singular configuration */
    double branch_time; /* s, of these */
    bool branch_is_known; /* they are of this run */
    bool branch_is_open; /* the model is near a singular configuration */
    double regularity;   /* of the constraints at the last evaluation; 0: not known, or they depend on each other */
    double most_regular; /* the largest so far */
    bool leap_is_due;    /* the solver has come into a singular neighbourhood, which a leap is to cross */
    double leap_at;      /* s, where that begins; INFINITY: none is planned */
    double leap_length;  /* s, of a leap from there */
    double no_leap_before;   /* s, from where none was necessary */
    double no_return_before; /* s, inputs may have been others */
    double *lengths;     /* zero_length.c: states and lengths of lines at both ends of a step */
    double lengths_time; /* s, of its begin */
    bool lengths_are_known; /* there */
    double *inputs_begin; /* inputs.c: values at the begin of a communication step, then rates */
    double *inputs_rates;
    double inputs_origin; /* s, the begin */
    bool inputs_move;     /* during a step of which derivatives of inputs are given */
    /* NULL, or called during a step where the inner solver needs the inputs at a time: may set them. */
    void (*inputs_wanted)(Model *model, double time);
    double *w; /* scratch of a stage: its function's, or row scales */
    const double **arg;
    double **res;
    bool event_is_due;   /* an inner step has been cut short where a relation changes */
    bool stop_at_events; /* a communication step ends where an event is due; else it handles events on its way */
    double end;          /* of the communication step under way, s */
    double longest_step; /* that an inner step may be, s */
    double step_begin;   /* of the last inner step, s */
    const double *slope; /* n_states rates where the model stands, for the next inner step; NULL: not known */
    /* NULL, or called where an inner step has been accepted: may set inputs, and bring `end` forward. */
    void (*step_accepted)(Model *model);
    const char *function; /* the call that is being served, for messages */
    char message[MESSAGE_SIZE];
};

double model_time(const Model *model); /* s */

void model_changed(Model *model, uint32_t groups); /* marks groups, bits as in RunState.dirty */

#if defined __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
bool model_fail(Model *model, const char *format, ...); /* writes the message; always false */

/* Groups that depend on something. */
enum {
    AFTER_POINT = 1u << GROUP_DYNAMICS | 1u << GROUP_OUTPUTS, /* time, states, inputs, switches */
    AFTER_PARAMETERS = 1u << GROUP_PREPARE | 1u << GROUP_START | AFTER_POINT
};

#endif
