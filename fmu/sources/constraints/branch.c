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
/* Within this multiple of NEAR the regularity is computed at the accepted state. Farther away the regularity of the
   solver's last evaluation, which is close to the accepted state, is sufficient. */
static const double CLOSE = 3.0;
static const double STEADY = 0.3; /* largest change of velocity, relative to the speed, that accelerations can explain */
static const double JUMP = 0.4;   /* smallest unexplained change of velocity, relative to the speed, that indicates a
                                     change of branch */

/* Vectors in model->branch: states and derivatives at the last point before a singular neighbourhood, and present states
   while these derivatives are computed. */
enum { STATES, DERIVATIVES, PRESENT, KINDS };

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

static double *vector(const Model *model, int kind) { return model->branch + (size_t)kind * (size_t)equations.n_states; }

static void remember(Model *model) {
    copy_numbers(equations.n_states, model->workspace + equations.blocks.states, vector(model, STATES));
    model->branch_time = model_time(model);
    model->branch_is_known = true;
}

/* Computes the derivatives at the remembered point. Most runs never need them. */
static bool find_derivatives(Model *model) {
    const double time = model_time(model);
    copy_numbers(equations.n_states, model->workspace + equations.blocks.states, vector(model, PRESENT));
    branch_go_back(model);
    if (!model_evaluate(model, GROUP_DYNAMICS)) return false;
    copy_numbers(equations.n_states, model->workspace + equations.blocks.derivatives, vector(model, DERIVATIVES));
    model_move(model, time, vector(model, PRESENT));
    return model_evaluate(model, GROUP_DYNAMICS);
}

static bool jumps(const Model *model) {
    const double time = model_time(model) - model->branch_time;
    const double *v = velocities(model), *a = accelerations(model);
    const double *before = vector(model, STATES) + equations.n_positions;
    const double *a_before = vector(model, DERIVATIVES) + equations.n_positions;
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

/* Whether the present regularity has to be computed. In model exchange the last evaluation may be anywhere. */
static bool may_be_near(const Model *model) {
    return !model->co_simulation || model->branch_is_open || model->regularity < CLOSE * NEAR * model->most_regular;
}

/* A motion that has changed its branch may stay in the singular neighbourhood, so the comparison is also made there.
   A point outside may be the begin of the next neighbourhood. A step may be repeated after a failure. */
bool branch_is_kept(Model *model) {
    if (equations.n_positions == 0 || model->regularity <= 0.0) return true;
    if (may_be_near(model) && !model_evaluate(model, GROUP_DYNAMICS)) return false;
    if (model->branch_time > model_time(model)) branch_forget(model); /* the step is repeated */
    model->most_regular = larger(model->most_regular, model->regularity);
    if (model->branch_is_open && model->branch_is_known && jumps(model)) return fail(model);
    const bool is_near = model->regularity < NEAR * model->most_regular;
    if (is_near && !model->branch_is_open && model->branch_is_known && !find_derivatives(model)) return false;
    model->leap_is_due = is_near && !model->branch_is_open && may_leap(model);
    model->branch_is_open = is_near;
    if (!is_near) remember(model);
    return true;
}
