/* Interface between the generated C code of an FMU and the model-independent C code.
   Generated for each model:
     equations (any names)   functions of the evaluation stages
     a data file (any name)  defines `const Equations equations` below: tables and constants without code
   Model-independent code, in folders of which each uses those listed before it:
     algebra    linear_solve        dense systems A X = B by LU factorisation with equilibration and partial pivoting
                constrained_solve   constrained equations of motion, dependent unknowns chosen by complete pivoting
                tree_solve          equations of motion of a tree of bodies, without forming the mass matrix
                tree_rows           equations of motion of a tree of bodies with constraints
                stage_matrix        linear systems of implicit methods, positions eliminated
                lookup              lookup tables
     core       equations.h         this interface
                model               an instance: memory, flags of changes, reason of the last failure
                table               table of variables: access by value reference and by name; bounds
                inputs              inputs between communication points
                point               time, states and switches at which the stages are evaluated
     evaluation  stage              a stage: its function, its linear system, the derivatives of both
                start               search for the initial state
                evaluation          evaluation of the stage groups, each once per change
                variables           reading and writing of variables by value reference, with checks
                derivatives         exact directional and adjoint derivatives by sweeps over the stages
     events     events              event iteration, which sets the switches
                event_location      location of state events within a step
     constraints  projection        projection of the states onto the constraints
                zero_length         detection of force elements whose length passes through zero within a step
                checks              conditions that must be true at the initial time and after each step
     solvers    integrator          interface and common parts of the co-simulation solvers
                adaptive_step       step-size control of the adaptive methods
                leap                a single long step across a singular configuration
                rk4                 classical Runge-Kutta method with fixed step size
                dormand_prince      Dormand-Prince 5(4) with adaptive step size
                rosenbrock          Rosenbrock 4(3) for stiff models with adaptive step size
                nordsieck           history of a multistep method as Nordsieck array
                bdf                 backward differentiation of variable order for stiff models, adaptive step size
     cosimulation  solver_choice    automatic choice of the solver
                methods             table of the solvers
                cosimulation        a communication step, with events and communication points
     instance   life                memory, start values, initialisation
                calls               checks of call sequences and arguments
                snapshot            copies and serialisation of the FMU state
     fmi2       FMI 2.0 interface: permitted modes of each function, logging, calls of the functions above
     fmi3       FMI 3.0 interface: likewise; an FMU contains one of the two interfaces
   All numbers of a model are elements of one array of doubles, the workspace. Blocks of the workspace are identified
   by their offset, the index of their first double. All offsets and sizes count doubles, not bytes. Blocks do not
   overlap, but a block may be a part of another block: the solution of the accelerations' system can be the second
   half of the derivatives. A block of size 0 may have any offset from 0 to workspace_size. */

#ifndef EQUATIONS_H
#define EQUATIONS_H

/* Function of a stage: writes all blocks `res` from the blocks `arg`; w is scratch memory. */
typedef void StageFunction(const double **arg, double **res, double *w);

/* Linear system A X = B with dense column-major blocks; solved in place after the stage's function. */
typedef struct {
    int n;       /* number of rows of A and B; 0: no system */
    int columns; /* number of columns of B; 0: X is not needed, and only its magnitude is computed */
    int matrix;  /* offset of A (n x n), which its factors replace */
    int right;   /* offset of B (n x columns), which X replaces */
    int symmetric; /* 1: A is symmetric and positive definite */
    int pivots;  /* offset of n row indices, which belong to the LU factors of an A that is not symmetric */
    int partition; /* 1: A belongs to a fixed choice of dependent coordinates and must be regular during the whole
                      run; at most one stage has such a system */
    int ratios;    /* for such a system, number of leading columns of X that are dependent velocities per independent
                      velocity */
} LinearSystem;

/* Constrained equations of motion M X - C' L = F, C X = W with dense column-major blocks; solved after the stage's
   function. */
