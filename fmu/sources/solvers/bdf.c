/* Backward differentiation formulas of orders 1 to 5 for stiff models, with error control of order and step size.

   The history continues over communication steps. It restarts at order 1 if the model does not continue from its
   previous point: after events, and after discontinuities of inputs. Steps end at their limit with an integer
   fraction of the remaining time, so that equal communication steps have equal inner steps if no step may pass the
   communication point. A step costs little more than an evaluation, because the Jacobian serves for many steps and
   the factors serve as long as step size and order are constant.

   Newton's method, its convergence test, the renewal of Jacobian and factors, and the choice of order and step size
   follow Brown, Byrne and Hindmarsh, VODE: a variable-coefficient ODE solver, SIAM J. Sci. Stat. Comput. 10 (1989),
   and Hindmarsh et al., SUNDIALS: suite of nonlinear and differential/algebraic equation solvers, ACM Trans. Math.
   Software 31 (2005). */

#include "adaptive_step.h"
#include "derivatives.h"
#include "evaluation.h"
#include "inputs.h"
#include "linear_solve.h"
#include "nordsieck.h"
#include "point.h"
#include "stage_matrix.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Fraction of the tolerance for the error of a single step, because the errors of many steps accumulate. */
static const double SHARE = 0.003;

/* Data that persist between steps. They are part of the FMU state and therefore only numbers. */
typedef struct {
    Past past;
    double time;        /* end of the history, s */
    double wished;      /* next step size according to the errors, s */
    double next_order;
    double growth;      /* maximum growth of the next step size */
    double gamma;       /* gamma of the factors; 0: no factors */
    double convergence; /* convergence rate of Newton's method per iteration */
    double taken;       /* total number of steps */
    double factored_at; /* number of steps at the last factorisation */
    double jacobian_at; /* number of steps at the last evaluation of the Jacobian; -1: none */
} Memory;

typedef struct {
    Memory *memory;
    double *conditions; /* inputs and switches for which the history is valid */
    Nordsieck nordsieck;
    Formula formula;
    double *weights;    /* weights of the norm */
    double *correction; /* correction of y by Newton's method */
    double *slope, *residual, *trial;
    StageMatrix matrix;
    double *jacobian;
} Bdf;

enum { VECTORS = 5, NEWTON_ITERATIONS = 3, MOST_FAILURES = 4 };

static int conditions(void) { return equations.n_inputs + equations.n_switches; }

static size_t memory(void) {
    const size_t n = (size_t)equations.n_states;
    return sizeof(Memory) / sizeof(double) + (size_t)conditions() + n * (MOST_ORDER + 1 + n);
}

static Bdf lay_out(const Model *model) {
    const int n = equations.n_states;
    Bdf s = {.memory = (Memory *)model->memory, .nordsieck = {.n = n}};
    s.nordsieck.past = &s.memory->past;
    s.conditions = model->memory + sizeof(Memory) / sizeof(double);
    double *next = s.conditions + conditions();
    for (int j = 0; j <= MOST_ORDER; j++, next += n) s.nordsieck.vectors[j] = next;
    s.jacobian = next;
    double **const scratch[VECTORS] = {&s.weights, &s.correction, &s.slope, &s.residual, &s.trial};
    next = model->solver;
    for (int i = 0; i < VECTORS; i++, next += n) *scratch[i] = next;
    s.matrix = (StageMatrix){n, equations.n_positions, s.jacobian, next};
    return s;
}

static double norm(const Bdf *s, const double *values) {
    double sum = 0.0;
    for (int i = 0; i < s->nordsieck.n; i++) sum += (values[i] * s->weights[i]) * (values[i] * s->weights[i]);
    return s->nordsieck.n > 0 ? sqrt(sum / s->nordsieck.n) : 0.0;
}

static void weigh(const Model *model, const Bdf *s) {
    const double tolerance = SHARE * relative_tolerance(model), *y = s->nordsieck.vectors[0];
    for (int i = 0; i < s->nordsieck.n; i++)
        s->weights[i] = 1.0 / (tolerance * (equations.nominals[i] + fabs(y[i])));
}

/* ---- Begin and end of the history ------------------------------------------------------------------------------ */

static const double *states_of(const Model *model) { return model->workspace + equations.blocks.states; }

static const double *inputs_of(const Model *model) { return model->workspace + equations.blocks.inputs; }

static const double *switches_of(const Model *model) { return model->workspace + equations.blocks.switches; }

/* Whether n numbers are equal within rounding errors. */
static bool are_near(int n, const double *a, const double *b) {
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= 1e-12 * fmax(fabs(a[i]), fabs(b[i])))) return false;
    return true;
}

