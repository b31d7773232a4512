/* The contract between the generated part of an FMU and the fixed part.

   Generated per model, two files:
     CasADi's C code (any name)  the functions of the stages; casadi_int is long long int, casadi_real double,
                                 generated without export (the symbols stay hidden)
     a data file (any name)      defines `const Equations equations` below: tables and constants, no code

   Fixed, the same for every model:
     equations.h            this contract
     model.h, model.c       one instance: memory, start values, initialisation, time events
     evaluation.c           the stages, each group run once per change
     variables.c            the variable table: get and set by value reference, with checks
     message.c              why the last call failed
     linear_solve.h/.c      dense A X = B by LU with equilibration and partial pivoting
     constrained_solve.h/.c constrained equations of motion, dependent unknowns chosen by complete pivoting
     integrator.h           what an inner solver of the co-simulation is, and the table of them
     integrator.c           that table, and what every solver shares
     rk4.c                  classical Runge-Kutta method, fixed step
     dormand_prince.c       Dormand-Prince 5(4), adaptive step
     cosimulation.h/.c      one communication step: lands on events and on the communication point
     snapshot.h/.c          copy, restore and serialise the state of an instance
     fmi2_instance.h/.c     FMI 2.0: order of calls, checks of arguments, logging
     fmi2.c                 FMI 2.0: its functions, over the neutral ones of model.h

   All numbers of a model live in one array of doubles, the *workspace*. Blocks of it are named by their offset
   (index of the first double). All offsets and sizes are in doubles, not bytes. Blocks do not overlap, but one may
   be a part of another: the solution of the accelerations' system can be the second half of the derivatives. A
   block of size 0 may have any offset from 0 to workspace_size. */

#ifndef EQUATIONS_H
#define EQUATIONS_H

/* CasADi's signature. Returns 0 on success. Called with mem = 0. */
typedef int StageFunction(const double **arg, double **res, long long int *iw, double *w, int mem);

/* A X = B for dense blocks, both column-major; solved in place after the stage's function has returned. */
typedef struct {
    int n;       /* rows of A and B; 0: nothing to solve */
    int columns; /* columns of B */
    int matrix;  /* offset of A (n x n); holds its LU factors afterwards */
    int rhs;     /* offset of B (n x columns); holds X afterwards */
} LinearSystem;

/* M X - C' L = F and C X = W for dense blocks, all column-major; solved after the stage's function has returned. */
typedef struct {
    int n;           /* rows of M; 0: nothing to solve */
    int m;           /* rows of C */
    int columns;     /* of F, W, X and L */
    int matrix;      /* offset of M (n x n), symmetric */
    int jacobian;    /* offset of C (m x n) */
    int right;       /* offset of F (n x columns) */
    int wanted;      /* offset of W (m x columns) */
    int solution;    /* offset of X (n x columns) */
    int multipliers; /* offset of L (m x columns); -1: not wanted */
} ConstrainedSystem;

/* One step of an evaluation: a function, then an optional solve. */
typedef struct {
    const char *name;        /* what it gives, for messages: "accelerations", "partition" */
    const char *coordinates; /* what is solved for, for messages: "boom, jib, rope"; "" if nothing to say */
    StageFunction *function;
    int sz_arg, sz_res, sz_iw, sz_w; /* CasADi's work sizes; sz_arg >= n_inputs, sz_res >= n_outputs */
    int n_inputs;                    /* number of the function's arguments */
    const int *inputs;               /* offset of each argument's block; -1: NULL, which CasADi reads as zeros */
    int n_outputs;                   /* number of the function's results */
    const int *outputs;              /* offset of each result's block; -1: NULL, result not wanted.
                                        No output block of a stage may overlap one of its input blocks. */
    LinearSystem system;
    ConstrainedSystem constrained;
} Stage;

