/* Hand-written generated part: two masses in a row, each on a spring and damper of the one before it, in relative
   coordinates, with a force that is switched on and off and one that is an input:

     [m1+m2 m2; m2 m2] [a1; a2] = [-k q1 - c v1 + force (on - off) + u; -k q2 - c v2]

   Linear, so that the test has the exact solution. States q1, q2, v1, v2. */

#include "equations.h"

#include <math.h>

enum { M1, M2, K, C, FORCE, T_ON, T_OFF, START, N_PARAMETERS };

/* The workspace. MASS is kept from PREPARE; A is overwritten by each solve. */
enum {
    TIME,
    X,
    U = X + 4,
    INPUT_DERIVATIVES = U + 1,
    SWITCHES = INPUT_DERIVATIVES + INPUT_ORDERS,
    P = SWITCHES + 2,
    START_STATES = P + N_PARAMETERS,
    EVENT_TIMES = START_STATES + 4,
    MASS = EVENT_TIMES + 2,
    A = MASS + 4,
    PIVOTS = A + 4,
    DERIVATIVES = PIVOTS + 2,
    OUTPUTS = DERIVATIVES + 4,
    SIZE = OUTPUTS + 3
};

static void prepare(const double **arg, double **res, double *w) {
    const double *p = arg[0];
    (void)w;
    const double start[4] = {p[START], 0.0, 0.0, 0.0};
    const double mass[4] = {p[M1] + p[M2], p[M2], p[M2], p[M2]};
    for (int i = 0; i < 4; i++) res[0][i] = start[i];
    res[1][0] = p[T_ON];
    res[1][1] = p[T_OFF] < 0.0 ? NAN : p[T_OFF];
    for (int i = 0; i < 4; i++) res[2][i] = mass[i];
}

static void dynamics(const double **arg, double **res, double *w) {
    const double *x = arg[0], *u = arg[1], *s = arg[2], *p = arg[3], *mass = arg[4];
    (void)w;
    for (int i = 0; i < 4; i++) res[0][i] = mass[i];
    for (int i = 0; i < 2; i++) res[1][i] = x[2 + i];
    for (int i = 0; i < 2; i++) res[2][i] = -p[K] * x[i] - p[C] * x[2 + i];
    res[2][0] += p[FORCE] * (s[0] - s[1]) + u[0];
}

static void outputs(const double **arg, double **res, double *w) {
    const double *x = arg[0], *u = arg[1], *s = arg[2], *p = arg[3], *derivatives = arg[4];
    (void)w;
    res[0][0] = x[0] + x[1];
    res[0][1] = derivatives[2];
    res[0][2] = p[FORCE] * (s[0] - s[1]) + u[0];
}

/* Derivatives: the mass matrix holds parameters alone, so its change counts in the solve times the solution. */
static void prepare_forward(const double **arg, double **res, double *w) {
    const double *dp = arg[1];
    (void)w;
    const double start[4] = {dp[START], 0.0, 0.0, 0.0};
    const double mass[4] = {dp[M1] + dp[M2], dp[M2], dp[M2], dp[M2]};
    for (int i = 0; i < 4; i++) res[0][i] = start[i];
    res[1][0] = dp[T_ON];
    res[1][1] = dp[T_OFF];
    for (int i = 0; i < 4; i++) res[2][i] = mass[i];
}

static void prepare_reverse(const double **arg, double **res, double *w) {
    const double *start = arg[1], *events = arg[2], *mass = arg[3];
    (void)w;
    for (int i = 0; i < N_PARAMETERS; i++) res[0][i] = 0.0;
    res[0][M1] = mass[0];
    res[0][M2] = mass[0] + mass[1] + mass[2] + mass[3];
    res[0][T_ON] = events[0];
    res[0][T_OFF] = events[1];
    res[0][START] = start[0];
}

static void dynamics_forward(const double **arg, double **res, double *w) {
    const double *x = arg[0], *s = arg[2], *p = arg[3], *a = arg[5];
    const double *dx = arg[6], *du = arg[7], *dp = arg[8], *dmass = arg[9];
    (void)w;
    for (int i = 0; i < 2; i++) {
        res[0][i] = dx[2 + i];
        res[1][i] = -p[K] * dx[i] - p[C] * dx[2 + i] - dp[K] * x[i] - dp[C] * x[2 + i];
        res[1][i] -= dmass[i] * a[0] + dmass[2 + i] * a[1];
    }
    res[1][0] += dp[FORCE] * (s[0] - s[1]) + du[0];
}

