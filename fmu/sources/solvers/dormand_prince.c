/* Dormand-Prince 5(4).

   Coefficients: Dormand, Prince, A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6 (1980),
   table 2. The last stage of a step is the first one of the next (FSAL): the model then stands evaluated at the new
   point, so nothing has to be remembered for it, and a projection that moves the point is noticed. */

#include "adaptive_step.h"
#include "evaluation.h"
#include "point.h"

#include <stddef.h>

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

static const AdaptiveMethod METHOD = {5.0, NULL, attempt};

static bool advance(Model *model, double end, int32_t *budget) {
    return advance_adaptively(model, end, budget, &METHOD);
}

const Integrator dormand_prince_54 = {STEP_VECTORS + STAGES - 1, 0, NULL, advance};
