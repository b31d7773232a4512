/* The parabola through an indicator's values at the ends of this step and the one before, or at the ends and in the
   middle of the first one after an event, says where it may come nearest to zero; that place is looked at, and
   parabolas through what has been found there go on from it (successive parabolic interpolation: Brent, Algorithms for
   Minimization without Derivatives, 1973, chapter 5).

   Its memory: the begin of the step before, 1 if that is known, and the indicators there. */

#include "grazing.h"

#include "events.h"
#include "point.h"

#include <math.h>
#include <string.h>

/* Of the lesser distance at a step's ends, of the one in the middle later: a least one below is looked at. */
static const double NEAR = 0.5;
static const double BESIDE = 0.25; /* of the step: how far from it the least distance may seem to be */
static const double SHORT = 1e-12; /* of the step */

enum { MOST_LOOKS = 20 };

typedef struct {
    double time, distance; /* of a relation from its change: above 0 on its side */
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

/* The parabola's least point; its time is not a number where it has none. */
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

/* Three places in the order of time, the least one in the middle, after one more between the outer ones. */
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

/* Goes to a time within the step. */
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

/* Places by which relation k is judged: that of the past, the begin of the step and its end, or its middle in the
   middle. */
static void places_of(const Model *model, int k, double begin, double end, Place *places) {
    const double *past = memory(model), *before = model->indicators, *after = before + equations.n_relations;
    const double side = relation_side(model, k);
    const int first = past[0] < begin ? 0 : 1;
    places[first] = (Place){past[0], side * past[2 + k]};
    places[1 - first] = (Place){begin, side * before[k]};
    places[2] = (Place){end, side * after[k]};
}

/* In the first step after an event its middle stands for the past. */
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