static void dynamics_reverse(const double **arg, double **res, double *w) {
    const double *x = arg[0], *s = arg[2], *p = arg[3], *a = arg[5], *rates = arg[6], *forces = arg[7];
    (void)w;
    for (int i = 0; i < N_PARAMETERS; i++) res[2][i] = 0.0;
    for (int i = 0; i < 2; i++) {
        res[0][i] = -p[K] * forces[i];
        res[0][2 + i] = rates[i] - p[C] * forces[i];
        res[2][K] -= x[i] * forces[i];
        res[2][C] -= x[2 + i] * forces[i];
        res[3][i] = -forces[i] * a[0];
        res[3][2 + i] = -forces[i] * a[1];
    }
    res[1][0] = forces[0];
    res[2][FORCE] = forces[0] * (s[0] - s[1]);
}

static void outputs_forward(const double **arg, double **res, double *w) {
    const double *s = arg[2], *dx = arg[5], *du = arg[6], *dp = arg[7], *change = arg[8];
    (void)w;
    res[0][0] = dx[0] + dx[1];
    res[0][1] = change[2];
    res[0][2] = dp[FORCE] * (s[0] - s[1]) + du[0];
}

static void outputs_reverse(const double **arg, double **res, double *w) {
    const double *s = arg[2], *y = arg[5];
    (void)w;
    for (int i = 0; i < 4; i++) res[0][i] = i < 2 ? y[0] : 0.0;
    res[1][0] = y[2];
    for (int i = 0; i < N_PARAMETERS; i++) res[2][i] = 0.0;
    res[2][FORCE] = y[2] * (s[0] - s[1]);
    for (int i = 0; i < 4; i++) res[3][i] = i == 2 ? y[1] : 0.0;
}

static const int PREPARE_INPUTS[] = {P}, PREPARE_OUTPUTS[] = {START_STATES, EVENT_TIMES, MASS};
static const int DYNAMICS_INPUTS[] = {X, U, SWITCHES, P, MASS}, DYNAMICS_OUTPUTS[] = {A, DERIVATIVES, DERIVATIVES + 2};
static const int OUTPUT_INPUTS[] = {X, U, SWITCHES, P, DERIVATIVES}, OUTPUT_OUTPUTS[] = {OUTPUTS};
static const int DYNAMICS_VALUES[] = {X, U, SWITCHES, P, MASS, DERIVATIVES + 2};
static const int PREPARE_SIZES[] = {N_PARAMETERS}, DYNAMICS_TO[] = {DERIVATIVES, DERIVATIVES + 2};
static const int DYNAMICS_FROM[] = {X, U, P, MASS}, OUTPUT_FROM[] = {X, U, P, DERIVATIVES};
static const int SIZES[] = {4, 1, N_PARAMETERS, 4};

static const StageDerivative PREPARE_DERIVATIVE = {prepare_forward, prepare_reverse, 0,
    1, PREPARE_INPUTS, 1, PREPARE_INPUTS, PREPARE_SIZES, 3, PREPARE_OUTPUTS};
static const StageDerivative DYNAMICS_DERIVATIVE = {dynamics_forward, dynamics_reverse, 0,
    6, DYNAMICS_VALUES, 4, DYNAMICS_FROM, SIZES, 2, DYNAMICS_TO};
static const StageDerivative OUTPUT_DERIVATIVE = {outputs_forward, outputs_reverse, 0,
    5, OUTPUT_INPUTS, 4, OUTPUT_FROM, SIZES, 1, OUTPUT_OUTPUTS};

static const Stage PREPARE_STAGES[] = {
    {"start values", "", prepare, 0, 1, PREPARE_INPUTS, 3, PREPARE_OUTPUTS, {0},
     &PREPARE_DERIVATIVE, {0}, {0}}};
static const Stage DYNAMICS_STAGES[] = {
    {"accelerations", "q1, q2", dynamics, 0, 5, DYNAMICS_INPUTS, 3, DYNAMICS_OUTPUTS,
     {2, 1, A, DERIVATIVES + 2, 0, PIVOTS, 0, 0}, &DYNAMICS_DERIVATIVE, {0}, {0}}};
