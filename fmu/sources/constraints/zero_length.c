/* The end points of a force element usually meet between two steps. Each step is therefore interpolated by
   polynomials: of order 5 for coordinates, whose velocities and accelerations are known, and of order 3 for other
   states. If a length decreases and then increases, its minimum is located by bisection of the length rate, which is
   discontinuous at length zero. Steps in which no length can reach zero are not examined. */

#include "zero_length.h"

#include "evaluation.h"
#include "point.h"
#include "vectors.h"

#include <math.h>

enum { MOST_HALVINGS = 52 };

static const double STEEPER = 2.0; /* largest length rate within a part of a step, relative to the rates at its ends */

/* Point within a step: fraction of the step, and lengths and length rates at this point. */
typedef struct {
    double part;
    const double *lengths;
} Place;

/* Layout of model->lengths: states, derivatives and lengths at both ends of a step; lengths in its middle and at
   another point. */
typedef struct {
    double *states[2], *rates[2], *lengths[2], *middle, *within;
} Memory;

static Memory lay_out(const Model *model) {
    const int n = equations.n_states, lines = 2 * equations.n_lines;
    double *next = model->lengths;
    Memory m;
    for (int end = 0; end < 2; end++, next += 2 * n + lines) {
        m.states[end] = next;
        m.rates[end] = next + n;
        m.lengths[end] = next + 2 * n;
    }
    m.middle = next;
    m.within = next + lines;
    return m;
}

size_t zero_length_scratch(void) {
    return equations.n_lines > 0 ? 4 * (size_t)equations.n_states + 8 * (size_t)equations.n_lines : 0;
}

void zero_length_forget(Model *model) { model->lengths_are_known = false; }

static bool find_lengths(Model *model, double *lengths) {
    if (!model_evaluate_beside(model, GROUP_LENGTHS)) return false;
    copy_numbers(2 * equations.n_lines, model->workspace + equations.blocks.lengths, lengths);
    return true;
}

static bool note(Model *model, const Memory *m, int end) {
    copy_numbers(equations.n_states, model->workspace + equations.blocks.states, m->states[end]);
    return model_derivatives(model, m->rates[end]) && find_lengths(model, m->lengths[end]);
}

bool zero_length_begin(Model *model) {
    const Memory m = lay_out(model);
    if (equations.n_lines == 0) return true;
    if (model->lengths_are_known && model->lengths_time == model_time(model)) return true;
    model->lengths_are_known = note(model, &m, 0);
    model->lengths_time = model_time(model);
    return model->lengths_are_known;
}

/* ---- Within a step ---------------------------------------------------------------------------------------------- */

/* Hermite weights of the value and of the first and second derivative at the begin of [0, 1]; those at the end are
   mirrored. */
static void weigh(double x, double weights[3]) {
    const double y = 1.0 - x, cube = y * y * y;
    weights[0] = cube * (1.0 + x * (3.0 + 6.0 * x));
    weights[1] = cube * x * (1.0 + 3.0 * x);
    weights[2] = cube * x * x * 0.5;
}

static double coordinate(const Memory *m, int i, double h, double x) {
    const int velocity = equations.n_positions + i;
    double sum = 0.0, weights[3];
    for (int end = 0; end < 2; end++) {
        const double way = end == 0 ? h : -h;
        weigh(end == 0 ? x : 1.0 - x, weights);
        sum += weights[0] * m->states[end][i] + weights[1] * way * m->rates[end][i] +
               weights[2] * way * way * m->rates[end][velocity];
    }
    return sum;
}

static double other_state(const Memory *m, int i, double h, double x) {
    const double y = 1.0 - x;
    return y * y * ((1.0 + 2.0 * x) * m->states[0][i] + x * h * m->rates[0][i]) +
           x * x * ((1.0 + 2.0 * y) * m->states[1][i] - y * h * m->rates[1][i]);
}

/* Evaluates the lengths at a point of the step; afterwards the model is at its previous point, and earlier results
   remain valid. */
static bool look(Model *model, const Memory *m, double x, double *lengths) {
    const double end = model_time(model), h = end - model->lengths_time;
    const uint32_t dirty = model->run.dirty;
    for (int i = 0; i < equations.n_states; i++)
        model->projected[i] = i < equations.n_positions ? coordinate(m, i, h, x) : other_state(m, i, h, x);
    model_move(model, model->lengths_time + x * h, model->projected);
    const bool found = find_lengths(model, lengths);
    model_move(model, end, m->states[1]);
    model->run.dirty = dirty;
    return found;
}

