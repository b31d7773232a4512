/* Point of an evaluation: time, states and switches. Switches of time events precede those of switching conditions. */

#include "point.h"

#include "inputs.h"
#include "lookup.h"
#include "table.h"
#include "vectors.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- Lookup tables ----------------------------------------------------------------------------------------------- */

static double argument(const Model *model, int k, double time) {
    const double *line = model->workspace + equations.blocks.table_arguments + 2 * k;
    return line[0] + line[1] * time;
}

static int piece_at(const Model *model, int k, double time) {
    const Lookup *lookup = equations.lookups + k;
    return lookup_piece(lookup->n_pieces, PIECE, lookup->pieces[0], argument(model, k, time));
}

static void put_pieces(Model *model, int block, double time) {
    for (int k = 0; k < equations.n_lookups; k++)
        memcpy(model->workspace + block + PIECE * k, equations.lookups[k].pieces[piece_at(model, k, time)],
               PIECE * sizeof(double));
}

void tables_follow_parameters(Model *model) {
    put_pieces(model, equations.blocks.start_pieces, 0.0);
    put_pieces(model, equations.blocks.pieces, model_time(model));
}

/* ---- The point -------------------------------------------------------------------------------------------------- */

static void put_time(Model *model, double time) {
    model->workspace[equations.blocks.time] = time;
    put_pieces(model, equations.blocks.pieces, time);
}

void model_move(Model *model, double time, const double *states) {
    put_time(model, time);
    if (equations.n_states > 0)
        memcpy(model->workspace + equations.blocks.states, states, (size_t)equations.n_states * sizeof *states);
    inputs_follow(model, time);
    model_changed(model, AFTER_POINT);
}

bool model_set_time(Model *model, double time) {
    if (!isfinite(time)) return model_fail(model, "the time is %g, expected a finite number", time);
    if (time != model_time(model)) model_changed(model, AFTER_POINT);
    put_time(model, time);
    return true;
}

static bool fail_states(Model *model, const double *states) {
    int i = 0;
    while (isfinite(states[i])) i++;
    return model_fail(model, "%s is set to %g, expected a finite number", variable_name(VARIABLE_STATE, i), states[i]);
}

bool model_set_states(Model *model, const double *states) {
    double *current = model->workspace + equations.blocks.states;
    if (!are_finite(equations.n_states, states)) return fail_states(model, states);
    const size_t size = (size_t)equations.n_states * sizeof *states;
    if (size > 0 && memcmp(current, states, size) != 0) {
        memcpy(current, states, size);
        model_changed(model, AFTER_POINT);
    }
    return true;
}

static int n_times(void) {
    return equations.n_switches - equations.n_relations - equations.n_held - equations.n_samplers;
}

static const double *times_of(const Model *model) { return model->workspace + equations.blocks.event_times; }

static double *switches_of(const Model *model) { return model->workspace + equations.blocks.switches; }

static double *relations_of(const Model *model) { return switches_of(model) + n_times(); }

static double *held_of(const Model *model) { return relations_of(model) + equations.n_relations; }

static double *counts_of(const Model *model) { return held_of(model) + equations.n_held; }

/* ---- Time events ------------------------------------------------------------------------------------------------ */

/* Whether an event time has been reached within the margin; an importer may stop slightly before it. */
static bool has_come(double event, double time) {
    return isfinite(event) && event - time <= equations.time_margin * fmax(1.0, fabs(event));
}

static bool set(Model *model, double *value, bool now) {
    if (*value == now) return false;
    *value = now;
    model_changed(model, AFTER_POINT);
    return true;
}

bool switches_follow_time(Model *model) {
    bool changed = false;
    for (int k = 0; k < n_times(); k++)
        changed |= set(model, switches_of(model) + k, has_come(times_of(model)[k], model_time(model)));
    return changed;
}

/* ---- Samples ------------------------------------------------------------------------------------------------------ */

static double period_of(const Model *model, int sampler) {
    return model->workspace[equations.blocks.periods + sampler];
}

/* Sample times are products and not sums, whose rounding errors would grow. */
static double next_sample(const Model *model, int sampler) {
    return counts_of(model)[sampler] * period_of(model, sampler);
}