/* Groups are run in this order, each only when something it depends on has changed, and none twice. */
typedef enum {
    GROUP_PREPARE,  /* from parameters alone: constants, start states, event times */
    GROUP_DYNAMICS, /* from time, states, inputs, switches, parameters and PREPARE's results: derivatives */
    GROUP_OUTPUTS,  /* from all of these: outputs */
    N_GROUPS
} Group;

typedef struct {
    int n_stages;
    const Stage *stages; /* may be NULL if n_stages is 0 */
} StageGroup;

/* Offsets of the blocks that the fixed part reads and writes. Every other block is the generator's own. */
typedef struct {
    int time;         /* 1: s */
    int states;       /* n_states */
    int inputs;       /* n_inputs */
    int switches;     /* n_switches: 1.0 once time has reached the event time of the same index, else 0.0.
                         Constant between events. */
    int parameters;   /* n_parameters */
    int start_states; /* n_states: result of PREPARE, copied to the states when a run is initialised */
    int event_times;  /* n_switches: result of PREPARE, s; any order, may be past; not finite = never */
    int derivatives;  /* n_states: result of DYNAMICS, time derivative of the states */
    int outputs;      /* n_outputs: result of OUTPUTS */
} Blocks;

/* Settings of the solver inside the co-simulation; `index` of the SETTING variables, and of their start values. */
typedef enum {
    SETTING_STEP,      /* s, > 0: longest step of the fixed-step method */
    SETTING_TOLERANCE, /* > 0: relative tolerance, used when the importer gives none */
    N_REAL_SETTINGS
} RealSetting;

typedef enum {
    SETTING_METHOD,    /* 1: Runge-Kutta 4, fixed step; 2: Dormand-Prince 5(4), adaptive */
    SETTING_MAX_STEPS, /* > 0: most inner steps, tried ones included, of one communication step */
    N_INTEGER_SETTINGS
} IntegerSetting;

/* Counts since initialisation; `index` of the COUNTER variables. */
typedef enum {
    COUNTER_EVALUATIONS,    /* evaluations of the group DYNAMICS */
    COUNTER_STEPS,          /* accepted inner steps of the co-simulation */
    COUNTER_REJECTED_STEPS, /* rejected ones */
    N_COUNTERS
} Counter;

/* What a variable is, which also says its type and when it may be set. */
typedef enum {
    VARIABLE_TIME,            /* real, read only; index 0 */
    VARIABLE_STATE,           /* real; set by the integrator alone */
    VARIABLE_DERIVATIVE,      /* real, read only */
    VARIABLE_OUTPUT,          /* real, read only */
    VARIABLE_PARAMETER,       /* real; set before the end of initialisation */
    VARIABLE_INPUT,           /* real; set any time */
    VARIABLE_REAL_SETTING,    /* real; set before the end of initialisation; index: RealSetting */
    VARIABLE_INTEGER_SETTING, /* integer; set before the end of initialisation; index: IntegerSetting */
    VARIABLE_COUNTER          /* integer, read only; index: Counter */
} VariableKind;

typedef struct {
    const char *name; /* for messages */
    VariableKind kind;
    int index; /* in the block of its kind */
} Variable;

typedef struct {
    const char *identifier; /* modelIdentifier */
    const char *token;      /* guid (FMI 2), instantiationToken (FMI 3): compared with the importer's */

    int n_states, n_inputs, n_switches, n_parameters, n_outputs;
    int workspace_size;
    Blocks blocks;
    StageGroup groups[N_GROUPS];

    /* The value reference of a variable is its index in this table. One table for all types. */
    int n_variables;
    const Variable *variables;

    /* Start values, in the order of the blocks. An array of length 0 may be NULL. */
    const double *parameters; /* n_parameters */
    const double *inputs;     /* n_inputs */
    const double *nominals;   /* n_states, > 0: magnitude of each state; absolute tolerance = relative x nominal */
    double real_settings[N_REAL_SETTINGS];
    int integer_settings[N_INTEGER_SETTINGS];
} Equations;

extern const Equations equations;

#endif
