/* Common parts of the inner solvers. */

#include "integrator.h"

#include "branch.h"
#include "checks.h"
#include "pace.h"
#include "zero_length.h"

#include <math.h>
#include <stddef.h>

double integrator_longest_step(const Model *model) {
    const double time = model_time(model);
    return fmin(model->longest_step, pace_end(model, time) - time);
}

bool integrator_spend_step(Model *model, int32_t *budget) {
    if (*budget <= 0)
        return model_fail(model, "more than %d inner steps in one communication step; take shorter communication "
                          "steps, a looser tolerance or a longer solver step, or raise the limit",
                          (int)model->run.integer_settings[SETTING_SOLVER_MAX_STEPS]);
    --*budget;
    return true;
}

bool integrator_goes_on(const Model *model, double end) {
    return model_time(model) < end && end <= model->end && !model->event_is_due && !model->leap_is_due;
}

bool integrator_accept_step(Model *model, double begin, StepTo step_to, const void *step) {
    bool moved;
    model->step_begin = begin;
    if (!locate_event(model, begin, step_to, step) || !model_settle(model, &moved)) return false;
    if (!branch_is_kept(model) || !lines_have_length(model)) return false;
    model->run.counters[COUNTER_SOLVER_STEPS]++;
    model->run.last_successful_time = model_time(model);
    if (model->step_accepted != NULL) model->step_accepted(model);
    return note_indicators(model);
}
