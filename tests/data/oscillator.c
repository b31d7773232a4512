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
    SWITCHES = U + 1,
    P = SWITCHES + 2,
    START_STATES = P + N_PARAMETERS,
    EVENT_TIMES = START_STATES + 4,
    MASS = EVENT_TIMES + 2,
    A = MASS + 4,
    DERIVATIVES = A + 4,
    OUTPUTS = DERIVATIVES + 4,
    SIZE = OUTPUTS + 3
};

static int prepare(const double **arg, double **res, long long int *iw, double *w, int mem) {
    const double *p = arg[0];
    (void)iw, (void)w, (void)mem;
    const double start[4] = {p[START], 0.0, 0.0, 0.0};
    const double mass[4] = {p[M1] + p[M2], p[M2], p[M2], p[M2]};
    for (int i = 0; i < 4; i++) res[0][i] = start[i];
    res[1][0] = p[T_ON];
    res[1][1] = p[T_OFF] < 0.0 ? NAN : p[T_OFF];
    for (int i = 0; i < 4; i++) res[2][i] = mass[i];
    return 0;
}

static int dynamics(const double **arg, double **res, long long int *iw, double *w, int mem) {
    const double *x = arg[0], *u = arg[1], *s = arg[2], *p = arg[3], *mass = arg[4];
    (void)iw, (void)w, (void)mem;
    for (int i = 0; i < 4; i++) res[0][i] = mass[i];
    for (int i = 0; i < 2; i++) res[1][i] = x[2 + i];
    for (int i = 0; i < 2; i++) res[2][i] = -p[K] * x[i] - p[C] * x[2 + i];
    res[2][0] += p[FORCE] * (s[0] - s[1]) + u[0];
    return 0;
}

static int outputs(const double **arg, double **res, long long int *iw, double *w, int mem) {
    const double *x = arg[0], *u = arg[1], *s = arg[2], *p = arg[3], *derivatives = arg[4];
    (void)iw, (void)w, (void)mem;
    res[0][0] = x[0] + x[1];
    res[0][1] = derivatives[2];
    res[0][2] = p[FORCE] * (s[0] - s[1]) + u[0];
    return 0;
}

static const int PREPARE_INPUTS[] = {P}, PREPARE_OUTPUTS[] = {START_STATES, EVENT_TIMES, MASS};
static const int DYNAMICS_INPUTS[] = {X, U, SWITCHES, P, MASS}, DYNAMICS_OUTPUTS[] = {A, DERIVATIVES, DERIVATIVES + 2};
static const int OUTPUT_INPUTS[] = {X, U, SWITCHES, P, DERIVATIVES}, OUTPUT_OUTPUTS[] = {OUTPUTS};

static const Stage PREPARE_STAGES[] = {
    {"start values", "", prepare, 1, 3, 0, 0, 1, PREPARE_INPUTS, 3, PREPARE_OUTPUTS, {0, 0, 0, 0}, {0}}};
static const Stage DYNAMICS_STAGES[] = {
    {"accelerations", "q1, q2", dynamics, 5, 3, 0, 0, 5, DYNAMICS_INPUTS, 3, DYNAMICS_OUTPUTS,
     {2, 1, A, DERIVATIVES + 2}, {0}}};
static const Stage OUTPUT_STAGES[] = {
    {"outputs", "", outputs, 5, 1, 0, 0, 5, OUTPUT_INPUTS, 1, OUTPUT_OUTPUTS, {0, 0, 0, 0}, {0}}};

static const Variable VARIABLES[] = {
    {"time", VARIABLE_TIME, 0},
    {"q1", VARIABLE_STATE, 0},
    {"q2", VARIABLE_STATE, 1},
    {"v1", VARIABLE_STATE, 2},
    {"v2", VARIABLE_STATE, 3},
    {"der(v1)", VARIABLE_DERIVATIVE, 2},
    {"der(v2)", VARIABLE_DERIVATIVE, 3},
    {"position", VARIABLE_OUTPUT, 0},
    {"acceleration", VARIABLE_OUTPUT, 1},
    {"total_force", VARIABLE_OUTPUT, 2},
    {"m1", VARIABLE_PARAMETER, M1},
    {"m2", VARIABLE_PARAMETER, M2},
    {"k", VARIABLE_PARAMETER, K},
    {"c", VARIABLE_PARAMETER, C},
    {"force", VARIABLE_PARAMETER, FORCE},
    {"t_on", VARIABLE_PARAMETER, T_ON},
    {"t_off", VARIABLE_PARAMETER, T_OFF},
    {"start", VARIABLE_PARAMETER, START},
    {"u", VARIABLE_INPUT, 0},
    {"solver_method", VARIABLE_INTEGER_SETTING, SETTING_METHOD},
    {"solver_max_steps", VARIABLE_INTEGER_SETTING, SETTING_MAX_STEPS},
    {"solver_step", VARIABLE_REAL_SETTING, SETTING_STEP},
    {"solver_tolerance", VARIABLE_REAL_SETTING, SETTING_TOLERANCE},
    {"solver_evaluations", VARIABLE_COUNTER, COUNTER_EVALUATIONS},
    {"solver_steps", VARIABLE_COUNTER, COUNTER_STEPS},
    {"solver_rejected_steps", VARIABLE_COUNTER, COUNTER_REJECTED_STEPS},
};

static const double PARAMETERS[N_PARAMETERS] = {2.0, 1.0, 30.0, 0.4, 5.0, 0.37, -1.0, 0.1};
static const double INPUTS[1] = {0.0};
static const double NOMINALS[4] = {1.0, 1.0, 1.0, 1.0};

const Equations equations = {
    .identifier = "Oscillator",
    .token = "{oscillator}",
    .n_states = 4,
    .n_inputs = 1,
    .n_switches = 2,
    .n_parameters = N_PARAMETERS,
    .n_outputs = 3,
    .workspace_size = SIZE,
    .blocks = {TIME, X, U, SWITCHES, P, START_STATES, EVENT_TIMES, DERIVATIVES, OUTPUTS},
    .groups = {{1, PREPARE_STAGES}, {1, DYNAMICS_STAGES}, {1, OUTPUT_STAGES}},
    .n_variables = sizeof VARIABLES / sizeof VARIABLES[0],
    .variables = VARIABLES,
    .parameters = PARAMETERS,
    .inputs = INPUTS,
    .nominals = NOMINALS,
    .real_settings = {1e-3, 1e-8},
    .integer_settings = {2, 100000},
};
