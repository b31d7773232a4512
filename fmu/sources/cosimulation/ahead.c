/* The interpolation polynomials are as accurate as the steps. Interpolated states are projected onto the constraints,
   and the solver continues from its own unprojected states. */

#include "ahead.h"

#include "checks.h"
#include "evaluation.h"
#include "grazing.h"
#include "inputs.h"
#include "point.h"
#include "projection.h"
#include "vectors.h"

#include <math.h>

/* Part of the FMU state, which contains only numbers, so that any bytes are valid. */
typedef struct {
    double is_ahead; /* 1: the solver is beyond the communication point */
    double knows_inputs; /* 1: the inputs of the previous communication step are known */
    double time;     /* time of the solver, s */
    double origin, length, degree; /* polynomial of the last step: origin and length, s, and degree */
    double knows_slope; /* 1: the state derivatives at the solver's time are known */
} Memory;

typedef struct {
    Memory *memory;
    double *inputs, *switches; /* inputs and switches of the solver's last step */
    double *states, *slope;    /* states and derivatives at the solver's time */
    double *coefficients[MOST_DEGREE + 1];
} Ahead;

enum { SCALARS = sizeof(Memory) / sizeof(double) };

size_t ahead_memory(void) {
    return SCALARS + (size_t)(equations.n_inputs + equations.n_switches + (MOST_DEGREE + 3) * equations.n_states);
}

static Ahead lay_out(const Model *model) {
    double *first = model->memory + model->memory_size - grazing_memory() - ahead_memory();
    Ahead s = {.memory = (Memory *)first, .inputs = first + SCALARS};
    s.switches = s.inputs + equations.n_inputs;
    s.states = s.switches + equations.n_switches;
    s.slope = s.states + equations.n_states;
    for (int k = 0; k <= MOST_DEGREE; k++) s.coefficients[k] = s.slope + (k + 1) * equations.n_states;
    return s;
}

static bool are_equal(const double *a, const double *b, int n) {
    for (int i = 0; i < n; i++)
        if (a[i] != b[i]) return false;
    return true;
}

static const double *inputs_of(const Model *model) { return model->workspace + equations.blocks.inputs; }

static const double *switches_of(const Model *model) { return model->workspace + equations.blocks.switches; }

bool ahead_is_worthwhile(const Model *model) {
    const Ahead s = lay_out(model);
    const bool settled = equations.n_inputs == 0 || (s.memory->knows_inputs == 1.0 &&
                                                     are_equal(s.inputs, inputs_of(model), equations.n_inputs));
    return settled && !inputs_are_moving(model) && model->step_accepted == NULL && equations.n_relations == 0;
}

static bool is_ahead(const Model *model, const Ahead *s) {
    const Memory *m = s->memory;
    return m->is_ahead == 1.0 && m->degree >= 1.0 && m->degree <= MOST_DEGREE && m->time > model_time(model) &&
           !inputs_are_moving(model) && model->step_accepted == NULL &&
           are_equal(s->inputs, inputs_of(model), equations.n_inputs) &&
           are_equal(s->switches, switches_of(model), equations.n_switches);
}

bool ahead_covers(const Model *model, double end) {
    const Ahead s = lay_out(model);
    return is_ahead(model, &s) && end <= s.memory->time;
}

/* Evaluates the polynomial by Horner's rule, in the scratch memory of projections, because the solver's may contain
   factors. */
static void put_states(Model *model, const Ahead *s, double time) {
    if (time == s->memory->time) {
        model_move(model, time, s->states);
        return;
    }
    const double at = (time - s->memory->origin) / s->memory->length;
    for (int i = 0; i < equations.n_states; i++) {
        double sum = 0.0;
        for (int k = (int)s->memory->degree; k >= 0; k--) sum = sum * at + s->coefficients[k][i];
        model->projected[i] = sum;
    }
    model_move(model, time, model->projected);
}

/* Restores the corrections and counters to those of the solver's own steps. */
static void keep_corrections(Model *model, const double *sums, int64_t count) {
    copy_numbers(projection_levels(), sums, model->workspace + equations.blocks.corrections);
    model->run.counters[COUNTER_PROJECTIONS] = count;
}

bool ahead_show(Model *model, double end) {
    const Ahead s = lay_out(model);
    const int64_t count = model->run.counters[COUNTER_PROJECTIONS];
    double sums[N_LEVELS];
    bool moved;
    copy_numbers(projection_levels(), model->workspace + equations.blocks.corrections, sums);
    put_states(model, &s, end);
    const bool done = model_settle(model, &moved) && model_evaluate(model, GROUP_DYNAMICS);
    keep_corrections(model, sums, count);
    if (done) model->run.last_successful_time = end;
    return done;
}

bool ahead_leave(Model *model, double end, const Integrator *integrator) {
    const Ahead s = lay_out(model);
    Memory *m = s.memory;
    m->time = model_time(model);
    copy_numbers(equations.n_states, model->workspace + equations.blocks.states, s.states);
    copy_numbers(equations.n_switches, switches_of(model), s.switches);
    Polynomial found;
    if (!integrator->polynomial(model, s.coefficients, &found)) return false;
    m->origin = found.origin;
    m->length = found.length;
    m->degree = found.degree;
    m->knows_slope = found.slope != NULL;
    if (found.slope != NULL) copy_numbers(equations.n_states, found.slope, s.slope);
    m->is_ahead = 1.0;
    return ahead_show(model, end);
}

bool ahead_resume(Model *model, double end) {
    const Ahead s = lay_out(model);
    const bool resumed = is_ahead(model, &s) && s.memory->time < end;
    if (resumed) model_move(model, s.memory->time, s.states);
    s.memory->is_ahead = 0.0;
    s.memory->knows_inputs = 1.0;
    copy_numbers(equations.n_inputs, inputs_of(model), s.inputs);
    return resumed;
}

const double *ahead_slope(const Model *model) {
    const Ahead s = lay_out(model);
    const bool same = are_equal(s.switches, switches_of(model), equations.n_switches);
    return s.memory->knows_slope == 1.0 && same ? s.slope : NULL;
}
