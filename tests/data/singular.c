/* Hand-written generated part that fails on demand. Its solution is known and nonlinear in state and time:

     x1' = -2 t x1^2,  x1 = 1 / (1/x1(0) + t^2);   x2' = cos t,  x2 = sin t

   The slopes come out of a 2 x 2 system with two right-hand sides, [1 1; 1 1 + T - t] Y = B, B made so that
   Y = [x1' 1; x2' 2]: singular at t = T alone. After `domain` the slope of x1 is the root of a negative number. */

#include "equations.h"

#include <math.h>

enum { T_SINGULAR, DOMAIN, START, N_PARAMETERS };

enum {
    TIME,
    X,
    P = X + 2,
    START_STATES = P + N_PARAMETERS,
    A = START_STATES + 2,
    Y = A + 4,
    PIVOTS = Y + 4,
    DERIVATIVES = PIVOTS + 2,
    OUTPUTS = DERIVATIVES + 2,
    SIZE = OUTPUTS + 2
};

static void prepare(const double **arg, double **res, double *w) {
    (void)w;
    res[0][0] = 1.0 / arg[0][START];
    res[0][1] = 0.0;
}

static void partition(const double **arg, double **res, double *w) {
    const double t = arg[0][0], x1 = arg[1][0], *p = arg[2], corner = 1.0 + (p[T_SINGULAR] - t);
    (void)w;
    const double y[4] = {-2.0 * t * x1 * x1 + 0.0 * sqrt(p[DOMAIN] - t), cos(t), 1.0, 2.0};
    const double a[4] = {1.0, 1.0, 1.0, corner};
    for (int i = 0; i < 4; i++) res[0][i] = a[i];
    for (int k = 0; k < 4; k += 2) {
        res[1][k] = y[k] + y[k + 1];
        res[1][k + 1] = y[k] + corner * y[k + 1];
    }
}

static void slopes(const double **arg, double **res, double *w) {
    (void)w;
    for (int i = 0; i < 2; i++) res[0][i] = arg[0][i];
}

static void outputs(const double **arg, double **res, double *w) {
    (void)w;
    for (int i = 0; i < 2; i++) res[0][i] = arg[0][2 + i];
}

/* Derivatives with respect to time, states and the start value, of B - A Y for constant Y = [y0 y2; y1 y3]. */
static void prepare_forward(const double **arg, double **res, double *w) {
    const double start = arg[0][START];
    (void)w;
    res[0][0] = -arg[1][START] / (start * start);
    res[0][1] = 0.0;
}

static void prepare_reverse(const double **arg, double **res, double *w) {
    const double start = arg[0][START];
    (void)w;
    for (int i = 0; i < N_PARAMETERS; i++) res[0][i] = 0.0;
    res[0][START] = -arg[1][0] / (start * start);
}

/* Derivatives of x1', for a change of time, and of x1. The second row holds the corner's change too, which cancels:
   B has it times the same numbers as A Y. */
static void slopes_of(const double *t, const double *x, const double *p, double *by_time, double *by_state) {
    by_time[0] = -2.0 * x[0] * x[0] + 0.0 / sqrt(p[DOMAIN] - t[0]);
    by_time[1] = -sin(t[0]);
    *by_state = -4.0 * t[0] * x[0];
}

static void partition_forward(const double **arg, double **res, double *w) {
    const double *t = arg[0], *p = arg[2], *dt = arg[4], *dx = arg[5], corner = 1.0 + (p[T_SINGULAR] - t[0]);
    double by_time[2], by_state;
    (void)w;
    slopes_of(t, arg[1], p, by_time, &by_state);
    const double dy[2] = {by_time[0] * dt[0] + by_state * dx[0], by_time[1] * dt[0]};
    res[0][0] = dy[0] + dy[1];
    res[0][1] = dy[0] + corner * dy[1];
    res[0][2] = res[0][3] = 0.0;
}

static void partition_reverse(const double **arg, double **res, double *w) {
    const double *t = arg[0], *p = arg[2], *b = arg[4], corner = 1.0 + (p[T_SINGULAR] - t[0]);
    double by_time[2], by_state;
    (void)w;
    slopes_of(t, arg[1], p, by_time, &by_state);
    res[0][0] = by_time[0] * (b[0] + b[1]) + by_time[1] * (b[0] + corner * b[1]);
    res[1][0] = by_state * (b[0] + b[1]);
    res[1][1] = 0.0;
}

static void slopes_forward(const double **arg, double **res, double *w) {
    (void)w;
    for (int i = 0; i < 2; i++) res[0][i] = arg[1][i];
}

static void slopes_reverse(const double **arg, double **res, double *w) {
    (void)w;
    for (int i = 0; i < 4; i++) res[0][i] = i < 2 ? arg[1][i] : 0.0;
}

static void outputs_forward(const double **arg, double **res, double *w) {
    (void)w;
    for (int i = 0; i < 2; i++) res[0][i] = arg[1][2 + i];
}

static void outputs_reverse(const double **arg, double **res, double *w) {
    (void)w;
    for (int i = 0; i < 4; i++) res[0][i] = i < 2 ? 0.0 : arg[1][i - 2];
}

