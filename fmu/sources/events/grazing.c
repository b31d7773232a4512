/* Search for events whose condition changes and changes back within a step. A parabola through an indicator at the
   ends of this step and the previous step estimates its minimum; after an event, the ends and the middle of the first
   step are used. The indicator is evaluated there, and further parabolas refine the minimum (successive parabolic
   interpolation: Brent, Algorithms for Minimization without Derivatives, 1973, chapter 5).

   Memory: begin of the previous step, 1 if it is known, and the indicators there. */

#include "grazing.h"

#include "events.h"
#include "point.h"

#include <math.h>
#include <string.h>

/* Estimated minimum relative to the smaller distance at the ends of a step, later in its middle, below which it is
   evaluated. */
static const double NEAR = 0.5;
static const double BESIDE = 0.25; /* distance of the estimated minimum from the step, relative to the step, up to
                                      which it is considered */
static const double SHORT = 1e-12; /* shortest interval, relative to the step */

enum { MOST_LOOKS = 20 };

typedef struct {
    double time, distance; /* indicator with the sign of the current condition: positive until it changes */
} Place;

size_t grazing_memory(void) { return equations.n_relations > 0 ? 2 + (size_t)equations.n_relations : 0; }

static double *memory(const Model *model) { return model->memory + model->memory_size - grazing_memory(); }

void grazing_forget(Model *model) { memory(model)[1] = 0.0; }

static void remember(Model *model, double begin) {
    double *past = memory(model);
    past[0] = begin;
    past[1] = 1.0;
    memcpy(past + 2, model->indicators, (size_t)equations.n_relations * sizeof *past);
}

/* Returns the minimum of a parabola; its time is NaN if there is no minimum. */
static Place vertex(const Place *p) {
    const double first = (p[1].distance - p[0].distance) / (p[1].time - p[0].time);
    const double second = (p[2].distance - p[1].distance) / (p[2].time - p[1].time);
    const double curvature = (second - first) / (p[2].time - p[0].time);
    const double time = curvature > 0.0 ? 0.5 * (p[1].time + p[2].time) - 0.5 * second / curvature : NAN;
    return (Place){time, p[2].distance + (time - p[2].time) * (second + curvature * (time - p[1].time))};
}

static bool is_suspect(const Place *places, double begin) {
    const double beside = BESIDE * (places[2].time - begin);
    const Place least = vertex(places);
    if (places[2].distance < 0.0) return false;
    return places[1].distance < 0.0 || (least.time > begin - beside && least.time < places[2].time + beside &&
                                        least.distance < NEAR * fmin(places[1].distance, places[2].distance));
}

/* Updates three points in order of time, with the smallest one in the middle, by a point between the outer ones. */
static void add(Place *p, Place one) {
    const bool later = one.time > p[1].time, lower = one.distance < p[1].distance;
    if (lower) {
        p[later ? 0 : 2] = p[1];
        p[1] = one;
    } else {
        p[later ? 2 : 0] = one;
    }
}

typedef struct {
    Model *model;
    StepTo step_to;
    const void *step;
    bool found;
} Search;

/* Evaluates an indicator at a time within the step. */
static bool look(Search *search, int relation, double time, Place *place) {
    if (!search->step_to(search->model, time, search->step)) return false;
    if (!model_expect_change(search->model, &search->found)) return false;
    *place = (Place){time, relation_distance(search->model, relation)};
    return true;
}

static bool follow(Search *search, int relation, Place begin, Place end) {
    Place p[3] = {begin, {0.0, 0.0}, end}, next;
    if (!look(search, relation, 0.5 * (begin.time + end.time), p + 1)) return false;
    for (int i = 0; i < MOST_LOOKS && !search->found; i++) {
        const Place least = vertex(p);
        if (!(least.time > p[0].time && least.time < p[2].time && least.distance < NEAR * p[1].distance)) return true;
        if (p[2].time - p[0].time < SHORT * (end.time - begin.time)) return true;
        if (!look(search, relation, least.time, &next)) return false;
        add(p, next);
    }
    return true;
}

/* Returns three points in order of time for condition k: the begin and the end of the step, and the stored point,
   which precedes the step or is its middle. */
static void places_of(const Model *model, int k, double begin, double end, Place *places) {
    const double *past = memory(model), *before = model->indicators, *after = before + equations.n_relations;
    const double side = relation_side(model, k);
    const int first = past[0] < begin ? 0 : 1;
    places[first] = (Place){past[0], side * past[2 + k]};
    places[1 - first] = (Place){begin, side * before[k]};
    places[2] = (Place){end, side * after[k]};
}

/* In the first step after an event, the middle of the step replaces the stored point. */
static bool find_past(Search *search, double begin, double end) {
    double *past = memory(search->model);
    past[0] = 0.5 * (begin + end);
    if (!search->step_to(search->model, past[0], search->step)) return false;
    if (!model_expect_change(search->model, &search->found)) return false;
    switches_indicators(search->model, past + 2);
    return true;
}

bool grazing_find(Model *model, double begin, StepTo step_to, const void *step, bool *found) {
    const double end = model_time(model);
    bool moved = memory(model)[1] == 0.0, due;
    Search search = {model, step_to, step, false};
    switches_indicators(model, model->indicators + equations.n_relations);
    if (moved && !find_past(&search, begin, end)) return false;
    for (int k = 0; k < equations.n_relations && !search.found; k++) {
        Place places[3];
        places_of(model, k, begin, end, places);
        if (!is_suspect(places, begin)) continue;
        moved = true;
        if (!follow(&search, k, places[memory(model)[0] < begin], places[2])) return false;
    }
    *found = search.found;
    if (*found) return true;
    remember(model, begin);
    return !moved || (step_to(model, end, step) && model_expect_change(model, &due));
}