void samples_begin(Model *model) {
    memcpy(held_of(model), model->workspace + equations.blocks.start_held, (size_t)equations.n_held * sizeof(double));
    for (int k = 0; k < equations.n_samplers; k++) {
        counts_of(model)[k] = fmax(0.0, floor(model_time(model) / period_of(model, k)));
        if (next_sample(model, k) < model_time(model) && !has_come(model_time(model), next_sample(model, k)))
            counts_of(model)[k]++;
    }
}

int sample_due(const Model *model) {
    for (int k = 0; k < equations.n_samplers; k++)
        if (has_come(next_sample(model, k), model_time(model))) return k;
    return -1;
}

void sample_take(Model *model, int sampler) {
    const int begin = sampler > 0 ? equations.held_ends[sampler - 1] : 0, end = equations.held_ends[sampler];
    memcpy(held_of(model) + begin, model->workspace + equations.blocks.samples + begin,
           (size_t)(end - begin) * sizeof(double));
    while (has_come(next_sample(model, sampler), model_time(model))) counts_of(model)[sampler]++;
    model_changed(model, AFTER_POINT);
}

/* Returns the time of the next discontinuity in a table's slope, s. */
static double next_kink(const Model *model, int k) {
    const Lookup *lookup = equations.lookups + k;
    const double rate = model->workspace[equations.blocks.table_arguments + 2 * k + 1];
    const int way = rate > 0.0 ? 1 : -1;
    if (!lookup->has_kinks || rate == 0.0) return INFINITY;
    /* The end of a piece is the begin of the next one; a begin that has been reached within rounding errors is
       skipped. */
    for (int i = piece_at(model, k, model_time(model)) + (way > 0); i > 0 && i < lookup->n_pieces; i += way) {
        const double kink = model_time(model) + (lookup->pieces[i][0] - argument(model, k, model_time(model))) / rate;
        if (!has_come(kink, model_time(model))) return kink;
    }
    return INFINITY;
}

double switches_next_time(const Model *model) {
    const double *events = times_of(model), time = model_time(model);
    double next = INFINITY;
    for (int k = 0; k < n_times(); k++)
        if (isfinite(events[k]) && !has_come(events[k], time)) next = fmin(next, events[k]);
    for (int k = 0; k < equations.n_lookups; k++) next = fmin(next, next_kink(model, k));
    for (int k = 0; k < equations.n_samplers; k++) next = fmin(next, next_sample(model, k));
    return next;
}

/* ---- Switching conditions ---------------------------------------------------------------------------------------- */

double relation_side(const Model *model, int relation) { return relations_of(model)[relation] != 0.0 ? 1.0 : -1.0; }

double relation_distance(const Model *model, int relation) {
    return relation_side(model, relation) * model->workspace[equations.blocks.indicators + relation];
}

static bool is_beyond(const Model *model, int k) { return relation_distance(model, k) < 0.0; }

bool switches_are_due(const Model *model) {
    for (int k = 0; k < n_times(); k++)
        if (switches_of(model)[k] == 0.0 && has_come(times_of(model)[k], model_time(model))) return true;
    return sample_due(model) >= 0 || relations_are_due(model);
}

bool relations_are_due(const Model *model) {
    for (int k = 0; k < equations.n_relations; k++)
        if (is_beyond(model, k)) return true;
    return false;
}

/* An indicator of zero is not positive. It therefore changes a condition that another condition has made permanently
   zero. */
int switches_follow_states(Model *model) {
    const double *indicators = model->workspace + equations.blocks.indicators;
    int changed = -1;
    for (int k = 0; k < equations.n_relations; k++)
        if (!isnan(indicators[k]) && set(model, relations_of(model) + k, indicators[k] > 0.0)) changed = k;
    return changed;
}

void switches_indicators(const Model *model, double *indicators) {
    for (int k = 0; k < equations.n_relations; k++) {
        const double value = model->workspace[equations.blocks.indicators + k];
        indicators[k] = value != 0.0 ? value : relations_of(model)[k] != 0.0 ? DBL_MIN : -DBL_MIN;
    }
}
