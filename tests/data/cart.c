/* Hand-written generated part: a cart of 1 kg on a rail under a constant force, and a line from it to the rail's origin.
   States q, v; the line's length is |q|. The output counts how often that length was asked for. */

#include "equations.h"

#include <math.h>

enum { FORCE, START, SPEED, N_PARAMETERS };

enum {
    TIME,
    X,
    P = X + 2,
    START_STATES = P + N_PARAMETERS,
    DERIVATIVES = START_STATES + 2,
    LENGTHS = DERIVATIVES + 2,
    OUTPUTS = LENGTHS + 2,
    SIZE = OUTPUTS + 1
};

static int asked = 0;

static void prepare(const double **arg, double **res, double *w) {
    (void)w;
    asked = 0;
    res[0][0] = arg[0][START];
    res[0][1] = arg[0][SPEED];
}

static void dynamics(const double **arg, double **res, double *w) {
    (void)w;
    res[0][0] = arg[0][1];
    res[0][1] = arg[1][FORCE];
}

static void outputs(const double **arg, double **res, double *w) {
    (void)arg;
    (void)w;
    res[0][0] = asked;
}

static void lengths(const double **arg, double **res, double *w) {
    const double *x = arg[0];
    (void)w;
    asked++;
    res[0][0] = fabs(x[0]);
    res[0][1] = x[0] > 0.0 ? x[1] : -x[1];
}

static const int PREPARE_INPUTS[] = {P}, PREPARE_OUTPUTS[] = {START_STATES};
static const int DYNAMICS_INPUTS[] = {X, P}, DYNAMICS_OUTPUTS[] = {DERIVATIVES};
static const int OUTPUT_INPUTS[] = {X}, OUTPUT_OUTPUTS[] = {OUTPUTS};
static const int LENGTH_INPUTS[] = {X}, LENGTH_OUTPUTS[] = {LENGTHS};

static const Stage PREPARE_STAGES[] = {
    {"start values", "", prepare, 0, 1, PREPARE_INPUTS, 1, PREPARE_OUTPUTS, {0}, 0, {0}, {0}}};
static const Stage DYNAMICS_STAGES[] = {
    {"accelerations", "", dynamics, 0, 2, DYNAMICS_INPUTS, 1, DYNAMICS_OUTPUTS, {0}, 0, {0}, {0}}};
static const Stage OUTPUT_STAGES[] = {
    {"outputs", "", outputs, 0, 1, OUTPUT_INPUTS, 1, OUTPUT_OUTPUTS, {0}, 0, {0}, {0}}};
static const Stage LENGTH_STAGES[] = {
    {"lengths", "", lengths, 0, 1, LENGTH_INPUTS, 1, LENGTH_OUTPUTS, {0}, 0, {0}, {0}}};

static const Variable VARIABLES[] = {
    {"time", VARIABLE_TIME, 0, 1, 0},
    {"q", VARIABLE_STATE, 0, 1, 0},
    {"v", VARIABLE_STATE, 1, 1, 0},
    {"asked", VARIABLE_OUTPUT, 0, 1, 0},
    {"force", VARIABLE_PARAMETER, FORCE, 1, 0},
    {"start", VARIABLE_PARAMETER, START, 1, 0},
    {"speed", VARIABLE_PARAMETER, SPEED, 1, 0},
    {"solver_method", VARIABLE_INTEGER_SETTING, SETTING_SOLVER_METHOD, 1, 0},
    {"solver_max_steps", VARIABLE_INTEGER_SETTING, SETTING_SOLVER_MAX_STEPS, 1, 0},
    {"solver_step", VARIABLE_REAL_SETTING, SETTING_SOLVER_STEP, 1, 0},
    {"solver_tolerance", VARIABLE_REAL_SETTING, SETTING_SOLVER_TOLERANCE, 1, 0},
    {"solver_longest_step", VARIABLE_REAL_SETTING, SETTING_SOLVER_LONGEST_STEP, 1, 0},
    {"solver_steps", VARIABLE_COUNTER, COUNTER_SOLVER_STEPS, 1, 0},
};

static const double PARAMETERS[N_PARAMETERS] = {0.0, 5.0, -0.1};
static const double NOMINALS[2] = {1.0, 1.0};
static const char *const LINES[] = {"leg"};

const Equations equations = {
    .identifier = "Cart",
    .token = "{cart}",
    .n_states = 2,
    .n_positions = 1,
    .n_parameters = N_PARAMETERS,
    .n_outputs = 1,
    .n_lines = 1,
    .lines = LINES,
    .meeting = 1e-6,
    .workspace_size = SIZE,
    .blocks = {.time = TIME, .states = X, .parameters = P, .start_states = START_STATES,
               .derivatives = DERIVATIVES, .outputs = OUTPUTS, .lengths = LENGTHS},
    .groups = {[GROUP_PREPARE] = {1, PREPARE_STAGES}, [GROUP_DYNAMICS] = {1, DYNAMICS_STAGES},
               [GROUP_OUTPUTS] = {1, OUTPUT_STAGES}, [GROUP_LENGTHS] = {1, LENGTH_STAGES}},
    .n_variables = sizeof VARIABLES / sizeof VARIABLES[0],
    .variables = VARIABLES,
    .parameters = PARAMETERS,
    .nominals = NOMINALS,
    .real_settings = {1e-3, 1e-8, 1e3, 1.0},
    .integer_settings = {METHOD_DORMAND_PRINCE, 100000, 0},
    .output_step = 0.01,
    .time_margin = 1e-12,
};
