/* Table of variables: access, names for messages, and bounds. */

#include "table.h"

#include <math.h>
#include <stddef.h>

static bool is_integer(VariableKind kind) { return kind == VARIABLE_INTEGER_SETTING || kind == VARIABLE_COUNTER; }

const Variable *variable_find(Model *model, unsigned reference, bool integer) {
    const char *type = integer ? "an integer" : "a real";
    if (reference >= (unsigned)equations.n_variables) {
        model_fail(model, "there is no variable with value reference %u, expected less than %d", reference,
                   equations.n_variables);
        return NULL;
    }
    const Variable *variable = &equations.variables[reference];
    if (is_integer(variable->kind) == integer) return variable;
    model_fail(model, "%s (value reference %u) is not %s variable", variable->name, reference, type);
    return NULL;
}

int variable_elements(Model *model, unsigned reference, bool integer) {
    const Variable *variable = variable_find(model, reference, integer);
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

const Variable *variable_find_real(Model *model, unsigned reference) { return variable_find(model, reference, false); }

int variable_offset(const Variable *variable) {
    const Blocks *blocks = &equations.blocks;
    switch (variable->kind) {
    case VARIABLE_TIME: return blocks->time;
    case VARIABLE_STATE: return blocks->states + variable->index;
    case VARIABLE_DERIVATIVE: return blocks->derivatives + variable->index;
    case VARIABLE_OUTPUT: return blocks->outputs + variable->index;
    case VARIABLE_INDICATOR: return blocks->indicators + variable->index;
    case VARIABLE_CORRECTION: return blocks->corrections + variable->index;
    case VARIABLE_PARAMETER: return blocks->parameters + variable->index;
    case VARIABLE_CALCULATED: return blocks->calculated + variable->index;
    default: return blocks->inputs + variable->index;
    }
}

bool bounds_hold(Model *model, const char *what, double value, const Bounds *bounds) {
    if (bounds == NULL) return true;
    if (!isfinite(value)) return model_fail(model, "%s is %g, expected a finite number", what, value);
    if (bounds->exclusive && !(value > bounds->low))
        return model_fail(model, "%s is %.15g, expected a number above %.15g", what, value, bounds->low);
    if (value < bounds->low)
        return model_fail(model, "%s is %.15g, expected at least %.15g", what, value, bounds->low);
    if (value > bounds->high)
        return model_fail(model, "%s is %.15g, expected at most %.15g", what, value, bounds->high);
    return true;
}

bool requirements_hold(Model *model) {
    const double *values = model->workspace + equations.blocks.requirements;
    for (int i = 0; i < equations.n_requirements; i++) {
        const Requirement *required = &equations.requirements[i];
        if (!bounds_hold(model, required->message, values[i], &required->bounds)) return false;
    }
    return true;
}
