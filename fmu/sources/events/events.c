/* Event iteration: switching conditions may depend on each other, so an event ends when none of them changes any
   more. Until then forces may be undefined, such as a square root whose condition has not changed yet. */

#include "events.h"

#include "evaluation.h"
#include "pace.h"
#include "point.h"
#include "vectors.h"

#include <math.h>

/* Maximum number of state events within a second of model time. */
enum { MOST_EVENTS = 1000 };

/* Discards data about earlier steps, because forces may be discontinuous. */
static void forget_steps(Model *model) { model->branch_is_known = model->lengths_are_known = false; }

static bool count(Model *model, int relation) {
    const double time = model_time(model);
    if (!(fabs(time - model->run.events_since) < 1.0)) {
        model->run.events_since = time;
        model->run.events = 0;
    }
    forget_steps(model);
    if (++model->run.events <= MOST_EVENTS) return true;
    return model_fail(model, "there are more than %d events within a second, up to t = %.15g s; the last one: %s; "
                      "make it softer, give it damping, or write noevent(...) around it", MOST_EVENTS, time,
                      equations.relations[relation]);
}

static bool settle_relations(Model *model) {
    int changed = -1;
    for (int i = 0; i <= equations.n_relations; i++) {
        const bool evaluated = equations.n_relations == 0 || model_evaluate(model, GROUP_DYNAMICS);
        changed = switches_follow_states(model);
        if (changed < 0) return evaluated;
        if (!count(model, changed)) return false;
    }
    return model_fail(model, "the conditions contradict each other at t = %.15g s, the last one: %s",
                      model_time(model), equations.relations[changed]);
}

/* Takes all samples that are due, one after the other, because a sampler may use the variables of an earlier one, also
   by way of switching conditions. */
static bool take_samples(Model *model) {
    for (int k; (k = sample_due(model)) >= 0;) {
        if (!settle_relations(model) || !model_evaluate_beside(model, GROUP_SAMPLES)) return false;
        if (!are_finite(equations.n_held, model->workspace + equations.blocks.samples))
            return model_fail(model, "a sampled output is not finite at t = %.15g s", model_time(model));
        sample_take(model, k);
        forget_steps(model);
    }
    return true;
}

bool model_handle_event(Model *model) {
    if (switches_follow_time(model)) forget_steps(model);
    return take_samples(model) && settle_relations(model);
}

bool model_expect_change(Model *model, bool *due) {
    if (equations.n_relations > 0 && !model_evaluate(model, GROUP_DYNAMICS)) return false;
    *due = relations_are_due(model);
    return true;
}

double events_next_time(const Model *model) {
    const double next = switches_next_time(model);
    if (model->co_simulation) return next; /* the inner solver handles the remaining limits */
    return fmin(next, pace_next_mark(model, model_time(model)));
}

bool model_event_indicators(Model *model, double *indicators) {
    if (equations.n_relations > 0 && !model_evaluate(model, GROUP_DYNAMICS)) return false;
    switches_indicators(model, indicators);
    return true;
}
