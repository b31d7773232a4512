/* The contract between the generated part of an FMU and the fixed part.

   Generated per model, two files:
     equations (any names)   the functions of the stages
     a data file (any name)  defines `const Equations equations` below: tables and constants, no code

   Fixed, the same for every model, in rooms of which each uses those before it:
     algebra    linear_solve        dense A X = B by LU with equilibration and partial pivoting
                constrained_solve   constrained equations of motion, dependent unknowns chosen by complete pivoting
                tree_solve          equations of motion of a tree of bodies, without their matrix
                tree_rows           the same with constraint rows
                stage_matrix        systems of implicit methods, positions eliminated
                lookup              which piece of a table a number is in
     core       equations.h         this contract
                model               one instance: its memory, what has changed, why the last call failed
                table               the table of variables: by value reference, by name; bounds
                inputs              inputs between communication points
                point               time, states, switches: where the stages are evaluated
     evaluation  stage              one stage: its function, its system, the derivatives of both
                start               the search for the start states
                evaluation          the stages, each group run once per change
                variables           get and set by value reference, with checks
                derivatives         exact derivatives, forward and adjoint, by sweeps over the stages
     events     events              sets the switches
                event_location      when, within a step, a relation changes
     constraints  projection        puts the states back on the constraints
                zero_length         whether a line's length has passed through zero within a step
                checks              what must hold at the start and after each step
     solvers    integrator          what an inner solver of the co-simulation is, and what every one shares
                adaptive_step       step size control, shared by the adaptive methods
                leap                one long step across a singular configuration
                rk4                 classical Runge-Kutta method, fixed step
                dormand_prince      Dormand-Prince 5(4), adaptive step
                rosenbrock          Rosenbrock 4(3) for stiff models, adaptive step
                nordsieck           the past that a multistep method goes on from
                bdf                 backward differentiation of variable order for stiff models, adaptive step
     cosimulation  solver_choice    which of them suits the model
                methods             the table of them
                cosimulation        one communication step: lands on events and on the communication point
     instance   life                memory, start values, initialisation
                calls               order of calls, checks of arguments
                snapshot            copy, restore and serialise the state
     fmi2       FMI 2.0: in which modes each function may be called, logging; its functions over the neutral ones
     fmi3       FMI 3.0: the same; an FMU has one of the two layers

   All numbers of a model live in one array of doubles, the *workspace*. Blocks of it are named by their offset
   (index of the first double). All offsets and sizes are in doubles, not bytes. Blocks do not overlap, but one may
   be a part of another: the solution of the accelerations' system can be the second half of the derivatives. A
   block of size 0 may have any offset from 0 to workspace_size. */

#ifndef EQUATIONS_H
#define EQUATIONS_H

/* Writes all of the blocks res from the blocks arg; w: scratch. */
typedef void StageFunction(const double **arg, double **res, double *w);

/* A X = B for dense blocks, both column-major; solved in place after the stage's function has returned. */
typedef struct {
    int n;       /* rows of A and B; 0: nothing to solve */
    int columns; /* columns of B; 0: nothing reads X, which is solved for only to see how large it is */
    int matrix;  /* offset of A (n x n); holds its factors afterwards */
    int right;   /* offset of B (n x columns); holds X afterwards */
    int symmetric; /* 1: A is, and positive definite */
    int pivots;  /* offset of n numbers of rows; belong to the factors of an A that is not symmetric */
    int partition; /* 1: A is what constraints have for a fixed choice of dependent coordinates, and must be regular
                      all the way of a run; of one stage at most */
    int ratios;    /* of that: the first columns of X that are dependent velocities per independent one */
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
    int multipliers; /* offset of L (m x columns) */
    int work;        /* offset of what constrained_solve.h asks for; holds the factors afterwards */
} ConstrainedSystem;

/* M X - C' L = F and C X = W, where M is that of a tree of bodies; solved in place after the stage's function has
   returned. What the blocks hold is said in tree_solve.h and tree_rows.h. */