typedef struct {
    int n;           /* number of rows of M; 0: no system */
    int m;           /* number of rows of C */
    int columns;     /* number of columns of F, W, X and L */
    int matrix;      /* offset of M (n x n), symmetric */
    int jacobian;    /* offset of C (m x n) */
    int right;       /* offset of F (n x columns) */
    int wanted;      /* offset of W (m x columns) */
    int solution;    /* offset of X (n x columns) */
    int multipliers; /* offset of L (m x columns) */
    int work;        /* offset of the scratch memory of constrained_solve.h, which contains the factors afterwards */
} ConstrainedSystem;

/* Equations of motion M X - C' L = F, C X = W with the mass matrix M of a tree of bodies; solved in place after the
   stage's function. The blocks are described in tree_solve.h and tree_rows.h. */
typedef struct {
    int n;              /* number of coordinates; 0: no system */
    int m;              /* number of rows of C; 0: M X = F */
    int columns;        /* number of columns of F, W, X and L */
    int bodies;
    int axes;           /* offset of 6 n doubles */
    int inertias;       /* offset of 10 doubles per body */
    int arms;           /* offset of 3 doubles per body */
    int armatures;      /* offset of n doubles */
    int jacobian;       /* offset of C (m x n) */
    int right;          /* offset of F (n x columns), which X replaces */
    int wanted;         /* offset of W (m x columns), which L replaces */
    int factors;        /* offset of TREE_FACTORS n doubles */
    int work;           /* offset of the scratch memory of tree_rows.h, which contains the factors of the constraints
                           afterwards */
    const int *parents; /* per body */
    const int *ends;    /* per body */
    const int *motions; /* per coordinate */
} TreeSystem;

/* Derivatives of a stage before its linear system is solved. In place of the right-hand side, the functions
   differentiate the residual for constant unknowns: B - A X, or F - M X + C' L and W - C X. The change of the
   solution is then the inverse of A times the change of the residual. All other results are differentiated directly.

   Arguments of `forward`: values, then changes of the blocks `from`; results: changes of the blocks `to`.

   Arguments of `reverse`: values, then adjoints of the blocks `to`; results: contributions to the adjoints of `from`. */
typedef struct {
    StageFunction *forward, *reverse; /* reverse: NULL in FMI 2.0, which has no adjoint derivatives */
    int n_work; /* doubles of scratch memory that the functions need */
    int n_values;
    const int *values; /* offset of each block of values: inputs of the stage, X and L */
    int n_from;
    const int *from;  /* offset of each block on which the results depend */
    const int *sizes; /* size of each of these blocks */
    int n_to;
    const int *to; /* offset of each result's block, including that of the system's right-hand side */
} StageDerivative;

/* Evaluation stage: a function, and an optional linear system. */
typedef struct {
    const char *name;        /* name of the result for messages: "accelerations", "partition" */
    const char *coordinates; /* names of the unknowns for messages: "boom, jib, rope"; "" if there are none to name */
    StageFunction *function;
    int n_work;         /* doubles of scratch memory that the function needs */
    int n_inputs;       /* number of the function's arguments */
    const int *inputs;  /* offset of each argument's block */
    int n_outputs;      /* number of the function's results */
    const int *outputs; /* offset of each result's block, which must not overlap an argument's block */
    LinearSystem system;
    const StageDerivative *derivative; /* NULL in groups that derivatives do not need, and for stages whose results
                                          nothing reads */
    ConstrainedSystem constrained;
    TreeSystem tree;                   /* at most one of the three systems has n > 0 */
} Stage;

/* Groups of stages. The first four are evaluated in this order, each only after a change of a quantity on which it
   depends. The others have no stages in models without projection or checks; they are evaluated on demand and depend
   on START, but not on DYNAMICS or OUTPUTS. */