static bool is_order(double order) { return order >= 1.0 && order <= MOST_ORDER && order == floor(order); }

/* Whether the model is at the end of the history, under the same conditions. */
static bool goes_on(const Model *model, const Bdf *s) {
    return is_order(s->memory->past.order) && is_order(s->memory->next_order) &&
           s->memory->time == model_time(model) &&
           are_near(s->nordsieck.n, states_of(model), s->nordsieck.vectors[0]) &&
           are_near(equations.n_inputs, inputs_of(model), s->conditions) &&
           are_near(equations.n_switches, switches_of(model), s->conditions + equations.n_inputs);
}

static void note(const Model *model, const Bdf *s) {
    const size_t inputs = (size_t)equations.n_inputs, switches = (size_t)equations.n_switches;
    s->memory->time = model_time(model);
    if (inputs > 0) memcpy(s->conditions, inputs_of(model), inputs * sizeof(double));
    if (switches > 0) memcpy(s->conditions + inputs, switches_of(model), switches * sizeof(double));
}

/* Restarts at order 1 from the current derivative. An existing Jacobian is kept. */
static bool begin(Model *model, const Bdf *s, double longest) {
    Memory *m = s->memory;
    const double taken = m->taken, known = taken > 0.0 ? m->jacobian_at : -1.0;
    double *y = s->nordsieck.vectors[0], *rates = s->nordsieck.vectors[1];
    memcpy(y, states_of(model), (size_t)s->nordsieck.n * sizeof(double));
    if (!model_derivatives(model, rates)) return false;
    note(model, s);
    const double time = model_time(model);
    const Step step = {y, rates, s->trial, s->residual, NULL};
    const double h = adaptive_first_step(model, time, longest, &step, 2.0);
    *m = (Memory){.past = {.order = 1.0, .step = h, .wait = 2.0}, .wished = h, .next_order = 1.0, .growth = 1e4};
    m->taken = taken;
    m->jacobian_at = known;
    m->time = time;
    for (int i = 0; i < s->nordsieck.n; i++) rates[i] *= h;
    return true;
}

/* ---- Newton's method ------------------------------------------------------------------------------------------ */

typedef enum { CONVERGED, DIVERGED, FAILED /* the model cannot be evaluated; there is a message */ } Outcome;

static Outcome factor(Model *model, const Bdf *s, double gamma) {
    s->memory->gamma = gamma;
    model->factored = stage_matrix_factor(&s->matrix, gamma) == LINEAR_SOLVE_OK;
    return model->factored ? CONVERGED : DIVERGED;
}

/* Computes the factors, and the Jacobian if it is too old or not suitable. */
static Outcome set_up(Model *model, const Bdf *s, double time, double gamma, bool anew) {
    Memory *m = s->memory;
    if (anew || m->jacobian_at < 0.0 || m->taken > m->jacobian_at + 50.0) {
        model_move(model, time, s->nordsieck.vectors[0]);
        if (!model_jacobian(model, inputs_rates(model), s->jacobian, s->residual)) return FAILED;
        model->run.counters[COUNTER_SOLVER_JACOBIANS]++;
        m->jacobian_at = m->taken;
    }
    m->factored_at = m->taken;
    m->convergence = 1.0;
    return factor(model, s, gamma);
}

/* Performs Newton's method from the predicted state; `size`: norm of the correction. */
static Outcome iterate(Model *model, const Bdf *s, double time, double gamma, double *size) {
    const int n = s->nordsieck.n;
    const double scale = 2.0 / (1.0 + gamma / s->memory->gamma), *y = s->nordsieck.vectors[0];
    const double *rates = s->nordsieck.vectors[1], lead = 1.0 / s->formula.corrections[1];
    double before = 0.0;
    memset(s->correction, 0, (size_t)n * sizeof(double));
    for (int k = 0; k < NEWTON_ITERATIONS; k++) {
        for (int i = 0; i < n; i++) s->trial[i] = y[i] + s->correction[i];
        model_move(model, time, s->trial);
        if (!model_derivatives(model, s->slope)) return FAILED;
        for (int i = 0; i < n; i++) s->residual[i] = gamma * s->slope[i] - lead * rates[i] - s->correction[i];
        stage_matrix_solve(&s->matrix, s->memory->gamma, s->residual);
        for (int i = 0; i < n; i++) s->correction[i] += s->residual[i] *= scale;
        const double change = norm(s, s->residual);
        if (k > 0) s->memory->convergence = fmax(0.3 * s->memory->convergence, change / before);
        if (change * fmin(1.0, s->memory->convergence) * s->formula.same <= 0.1) {
            *size = k == 0 ? change : norm(s, s->correction);
            return CONVERGED;
        }
        if (!(k == 0 || change <= 2.0 * before)) return DIVERGED;
        before = change;
    }
    return DIVERGED;
}

