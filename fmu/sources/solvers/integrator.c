/* The list of inner solvers, and what they share. */

#include "integrator.h"

#include "projection.h"

/* The setting solver_method is the position here, from METHOD_RUNGE_KUTTA; METHOD_AUTOMATIC is none of them. */
static const Integrator *const INTEGRATORS[] = {&runge_kutta_4, &dormand_prince_54, &rosenbrock_43};

enum { N_INTEGRATORS = sizeof INTEGRATORS / sizeof INTEGRATORS[0] };

const Integrator *find_integrator(int32_t method) {
    return method >= 1 && method <= N_INTEGRATORS ? INTEGRATORS[method - 1] : NULL;
}

const Integrator *integrator_of(Model *model) {
    const int32_t wanted = model->run.integer_settings[SETTING_METHOD];
    if (wanted != METHOD_AUTOMATIC) return find_integrator(wanted);
    if (model->run.chosen_method == METHOD_AUTOMATIC) model->run.chosen_method = choose_method(model);
    return find_integrator(model->run.chosen_method);
}

size_t integrator_scratch(void) {
    const size_t n = (size_t)equations.n_states;
    size_t most = 0;
    for (int i = 0; i < N_INTEGRATORS; i++) {
        const size_t needed = n * ((size_t)INTEGRATORS[i]->vectors + (size_t)INTEGRATORS[i]->matrices * n);
        if (needed > most) most = needed;
    }
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