typedef struct {
    int n;              /* coordinates; 0: nothing to solve */
    int m;              /* rows of C; 0: M X = F */
    int columns;        /* of F, W, X and L */
    int bodies;
    int axes;           /* offset, 6 n */
    int inertias;       /* offset, 10 per body */
    int arms;           /* offset, 3 per body */
    int armatures;      /* offset, n */
    int jacobian;       /* offset of C (m x n) */
    int right;          /* offset of F (n x columns); holds X afterwards */
    int wanted;         /* offset of W (m x columns); holds L afterwards */
    int factors;        /* offset, TREE_FACTORS n */
    int work;           /* offset of what tree_rows.h asks for; holds the rows' factors afterwards */
    const int *parents; /* per body */
    const int *ends;    /* per body */
    const int *motions; /* per coordinate */
} TreeSystem;

/* The derivative of a stage before its solve. With a system it is that of B - A X for constant X, so that the change of
   the solution is the inverse of A times it; with a constrained one, or a tree's, that of F - M X + C' L and of W - C X, in
   the places of F and W; of what else the stage computes as it stands.
   Arguments of `forward`: values, then the changes of the blocks `from`; its results: changes of the blocks `to`.
   Arguments of `reverse`: values, then what each number of `to` is worth (an adjoint); its results: what those of
   `from` are worth through this stage. */
typedef struct {
    StageFunction *forward, *reverse; /* reverse: NULL in FMI 2.0, which has no adjoints */
    int n_work; /* doubles of scratch that either function wants */
    int n_values;
    const int *values; /* offset of each block of values: the stage's inputs, X, and L */
    int n_from;
    const int *from;  /* offset of each block that the results depend on */
    const int *sizes; /* of these blocks */
    int n_to;
    const int *to; /* offset of each result's block; that of the system's right-hand side is one of them */
} StageDerivative;

/* One step of an evaluation: a function, then an optional solve. */
typedef struct {
    const char *name;        /* what it gives, for messages: "accelerations", "partition" */
    const char *coordinates; /* what is solved for, for messages: "boom, jib, rope"; "" if nothing to say */
    StageFunction *function;
    int n_work;         /* doubles of scratch that the function wants */
    int n_inputs;       /* number of the function's arguments */
    const int *inputs;  /* offset of each argument's block */
    int n_outputs;      /* number of the function's results */
    const int *outputs; /* offset of each result's block, which may not overlap an argument's */
    LinearSystem system;
    const StageDerivative *derivative; /* NULL in groups that no derivative runs through, and where nothing is read */
    ConstrainedSystem constrained;
    TreeSystem tree;                   /* at most one of the three systems has n > 0 */
} Stage;

/* The first four are run in this order, each only when something it depends on has changed, and none twice. The
   others have no stages in models without a projection, or without checks; they are run when these ask for them,
   after START alone. */
typedef enum {
    GROUP_PREPARE,  /* from parameters alone: constants; may give start states */
    GROUP_START,    /* from parameters and PREPARE's results: start states, what is as at the start, event times */
    GROUP_DYNAMICS, /* from time, states, inputs, switches, parameters and PREPARE's results: derivatives, indicators */
    GROUP_OUTPUTS,  /* from all of these: outputs */
    GROUP_VIOLATIONS,       /* from time, states, switches, parameters and PREPARE's results: violations */
    GROUP_PROJECT_POSITION, /* from the same: a step of the positions towards the constraints; may have no stages */
    GROUP_PROJECT_VELOCITY, /* from the same: one of the velocities; may have no stages */
    GROUP_START_CHECKS,     /* from the same as CHECKS: values of checks of the start */
    GROUP_CHECKS,           /* from time, states, inputs, switches, parameters, PREPARE's results: values of checks */
    GROUP_LENGTHS,          /* from states, parameters and PREPARE's results: lengths of lines and their rates */
    N_GROUPS
} Group;

typedef struct {
    int n_stages;
    const Stage *stages; /* may be NULL if n_stages is 0 */
} StageGroup;

enum { INPUT_ORDERS = 3 }; /* of the polynomials that inputs may follow in co-simulation */

enum { PIECE = 5 }; /* numbers of a piece of a table: its begin, and the coefficients c0 to c3 of its polynomial */

