/* The list of inner solvers, and what they share. */

#include "integrator.h"

#include "projection.h"

#include <stddef.h>

/* The setting solver_method is the position here, from 1. */
static const Integrator *const INTEGRATORS[] = {&runge_kutta_4, &dormand_prince_54};

enum { N_INTEGRATORS = sizeof INTEGRATORS / sizeof INTEGRATORS[0] };

const Integrator *find_integrator(int32_t method) {
    return method >= 1 && method <= N_INTEGRATORS ? INTEGRATORS[method - 1] : NULL;
}

int integrator_vectors(void) {
    int most = 0;
    for (int i = 0; i < N_INTEGRATORS; i++)
        if (INTEGRATORS[i]->vectors > most) most = INTEGRATORS[i]->vectors;
    return most;
}

bool integrator_spend_step(Model *model, int32_t *budget) {
    if (*budget <= 0)
        return model_fail(model, "more than %d inner steps in one communication step; take shorter communication "
                          "steps, a looser tolerance or a longer solver step, or raise the limit",
                          (int)model->run.integer_settings[SETTING_MAX_STEPS]);
    --*budget;
    return true;
}

bool integrator_accept_step(Model *model) {
    bool moved;
    if (!model_project(model, &moved)) return false;
    model->run.counters[COUNTER_STEPS]++;
    model->run.last_successful_time = model->workspace[equations.blocks.time];
    if (model->step_accepted != NULL) model->step_accepted(model);
    return true;
}