typedef enum {
    GROUP_PREPARE,  /* from parameters: constants; may compute the start states */
    GROUP_START,    /* from parameters and PREPARE: start states, values at the initial time, event times */
    GROUP_DYNAMICS, /* from time, states, inputs, switches, parameters and PREPARE: derivatives, event indicators */
    GROUP_OUTPUTS,  /* from all of these: outputs */
    GROUP_VIOLATIONS,       /* from time, states, switches, parameters and PREPARE: constraint violations */
    GROUP_PROJECT_POSITION, /* from the same: projection step of the positions; may have no stages */
    GROUP_PROJECT_VELOCITY, /* from the same: projection step of the velocities; may have no stages */
    GROUP_START_CHECKS,     /* from the same as CHECKS: values of the checks at the initial time */
    GROUP_CHECKS,           /* from time, states, inputs, switches, parameters and PREPARE: values of the checks */
    GROUP_LENGTHS,          /* from states, parameters and PREPARE: lengths of force elements and length rates */
    GROUP_SAMPLES,          /* from the same as CHECKS: values of the held variables after a sample */
    N_GROUPS
} Group;

typedef struct {
    int n_stages;
    const Stage *stages; /* may be NULL if n_stages is 0 */
} StageGroup;

enum { INPUT_ORDERS = 3 }; /* number of time derivatives of the inputs in co-simulation, where inputs are polynomials */

enum { PIECE = 5 }; /* numbers of a table piece: its begin, and the coefficients c0 to c3 of its polynomial */

/* Interval of an argument, from `begin` to the next interval, for step-size limits. The structure contains only
   numbers, `begin` first, so that lookup.h can be applied. */
typedef struct {
    double begin;
    double bound;     /* maximum length of a step that begins in the interval */
    double following; /* latest permitted end of such a step, due to the following intervals */
    double mark;      /* 1: a change begins here that could be missed after a constant interval */
} Interval;

/* Step-size limits by intervals in increasing order. */
typedef struct {
    int n; /* number of intervals; 0: no limit */
    const Interval *intervals;
    double least; /* smallest step-size limit; INFINITY if n is 0 */
} Pace;

/* Number in the workspace for which step-size limits were computed. */
typedef struct {
    int offset;
    double value;
} ExpectedValue;

/* Lookup table with an argument that is affine in time: `table_arguments` contains its value at t = 0 and its time
   derivative. */
typedef struct {
    int n_pieces;
    const double (*pieces)[PIECE]; /* pieces, whose begins do not decrease; the first piece also applies before its
                                      begin */
    int has_kinks;                 /* 1: the slope is discontinuous between pieces, which causes time events */
    Pace pace;                     /* step-size limits for the argument */
} Lookup;

/* Offsets of the blocks that the model-independent code reads and writes. All other blocks belong to the generated
   code. */