/* Of what a function does: from `begin` up to the next interval's. Numbers alone, `begin` first: see lookup.h. */
typedef struct {
    double begin;
    double bound;     /* longest step that begins there */
    double following; /* latest end of such a step, by the intervals after it */
    double mark;      /* 1: something begins there that may be missed after a rest */
} Interval;

/* Longest steps, by intervals that increase. */
typedef struct {
    int n; /* 0: any step is short enough */
    const Interval *intervals;
    double least; /* shortest of the bounds; INFINITY if n is 0 */
} Pace;

/* Where a table is at a time. Its argument is affine in time: `table_arguments` has its value at t = 0 and its rate. */
typedef struct {
    int n_pieces;
    const double (*pieces)[PIECE]; /* their begins do not decrease; the first one holds before its begin, too */
    int has_kinks;                 /* 1: the slope jumps between pieces, which are time events then */
    Pace pace;                     /* of the argument */
} Lookup;

/* Offsets of the blocks that the fixed part reads and writes. Every other block is the generator's own. */
typedef struct {
    int time;         /* 1: s */
    int states;       /* n_states */
    int inputs;       /* n_inputs */
    int input_derivatives; /* INPUT_ORDERS times n_inputs, order by order: with respect to time, for the next
                              communication step */
    int switches;     /* n_switches: 1.0 once time has reached the event time of the same index, else 0.0; then those
                         of the n_relations relations: 1.0 where the indicator is positive, else 0.0. Constant
                         between events. */
    int parameters;   /* n_parameters */
    int pieces;       /* PIECE times n_lookups: the pieces that hold at the present time */
    int start_pieces; /* the same for t = 0, which START takes in their place */
    int table_arguments; /* 2 times n_lookups: result of PREPARE */
    int start_states; /* n_states: result of PREPARE or START, copied to the states when a run is initialised */
    int event_times;  /* n_switches - n_relations: result of PREPARE or START, s; any order, may be past; not finite = never */
    int derivatives;  /* n_states: result of DYNAMICS, time derivative of the states */
    int indicators;   /* n_relations: result of DYNAMICS; no numbers where they have none */
    int outputs;      /* n_outputs: result of OUTPUTS */
    /* Only where the group has stages: */
    int violations;      /* N_LEVELS: norms of the constraints and of their rates; result of VIOLATIONS */
    int position_change; /* n_states: result of PROJECT_POSITION, added to the states */
    int velocity_change; /* n_states: result of PROJECT_VELOCITY, added to the states */
    int corrections;     /* N_LEVELS: sums of the norms of what projections have changed since initialisation */
    int start_checks;    /* n_start_checks: result of START_CHECKS */
    int checks;          /* n_checks: result of CHECKS */
    int lengths;         /* 2 n_lines: length of each line, m, and its rate, m/s; result of LENGTHS */
    int calculated;      /* n_calculated: parameters that follow from others; result of PREPARE */
    int requirements;    /* n_requirements: values that must be within bounds; result of PREPARE */
} Blocks;

/* Levels of the constraints; `index` of the CORRECTION variables. */
typedef enum { LEVEL_POSITION, LEVEL_VELOCITY, N_LEVELS } Level;

/* Settings of the solver inside the co-simulation and of the projection; `index` of the SETTING variables, and of their
   start values. */
typedef enum {
    SETTING_SOLVER_STEP,      /* s, > 0: longest step of the fixed-step method */
    SETTING_SOLVER_TOLERANCE, /* > 0: relative tolerance, used when the importer gives none */
    SETTING_SOLVER_LONGEST_STEP, /* s, > 0: longest step of the adaptive methods */
    SETTING_PROJECTION_TOLERANCE, /* > 0: largest violations, of each level, that are left as they are */
    N_REAL_SETTINGS
} RealSetting;

typedef enum {
    SETTING_SOLVER_METHOD,    /* Method */
    SETTING_SOLVER_MAX_STEPS, /* > 0: most inner steps, tried ones included, of one communication step */
    SETTING_PROJECTION, /* 1: states are put back on the constraints after a step; 0: they are not */
    SETTING_SOLVER_FINDS_START, /* 1: start states follow parameters that have been set; 0: they are the start parameters */
    N_INTEGER_SETTINGS
} IntegerSetting;

