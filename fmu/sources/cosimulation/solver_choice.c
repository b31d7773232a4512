/* Which solver suits the model: what the present one costs is measured, and held against what Dormand-Prince spends on
   staying stable with the stiffest mode where the model stands.

   Costs are counted in evaluations, not in seconds, so that equal runs are equal. */

#include "solver_choice.h"

#include "adaptive_step.h"
#include "derivatives.h"
#include "inputs.h"

#include <math.h>
#include <string.h>

enum { SQUARINGS = 6 };

static const double STABILITY = 3.3;    /* |h lambda| that Dormand-Prince bears (Solving ODEs II, IV.2) */
static const double EVALUATIONS = 6.0;  /* in one of its steps */
static const double COLUMN = 1.5;       /* evaluations that a column of the Jacobian costs */
static const double SYSTEMS = 0.5;      /* that the linear systems of a step of BDF cost */
static const double WORTH = 1.5;        /* times that stability may cost for BDF: Dormand-Prince costs that at least */
static const double TRIAL = 100.0;      /* steps of BDF over which its cost is measured; the first ones do not count */
static const double PATIENCE = 1000.0;  /* of Dormand-Prince, where the model is not stiff at first; else */
static const double IMPATIENCE = 50.0;  /* so many; twice as many after each trial of BDF that was in vain */

/* Frobenius norm. */
static double size_of(int n, const double *matrix) {
    double sum = 0.0;
    for (int i = 0; i < n * n; i++) sum += matrix[i] * matrix[i];
    return sqrt(sum);
}

static void square(int n, const double *restrict matrix, double *restrict product) {
    memset(product, 0, (size_t)n * (size_t)n * sizeof *product);
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            for (int i = 0; i < n; i++) product[j * n + i] += matrix[k * n + i] * matrix[j * n + k];
}

/* The largest |eigenvalue|, as the root of the size of a high power (Gelfand's formula). Overwrites both matrices. */
static double spectral_radius(int n, double *matrix, double *scratch) {
    double logarithm = 0.0, root = 1.0;
    for (int i = 0;; i++) {
        const double size = size_of(n, matrix);
        if (!(size > 0.0)) return 0.0;
        logarithm += root * log(size);
        if (i == SQUARINGS) return exp(logarithm);
        for (int k = 0; k < n * n; k++) matrix[k] /= size;
        square(n, matrix, scratch);
        memcpy(matrix, scratch, (size_t)n * (size_t)n * sizeof *matrix);
        root *= 0.5;
    }
}

/* Evaluations per second that Dormand-Prince needs at least, where the model stands; 0 where that cannot be told. */
static double cost_of_stability(Model *model) {
    const int n = equations.n_states;
    double *by_time = model->solver, *jacobian = by_time + n, *scratch = jacobian + n * n;
    model->factored = false; /* its place is taken */
    model->run.counters[COUNTER_SOLVER_JACOBIANS]++;
    if (!model_jacobian(model, inputs_rates(model), jacobian, by_time)) return 0.0;
    return EVALUATIONS * spectral_radius(n, jacobian, scratch) / STABILITY;
}

static double spent(const RunState *run) {
    const double steps = run->chosen_method == METHOD_BDF ? (double)run->counters[COUNTER_SOLVER_STEPS] : 0.0;
    return (double)run->counters[COUNTER_SOLVER_EVALUATIONS] + SYSTEMS * steps +
           COLUMN * equations.n_states * (double)run->counters[COUNTER_SOLVER_JACOBIANS];
}

/* Measures from now on. */
static void begin(Model *model, Method method) {
    RunState *run = &model->run;
    run->settling = run->chosen_method != (int64_t)method;
    if (run->settling) {
        run->step = 0.0;
        run->previous_error = 1.0;
    }
    run->chosen_method = method;
    run->measured_time = model_time(model);
    run->measured_steps = (double)run->counters[COUNTER_SOLVER_STEPS];
    run->measured_cost = spent(run);
}

static void choose_first(Model *model) {
    RunState *run = &model->run;
    run->stability_cost = cost_of_stability(model);
    const bool is_stiff = run->stability_cost * equations.output_step > EVALUATIONS;
    run->patience = is_stiff ? IMPATIENCE : PATIENCE;
    begin(model, is_stiff ? METHOD_BDF : METHOD_DORMAND_PRINCE);
}

/* What BDF has cost per second: too much, where Dormand-Prince would be stable for less. */
static void review_bdf(Model *model, double cost) {
    RunState *run = &model->run;
    if (run->settling) cost = 0.0; /* order 1 and the first short steps say nothing */
    if (cost > WORTH * run->stability_cost) run->stability_cost = cost_of_stability(model);
    const bool too_much = cost > WORTH * run->stability_cost && run->stability_cost > 0.0;
    if (too_much) run->patience *= 2.0;
    begin(model, too_much ? METHOD_DORMAND_PRINCE : METHOD_BDF);
}

/* BDF is tried where most of what Dormand-Prince has cost goes into staying stable. */
static void review_dormand_prince(Model *model, double cost) {
    RunState *run = &model->run;
    run->stability_cost = cost_of_stability(model);
    const bool is_stiff = run->stability_cost > 0.5 * cost &&
                          run->stability_cost * equations.output_step > EVALUATIONS;
    begin(model, is_stiff ? METHOD_BDF : METHOD_DORMAND_PRINCE);
}

Method choose_method(Model *model) {
    RunState *run = &model->run;
    const bool by_bdf = run->chosen_method == METHOD_BDF;
    const double steps = (double)run->counters[COUNTER_SOLVER_STEPS] - run->measured_steps;
    if (run->chosen_method == METHOD_AUTOMATIC) {
        choose_first(model);
    } else if (steps >= (by_bdf ? TRIAL : run->patience) && model_time(model) > run->measured_time) {
        const double cost = (spent(run) - run->measured_cost) / (model_time(model) - run->measured_time);
        if (by_bdf) review_bdf(model, cost);
        else review_dormand_prince(model, cost);
    }
    return (Method)run->chosen_method;
}