/* Whether the existing factors are suitable for steps with this gamma. */
static bool serve(const Model *model, const Memory *m, double gamma) {
    return model->factored && m->jacobian_at >= 0.0 && fabs(gamma / m->gamma - 1.0) <= 0.3 &&
           m->taken < m->factored_at + 20.0;
}

/* Solves the equations of a step. `before`: outcome of the previous attempt at this step, CONVERGED if there was
   none. */
static Outcome solve(Model *model, const Bdf *s, double time, Outcome before, bool again, double *size) {
    const double gamma = s->memory->past.step / s->formula.corrections[1];
    const int64_t jacobians = model->run.counters[COUNTER_SOLVER_JACOBIANS];
    Outcome outcome = CONVERGED;
    if (again || !serve(model, s->memory, gamma)) outcome = set_up(model, s, time, gamma, before == DIVERGED);
    if (outcome == CONVERGED) outcome = iterate(model, s, time, gamma, size);
    if (outcome != DIVERGED || model->run.counters[COUNTER_SOLVER_JACOBIANS] > jacobians) return outcome;
    outcome = set_up(model, s, time, gamma, true);
    return outcome == CONVERGED ? iterate(model, s, time, gamma, size) : outcome;
}

/* ---- Order and step size --------------------------------------------------------------------------------------- */

static double growth(double bias, double error, double order) { return 1.0 / (pow(bias * error, 1.0 / order) + 1e-6); }

static double growth_if_lower(const Bdf *s) {
    const double q = s->memory->past.order;
    if (q == 1.0) return 0.0;
    return growth(6.0, norm(s, s->nordsieck.vectors[(int)q]) * s->formula.lower, q);
}

static double growth_if_higher(const Bdf *s) {
    const Past *past = &s->memory->past;
    const double *kept = s->nordsieck.vectors[MOST_ORDER];
    if (past->order == MOST_ORDER || past->last_spread == 0.0) return 0.0;
    const double part = s->formula.spread / past->last_spread * pow(past->step / past->spans[1], past->order + 1.0);
    for (int i = 0; i < s->nordsieck.n; i++) s->trial[i] = s->correction[i] - part * kept[i];
    return growth(10.0, norm(s, s->trial) * s->formula.higher, past->order + 2.0);
}

/* Sets the next step size; a small growth does not justify new factors. */
static void wish(const Bdf *s, double factor) {
    Memory *m = s->memory;
    m->wished = m->past.step * (factor < 1.5 ? 1.0 : fmin(factor, m->growth));
}

/* Plans the order and size of the next step after a step with this error. */
static void plan(const Bdf *s, double error) {
    Memory *m = s->memory;
    m->next_order = m->past.order;
    if (m->growth == 1.0) { /* after a rejected step */
        m->past.wait = fmax(m->past.wait, 2.0);
        m->wished = m->past.step;
        return;
    }
    const double same = growth(6.0, error, m->past.order + 1.0);
    if (m->past.wait > 0.0) {
        wish(s, same);
        return;
    }
    m->past.wait = 2.0;
    const double lower = growth_if_lower(s), higher = growth_if_higher(s), most = fmax(same, fmax(lower, higher));
    if (most >= 1.5 && most != same) m->next_order += most == lower ? -1.0 : 1.0;
    if (m->next_order > m->past.order)
        memcpy(s->nordsieck.vectors[MOST_ORDER], s->correction, (size_t)s->nordsieck.n * sizeof(double));
    wish(s, most);
}

/* Applies the planned order, and a step size that divides the interval to the limit into equal steps. */
static void adopt(const Bdf *s, double left, double longest) {
    Memory *m = s->memory;
    if (m->next_order != m->past.order) {
        if (m->next_order > m->past.order) nordsieck_raise_order(&s->nordsieck);
        else nordsieck_lower_order(&s->nordsieck);
        m->past.wait = m->past.order + 1.0;
    }
    const double wished = fmin(m->wished, longest);
    const double count = fmax(1.0, ceil(left / wished * (1.0 - 1e-9)));
    const double h = isfinite(count) ? left / count : wished, factor = h / m->past.step;
    if (fabs(factor - 1.0) > 1e-10) nordsieck_scale(&s->nordsieck, factor);
}

/* ---- A step ---------------------------------------------------------------------------------------------------- */