static const int PREPARE_INPUTS[] = {P}, PREPARE_OUTPUTS[] = {START_STATES};
static const int PARTITION_INPUTS[] = {TIME, X, P}, PARTITION_OUTPUTS[] = {A, Y};
static const int SLOPE_INPUTS[] = {Y}, SLOPE_OUTPUTS[] = {DERIVATIVES};
static const int OUTPUT_INPUTS[] = {Y}, OUTPUT_OUTPUTS[] = {OUTPUTS};
static const int PARTITION_VALUES[] = {TIME, X, P, Y}, SIZES[] = {1, 2}, SOLUTION_SIZE[] = {4};
static const int OUTPUT_TO[] = {OUTPUTS}, PREPARE_SIZES[] = {N_PARAMETERS};

static const StageDerivative PREPARE_DERIVATIVE = {prepare_forward, prepare_reverse, 0,
    1, PREPARE_INPUTS, 1, PREPARE_INPUTS, PREPARE_SIZES, 1, PREPARE_OUTPUTS};
static const StageDerivative PARTITION_DERIVATIVE = {partition_forward, partition_reverse, 0,
    4, PARTITION_VALUES, 2, PARTITION_INPUTS, SIZES, 1, SLOPE_INPUTS};
static const StageDerivative SLOPES_DERIVATIVE = {slopes_forward, slopes_reverse, 0,
    1, SLOPE_INPUTS, 1, SLOPE_INPUTS, SOLUTION_SIZE, 1, SLOPE_OUTPUTS};
static const StageDerivative OUTPUT_DERIVATIVE = {outputs_forward, outputs_reverse, 0,
    1, SLOPE_INPUTS, 1, SLOPE_INPUTS, SOLUTION_SIZE, 1, OUTPUT_TO};

static const Stage PREPARE_STAGES[] = {
    {"start values", "", prepare, 0, 1, PREPARE_INPUTS, 1, PREPARE_OUTPUTS, {0},
     &PREPARE_DERIVATIVE, {0}, {0}}};
static const Stage DYNAMICS_STAGES[] = {
    {"partition", "boom, 100% rope", partition, 0, 3, PARTITION_INPUTS, 2, PARTITION_OUTPUTS,
     {2, 2, A, Y, 0, PIVOTS, 0, 0}, &PARTITION_DERIVATIVE, {0}, {0}},
    {"slopes", "", slopes, 0, 1, SLOPE_INPUTS, 1, SLOPE_OUTPUTS, {0},
     &SLOPES_DERIVATIVE, {0}, {0}}};
static const Stage OUTPUT_STAGES[] = {
    {"outputs", "", outputs, 0, 1, OUTPUT_INPUTS, 1, OUTPUT_OUTPUTS, {0},
     &OUTPUT_DERIVATIVE, {0}, {0}}};

static const Variable VARIABLES[] = {
    {"x1", VARIABLE_STATE, 0, 1, 0},
    {"x2", VARIABLE_STATE, 1, 1, 0},
    {"der(x1)", VARIABLE_DERIVATIVE, 0, 1, 0},
    {"y1", VARIABLE_OUTPUT, 0, 1, 0},
    {"y2", VARIABLE_OUTPUT, 1, 1, 0},
    {"t_singular", VARIABLE_PARAMETER, T_SINGULAR, 1, 0},
    {"domain", VARIABLE_PARAMETER, DOMAIN, 1, 0},
    {"inverse_start", VARIABLE_PARAMETER, START, 1, 0},
    {"solver_method", VARIABLE_INTEGER_SETTING, SETTING_SOLVER_METHOD, 1, 0},
    {"solver_max_steps", VARIABLE_INTEGER_SETTING, SETTING_SOLVER_MAX_STEPS, 1, 0},
    {"solver_step", VARIABLE_REAL_SETTING, SETTING_SOLVER_STEP, 1, 0},
    {"solver_tolerance", VARIABLE_REAL_SETTING, SETTING_SOLVER_TOLERANCE, 1, 0},
    {"solver_longest_step", VARIABLE_REAL_SETTING, SETTING_SOLVER_LONGEST_STEP, 1, 0},
    {"solver_steps", VARIABLE_COUNTER, COUNTER_SOLVER_STEPS, 1, 0},
    {"solver_rejected_steps", VARIABLE_COUNTER, COUNTER_SOLVER_REJECTED_STEPS, 1, 0},
    {"solver_jacobians", VARIABLE_COUNTER, COUNTER_SOLVER_JACOBIANS, 1, 0},
};

static const double PARAMETERS[N_PARAMETERS] = {10.0, 1e3, 1.0};
static const double NOMINALS[2] = {1.0, 1.0};

const Equations equations = {
    .identifier = "Singular",
    .token = "{singular}",
    .n_states = 2,
    .n_parameters = N_PARAMETERS,
    .n_outputs = 2,
    .workspace_size = SIZE,
    .blocks = {.time = TIME, .states = X, .parameters = P, .start_states = START_STATES, .derivatives =
               DERIVATIVES, .outputs = OUTPUTS},
    .groups = {{1, PREPARE_STAGES}, {0, 0}, {2, DYNAMICS_STAGES}, {1, OUTPUT_STAGES}},
    .n_variables = sizeof VARIABLES / sizeof VARIABLES[0],
    .variables = VARIABLES,
    .parameters = PARAMETERS,
    .nominals = NOMINALS,
    .real_settings = {1e-2, 1e-8, 1e3, 1.0},
    .integer_settings = {METHOD_DORMAND_PRINCE, 100000, 0},
    .output_step = 0.01,
    .time_margin = 1e-12,
};
