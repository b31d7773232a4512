/* Each check compares a result of the group CHECKS with its bound. */

#include "checks.h"

#include "evaluation.h"

bool model_check(Model *model) {
    if (equations.n_checks == 0) return true;
    if (!model_evaluate_beside(model, GROUP_CHECKS)) return false;
    for (int i = 0; i < equations.n_checks; i++) {
        const Check *check = &equations.checks[i];
        if (!(model->workspace[equations.blocks.checks + i] < check->bound)) /* NaN is none, too */
            return model_fail(model, "%s %.15g", check->message, model->workspace[equations.blocks.time]);
    }
    return true;
}