static bool can_shrink(Model *model, double t, double h, Outcome outcome) {
    if (h > 16.0 * DBL_EPSILON * fabs(t) && h > DBL_MIN / DBL_EPSILON) return true;
    if (outcome == FAILED) return false;
    return model_fail(model, "the step size fell to %.3g s, and %s", h,
                      outcome == DIVERGED ? "Newton's method does not converge" : "the error is still too large");
}

/* After a rejected step: returns to its begin and reduces the step size. */
static void shorten(Model *model, const Bdf *s, Outcome outcome, double error, int failures) {
    Memory *m = s->memory;
    nordsieck_undo(&s->nordsieck);
    model->run.counters[COUNTER_SOLVER_REJECTED_STEPS]++;
    double factor = 0.25;
    if (outcome == CONVERGED)
        factor = fmax(0.1, fmin(failures < 2 ? 1.0 : 0.2, growth(6.0, error, m->past.order + 1.0)));
    m->growth = 1.0;
    m->wished = factor * m->past.step;
}

/* Restarts without the history, which does not predict the motion. */
static bool begin_again(Model *model, const Bdf *s, double t) {
    const double most = s->memory->wished;
    model_move(model, t, s->nordsieck.vectors[0]);
    return begin(model, s, most);
}

/* Moves the model to a time within the last step, by the polynomial of the history. */
static bool step_to(Model *model, double time, const void *bdf) {
    const Bdf *s = bdf;
    const double at = (time - s->memory->time) / s->memory->past.step;
    for (int i = 0; i < s->nordsieck.n; i++) {
        double sum = 0.0;
        for (int j = (int)s->memory->past.order; j >= 0; j--) sum = sum * at + s->nordsieck.vectors[j][i];
        s->trial[i] = sum;
    }
    model_move(model, time, s->trial);
    return true;
}

static bool accept(Model *model, const Bdf *s, double begin, double time, double error) {
    Memory *m = s->memory;
    nordsieck_correct(&s->nordsieck, &s->formula, s->correction);
    m->taken += 1.0;
    m->past.wait -= 1.0;
    if (m->past.wait == 1.0 && m->past.order < MOST_ORDER)
        nordsieck_keep(&s->nordsieck, &s->formula, s->correction);
    plan(s, error);
    m->growth = 10.0;
    model_move(model, time, s->nordsieck.vectors[0]);
    note(model, s);
    if (!integrator_accept_step(model, begin, step_to, s)) return false;
    if (model->event_is_due) return true; /* the history ends here */
    /* the states may have been projected */
    memcpy(s->nordsieck.vectors[0], states_of(model), (size_t)s->nordsieck.n * sizeof(double));
    return true;
}

static bool advance_once(Model *model, Bdf *s, double limit, int32_t *budget) {
    const double t = model_time(model);
    const double longest = integrator_longest_step(model);
    Outcome outcome = CONVERGED;
    double error = 0.0;
    if (!goes_on(model, s) && !begin(model, s, fmin(limit - t, longest))) return false;
    weigh(model, s);
    for (int failures = 0;; failures++) {
        if (!integrator_spend_step(model, budget)) return false;
        adopt(s, limit - t, longest);
        const double h = s->memory->past.step, time = h < (limit - t) * (1.0 - 1e-9) ? t + h : limit;
        s->formula = nordsieck_formula(&s->memory->past);
        nordsieck_predict(&s->nordsieck);
        outcome = solve(model, s, time, outcome, failures > 0, &error);
        error *= s->formula.same;
        if (outcome == CONVERGED && error <= 1.0) return accept(model, s, t, time, error);
        if (!can_shrink(model, t, h, outcome)) return false;
        shorten(model, s, outcome, error, failures);
        if (failures % MOST_FAILURES == MOST_FAILURES - 1 && !begin_again(model, s, t)) return false;
    }
}

static bool advance(Model *model, double end, double limit, int32_t *budget) {
    Bdf s = lay_out(model);
    if (!model->factored && s.memory->gamma > 0.0 && s.memory->jacobian_at >= 0.0)
        factor(model, &s, s.memory->gamma);
    while (integrator_goes_on(model, end))
        if (!advance_once(model, &s, limit, budget)) return false;
    return true;
}

static bool polynomial(Model *model, double *const *coefficients, Polynomial *found) {
    const Bdf s = lay_out(model);
    const int order = (int)s.memory->past.order;
    for (int j = 0; j <= order; j++)
        memcpy(coefficients[j], s.nordsieck.vectors[j], (size_t)s.nordsieck.n * sizeof(double));
    *found = (Polynomial){s.memory->time, s.memory->past.step, order, NULL};
    return true;
}

const Integrator backward_differentiation = {VECTORS + STAGE_MATRIX_VECTORS, 1, memory, advance, polynomial, 0.0};
