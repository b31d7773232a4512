/* Hand-written generated part that fails on demand. Its solution is known and nonlinear in state and time:

     x1' = -2 t x1^2,  x1 = 1 / (1/x1(0) + t^2);   x2' = cos t,  x2 = sin t

   The slopes come out of a 2 x 2 system with two right-hand sides, [1 1; 1 1 + T - t] Y = B, B made so that
   Y = [x1' 1; x2' 2]: singular at t = T alone. After `domain` the slope of x1 is the root of a negative number, after
   `failure` the function returns a code. */

#include "equations.h"

#include <math.h>

enum { T_SINGULAR, DOMAIN, FAILURE, START, N_PARAMETERS };

enum {
    TIME,
    X,
    P = X + 2,
    START_STATES = P + N_PARAMETERS,
    A = START_STATES + 2,
    Y = A + 4,
    DERIVATIVES = Y + 4,
    OUTPUTS = DERIVATIVES + 2,
    SIZE = OUTPUTS + 2
};

static int prepare(const double **arg, double **res, long long int *iw, double *w, int mem) {
    (void)iw, (void)w, (void)mem;
    res[0][0] = 1.0 / arg[0][START];
    res[0][1] = 0.0;
    return 0;
}

static int partition(const double **arg, double **res, long long int *iw, double *w, int mem) {
    const double t = arg[0][0], x1 = arg[1][0], *p = arg[2], corner = 1.0 + (p[T_SINGULAR] - t);
    (void)iw, (void)w, (void)mem;
    const double y[4] = {-2.0 * t * x1 * x1 + 0.0 * sqrt(p[DOMAIN] - t), cos(t), 1.0, 2.0};
    const double a[4] = {1.0, 1.0, 1.0, corner};
    for (int i = 0; i < 4; i++) res[0][i] = a[i];
    for (int k = 0; k < 4; k += 2) {
        res[1][k] = y[k] + y[k + 1];
        res[1][k + 1] = y[k] + corner * y[k + 1];
    }
    return t > p[FAILURE] ? 7 : 0;
}

static int slopes(const double **arg, double **res, long long int *iw, double *w, int mem) {
    (void)iw, (void)w, (void)mem;
    for (int i = 0; i < 2; i++) res[0][i] = arg[0][i];
    return 0;
}

/* The second input is not given: CasADi reads zeros then. The first result is not wanted. */
static int outputs(const double **arg, double **res, long long int *iw, double *w, int mem) {
    (void)iw, (void)w, (void)mem;
    for (int i = 0; i < 2; i++) res[1][i] = arg[0][2 + i] + (arg[1] ? NAN : 0.0) + (res[0] ? NAN : 0.0);
    return 0;
}

static const int PREPARE_INPUTS[] = {P}, PREPARE_OUTPUTS[] = {START_STATES};
static const int PARTITION_INPUTS[] = {TIME, X, P}, PARTITION_OUTPUTS[] = {A, Y};
static const int SLOPE_INPUTS[] = {Y}, SLOPE_OUTPUTS[] = {DERIVATIVES};
static const int OUTPUT_INPUTS[] = {Y, -1}, OUTPUT_OUTPUTS[] = {-1, OUTPUTS};

static const Stage PREPARE_STAGES[] = {
    {"start values", "", prepare, 1, 1, 0, 0, 1, PREPARE_INPUTS, 1, PREPARE_OUTPUTS, {0, 0, 0, 0}, {0}}};
static const Stage DYNAMICS_STAGES[] = {
    {"partition", "boom, 100% rope", partition, 3, 2, 0, 0, 3, PARTITION_INPUTS, 2, PARTITION_OUTPUTS, {2, 2, A, Y}, {0}},
    {"slopes", "", slopes, 1, 1, 0, 0, 1, SLOPE_INPUTS, 1, SLOPE_OUTPUTS, {0, 0, 0, 0}, {0}}};
static const Stage OUTPUT_STAGES[] = {
    {"outputs", "", outputs, 2, 2, 0, 0, 2, OUTPUT_INPUTS, 2, OUTPUT_OUTPUTS, {0, 0, 0, 0}, {0}}};

static const Variable VARIABLES[] = {
    {"x1", VARIABLE_STATE, 0},
    {"x2", VARIABLE_STATE, 1},
    {"der(x1)", VARIABLE_DERIVATIVE, 0},
    {"y1", VARIABLE_OUTPUT, 0},
    {"y2", VARIABLE_OUTPUT, 1},
    {"t_singular", VARIABLE_PARAMETER, T_SINGULAR},
    {"domain", VARIABLE_PARAMETER, DOMAIN},
    {"failure", VARIABLE_PARAMETER, FAILURE},
    {"inverse_start", VARIABLE_PARAMETER, START},
    {"solver_method", VARIABLE_INTEGER_SETTING, SETTING_METHOD},
    {"solver_max_steps", VARIABLE_INTEGER_SETTING, SETTING_MAX_STEPS},
    {"solver_step", VARIABLE_REAL_SETTING, SETTING_STEP},
    {"solver_tolerance", VARIABLE_REAL_SETTING, SETTING_TOLERANCE},
    {"solver_steps", VARIABLE_COUNTER, COUNTER_STEPS},
    {"solver_rejected_steps", VARIABLE_COUNTER, COUNTER_REJECTED_STEPS},
};

static const double PARAMETERS[N_PARAMETERS] = {10.0, 1e3, 1e3, 1.0};
static const double NOMINALS[2] = {1.0, 1.0};

const Equations equations = {
    .identifier = "Singular",
    .token = "{singular}",
    .n_states = 2,
    .n_parameters = N_PARAMETERS,
    .n_outputs = 2,
    .workspace_size = SIZE,
    .blocks = {TIME, X, 0, 0, P, START_STATES, 0, DERIVATIVES, OUTPUTS},
    .groups = {{1, PREPARE_STAGES}, {2, DYNAMICS_STAGES}, {1, OUTPUT_STAGES}},
    .n_variables = sizeof VARIABLES / sizeof VARIABLES[0],
    .variables = VARIABLES,
    .parameters = PARAMETERS,
    .nominals = NOMINALS,
    .real_settings = {1e-2, 1e-8},
    .integer_settings = {2, 100000},
};
