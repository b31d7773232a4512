/* Classical Runge-Kutta method of order 4 with fixed step size (Hairer, Norsett and Wanner, Solving ODEs I, table
   II.1.2). */

#include "evaluation.h"
#include "integrator.h"
#include "pace.h"
#include "point.h"

#include <math.h>
#include <string.h>

static const double NODES[4] = {0.0, 0.5, 0.5, 1.0};
static const double WEIGHTS[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};

typedef struct {
    double *start, *slope, *sum, *trial;
} Vectors;

static Vectors vectors_of(const Model *model) {
    const int n = equations.n_states;
    double *first = model->solver;
    return (Vectors){first, first + n, first + 2 * n, first + 3 * n};
}

/* Performs, or repeats, a step from `begin`, where the states are v.start. */
static bool step_to(Model *model, double t_end, const void *begin) {
    const int n = equations.n_states;
    const double t = *(const double *)begin, h = t_end - t;
    const Vectors v = vectors_of(model);
    if (model_time(model) != t) model_move(model, t, v.start);
    for (int i = 0; i < n; i++) v.sum[i] = 0.0;
    for (int stage = 0; stage < 4; stage++) {
        if (stage > 0) { /* the first stage is at the current point, which may already be evaluated */
            for (int i = 0; i < n; i++) v.trial[i] = v.start[i] + h * NODES[stage] * v.slope[i];
            model_move(model, stage == 3 ? t_end : t + NODES[stage] * h, v.trial);
        }
        if (!model_derivatives(model, v.slope)) return false;
        for (int i = 0; i < n; i++) v.sum[i] += WEIGHTS[stage] * v.slope[i];
    }
    for (int i = 0; i < n; i++) v.trial[i] = v.start[i] + h * v.sum[i];
    model_move(model, t_end, v.trial);
    return true;
}

static bool step(Model *model, double t, double t_end) {
    const Vectors v = vectors_of(model);
    memcpy(v.start, model->workspace + equations.blocks.states, (size_t)equations.n_states * sizeof(double));
    return step_to(model, t_end, &t) && integrator_accept_step(model, t, step_to, &t);
}

/* Divides a step into parts at short changes of the model. */
static bool step_in_parts(Model *model, double t_end, int32_t *budget) {
    while (integrator_goes_on(model, t_end)) {
        const double t = model_time(model);
        if (!integrator_spend_step(model, budget) || !step(model, t, fmin(t_end, pace_end(model, t)))) return false;
    }
    return true;
}

/* Advances in equal steps not longer than solver_step, apart from rounding errors, which must not add a step. */
static bool advance(Model *model, double end, double limit, int32_t *budget) {
    (void)limit;
    const double start = model_time(model);
    const double count = fmax(1.0, ceil((end - start) / model->run.real_settings[SETTING_SOLVER_STEP] * (1.0 - 1e-12)));
    if (!(count <= *budget)) *budget = 0; /* the number of steps is known before the first step */
    for (double i = 0.0; i < count && integrator_goes_on(model, end); i++) {
        const double t_end = i + 1.0 < count ? start + (end - start) * ((i + 1.0) / count) : end;
        if (!step_in_parts(model, t_end, budget)) return false;
    }
    return true;
}

const Integrator runge_kutta_4 = {4, 0, NULL, advance, NULL, 0.0};