typedef struct {
    int time;         /* 1 number, s */
    int states;       /* n_states */
    int inputs;       /* n_inputs */
    int input_derivatives; /* INPUT_ORDERS times n_inputs numbers, ordered by order: time derivatives of the inputs
                              for the next communication step */
    int switches;     /* n_switches numbers, constant between events: switches of time events, switches of the
                         n_relations switching conditions, n_held variables that samplers hold, and for each of the
                         n_samplers its number of samples so far. A switch is 1.0 if the event time has been reached,
                         or if the event indicator is positive, else 0.0. */
    int parameters;   /* n_parameters */
    int pieces;       /* PIECE times n_lookups numbers: current pieces of the lookup tables */
    int start_pieces; /* pieces of the lookup tables at t = 0, which START uses in place of `pieces` */
    int table_arguments; /* 2 times n_lookups numbers: result of PREPARE */
    int start_states; /* n_states numbers: result of PREPARE or START, copied to the states at initialisation */
    int event_times;  /* one number per switch of a time event, s: result of PREPARE or START in any order; may be in
                         the past; not finite means never */
    int periods;      /* n_samplers numbers, s: result of PREPARE, sample times */
    int start_held;   /* n_held numbers: result of PREPARE, held variables before the first sample */
    int derivatives;  /* n_states numbers: result of DYNAMICS, time derivatives of the states */
    int indicators;   /* n_relations numbers: result of DYNAMICS, event indicators; NaN if undefined */
    int outputs;      /* n_outputs: result of OUTPUTS */
    /* Blocks of groups that may have no stages: */
    int violations;      /* N_LEVELS numbers: norms of the constraint residuals and of their time derivatives; result
                            of VIOLATIONS */
    int position_change; /* n_states: result of PROJECT_POSITION, added to the states */
    int velocity_change; /* n_states: result of PROJECT_VELOCITY, added to the states */
    int corrections;     /* N_LEVELS numbers: accumulated norms of the changes by projections since initialisation */
    int start_checks;    /* n_start_checks: result of START_CHECKS */
    int checks;          /* n_checks: result of CHECKS */
    int samples;         /* n_held numbers: result of SAMPLES */
    int lengths;         /* 2 n_lines numbers: length of each force element, m, and length rate, m/s; result of
                            LENGTHS */
    int calculated;      /* n_calculated numbers: parameters that depend on others; result of PREPARE */
    int requirements;    /* n_requirements numbers: values that must be within bounds; result of PREPARE */
} Blocks;

/* Levels of the constraints, which are the indices of the CORRECTION variables. */
typedef enum { LEVEL_POSITION, LEVEL_VELOCITY, N_LEVELS } Level;

/* Real settings of the co-simulation solver and the projection; they are the indices of the SETTING variables and
   their start values. */
typedef enum {
    SETTING_SOLVER_STEP,      /* s, > 0: step size of the fixed-step method */
    SETTING_SOLVER_TOLERANCE, /* > 0: relative tolerance, used if the importer specifies none */
    SETTING_SOLVER_LONGEST_STEP, /* s, > 0: maximum step size of the adaptive methods */
    SETTING_PROJECTION_TOLERANCE, /* > 0: constraint violation of each level up to which states are not projected */
    N_REAL_SETTINGS
} RealSetting;

typedef enum {
    SETTING_SOLVER_METHOD,    /* Method */
    SETTING_SOLVER_MAX_STEPS, /* > 0: maximum number of inner steps of a communication step, including rejected steps */
    SETTING_PROJECTION, /* 1: states are projected onto the constraints after a step; 0: no projection */
    SETTING_SOLVER_FINDS_START, /* 1: start states depend on modified parameters; 0: start states are the start
                                   parameters */
    N_INTEGER_SETTINGS
} IntegerSetting;

typedef enum {
    METHOD_AUTOMATIC,      /* automatic choice among the adaptive methods: see solver_choice.c */
    METHOD_RUNGE_KUTTA,    /* order 4, fixed step size */
    METHOD_DORMAND_PRINCE, /* 5(4), adaptive */
    METHOD_ROSENBROCK,     /* 4(3), adaptive, for stiff models */
    METHOD_BDF,            /* backward differentiation, orders 1 to 5, adaptive, for stiff models */
    N_METHODS
} Method;
#define EXPECTED_METHODS "0 (automatic), 1 (Runge-Kutta 4), 2 (Dormand-Prince 5(4)), 3 (Rosenbrock 4(3)) or 4 (BDF)"

/* Counters since initialisation, which are the indices of the COUNTER variables. */
typedef enum {
    COUNTER_SOLVER_EVALUATIONS,    /* evaluations of the group DYNAMICS */
    COUNTER_SOLVER_STEPS,          /* accepted inner steps of the co-simulation */
    COUNTER_SOLVER_REJECTED_STEPS, /* rejected inner steps of the co-simulation */
    COUNTER_SOLVER_JACOBIANS,      /* Jacobian evaluations, each of which takes n_states sweeps */
    COUNTER_PROJECTIONS,    /* projections onto the constraints */
    N_COUNTERS
} Counter;

