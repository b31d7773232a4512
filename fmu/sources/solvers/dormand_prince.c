/* Dormand-Prince 5(4).

   Coefficients: Dormand and Prince, A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6 (1980), table
   2. The last stage of a step is the first stage of the next step (FSAL). The model is then already evaluated at the
   new point, so the result needs no storage, and a projection of the point is noticed. */

#include "adaptive_step.h"
#include "evaluation.h"
#include "point.h"

#include <stddef.h>
#include <string.h>

enum { STAGES = 7, DEGREE = 4 };

/* Communication steps per inner step above which interpolation pays. A step has six evaluations; interpolation takes
   two more, and one at each communication point. */
static const double WORTH = 2.0;

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

/* Coefficients of the interpolant of order 4 (Hairer, Norsett and Wanner, Solving ODEs I, section II.6): for each
   stage, coefficients of the powers 1 and higher of the fraction of the step. */
static const double INTERPOLANT[STAGES][DEGREE] = {
    {1.0, -8048581381.0 / 2820520608, 8663915743.0 / 2820520608, -12715105075.0 / 11282082432},
    {0},
    {0.0, 131558114200.0 / 32700410799, -68118460800.0 / 10900136933, 87487479700.0 / 32700410799},
    {0.0, -1754552775.0 / 470086768, 14199869525.0 / 1410260304, -10690763975.0 / 1880347072},
    {0.0, 127303824393.0 / 49829197408, -318862633887.0 / 49829197408, 701980252875.0 / 199316789632},
    {0.0, -282668133.0 / 205662961, 2019193451.0 / 616988883, -1453857185.0 / 822651844},
    {0.0, 40617522.0 / 29380423, -110615467.0 / 29380423, 69997945.0 / 29380423},
};

static bool attempt(Model *model, double t, double t_end, const Step *step) {
    const int n = equations.n_states;
    const double h = t_end - t;
    double *slopes[STAGES] = {step->slope};
    for (int stage = 1; stage < STAGES; stage++) {
        slopes[stage] = step->scratch + (stage - 1) * n;
        for (int i = 0; i < n; i++) {
            double sum = 0.0;
            for (int k = 0; k < stage; k++) sum += MATRIX[stage][k] * slopes[k][i];
            step->trial[i] = step->state[i] + h * sum;
        }
        model_move(model, NODES[stage] < 1.0 ? t + NODES[stage] * h : t_end, step->trial);
        if (!model_derivatives(model, slopes[stage])) return false;
    }
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int k = 0; k < STAGES; k++) sum += ERROR[k] * slopes[k][i];
        step->error[i] = h * sum;
    }
    return true;
}

/* Adds a term of degree 5 to the interpolant of order 4, from the derivatives at two points. The term and its slope
   vanish at both ends (bootstrapping, Solving ODEs I, section II.6): c[2 ... 5] += x^2 (1 - x)^2 (a + b x). */
static bool raise_order(Model *model, double h, const Step *step, double *const *c) {
    static const double PLACE = 0.1, PRODUCT = 0.1 * 0.9; /* first point x, and x (1 - x) for both points */
    double *const slopes[] = {step->error, step->trial};
    const double by_difference = 1.0 / (4.0 * PRODUCT * (1.0 - 2.0 * PLACE));
    const double by_sum = 1.0 / (2.0 * PRODUCT * (5.0 * PRODUCT - 1.0));
    for (int place = 0; place < 2; place++) {
        const double x = place == 0 ? PLACE : 1.0 - PLACE;
        double *states = slopes[place];
        for (int i = 0; i < equations.n_states; i++)
            states[i] = c[0][i] + x * (c[1][i] + x * (c[2][i] + x * (c[3][i] + x * c[4][i])));
        model_move(model, model->step_begin + x * h, states);
        if (!model_derivatives(model, states)) return false;
        for (int i = 0; i < equations.n_states; i++)
            slopes[place][i] = h * slopes[place][i] - (c[1][i] + x * (2.0 * c[2][i] + x * (3.0 * c[3][i] + x * 4.0 * c[4][i])));
    }
    for (int i = 0; i < equations.n_states; i++) {
        const double b = by_sum * (slopes[0][i] + slopes[1][i]);
        const double a = by_difference * (slopes[0][i] - slopes[1][i]) - 0.5 * b;
        c[2][i] += a;
        c[3][i] += b - 2.0 * a;
        c[4][i] += a - 2.0 * b;
        c[5][i] = b;
    }
    return true;
}

static bool polynomial(Model *model, double *const *coefficients, Polynomial *found) {
    const Step step = adaptive_vectors(model);
    const int n = equations.n_states;
    const double h = model_time(model) - model->step_begin;
    const double *states = model->workspace + equations.blocks.states, *last = step.scratch + (STAGES - 2) * n;
    /* whether a projection has moved the states */
    const bool moved = memcmp(states, step.trial, (size_t)n * sizeof *states) != 0;
    *found = (Polynomial){model->step_begin, h, DEGREE + 1, moved ? NULL : last};
    memcpy(coefficients[0], step.state, (size_t)n * sizeof *step.state);
    for (int j = 0; j < DEGREE; j++)
        for (int i = 0; i < n; i++) {
            double sum = INTERPOLANT[0][j] * step.slope[i];
            for (int k = 1; k < STAGES; k++) sum += INTERPOLANT[k][j] * step.scratch[(k - 1) * n + i];
            coefficients[j + 1][i] = h * sum;
        }
    return raise_order(model, h, &step, coefficients);
}

static const AdaptiveMethod METHOD = {5.0, NULL, attempt};

static bool advance(Model *model, double end, double limit, int32_t *budget) {
    return advance_adaptively(model, end, limit, budget, &METHOD);
}

const Integrator dormand_prince_54 = {STEP_VECTORS + STAGES - 1, 0, NULL, advance, polynomial, WORTH};
