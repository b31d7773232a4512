/* Comparison of the results of the group CHECKS with their bounds. */

#include "checks.h"

#include "branch.h"
#include "evaluation.h"
#include "events.h"
#include "projection.h"
#include "zero_length.h"

static bool check(Model *model) {
    if (equations.n_checks == 0) return true;
    if (!model_evaluate_beside(model, GROUP_CHECKS)) return false;
    for (int i = 0; i < equations.n_checks; i++) {
        const Check *own = &equations.checks[i];
        if (!(model->workspace[equations.blocks.checks + i] < own->bound)) /* the negation also detects NaN */
            return model_fail(model, "%s %.15g", own->message, model_time(model));
    }
    return true;
}

bool model_check_start(Model *model) {
    const double *values = model->workspace + equations.blocks.start_checks;
    if (equations.n_start_checks == 0) return true;
    if (!model_evaluate_beside(model, GROUP_START_CHECKS)) return false;
    for (int i = 0; i < equations.n_start_checks; i++)
        if (!(values[i] < equations.start_checks[i].bound))
            return model_fail(model, "%s %.3g", equations.start_checks[i].message, values[i]);
    return true;
}

bool model_settle(Model *model, bool *moved) { return model_project(model, moved) && check(model); }

bool model_begin_steps(Model *model) {
    zero_length_forget(model);
    return zero_length_begin(model);
}

bool model_complete_step(Model *model, bool *due) {
    bool event;
    if (!model_expect_change(model, &event) || !model_projection_due(model, due)) return false;
    *due = *due || event;
    return branch_is_kept(model) && lines_have_length(model) && (*due || check(model));
}
