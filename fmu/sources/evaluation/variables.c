/* Access to variables by value reference: evaluation before reading, and conditions for writing. */

#include "variables.h"

#include "evaluation.h"
#include "point.h"
#include "table.h"

#include <math.h>
#include <stddef.h>

enum { BEFORE_RUN = MODE_INSTANTIATED | MODE_INITIALIZATION };
enum { ANY_TIME = BEFORE_RUN | MODE_EVENT | MODE_CONTINUOUS_TIME | MODE_STEP | MODE_INTERMEDIATE_UPDATE };

#define AT_BEGIN "can only be set before the end of the initialization"

/* Rules for a kind of variable. */
typedef struct {
    const char *text;
    const char *when;  /* when the variable can be set, for messages */
    uint32_t settable; /* modes in which the variable can be set */
    int needs;         /* last group to evaluate before the variable is read; -1: none */
    uint32_t changes;  /* groups that depend on the variable */
} Rule;

/* States may be set one by one by the importer's solver: FMI 2.0.4, section 3.2.3, note 5, and FMI 3.0.2, section
   3.2.1. */
static const Rule RULES[] = {
    [VARIABLE_TIME] = {"the time", "cannot be set", 0, -1, 0},
    [VARIABLE_STATE] = {"a state", "can only be set in continuous-time mode", MODE_CONTINUOUS_TIME, GROUP_START,
                        AFTER_POINT},
    [VARIABLE_DERIVATIVE] = {"a derivative", "cannot be set", 0, GROUP_DYNAMICS, 0},
    [VARIABLE_OUTPUT] = {"an output", "cannot be set", 0, GROUP_OUTPUTS, 0},
    [VARIABLE_PARAMETER] = {"a parameter", AT_BEGIN, BEFORE_RUN, -1, AFTER_PARAMETERS},
    [VARIABLE_CALCULATED] = {"a calculated parameter", "follows from others", 0, GROUP_PREPARE, 0},
    [VARIABLE_INPUT] = {"an input", "can be set until the end of the run", ANY_TIME, -1, AFTER_POINT},
    [VARIABLE_REAL_SETTING] = {"a setting of the solver", AT_BEGIN, BEFORE_RUN, -1, 0},
    [VARIABLE_INTEGER_SETTING] = {"a setting of the solver", AT_BEGIN, BEFORE_RUN, -1, 0},
    [VARIABLE_COUNTER] = {"a counter", "cannot be set", 0, -1, 0},
    [VARIABLE_INDICATOR] = {"an event indicator", "cannot be set", 0, GROUP_DYNAMICS, 0},
    [VARIABLE_CORRECTION] = {"a sum of corrections", "cannot be set", 0, -1, 0},
};

static const Variable *find_settable(Model *model, unsigned reference, bool integer) {
    const Variable *variable = variable_find(model, reference, integer);
    if (variable == NULL) return NULL;
    const Rule *rule = &RULES[variable->kind];
    if (rule->settable & model->run.mode) return variable;
    model_fail(model, "%s (value reference %u) is %s, which %s", variable->name, reference, rule->text, rule->when);
    return NULL;
}

static double *real_of(Model *model, const Variable *variable) {
    if (variable->kind == VARIABLE_REAL_SETTING) return model->run.real_settings + variable->index;
    return model->workspace + variable_offset(variable);
}

bool variable_get_real(Model *model, unsigned reference, double *value) {
    const Variable *variable = variable_find(model, reference, false);
    if (variable == NULL) return false;
    const int needs = RULES[variable->kind].needs;
    if (needs >= 0 && !model_evaluate(model, (Group)needs)) return false;
    *value = *real_of(model, variable);
    return true;
}

bool is_real_setting(double value) { return value > 0.0 && isfinite(value); }

bool variable_set_real(Model *model, unsigned reference, double value) {
    const Variable *variable = find_settable(model, reference, false);
    if (variable == NULL) return false;
    if (!isfinite(value))
        return model_fail(model, "%s is set to %g, expected a finite number", variable->name, value);
    if (variable->kind == VARIABLE_REAL_SETTING && !is_real_setting(value))
        return model_fail(model, "%s is set to %g, expected a number > 0", variable->name, value);
    if (!bounds_hold(model, variable->name, value, variable->bounds)) return false;
    double *current = real_of(model, variable);
    if (value != *current) model_changed(model, RULES[variable->kind].changes);
    *current = value;
    return true;
}

/* Limits a counter to the range of FMI's integers. */
static int32_t clamp(int64_t count) { return count < INT32_MAX ? (int32_t)count : INT32_MAX; }

bool variable_get_integer(Model *model, unsigned reference, int32_t *value) {
    const Variable *variable = variable_find(model, reference, true);
    if (variable == NULL) return false;
    *value = variable->kind == VARIABLE_COUNTER ? clamp(model->run.counters[variable->index])
                                                : model->run.integer_settings[variable->index];
    return true;
}

static const char *const EXPECTED[] = {
    [SETTING_SOLVER_METHOD] = EXPECTED_METHODS,
    [SETTING_SOLVER_MAX_STEPS] = "a number > 0",
    [SETTING_PROJECTION] = "1 (on) or 0 (off)",
    [SETTING_SOLVER_FINDS_START] = "1 (on) or 0 (off)",
};

bool is_integer_setting(IntegerSetting setting, int64_t value) {
    switch (setting) {
    case SETTING_SOLVER_METHOD: return value >= 0 && value < N_METHODS;
    case SETTING_SOLVER_MAX_STEPS: return value > 0 && value <= INT32_MAX;
    default: return value == 0 || value == 1;
    }
}

bool variable_set_integer(Model *model, unsigned reference, int32_t value) {
    const Variable *variable = find_settable(model, reference, true);
    if (variable == NULL) return false;
    if (!is_integer_setting((IntegerSetting)variable->index, value))
        return model_fail(model, "%s is set to %d, expected %s", variable->name, (int)value,
                          EXPECTED[variable->index]);
    if (variable->index == SETTING_SOLVER_FINDS_START) model_changed(model, AFTER_PARAMETERS);
    model->run.integer_settings[variable->index] = value;
    return true;
}
