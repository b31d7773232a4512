/* Projects positions by Newton's method, then velocities at the new positions, until the violation is at the level of
   rounding errors. Each step is the smallest one, weighted with the masses, to the linearised constraints. */

#include "projection.h"

#include "evaluation.h"
#include "point.h"
#include "vectors.h"

#include <math.h>

enum { MOST_STEPS = 20 };

typedef struct {
    const char *name;
    Group group;
    const int *change; /* offset of the group's result */
} LevelInfo;

static const LevelInfo LEVELS[N_LEVELS] = {
    [LEVEL_POSITION] = {"positions", GROUP_PROJECT_POSITION, &equations.blocks.position_change},
    [LEVEL_VELOCITY] = {"velocities", GROUP_PROJECT_VELOCITY, &equations.blocks.velocity_change},
};

static double tolerance_of(const Model *model) {
    return model->run.real_settings[SETTING_PROJECTION_TOLERANCE];
}

int projection_levels(void) { return equations.groups[GROUP_VIOLATIONS].n_stages > 0 ? N_LEVELS : 0; }

static bool find_violation(Model *model, Level level, double *value) {
    if (!model_evaluate_beside(model, GROUP_VIOLATIONS)) return false;
    *value = model->workspace[equations.blocks.violations + level];
    return true;
}

/* *violated: whether the norm of the residual at a level exceeds the limit. */
static bool find_violations(Model *model, double limit, bool *violated) {
    const double *violations = model->workspace + equations.blocks.violations;
    *violated = false;
    if (!model_evaluate_beside(model, GROUP_VIOLATIONS)) return false;
    for (int level = 0; level < N_LEVELS; level++)
        if (!(violations[level] <= limit)) *violated = true; /* the negation also detects NaN */
    return true;
}

bool model_begin_projection(Model *model) {
    bool violated;
    model->run.projects = 0;
    if (projection_levels() == 0) return true;
    if (!find_violations(model, equations.accepted_violation, &violated)) return false;
    model->run.projects = !violated;
    return true;
}

bool model_projection_due(Model *model, bool *due) {
    *due = false;
    if (projection_levels() == 0 || !model->run.integer_settings[SETTING_PROJECTION]) return true;
    if (!find_violations(model, tolerance_of(model), due)) return false;
    if (!model->run.projects) {
        model->run.projects = !*due; /* stabilisation has reduced the initial violation */
        *due = false;
    }
    return true;
}

/* Performs a Newton step and adds it to the change of the level. */
static bool step(Model *model, const LevelInfo *level, double *change) {
    if (!model_evaluate_beside(model, level->group)) return false;
    double *states = model->workspace + equations.blocks.states;
    for (int i = 0; i < equations.n_states; i++) {
        const double difference = model->workspace[*level->change + i];
        states[i] += difference;
        change[i] += difference;
    }
    model_changed(model, AFTER_POINT);
    return true;
}

static double norm(const double *values) {
    double squares = 0.0;
    for (int i = 0; i < equations.n_states; i++) squares += values[i] * values[i];
    return sqrt(squares);
}

static bool project(Model *model, Level which, double *correction) {
    const LevelInfo *level = &LEVELS[which];
    double before = INFINITY, now, *change = model->projected + equations.n_states;
    *correction = 0.0;
    if (equations.groups[level->group].n_stages == 0) return true;
    if (!find_violation(model, which, &now)) return false;
    for (int i = 0; i < equations.n_states; i++) change[i] = 0.0;
    for (int i = 0; i < MOST_STEPS && now > 0.0 && (now > tolerance_of(model) || now < 0.5 * before); i++) {
        before = now;
        if (!step(model, level, change) || !find_violation(model, which, &now)) return false;
    }
    *correction = norm(change);
    if (now <= tolerance_of(model)) return true;
    return model_fail(model,
                      "the projection of the %s onto the constraints does not converge at t = %.15g s: a violation of"
                      " %.3g remains, expected at most %.3g (projection_tolerance)",
                      level->name, model_time(model), now, tolerance_of(model));
}

static bool project_all(Model *model) {
    double corrections[N_LEVELS];
    for (int level = 0; level < N_LEVELS; level++)
        if (!project(model, (Level)level, &corrections[level])) return false;
    for (int level = 0; level < N_LEVELS; level++)
        model->workspace[equations.blocks.corrections + level] += corrections[level];
    model->run.counters[COUNTER_PROJECTIONS]++;
    return true;
}

bool model_project(Model *model, bool *moved) {
    if (!model_projection_due(model, moved)) return false;
    if (!*moved) return true;
    copy_numbers(equations.n_states, model->workspace + equations.blocks.states, model->projected);
    if (project_all(model)) return true;
    model_move(model, model_time(model), model->projected);
    return false;
}
