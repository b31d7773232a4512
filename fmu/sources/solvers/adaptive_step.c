/* Error norm, step-size controller and first step: Hairer, Norsett and Wanner, Solving ODEs I, section II.4, and
   their code DOPRI5. The controller's exponents for other orders are those of Solving ODEs II, section IV.2. */

#include "adaptive_step.h"

#include "evaluation.h"
#include "point.h"
#include "table.h"
#include "vectors.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double SAFETY = 0.9, SHRINK = 0.2, GROW = 10.0;
static const double BETA = 0.04;        /* weight of the previous error in the controller */
static const double LEAST_ERROR = 1e-4; /* lower bound of the previous error, so that a single small error does not
                                           limit the next growth */

Step adaptive_vectors(const Model *model) {
    const int n = equations.n_states;
    double *first = model->solver;
    return (Step){first, first + n, first + 2 * n, first + 3 * n, first + STEP_VECTORS * n};
}

double relative_tolerance(const Model *model) {
    return model->run.tolerance > 0.0 ? model->run.tolerance : model->run.real_settings[SETTING_SOLVER_TOLERANCE];
}

/* Returns the root mean square of `values` over rtol (nominal + magnitude); the states a and b define the magnitude. */
static double norm(const Model *model, const double *values, const double *a, const double *b) {
    const double tolerance = relative_tolerance(model);
    double sum = 0.0;
    for (int i = 0; i < equations.n_states; i++) {
        const double magnitude = larger(fabs(a[i]), fabs(b[i]));
        const double scaled = values[i] / (tolerance * (equations.nominals[i] + magnitude));
        sum += scaled * scaled;
    }
    return equations.n_states > 0 ? sqrt(sum / equations.n_states) : 0.0;
}

/* Returns the size of the first step from the first and second derivative (Hairer, Norsett and Wanner, section II.4). */
double adaptive_first_step(Model *model, double t, double longest, const Step *step, double order) {
    const double slope = norm(model, step->slope, step->state, step->state);
    const double state = norm(model, step->state, step->state, step->state);
    const double h = fmin(slope <= 1e-10 || state <= 1e-10 ? 1e-6 : 0.01 * state / slope, longest);
    double *second = step->error;
    for (int i = 0; i < equations.n_states; i++) step->trial[i] = step->state[i] + h * step->slope[i];
    model_move(model, t + h, step->trial);
    if (!model_derivatives(model, second)) return 0.01 * h; /* the model cannot be evaluated there */
    for (int i = 0; i < equations.n_states; i++) second[i] = (second[i] - step->slope[i]) / h;
    const double most = fmax(norm(model, second, step->state, step->state), slope);
    const double by_error = most <= 1e-15 ? fmax(1e-6, h * 1e-3) : pow(0.01 / most, 1.0 / order);
    return fmin(fmin(100.0 * h, by_error), longest);
}

/* Returns the norm of a step's error; infinite, with a message, if the step fails. */
static double attempt(Model *model, double t, double t_end, const Step *step, const AdaptiveMethod *method) {
    if (!method->attempt(model, t, t_end, step)) return INFINITY;
    const double size = norm(model, step->error, step->state, step->trial);
    if (isfinite(size)) return size;
    model_fail(model, "numbers overflow in a step of %.3g s from t = %.15g s", t_end - t, t);
    return INFINITY;
}

/* Returns the length of the next step: the proposed one, adapted to avoid a very short last step before the end. */
static double fit(double wished, double left) {
    if (wished >= left * (1.0 - 1e-9)) return left;
    return wished > 0.5 * left ? 0.5 * left : wished;
}

static double exponent(double order) { return 1.0 / order - 0.75 * BETA; }

/* Proposes the next step size by a PI controller after an accepted step of length h. A step that was shortened by the
   end of the interval yields no information about longer steps: unless its error requires a smaller step size, the
   previous proposal is kept. */
