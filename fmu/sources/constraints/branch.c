/* At a singular configuration, branches of the motion with different directions cross. The constraints are satisfied
   on all branches, so constraint violations do not identify a change of branch. Velocities do: they change steadily
   along a branch and almost instantly from one branch to another. The velocities before and after the neighbourhood
   of a singular configuration are therefore compared with the accelerations there. */

#include "branch.h"

#include "evaluation.h"
#include "point.h"
#include "vectors.h"

#include <math.h>

static const double NEAR = 0.03;  /* singular neighbourhood: regularity of the constraints relative to its largest
                                     value so far */
static const double STEADY = 0.3; /* largest change of velocity, relative to the speed, that accelerations can explain */
static const double JUMP = 0.4;   /* smallest unexplained change of velocity, relative to the speed, that indicates a
                                     change of branch */

enum { KINDS = 2 }; /* states and their derivatives, n_states each */

size_t branch_scratch(void) { return KINDS * (size_t)equations.n_states; }

void branch_forget(Model *model) {
    model->branch_is_known = false;
    model->leap_at = INFINITY;
    model->no_leap_before = -INFINITY;
}

void branch_go_back(Model *model) { model_move(model, model->branch_time, model->branch); }

static const double *velocities(const Model *model) {
    return model->workspace + equations.blocks.states + equations.n_positions;
}

static const double *accelerations(const Model *model) {
    return model->workspace + equations.blocks.derivatives + equations.n_positions;
}

static void remember(Model *model) {
    copy_numbers(equations.n_states, model->workspace + equations.blocks.states, model->branch);
    copy_numbers(equations.n_states, model->workspace + equations.blocks.derivatives, model->branch + equations.n_states);
    model->branch_time = model_time(model);
    model->branch_is_known = true;
}

static bool jumps(const Model *model) {
    const double time = model_time(model) - model->branch_time;
    const double *v = velocities(model), *a = accelerations(model);
    const double *before = model->branch + equations.n_positions, *a_before = before + equations.n_states;
    double speed = 0.0, steady = 0.0, jump = 0.0;
    for (int i = 0; i < equations.n_positions; i++) {
        const double unit = equations.nominals[equations.n_positions + i];
        const double change = v[i] - before[i] - 0.5 * time * (a[i] + a_before[i]);
        speed = larger(speed, larger(fabs(v[i]), fabs(before[i])) / unit);
        steady = larger(steady, 0.5 * time * (fabs(a[i]) + fabs(a_before[i])) / unit);
        jump = larger(jump, fabs(change) / unit);
    }
    return steady <= STEADY * speed && jump > JUMP * speed;
}

/* Whether the solver may return to the last point before a singular neighbourhood and cross it in one step. */
static bool may_leap(const Model *model) {
    return model->co_simulation && model->step_accepted == NULL && model->branch_is_known &&
           model->branch_time >= model->no_return_before && model_time(model) > model->no_leap_before &&
           !isfinite(model->leap_at);
}

static bool fail(Model *model) {
    return model_fail(model, "the constraints depend on each other shortly before t = %.15g s, and the velocities change "
                      "abruptly there, so the motion would leave its branch; use another tolerance or method, change "
                      "the dimensions, or end the run before", model_time(model));
}

/* A motion that has changed its branch may stay in the singular neighbourhood, so the comparison is also made there.
   A point outside may be the begin of the next neighbourhood. A step may be repeated after a failure. */
bool branch_is_kept(Model *model) {
    if (equations.n_positions == 0 || model->regularity <= 0.0) return true;
    if (!model_evaluate(model, GROUP_DYNAMICS)) return false;
    if (model->branch_time > model_time(model)) branch_forget(model); /* the step is repeated */
    model->most_regular = larger(model->most_regular, model->regularity);
    if (model->branch_is_open && model->branch_is_known && jumps(model)) return fail(model);
    const bool is_near = model->regularity < NEAR * model->most_regular;
    model->leap_is_due = is_near && !model->branch_is_open && may_leap(model);
    model->branch_is_open = is_near;
    if (!is_near) remember(model);
    return true;
}
