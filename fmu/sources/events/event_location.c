/* Location of state events by the Illinois method (Dowell and Jarratt, A modified regula falsi method for computing
   the root of an equation, BIT 11, 1971) for the switching condition that changes first. The step is repeated for
   every trial, so that the states at the event are as accurate as the method itself rather than its interpolant. */

#include "event_location.h"

#include "events.h"
#include "point.h"

#include <math.h>

static const double LOCATION_TOLERANCE = 1e-13; /* tolerance of the event time, s, and relative to the time */

enum { PATIENCE = 50 }; /* number of trials before the interval is bisected */

/* Indicators at the time `low` before the first change and at the time `high` after it. */
typedef struct {
    double low, high;
    double *before, *after;
} Bracket;

static double tolerance(double time) { return LOCATION_TOLERANCE * fmax(1.0, fabs(time)); }

/* Returns the time at which the first condition would change if all indicators were linear in time. */
static double crossing(const Bracket *bracket, double weight_before, double weight_after) {
    double first = 1.0;
    for (int k = 0; k < equations.n_relations; k++) {
        const double before = weight_before * bracket->before[k], after = weight_after * bracket->after[k];
        if ((before < 0.0) != (after < 0.0)) first = fmin(first, before / (before - after));
    }
    return bracket->low + first * (bracket->high - bracket->low);
}

/* Returns a trial time at a distance from both ends of the bracket, so that the bracket becomes shorter. */
static double trial(const Bracket *bracket, double weight_before, double weight_after) {
    const double margin = 0.5 * tolerance(bracket->high), time = crossing(bracket, weight_before, weight_after);
    return fmin(fmax(time, bracket->low + margin), bracket->high - margin);
}

static bool narrow(Model *model, Bracket *bracket, StepTo step_to, const void *step) {
    double weight_before = 1.0, weight_after = 1.0;
    bool is_beyond = true, was_beyond;
    for (int i = 0; bracket->high - bracket->low > tolerance(bracket->high); i++) {
        const double middle = 0.5 * (bracket->low + bracket->high);
        const double time = i < PATIENCE ? trial(bracket, weight_before, weight_after) : middle;
        was_beyond = is_beyond;
        if (!step_to(model, time, step) || !model_expect_change(model, &is_beyond)) return false;
        switches_indicators(model, is_beyond ? bracket->after : bracket->before);
        *(is_beyond ? &bracket->high : &bracket->low) = time;
        weight_before = is_beyond && was_beyond ? 0.5 * weight_before : 1.0;
        weight_after = is_beyond || was_beyond ? 1.0 : 0.5 * weight_after;
    }
    return is_beyond || (step_to(model, bracket->high, step) && model_expect_change(model, &is_beyond));
}

bool locate_event(Model *model, double begin, StepTo step_to, const void *step) {
    bool is_beyond;
    if (equations.n_relations == 0) return true;
    if (!model_expect_change(model, &is_beyond)) return false;
    for (;;) {
        Bracket bracket = {begin, model_time(model), model->indicators,
                           model->indicators + equations.n_relations};
        switches_indicators(model, bracket.after);
        if (is_beyond && !narrow(model, &bracket, step_to, step)) return false;
        /* earlier times cannot be distinguished */
        if (model_time(model) - begin <= tolerance(model_time(model))) return true;
        if (!grazing_find(model, begin, step_to, step, &is_beyond)) return false;
        if (!is_beyond) return true;
    }
}

bool note_indicators(Model *model) {
    if (equations.n_relations == 0) return true;
    if (!model_expect_change(model, &model->event_is_due)) return false;
    if (model->event_is_due) grazing_forget(model);
    switches_indicators(model, model->indicators);
    return true;
}