static void control(Model *model, double h, double error, bool after_rejection, double order) {
    RunState *run = &model->run;
    double factor = GROW;
    if (error > 0.0) factor = SAFETY * pow(run->previous_error, BETA) / pow(error, exponent(order));
    factor = fmax(SHRINK, fmin(after_rejection ? 1.0 : GROW, factor));
    run->step = factor >= GROW ? fmax(run->step, factor * h) : factor * h;
    run->previous_error = fmax(error, LEAST_ERROR);
}

static void reject(Model *model, double h, double error, double order) {
    const double factor = isfinite(error) ? SAFETY / pow(error, exponent(order)) : 0.0;
    model->run.step = h * fmax(SHRINK, factor);
    model->run.counters[COUNTER_SOLVER_REJECTED_STEPS]++;
}

/* Returns the name of the state that changes fastest, for messages; a diverging state shows where the model is
   singular. */
static const char *fastest_state(const Step *step) {
    int fastest = 0;
    for (int i = 1; i < equations.n_states; i++)
        if (fabs(step->slope[i]) / equations.nominals[i] > fabs(step->slope[fastest]) / equations.nominals[fastest])
            fastest = i;
    for (int i = 0; i < equations.n_variables; i++)
        if (equations.variables[i].kind == VARIABLE_STATE && equations.variables[i].index == fastest)
            return equations.variables[i].name;
    return "unknown";
}

/* Whether a smaller step than h at time t is possible. If not, the message of a failed attempt is kept. */
static bool can_shrink(Model *model, const Step *step, double t, double h, double error) {
    if (h > 16.0 * DBL_EPSILON * fabs(t) && h > DBL_MIN / DBL_EPSILON) return true;
    if (!isfinite(error)) return false;
    return model_fail(model,
                      "the step size fell to %.3g s and the error is still %.3g times the tolerance %.3g;"
                      " the fastest state is %s",
                      h, error, relative_tolerance(model), fastest_state(step));
}

/* Sets up the vectors at the begin of a step, the current point. */
static bool begin(Model *model, const Step *step, const AdaptiveMethod *method) {
    const double *states = model->workspace + equations.blocks.states;
    memcpy(step->state, states, (size_t)equations.n_states * sizeof *states);
    const double *known = model->slope;
    model->slope = NULL;
    if (known != NULL) memcpy(step->slope, known, (size_t)equations.n_states * sizeof *known);
    else if (!model_derivatives(model, step->slope)) return false;
    return method->prepare == NULL || method->prepare(model, step);
}

/* Accepted step. */
typedef struct {
    const AdaptiveMethod *method;
    const Step *step;
    double begin;
} Accepted;

static bool step_to(Model *model, double end, const void *step) {
    const Accepted *accepted = step;
    return accepted->method->attempt(model, accepted->begin, end, accepted->step);
}

/* Performs an accepted step from the current point. */
static bool advance_once(Model *model, double limit, int32_t *budget, const AdaptiveMethod *method) {
    const double t = model_time(model);
    const double longest = integrator_longest_step(model), order = method->order;
    const Step step = adaptive_vectors(model);
    if (!begin(model, &step, method)) return false;
    if (model->run.step <= 0.0) model->run.step = adaptive_first_step(model, t, fmin(limit - t, longest), &step, order);
    for (bool after_rejection = false;; after_rejection = true) {
        if (!integrator_spend_step(model, budget)) return false;
        const double h = fit(fmin(model->run.step, longest), limit - t);
        const double error = attempt(model, t, h < limit - t ? t + h : limit, &step, method);
        if (error <= 1.0) {
            control(model, h, error, after_rejection, order);
            return integrator_accept_step(model, t, step_to, &(Accepted){method, &step, t});
        }
        if (!can_shrink(model, &step, t, h, error)) return false;
        reject(model, h, error, order);
    }
}

bool advance_adaptively(Model *model, double end, double limit, int32_t *budget, const AdaptiveMethod *method) {
    while (integrator_goes_on(model, end))
        if (!advance_once(model, limit, budget, method)) return false;
    return true;
}