/* Kinds of variables, which determine the type and when a variable may be set. */
typedef enum {
    VARIABLE_TIME,            /* real, read only; index 0 */
    VARIABLE_STATE,           /* real; set by the integrator, in continuous-time mode */
    VARIABLE_DERIVATIVE,      /* real, read only */
    VARIABLE_OUTPUT,          /* real, read only */
    VARIABLE_PARAMETER,       /* real; set before the end of initialisation */
    VARIABLE_CALCULATED,      /* real, read only; follows from parameters */
    VARIABLE_INPUT,           /* real, read only; depends on parameters */
    VARIABLE_REAL_SETTING,    /* real; may be set at any time */
    VARIABLE_INTEGER_SETTING, /* integer; set before the end of initialisation; index: IntegerSetting */
    VARIABLE_COUNTER,         /* integer, read only; index: Counter */
    VARIABLE_CORRECTION,      /* real, read only; index: Level */
    VARIABLE_INDICATOR        /* real, read only: of a relation */
} VariableKind;

/* Bounds of a number, low and high; both are included, unless `exclusive` excludes low. */
typedef struct {
    double low, high;
    int exclusive;
} Bounds;

typedef struct {
    const char *name; /* name for messages */
    VariableKind kind;
    int index;    /* index in the block of the variable's kind */
    int elements; /* 1 for a scalar. For an array, whose elements follow each other in the table and in the block:
                     number of elements in the first entry, 0 in the others */
    const Bounds *bounds; /* permitted values; NULL: any number */
} Variable;

/* Condition on parameters: a value in the block of the requirements must be within bounds. */
typedef struct {
    const char *message; /* description of the value */
    Bounds bounds;
} Requirement;

/* Condition at the initial time, or at the initial time and after each step: a value must be less than a bound. */
typedef struct {
    const char *message; /* description of the violation; the message continues with the value for a check at the
                            initial time, else with the time in s */
    double bound;
} Check;

/* Constants of the search for a static equilibrium; description/types/start_search.py explains the values. */
typedef struct {
    double stiffer;     /* stiffness ratio of successive springs */
    double softest;     /* stiffness of the first springs, relative to springs with which the largest force causes the
                           longest step */
    double most_springs; /* maximum number of springs at a position */
    double indifferent; /* stiffness, relative to the largest, below which an equilibrium is indifferent */
    double opposed;     /* work at the end of a step, relative to the work expected at its begin, that rejects the
                           step as too long */
    double loops;       /* stiffness of a spring that replaces a loop closure, relative to the stiffness of the
                           coordinates */
    double converged;   /* step at which Newton's method ends: rad, m or fraction of the extent */
    double pivot;       /* smallest pivot of a Cholesky factor relative to its minuend; smaller ones are rounding
                           errors */
    double unmoved;     /* rounding error of a position, rad or m */
} DownhillLimits;

enum { N_DOWNHILL = sizeof(DownhillLimits) / sizeof(double) };

/* System of equations for the initial state, solved by Newton's method. The solution of a stage of START is a Newton
   step of the unknowns: coordinates or velocities, followed by multipliers. */
typedef struct {
    const char *what; /* name of the unknowns for messages */
    int most_steps;
    double longest;   /* maximum length of a step: rad; for lengths, m or a fraction of the mechanism's extent */
    int stage;        /* index of the stage in its group; its system has one right-hand side */
    int n_moved;      /* number of leading unknowns that are coordinates or velocities */
    int begin;        /* offset of n_moved initial changes of the start parameters; -1: none */
    int n_found;      /* number of unknowns whose steps are accumulated: n_moved, or all; 0: a single step suffices */
    int found;        /* offset of the accumulated steps */
    int n_left;
    int left;                 /* offset of the residual that must vanish; result of the stage */
    int stiffness, n_stiffness; /* offset and number of rows of a stiffness matrix that is positive definite at a
                                   stable solution; -1: the stage computes the system's matrix. Otherwise both
                                   matrices follow from the stage's derivative. */
    int tried;                /* offset of a trial step with n_found numbers; -1: none */
    const char *const *names; /* n_left names of the residual's elements */
    const double *initial;    /* initial values of the block at `begin`, or else of the accumulated steps, which are
                                 otherwise 0 */
    const double *defaults;   /* solution for default parameters; NULL: 0 */
    const int *parameters;    /* n_moved indices of start parameters; -1: none. If a start parameter has been set, its
                                 initial change is 0 */
} Phase;