typedef enum {
    METHOD_AUTOMATIC,      /* one of the adaptive ones: see solver_choice.c */
    METHOD_RUNGE_KUTTA,    /* of order 4, fixed step */
    METHOD_DORMAND_PRINCE, /* 5(4), adaptive */
    METHOD_ROSENBROCK,     /* 4(3), adaptive, for stiff models */
    METHOD_BDF,            /* backward differentiation, orders 1 to 5, adaptive, for stiff models */
    N_METHODS
} Method;
#define EXPECTED_METHODS "0 (automatic), 1 (Runge-Kutta 4), 2 (Dormand-Prince 5(4)), 3 (Rosenbrock 4(3)) or 4 (BDF)"

/* Counts since initialisation; `index` of the COUNTER variables. */
typedef enum {
    COUNTER_SOLVER_EVALUATIONS,    /* evaluations of the group DYNAMICS */
    COUNTER_SOLVER_STEPS,          /* accepted inner steps of the co-simulation */
    COUNTER_SOLVER_REJECTED_STEPS, /* rejected ones */
    COUNTER_SOLVER_JACOBIANS,      /* Jacobian matrices, of n_states sweeps each */
    COUNTER_PROJECTIONS,    /* projections onto the constraints */
    N_COUNTERS
} Counter;

/* What a variable is, which also says its type and when it may be set. */
typedef enum {
    VARIABLE_TIME,            /* real, read only; index 0 */
    VARIABLE_STATE,           /* real; set by the integrator, in continuous-time mode */
    VARIABLE_DERIVATIVE,      /* real, read only */
    VARIABLE_OUTPUT,          /* real, read only */
    VARIABLE_PARAMETER,       /* real; set before the end of initialisation */
    VARIABLE_CALCULATED,      /* real, read only; follows from parameters */
    VARIABLE_INPUT,           /* real; set any time */
    VARIABLE_REAL_SETTING,    /* real; set before the end of initialisation; index: RealSetting */
    VARIABLE_INTEGER_SETTING, /* integer; set before the end of initialisation; index: IntegerSetting */
    VARIABLE_COUNTER,         /* integer, read only; index: Counter */
    VARIABLE_CORRECTION,      /* real, read only; index: Level */
    VARIABLE_INDICATOR        /* real, read only: of a relation */
} VariableKind;

/* What a number may be: from low to high, both included but for an exclusive low. */
typedef struct {
    double low, high;
    int exclusive;
} Bounds;

typedef struct {
    const char *name; /* for messages */
    VariableKind kind;
    int index;    /* in the block of its kind */
    int elements; /* 1; of an array, whose elements follow each other in the table and in the block: their number
                     in the first, 0 in the others */
    const Bounds *bounds; /* of what it may be set to; NULL: any number */
} Variable;

/* What parameters must keep: the value in the block of the requirements is within bounds. */
typedef struct {
    const char *message; /* what the value is */
    Bounds bounds;
} Requirement;

/* What must hold at the start, or there and after each step: the value in its block is less than the bound. */
typedef struct {
    const char *message; /* what it means that it does not; the value follows if of the start, else the time in s */
    double bound;
} Check;

/* Limits of the steps towards an equilibrium; description/types/start_search.py has their reasons. */
typedef struct {
    double stiffer;     /* stiffness of the next springs tried, by that of those before */
    double softest;     /* of the first springs, by those that let the largest force move the longest step */
    double most_springs; /* tried at one position */
    double indifferent; /* stiffness, by the largest, that is none */
    double opposed;     /* work at a step's end, by that promised at its begin, of a step that is too long */
    double loops;       /* stiffness of a spring in place of a loop, by that of the coordinates */
    double converged;   /* step that Newton's method stops at: rad, m or part of the extent */
    double pivot;       /* of a Cholesky factor, by what it is the difference of: rounding */
    double unmoved;     /* rad or m: rounding of a position */
} DownhillLimits;

