/* The table of variables, and names for messages. */

#include "table.h"

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
    case VARIABLE_CORRECTION: return blocks->corrections + variable->index;
    case VARIABLE_PARAMETER: return blocks->parameters + variable->index;
    default: return blocks->inputs + variable->index;
    }
}
