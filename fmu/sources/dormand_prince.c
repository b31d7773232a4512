/* Dormand-Prince 5(4) with a PI step size controller.

   Coefficients: Dormand, Prince, A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6 (1980),
   table 2. Error norm, controller and first step: Hairer, Norsett, Wanner, Solving ODEs I, II.4, and their code
   DOPRI5. The last stage of a step is the first one of the next (FSAL): the model then stands evaluated at the new
   point, so nothing has to be remembered for it, and a projection that moves the point is noticed. */

#include "integrator.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STAGES = 7 };

static const double NODES[STAGES] = {0.0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1.0, 1.0};
static const double MATRIX[STAGES][STAGES - 1] = {
    {0},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
};
/* Weights of order 5 minus weights of order 4. */
static const double ERROR[STAGES] = {71.0 / 57600,     0,          -71.0 / 16695, 71.0 / 1920,
                                     -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

static const double SAFETY = 0.9, SHRINK = 0.2, GROW = 10.0;
static const double BETA = 0.04;              /* weight of the previous error in the controller */
static const double EXPONENT = 0.2 - 0.75 * 0.04;
static const double LEAST_ERROR = 1e-4;       /* keeps one lucky step from stopping the growth of the next */

typedef struct {
    double *start, *trial, *slopes[STAGES];
} Vectors;

static Vectors vectors_of(const Model *model) {
    const int n = equations.n_states;
    Vectors v = {model->solver, model->solver + n, {NULL}};
    for (int i = 0; i < STAGES; i++) v.slopes[i] = model->solver + (2 + i) * n;
    return v;
}

static double relative_tolerance(const Model *model) {
    return model->run.tolerance > 0.0 ? model->run.tolerance : model->run.real_settings[SETTING_TOLERANCE];
}

/* Root mean square of `values` over rtol (nominal + magnitude); a and b: states that give the magnitude. */
static double norm(const Model *model, const double *values, const double *a, const double *b) {
    const double tolerance = relative_tolerance(model);
    double sum = 0.0;
    for (int i = 0; i < equations.n_states; i++) {
        const double magnitude = fmax(fabs(a[i]), fabs(b[i]));
        const double scaled = values[i] / (tolerance * (equations.nominals[i] + magnitude));
        sum += scaled * scaled;
    }
    return equations.n_states > 0 ? sqrt(sum / equations.n_states) : 0.0;
}

/* The size of the first step, from the first and second derivative (Hairer, Norsett, Wanner, II.4).
   Leaves v.start and v.slopes[0] as they are. */
static double first_step(Model *model, double t, double longest, const Vectors *v) {
    const double slope = norm(model, v->slopes[0], v->start, v->start);
    const double state = norm(model, v->start, v->start, v->start);
    const double h = fmin(slope <= 1e-10 || state <= 1e-10 ? 1e-6 : 0.01 * state / slope, longest);
    for (int i = 0; i < equations.n_states; i++) v->trial[i] = v->start[i] + h * v->slopes[0][i];
    model_move(model, t + h, v->trial);
    if (!model_derivatives(model, v->slopes[1])) return 0.01 * h; /* out of the model's domain */
    for (int i = 0; i < equations.n_states; i++) v->trial[i] = (v->slopes[1][i] - v->slopes[0][i]) / h;
    const double most = fmax(norm(model, v->trial, v->start, v->start), slope);
    const double by_error = most <= 1e-15 ? fmax(1e-6, h * 1e-3) : pow(0.01 / most, 0.2);
    return fmin(fmin(100.0 * h, by_error), longest);
}

/* One step from v->start with v->slopes[0]; leaves the model at the new point. Returns the error norm; infinite,
   with a message, if it could not be computed. */
static double attempt(Model *model, double t, double t_end, const Vectors *v) {
    const int n = equations.n_states;
    const double h = t_end - t;
    for (int stage = 1; stage < STAGES; stage++) {
        for (int i = 0; i < n; i++) {
            double sum = 0.0;
            for (int k = 0; k < stage; k++) sum += MATRIX[stage][k] * v->slopes[k][i];
            v->trial[i] = v->start[i] + h * sum;
        }
        model_move(model, NODES[stage] < 1.0 ? t + NODES[stage] * h : t_end, v->trial);
        if (!model_derivatives(model, v->slopes[stage])) return INFINITY;
    }
    double *error = v->slopes[1]; /* has weight 0 in the result and in the error */
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int k = 0; k < STAGES; k++) sum += ERROR[k] * v->slopes[k][i];
        error[i] = h * sum;
    }
    const double size = norm(model, error, v->start, v->trial);
    if (isfinite(size)) return size;
    model_fail(model, "numbers overflow in a step of %.3g s from t = %.15g s", h, t);
    return INFINITY;
}