static const Stage OUTPUT_STAGES[] = {
    {"outputs", "", outputs, 0, 5, OUTPUT_INPUTS, 1, OUTPUT_OUTPUTS, {0},
     &OUTPUT_DERIVATIVE, {0}, {0}}};

static const Bounds DAMPING = {0.0, 1e30, 0};
static const Variable VARIABLES[] = {
    {"time", VARIABLE_TIME, 0, 1, 0},
    {"q1", VARIABLE_STATE, 0, 1, 0},
    {"q2", VARIABLE_STATE, 1, 1, 0},
    {"v1", VARIABLE_STATE, 2, 1, 0},
    {"v2", VARIABLE_STATE, 3, 1, 0},
    {"der(v1)", VARIABLE_DERIVATIVE, 2, 1, 0},
    {"der(v2)", VARIABLE_DERIVATIVE, 3, 1, 0},
    {"position", VARIABLE_OUTPUT, 0, 1, 0},
    {"acceleration", VARIABLE_OUTPUT, 1, 1, 0},
    {"total_force", VARIABLE_OUTPUT, 2, 1, 0},
    {"m1", VARIABLE_PARAMETER, M1, 2, 0},
    {"m2", VARIABLE_PARAMETER, M2, 0, 0},
    {"k", VARIABLE_PARAMETER, K, 1, 0},
    {"c", VARIABLE_PARAMETER, C, 1, &DAMPING},
    {"force", VARIABLE_PARAMETER, FORCE, 1, 0},
    {"t_on", VARIABLE_PARAMETER, T_ON, 1, 0},
    {"t_off", VARIABLE_PARAMETER, T_OFF, 1, 0},
    {"start", VARIABLE_PARAMETER, START, 1, 0},
    {"u", VARIABLE_INPUT, 0, 1, 0},
    {"solver_method", VARIABLE_INTEGER_SETTING, SETTING_SOLVER_METHOD, 1, 0},
    {"solver_max_steps", VARIABLE_INTEGER_SETTING, SETTING_SOLVER_MAX_STEPS, 1, 0},
    {"solver_step", VARIABLE_REAL_SETTING, SETTING_SOLVER_STEP, 1, 0},
    {"solver_tolerance", VARIABLE_REAL_SETTING, SETTING_SOLVER_TOLERANCE, 1, 0},
    {"solver_longest_step", VARIABLE_REAL_SETTING, SETTING_SOLVER_LONGEST_STEP, 1, 0},
    {"solver_evaluations", VARIABLE_COUNTER, COUNTER_SOLVER_EVALUATIONS, 1, 0},
    {"solver_steps", VARIABLE_COUNTER, COUNTER_SOLVER_STEPS, 1, 0},
    {"solver_rejected_steps", VARIABLE_COUNTER, COUNTER_SOLVER_REJECTED_STEPS, 1, 0},
    {"solver_jacobians", VARIABLE_COUNTER, COUNTER_SOLVER_JACOBIANS, 1, 0},
};

static const double PARAMETERS[N_PARAMETERS] = {2.0, 1.0, 30.0, 0.4, 5.0, 0.37, -1.0, 0.1};
static const double INPUTS[1] = {0.0};
static const double NOMINALS[4] = {1.0, 1.0, 1.0, 1.0};

const Equations equations = {
    .identifier = "Oscillator",
    .token = "{oscillator}",
    .n_states = 4,
    .n_positions = 2,
    .n_inputs = 1,
    .n_switches = 2,
    .n_parameters = N_PARAMETERS,
    .n_outputs = 3,
    .workspace_size = SIZE,
    .blocks = {.time = TIME, .states = X, .inputs = U, .input_derivatives = INPUT_DERIVATIVES, .switches =
               SWITCHES, .parameters = P, .start_states = START_STATES, .event_times = EVENT_TIMES,
               .derivatives = DERIVATIVES, .outputs = OUTPUTS},
    .groups = {{1, PREPARE_STAGES}, {0, 0}, {1, DYNAMICS_STAGES}, {1, OUTPUT_STAGES}},
    .n_variables = sizeof VARIABLES / sizeof VARIABLES[0],
    .variables = VARIABLES,
    .parameters = PARAMETERS,
    .inputs = INPUTS,
    .nominals = NOMINALS,
    .real_settings = {1e-3, 1e-8, 1e3, 1.0},
    .integer_settings = {METHOD_DORMAND_PRINCE, 100000, 0},
    .output_step = 0.01,
    .time_margin = 1e-12,
};
