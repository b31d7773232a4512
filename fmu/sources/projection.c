/* Positions by steps of Newton's method, then velocities at the new positions, until rounding is all that is left.
   Each step is the smallest one, weighted with the masses, that leads to the constraints as they are linear there. */

#include "projection.h"

#include <math.h>
#include <string.h>

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

static bool find_violation(Model *model, Level level, double *value) {
    if (!model_evaluate_beside(model, GROUP_VIOLATIONS)) return false;
    *value = model->workspace[equations.blocks.violations + level];
    return true;
}

bool model_projection_due(Model *model, bool *due) {
    const double *violations = model->workspace + equations.blocks.violations;
    *due = false;
    if (equations.groups[GROUP_VIOLATIONS].n_stages == 0 || !model->run.integer_settings[SETTING_PROJECTION])
        return true;
    if (!model_evaluate_beside(model, GROUP_VIOLATIONS)) return false;
    for (int level = 0; level < N_LEVELS; level++)
        if (!(violations[level] <= tolerance_of(model))) *due = true; /* NaN is a violation, too */
    return true;
}

/* One step; adds its norm to *sum. */
static bool step(Model *model, const LevelInfo *level, double *sum) {
    if (!model_evaluate_beside(model, level->group)) return false;
    const double *change = model->workspace + *level->change;
    double *states = model->workspace + equations.blocks.states, squares = 0.0;
    for (int i = 0; i < equations.n_states; i++) {
        states[i] += change[i];
        squares += change[i] * change[i];
    }
    *sum += sqrt(squares);
    model_changed(model, AFTER_POINT);
    return true;
}

static bool project(Model *model, Level which, double *sum) {
    const LevelInfo *level = &LEVELS[which];
    double before = INFINITY, now;
    if (equations.groups[level->group].n_stages == 0) return true;
    if (!find_violation(model, which, &now)) return false;
    for (int i = 0; i < MOST_STEPS && now > 0.0 && (now > tolerance_of(model) || now < 0.5 * before); i++) {
        before = now;
        if (!step(model, level, sum) || !find_violation(model, which, &now)) return false;
    }
    if (now <= tolerance_of(model)) return true;
    return model_fail(model,
                      "the projection of the %s onto the constraints does not converge at t = %.15g s: a violation of"
                      " %.3g is left, expected at most %.3g (projection_tolerance)",
                      level->name, model->workspace[equations.blocks.time], now, tolerance_of(model));
}

static bool project_all(Model *model, double *sums) {
    for (int level = 0; level < N_LEVELS; level++)
        if (!project(model, (Level)level, &sums[level])) return false;
    return true;
}

bool model_project(Model *model, bool *moved) {
    double sums[N_LEVELS] = {0.0};
    if (!model_projection_due(model, moved)) return false;
    if (!*moved) return true;
    memcpy(model->projected, model->workspace + equations.blocks.states,
           (size_t)equations.n_states * sizeof *model->projected);
    if (!project_all(model, sums)) {
        model_move(model, model->workspace[equations.blocks.time], model->projected);
        return false;
    }
    for (int level = 0; level < N_LEVELS; level++) model->run.corrections[level] += sums[level];
    model->run.counters[COUNTER_PROJECTIONS]++;
    return true;
}
