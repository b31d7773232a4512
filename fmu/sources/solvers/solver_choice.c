/* Which solver suits the model: by its stiffest mode where it stands at the begin of the first step. */

#include "solver_choice.h"

#include "adaptive_step.h"
#include "derivatives.h"
#include "inputs.h"

#include <math.h>
#include <string.h>

enum { SQUARINGS = 6 };

static const double STABILITY = 3.3;    /* |h lambda| that Dormand-Prince bears (Solving ODEs II, IV.2) */
static const double EVALUATIONS = 6.0;  /* in a step of either adaptive method */
static const double PER_STATE = 2.0;    /* evaluations that a column of the Jacobian and its share of the solves cost */
static const double STEPS = 10.0;       /* of the Rosenbrock method that accuracy asks for in an output step, */
static const double TOLERANCE = 1e-6;   /* at this tolerance; it is of order 4 */

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

Method choose_method(Model *model) {
    const int n = equations.n_states;
    double *by_time = model->solver, *jacobian = by_time + n, *scratch = jacobian + n * n;
    model->run.counters[COUNTER_SOLVER_JACOBIANS]++;
    if (!model_jacobian(model, inputs_rates(model), jacobian, by_time)) return METHOD_DORMAND_PRINCE;
    const double rate = spectral_radius(n, jacobian, scratch);
    const double explicit_cost = EVALUATIONS * rate * equations.output_step / STABILITY;
    const double steps = STEPS * pow(TOLERANCE / relative_tolerance(model), 0.25);
    const double implicit_cost = steps * (EVALUATIONS + PER_STATE * n);
    return explicit_cost > implicit_cost ? METHOD_ROSENBROCK : METHOD_DORMAND_PRINCE;
}
