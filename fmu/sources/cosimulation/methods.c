/* Table of the inner solvers. */

#include "methods.h"

#include "ahead.h"
#include "grazing.h"
#include "leap.h"
#include "solver_choice.h"

/* Each solver has its own file in the folder solvers. */
extern const Integrator runge_kutta_4;
extern const Integrator dormand_prince_54;
extern const Integrator rosenbrock_43;
extern const Integrator backward_differentiation;

static const Integrator *const INTEGRATORS[N_METHODS] = {
    [METHOD_RUNGE_KUTTA] = &runge_kutta_4,
    [METHOD_DORMAND_PRINCE] = &dormand_prince_54,
    [METHOD_ROSENBROCK] = &rosenbrock_43,
    [METHOD_BDF] = &backward_differentiation,
};

enum { FIRST_METHOD = METHOD_AUTOMATIC + 1 };

const Integrator *integrator_of(Model *model) {
    const int64_t wanted = model->run.integer_settings[SETTING_SOLVER_METHOD];
    if (wanted != METHOD_AUTOMATIC) return INTEGRATORS[wanted];
    return INTEGRATORS[choose_method(model)];
}

size_t integrator_scratch(void) {
    const size_t n = (size_t)equations.n_states;
    size_t most = leap_scratch();
    for (int i = FIRST_METHOD; i < N_METHODS; i++) {
        const size_t needed = n * ((size_t)INTEGRATORS[i]->vectors + (size_t)INTEGRATORS[i]->matrices * n);
        if (needed > most) most = needed;
    }
    return most;
}

size_t integrator_memory(void) {
    size_t most = 0;
    for (int i = FIRST_METHOD; i < N_METHODS; i++) {
        const size_t needed = INTEGRATORS[i]->memory != NULL ? INTEGRATORS[i]->memory() : 0;
        if (needed > most) most = needed;
    }
    return most + ahead_memory() + grazing_memory();
}
