/* The variable table: access by value reference. */

#include "integrator.h"

#include <math.h>
#include <stddef.h>

enum { BEFORE_RUN = MODE_INSTANTIATED | MODE_INITIALIZATION };
enum { ANY_TIME = BEFORE_RUN | MODE_EVENT | MODE_CONTINUOUS_TIME | MODE_STEP | MODE_INTERMEDIATE_UPDATE };

/* What holds for each kind of variable. */
typedef struct {
    const char *text;
    bool integer;
    uint32_t settable; /* modes */
    int needs;         /* last group to evaluate before it is read; -1: none */
    uint32_t changes;  /* groups that depend on it */
} Rule;

static const Rule RULES[] = {
    [VARIABLE_TIME] = {"the time", false, 0, -1, 0},
    [VARIABLE_STATE] = {"a state", false, 0, GROUP_PREPARE, 0},
    [VARIABLE_DERIVATIVE] = {"a derivative", false, 0, GROUP_DYNAMICS, 0},
    [VARIABLE_OUTPUT] = {"an output", false, 0, GROUP_OUTPUTS, 0},
    [VARIABLE_PARAMETER] = {"a parameter", false, BEFORE_RUN, -1, AFTER_PARAMETERS},
    [VARIABLE_INPUT] = {"an input", false, ANY_TIME, -1, AFTER_POINT},
    [VARIABLE_REAL_SETTING] = {"a setting of the solver", false, BEFORE_RUN, -1, 0},
    [VARIABLE_INTEGER_SETTING] = {"a setting of the solver", true, BEFORE_RUN, -1, 0},
    [VARIABLE_COUNTER] = {"a counter", true, 0, -1, 0},
    [VARIABLE_CORRECTION] = {"a sum of corrections", false, 0, -1, 0},
};

static const Variable *find(Model *model, unsigned reference, bool integer) {
    const char *type = integer ? "an integer" : "a real";
    if (reference >= (unsigned)equations.n_variables) {
        model_fail(model, "there is no variable with value reference %u, expected less than %d", reference,
                   equations.n_variables);
        return NULL;
    }
    const Variable *variable = &equations.variables[reference];
    if (RULES[variable->kind].integer == integer) return variable;
    model_fail(model, "%s (value reference %u) is not %s variable", variable->name, reference, type);
    return NULL;
}

static const Variable *find_settable(Model *model, unsigned reference, bool integer) {
    const Variable *variable = find(model, reference, integer);
    if (variable == NULL) return NULL;
    const Rule *rule = &RULES[variable->kind];
    if (rule->settable & model->run.mode) return variable;
    model_fail(model, "%s (value reference %u) is %s, which %s", variable->name, reference, rule->text,
               rule->settable ? "can only be set before the end of the initialization" : "cannot be set");
    return NULL;
}

int variable_elements(Model *model, unsigned reference, bool integer) {
    const Variable *variable = find(model, reference, integer);
    if (variable == NULL) return 0;
    if (variable->elements == 0)
        model_fail(model, "%s is an element of an array, expected the value reference of its first one, not %u",
                   variable->name, reference);
    return variable->elements;
}

const char *variable_name(VariableKind kind, int index) {
    for (int i = 0; i < equations.n_variables; i++) {
        const Variable *variable = &equations.variables[i];
        if (variable->kind == kind && variable->index == index) return variable->name;
    }
    return "a variable without a name";
}

const Variable *variable_find_real(Model *model, unsigned reference) { return find(model, reference, false); }

int variable_offset(const Variable *variable) {
    const Blocks *blocks = &equations.blocks;
    switch (variable->kind) {
    case VARIABLE_TIME: return blocks->time;
    case VARIABLE_STATE: return blocks->states + variable->index;
    case VARIABLE_DERIVATIVE: return blocks->derivatives + variable->index;
    case VARIABLE_OUTPUT: return blocks->outputs + variable->index;
    case VARIABLE_CORRECTION: return blocks->corrections + variable->index;
    case VARIABLE_PARAMETER: return blocks->parameters + variable->index;
    default: return blocks->inputs + variable->index;
    }
}

static double *real_of(Model *model, const Variable *variable) {
    if (variable->kind == VARIABLE_REAL_SETTING) return model->run.real_settings + variable->index;
    return model->workspace + variable_offset(variable);
}

bool variable_get_real(Model *model, unsigned reference, double *value) {
    const Variable *variable = find(model, reference, false);
    if (variable == NULL) return false;
    const int needs = RULES[variable->kind].needs;
    if (needs >= 0 && !model_evaluate(model, (Group)needs)) return false;
    *value = *real_of(model, variable);
    return true;
}

bool variable_set_real(Model *model, unsigned reference, double value) {
    const Variable *variable = find_settable(model, reference, false);
    if (variable == NULL) return false;
    if (!isfinite(value))
        return model_fail(model, "%s is set to %g, expected a finite number", variable->name, value);
    if (variable->kind == VARIABLE_REAL_SETTING && value <= 0.0)
        return model_fail(model, "%s is set to %g, expected a number > 0", variable->name, value);
    double *current = real_of(model, variable);
    if (value != *current) model_changed(model, RULES[variable->kind].changes);
    *current = value;
    return true;
}

/* Counts beyond the range of the standard's integers stay at its end. */
static int32_t clamp(int64_t count) { return count < INT32_MAX ? (int32_t)count : INT32_MAX; }

bool variable_get_integer(Model *model, unsigned reference, int32_t *value) {
    const Variable *variable = find(model, reference, true);
    if (variable == NULL) return false;
    *value = variable->kind == VARIABLE_COUNTER ? clamp(model->run.counters[variable->index])
                                                : model->run.integer_settings[variable->index];
    return true;
}

bool variable_set_integer(Model *model, unsigned reference, int32_t value) {
    const Variable *variable = find_settable(model, reference, true);
    if (variable == NULL) return false;
    if (variable->index == SETTING_METHOD && value != METHOD_AUTOMATIC && find_integrator(value) == NULL)
        return model_fail(model, "%s is set to %d, expected 0 (automatic), 1 (%s), 2 (%s) or 3 (%s)",
                          variable->name, (int)value, find_integrator(1)->name, find_integrator(2)->name,
                          find_integrator(3)->name);
    if (variable->index == SETTING_MAX_STEPS && value <= 0)
        return model_fail(model, "%s is set to %d, expected a number > 0", variable->name, (int)value);
    if (variable->index == SETTING_PROJECTION && value != 0 && value != 1)
        return model_fail(model, "%s is set to %d, expected 1 (on) or 0 (off)", variable->name, (int)value);
    model->run.integer_settings[variable->index] = value;
    return true;
}
