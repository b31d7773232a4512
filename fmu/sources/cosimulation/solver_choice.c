/* Automatic choice between Dormand-Prince and BDF. The cost of the current method is measured and compared with the
   cost of stability: the evaluations that Dormand-Prince needs for a stable integration of the fastest mode at the
   current point.

   Costs are counted in evaluations, not in seconds, so that equal runs have equal results. */

#include "solver_choice.h"

#include "adaptive_step.h"
#include "derivatives.h"
#include "inputs.h"

#include <math.h>
#include <string.h>

enum { SQUARINGS = 6 };

static const double STABILITY = 3.3;    /* stability limit |h lambda| of Dormand-Prince (Hairer and Wanner, Solving
                                           ODEs II, section IV.2) */
static const double EVALUATIONS = 6.0;  /* evaluations per step of Dormand-Prince */
static const double COLUMN = 1.5;       /* cost of a column of the Jacobian, evaluations */
static const double SYSTEMS = 0.5;      /* cost of the linear systems in a step of BDF, evaluations */
static const double WORTH = 1.5;        /* largest ratio of the cost of BDF to the cost of stability at which BDF is
                                           kept */
static const double TRIAL = 100.0;      /* steps of BDF over which its cost is measured, after the initial steps */
static const double PATIENCE = 1000.0;  /* steps of Dormand-Prince between comparisons if the model is not stiff at
                                           first */
static const double IMPATIENCE = 50.0;  /* the same for other models; doubled after each unsuccessful trial of BDF */

/* Returns the Frobenius norm of a matrix. */
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

/* Returns the spectral radius, as a root of the norm of a high power (Gelfand's formula). Overwrites both matrices. */
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

/* Returns the minimum evaluations per second of Dormand-Prince at the current point; 0 if unknown. */
static double cost_of_stability(Model *model) {
    const int n = equations.n_states;
    double *by_time = model->solver, *jacobian = by_time + n, *scratch = jacobian + n * n;
    model->factored = false; /* its memory is overwritten */
    model->run.counters[COUNTER_SOLVER_JACOBIANS]++;
    if (!model_jacobian(model, inputs_rates(model), jacobian, by_time)) return 0.0;
    return EVALUATIONS * spectral_radius(n, jacobian, scratch) / STABILITY;
}

static double spent(const RunState *run) {
    const double steps = run->chosen_method == METHOD_BDF ? (double)run->counters[COUNTER_SOLVER_STEPS] : 0.0;
    return (double)run->counters[COUNTER_SOLVER_EVALUATIONS] + SYSTEMS * steps +
           COLUMN * equations.n_states * (double)run->counters[COUNTER_SOLVER_JACOBIANS];
}

/* Begins a new measurement. */
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

/* Changes to Dormand-Prince if BDF has cost more per second than a stable integration by Dormand-Prince. */
static void review_bdf(Model *model, double cost) {
    RunState *run = &model->run;
    if (run->settling) cost = 0.0; /* order 1 and the first short steps are not representative */
    if (cost > WORTH * run->stability_cost) run->stability_cost = cost_of_stability(model);
    const bool too_much = cost > WORTH * run->stability_cost && run->stability_cost > 0.0;
    if (too_much) run->patience *= 2.0;
    begin(model, too_much ? METHOD_DORMAND_PRINCE : METHOD_BDF);
}

/* Tries BDF if most of the cost of Dormand-Prince is due to stability. */
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