/* Dependency of the start states on parameters. */
typedef struct {
    int n_stages; /* number of leading stages of START that find the start states: one per phase, and one that
                     computes the states */
    int n_phases; /* 0: start states do not depend on other parameters, and the remaining members are unused */
    const Phase *phases;
    DownhillLimits downhill;
    const int *parameters; /* n_states indices of the start parameters of the states */
    const int *given;      /* n_parameters flags: 1 for start parameters that determine the initial state directly if
                              they have been set */
} Start;

typedef struct {
    const char *identifier; /* modelIdentifier */
    const char *token;      /* guid (FMI 2.0) or instantiationToken (FMI 3.0), compared with that of the importer */

    int n_states, n_inputs, n_switches, n_relations, n_parameters, n_outputs;
    int n_held, n_samplers;
    const int *held_ends; /* n_samplers numbers: index after the last held variable of each sampler; a sampler follows
                             those whose variables it uses. May be NULL if n_samplers is 0 */
    int n_positions; /* the derivatives of the first n_positions states are the following n_positions states */
    int workspace_size;
    Blocks blocks;
    StageGroup groups[N_GROUPS];
    Start start;

    /* The value reference of a variable is its index in this table. One table for all types. */
    int n_variables;
    const Variable *variables;

    /* Dependencies of each variable by its value reference, during the run and at the initial time. A list contains
       its length, followed by value references in ascending order. NULL in place of a list: no dependencies; NULL in
       place of the table: unknown dependencies. */
    const int *const *dependencies;
    const int *const *start_dependencies;

    int n_lookups;
    const Lookup *lookups; /* may be NULL if n_lookups is 0 */

    Pace pace; /* step-size limits due to expressions of time, s */
    int n_pace_parameters;
    const int *pace_parameters; /* n_pace_parameters indices of the parameters with which the limits were computed */
    int n_pace_start_values;
    const ExpectedValue *pace_start_values; /* n_pace_start_values values of start(x) with which they were computed */

    int n_start_checks, n_checks;
    const Check *start_checks; /* may be NULL if n_start_checks is 0; likewise `checks` */
    const Check *checks;
    int n_lines;
    const char *const *lines; /* n_lines names of force elements, for messages; may be NULL if there are none */
    double meeting;           /* length at which the end points of a force element count as coincident, m */
    const char *const *relations; /* n_relations descriptions of switching conditions, for messages; may be NULL if
                                     there are none */

    int n_calculated;
    int n_requirements;
    const Requirement *requirements; /* may be NULL if n_requirements is 0 */

    /* Start values in the order of the blocks. An array of length 0 may be NULL. */
    const double *parameters; /* n_parameters */
    const double *inputs;     /* n_inputs */
    const double *nominals;   /* n_states numbers > 0: magnitude of each state; absolute tolerance = relative
                                 tolerance x nominal */
    double real_settings[N_REAL_SETTINGS];
    int integer_settings[N_INTEGER_SETTINGS];

    double output_step; /* s, > 0: recommended interval for outputs */
    double time_margin; /* > 0: a time event happens at a given time if they differ by at most this margin; the margin
                           is in s up to t = 1 s, and relative to the time later */
    double accepted_violation; /* norm of the constraint violation at each level up to which the initial state
                                  satisfies the constraints */
} Equations;

extern const Equations equations;

#endif