enum { N_DOWNHILL = sizeof(DownhillLimits) / sizeof(double) };

/* A system of the start, solved by Newton's method: the solution of a stage of START is a step of what is to be found,
   numbers for coordinates or velocities and, behind these, multipliers. */
typedef struct {
    const char *what; /* is found, for messages */
    int most_steps;
    double longest;   /* of one step: rad, or in m or parts of the extent what the coordinate is measured in */
    int stage;        /* its index in the group; its system has one right-hand side */
    int n_moved;      /* how many of the solution's first numbers are steps of coordinates or velocities */
    int begin;        /* offset of n_moved changes from the start parameters, with which it begins; -1: none */
    int n_found;      /* how many numbers of the solution are added up: n_moved, or all; 0: one step is enough */
    int found;        /* offset of these sums */
    int n_left;
    int left;                 /* offset of what has to vanish; result of the stage */
    int stiffness, n_stiffness; /* offset and rows of a matrix that is positive definite where what is found is stable:
                                   it and the system's are made of the stage's derivative; -1: the system's is its own */
    int tried;                /* offset of a step, n_found numbers, that is tried; -1: none */
    const char *const *names; /* n_left: of these */
    const double *initial;    /* of the block at `begin`, or else of what is found, which begins with 0 otherwise */
    const double *defaults;   /* the same where no parameter has been set: what is found there; NULL: 0 */
    const int *parameters;    /* n_moved: index of the start parameter of each; -1: none. Where it has been set, its
                                 change at `begin` is 0 */
} Phase;

/* How the start states follow the parameters. */
typedef struct {
    int n_stages; /* of START that find them: the first ones; of each phase one, and one that gives the states */
    int n_phases; /* 0: no start that follows, the rest is of no meaning */
    const Phase *phases;
    DownhillLimits downhill;
    const int *parameters; /* n_states: index of each state's start parameter */
    const int *given;      /* n_parameters: 1 for start parameters that, where they are set, are the start themselves */
} Start;

typedef struct {
    const char *identifier; /* modelIdentifier */
    const char *token;      /* guid (FMI 2), instantiationToken (FMI 3): compared with the importer's */

    int n_states, n_inputs, n_switches, n_relations, n_parameters, n_outputs;
    int n_positions; /* the derivatives of the first so many states are the next as many states */
    int workspace_size;
    Blocks blocks;
    StageGroup groups[N_GROUPS];
    Start start;

    /* The value reference of a variable is its index in this table. One table for all types. */
    int n_variables;
    const Variable *variables;

    /* What each variable depends on, by its value reference, during the run and at its start: the length of a list,
       then the first value references of what is in it, ascending. No list (NULL): on nothing. No table: not known. */
    const int *const *dependencies;
    const int *const *start_dependencies;

    int n_lookups;
    const Lookup *lookups; /* may be NULL if n_lookups is 0 */

    Pace pace; /* of expressions of time, s */
    int n_pace_parameters;
    const int *pace_parameters; /* n_pace_parameters: index of those that the pace was found with */

    int n_start_checks, n_checks;
    const Check *start_checks; /* may be NULL if n_start_checks is 0; so may be checks */
    const Check *checks;
    int n_lines;
    const char *const *lines; /* n_lines: their names, for messages; may be NULL if there are none */
    double meeting;           /* m, length at which the ends of a line meet */
    const char *const *relations; /* n_relations: what each is about, for messages; may be NULL if there are none */

    int n_calculated;
    int n_requirements;
    const Requirement *requirements; /* may be NULL if n_requirements is 0 */

    /* Start values, in the order of the blocks. An array of length 0 may be NULL. */
    const double *parameters; /* n_parameters */
    const double *inputs;     /* n_inputs */
    const double *nominals;   /* n_states, > 0: magnitude of each state; absolute tolerance = relative x nominal */
    double real_settings[N_REAL_SETTINGS];
    int integer_settings[N_INTEGER_SETTINGS];

    double output_step; /* s, > 0: in which the model's user expects to see it move */
    double accepted_violation; /* of the start, each level's norm: up to it the start is on the constraints */
} Equations;

extern const Equations equations;

#endif