/* Length of the next step: the wished one, but exactly to the end if that is near, and no tiny last step. */
static double fit(double wished, double left) {
    if (wished >= left * (1.0 - 1e-9)) return left;
    return wished > 0.5 * left ? 0.5 * left : wished;
}

/* After an accepted step of length h: the PI controller's wish for the next one. A step cut short by the end of
   the interval says little about longer ones: unless its error asks for less, the old wish stays. */
static void control(Model *model, double h, double error, bool after_rejection) {
    RunState *run = &model->run;
    double factor = GROW;
    if (error > 0.0) factor = SAFETY * pow(run->previous_error, BETA) / pow(error, EXPONENT);
    factor = fmax(SHRINK, fmin(after_rejection ? 1.0 : GROW, factor));
    run->step = factor >= GROW ? fmax(run->step, factor * h) : factor * h;
    run->previous_error = fmax(error, LEAST_ERROR);
}

static void reject(Model *model, double h, double error) {
    const double factor = isfinite(error) ? SAFETY / pow(error, EXPONENT) : 0.0;
    model->run.step = h * fmax(SHRINK, factor);
    model->run.counters[COUNTER_REJECTED_STEPS]++;
}

/* Whether a smaller step than h at time t still makes sense. If not, a failed attempt's message stays. */
/* The state that changes fastest, for messages: what runs away tells where the model is singular. */
static const char *fastest_state(const Vectors *v) {
    int fastest = 0;
    for (int i = 1; i < equations.n_states; i++)
        if (fabs(v->slopes[0][i]) / equations.nominals[i] > fabs(v->slopes[0][fastest]) / equations.nominals[fastest])
            fastest = i;
    for (int i = 0; i < equations.n_variables; i++)
        if (equations.variables[i].kind == VARIABLE_STATE && equations.variables[i].index == fastest)
            return equations.variables[i].name;
    return "unknown";
}

static bool can_shrink(Model *model, const Vectors *v, double t, double h, double error) {
    if (h > 16.0 * DBL_EPSILON * fabs(t) && h > DBL_MIN / DBL_EPSILON) return true;
    if (!isfinite(error)) return false;
    return model_fail(model,
                      "the step size fell to %.3g s and the error is still %.3g times the tolerance %.3g;"
                      " the fastest state is %s",
                      h, error, relative_tolerance(model), fastest_state(v));
}

/* One accepted step from where the model stands. */
static bool step(Model *model, double end, int32_t *budget) {
    const double t = model->workspace[equations.blocks.time];
    const Vectors v = vectors_of(model);
    memcpy(v.start, model->workspace + equations.blocks.states, (size_t)equations.n_states * sizeof(double));
    if (!model_derivatives(model, v.slopes[0])) return false;
    if (model->run.step <= 0.0) model->run.step = first_step(model, t, end - t, &v);
    for (bool after_rejection = false;; after_rejection = true) {
        if (!integrator_spend_step(model, budget)) return false;
        const double h = fit(model->run.step, end - t);
        const double t_end = h < end - t ? t + h : end;
        const double error = attempt(model, t, t_end, &v);
        if (error <= 1.0) {
            control(model, h, error, after_rejection);
            return integrator_accept_step(model);
        }
        if (!can_shrink(model, &v, t, h, error)) return false;
        reject(model, h, error);
    }
}

static bool advance(Model *model, double end, int32_t *budget) {
    while (model->workspace[equations.blocks.time] < end && end <= model->end)
        if (!step(model, end, budget)) return false;
    return true;
}

const Integrator dormand_prince_54 = {"Dormand-Prince 5(4)", 2 + STAGES, advance};
