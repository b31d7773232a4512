/* Lookup tables have step-size limits by intervals of their argument, which is affine in time. Expressions of time
   have limits by intervals of time, computed for the default values of the parameters and of start(x) that occur in
   them. If such a parameter or value has changed, the smallest limit applies to all steps, and every step begins with
   a mark. */

#include "pace.h"

#include "lookup.h"

#include <math.h>
#include <stddef.h>

enum { INTERVAL = sizeof(Interval) / sizeof(double) };

static int interval_at(const Pace *pace, double x) {
    return lookup_piece(pace->n, INTERVAL, &pace->intervals[0].begin, x);
}

static double end_of(const Pace *pace, double x) {
    if (pace->n == 0) return INFINITY;
    const Interval *interval = pace->intervals + interval_at(pace, x);
    return fmin(x + interval->bound, interval->following);
}

static double mark_of(const Pace *pace, double x) {
    for (int i = pace->n > 0 ? interval_at(pace, x) : 0; i < pace->n; i++)
        if (pace->intervals[i].mark != 0.0 && pace->intervals[i].begin > x) return pace->intervals[i].begin;
    return INFINITY;
}

/* Whether the value of start(x) equals its default value within rounding errors. */
static bool is_as_expected(const Model *model, const ExpectedValue *expected) {
    return fabs(model->workspace[expected->offset] - expected->value) <= 1e-9 * fmax(1.0, fabs(expected->value));
}

static bool are_as_built(const Model *model) {
    for (int i = 0; i < equations.n_pace_start_values; i++)
        if (!is_as_expected(model, equations.pace_start_values + i)) return false;
    const double *values = model->workspace + equations.blocks.parameters;
    for (int i = 0; i < equations.n_pace_parameters; i++) {
        const int k = equations.pace_parameters[i];
        if (values[k] != equations.parameters[k]) return false;
    }
    return true;
}

/* Returns the value and the time derivative of a table's argument. */
static const double *line_of(const Model *model, int lookup) {
    return model->workspace + equations.blocks.table_arguments + 2 * lookup;
}

static double table_end(const Model *model, int k, double time) {
    const Pace *pace = &equations.lookups[k].pace;
    const double *line = line_of(model, k), rate = line[1], x = line[0] + rate * time;
    if (rate == 0.0 || pace->n == 0) return INFINITY;
    return time + (rate > 0.0 ? end_of(pace, x) - x : pace->least) / fabs(rate);
}

static double table_mark(const Model *model, int k, double time) {
    const double *line = line_of(model, k), rate = line[1], x = line[0] + rate * time;
    return rate > 0.0 ? time + (mark_of(&equations.lookups[k].pace, x) - x) / rate : INFINITY;
}

double pace_end(const Model *model, double time) {
    double end = are_as_built(model) ? end_of(&equations.pace, time) : time + equations.pace.least;
    for (int k = 0; k < equations.n_lookups; k++) end = fmin(end, table_end(model, k, time));
    return end;
}

double pace_next_mark(const Model *model, double time) {
    const double later = time + equations.time_margin * fmax(1.0, fabs(time)); /* a mark within the margin is reached */
    double next = are_as_built(model) ? mark_of(&equations.pace, later) : time + equations.pace.least;
    for (int k = 0; k < equations.n_lookups; k++) next = fmin(next, table_mark(model, k, later));
    return next;
}