/* Whether a length may be zero between two times at which length and rate are known. */
static bool may_meet(const double *before, const double *after, double duration) {
    return before[0] + after[0] <= STEEPER * larger(fabs(before[1]), fabs(after[1])) * duration + equations.meeting;
}

/* Whether a length may be zero within a step, by its mean rate, the rates at the ends and their change. */
static bool is_near(const Memory *m, int line, double h) {
    const double *before = m->lengths[0] + 2 * line, *after = m->lengths[1] + 2 * line;
    const double fastest = larger(larger(fabs(before[1]), fabs(after[1])), fabs(after[0] - before[0]) / h);
    const double within = fastest + fabs(after[1] - before[1]);
    return !(before[0] + after[0] > STEEPER * within * h + equations.meeting); /* the rate is undefined at length zero */
}

static bool any_is_near(const Model *model, const Memory *m) {
    for (int line = 0; line < equations.n_lines; line++)
        if (is_near(m, line, model_time(model) - model->lengths_time)) return true;
    return false;
}

static bool fail(Model *model, int line, double time) {
    return model_fail(model, "the length of line %s passes through zero at t = %.6g s, where its force has no direction;"
                      " expected ends that stay apart: move one of its points, or keep them apart by a stop",
                      equations.lines[line], time);
}

/* Searches the minimum length of an element whose length decreases at `low` and increases at `high`, which are
   fractions of a step. Fails if the end points meet between them. */
static bool seek(Model *model, const Memory *m, int line, Place low, Place high) {
    const double h = model_time(model) - model->lengths_time;
    double before[2], after[2];
    copy_numbers(2, low.lengths + 2 * line, before);
    copy_numbers(2, high.lengths + 2 * line, after);
    for (int i = 0; i < MOST_HALVINGS; i++) {
        const double middle = 0.5 * (low.part + high.part), duration = h * (high.part - low.part);
        if (!may_meet(before, after, duration)) return true;
        if (!look(model, m, middle, m->within)) return false;
        const double *found = m->within + 2 * line;
        const bool closing = found[1] < 0.0;
        if (!(found[0] > equations.meeting)) return fail(model, line, model->lengths_time + middle * h);
        *(closing ? &low.part : &high.part) = middle;
        copy_numbers(2, found, closing ? before : after);
    }
    return true;
}

/* Whether the length rate changes its sign; it is undefined at length zero. */
static bool turns(const Place *low, const Place *high, int line) {
    return low->lengths[2 * line + 1] < 0.0 && !(high->lengths[2 * line + 1] < 0.0);
}

static bool look_within(Model *model, const Memory *m) {
    if (!look(model, m, 0.5, m->middle)) return false;
    const Place places[] = {{0.0, m->lengths[0]}, {0.5, m->middle}, {1.0, m->lengths[1]}};
    for (int line = 0; line < equations.n_lines; line++)
        for (int half = 0; half < 2; half++)
            if (turns(&places[half], &places[half + 1], line) &&
                !seek(model, m, line, places[half], places[half + 1]))
                return false;
    return true;
}

static bool look_at_end(Model *model, const Memory *m) {
    for (int line = 0; line < equations.n_lines; line++)
        if (!(m->lengths[1][2 * line] > equations.meeting)) return fail(model, line, model_time(model));
    return true;
}

/* Copies the end of the step to the begin of the next step. */
static void go_on(Model *model, const Memory *m) {
    copy_numbers(2 * equations.n_states + 2 * equations.n_lines, m->states[1], m->states[0]);
    model->lengths_time = model_time(model);
    model->lengths_are_known = true;
}

bool lines_have_length(Model *model) {
    const Memory m = lay_out(model);
    if (equations.n_lines == 0) return true;
    if (!note(model, &m, 1) || !look_at_end(model, &m)) return false;
    const bool knows_begin = model->lengths_are_known && model->lengths_time < model_time(model);
    if (knows_begin && any_is_near(model, &m) && !look_within(model, &m)) return false;
    go_on(model, &m);
    return true;
}
