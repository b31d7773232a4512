/* Taylor polynomials of the inputs about the begin of a communication step, or inputs from the importer's callback. */

#include "inputs.h"

#include "table.h"

#include <math.h>
#include <string.h>

static const double NEARBY = 1e-6; /* step of a difference quotient relative to the remaining communication step, as
                                      accurate as rounding permits */

static double *derivatives_of(Model *model, int order) {
    return model->workspace + equations.blocks.input_derivatives + (order - 1) * equations.n_inputs;
}

bool model_set_input_derivative(Model *model, unsigned reference, int order, double value) {
    const Variable *variable = variable_find_real(model, reference);
    if (variable == NULL) return false;
    if (variable->kind != VARIABLE_INPUT)
        return model_fail(model, "%s (value reference %u) is not an input", variable->name, reference);
    if (!model->co_simulation)
        return model_fail(model, "inputs have derivatives in co-simulation only; %s is given one", variable->name);
    if (order < 1 || order > INPUT_ORDERS)
        return model_fail(model, "the order of a derivative of %s is %d, expected 1 to %d", variable->name, order,
                          INPUT_ORDERS);
    if (!isfinite(value))
        return model_fail(model, "the derivative of order %d of %s is set to %g, expected a finite number", order,
                          variable->name, value);
    derivatives_of(model, order)[variable->index] = value;
    return true;
}

void inputs_begin_step(Model *model) {
    const double *derivatives = derivatives_of(model, 1);
    model->inputs_move = false;
    for (int i = 0; i < INPUT_ORDERS * equations.n_inputs; i++) model->inputs_move |= derivatives[i] != 0.0;
    model->inputs_origin = model_time(model);
    for (int i = 0; i < equations.n_inputs; i++)
        model->inputs_begin[i] = model->workspace[equations.blocks.inputs + i];
}

/* Evaluates a polynomial by Horner's rule: lowest = 0 for the value, 1 for the time derivative. */
static double polynomial(Model *model, int input, int lowest, double time) {
    double sum = 0.0;
    for (int order = INPUT_ORDERS; order > lowest; order--)
        sum = (derivatives_of(model, order)[input] + sum) * time / (order - lowest);
    return sum + (lowest > 0 ? derivatives_of(model, lowest)[input] : model->inputs_begin[input]);
}

void inputs_follow(Model *model, double time) {
    if (model->inputs_wanted != NULL) model->inputs_wanted(model, time);
    if (!model->inputs_move) return;
    for (int i = 0; i < equations.n_inputs; i++)
        model->workspace[equations.blocks.inputs + i] = polynomial(model, i, 0, time - model->inputs_origin);
}

bool inputs_are_moving(const Model *model) { return model->inputs_move || model->inputs_wanted != NULL; }

void inputs_end_step(Model *model, bool done) {
    model->inputs_move = false;
    model->inputs_wanted = NULL;
    if (done) memset(derivatives_of(model, 1), 0, INPUT_ORDERS * (size_t)equations.n_inputs * sizeof(double));
}

/* Computes the time derivatives of inputs from the callback by difference quotients. */
static void difference(Model *model, double time) {
    double *inputs = model->workspace + equations.blocks.inputs, *rates = model->inputs_rates;
    const double later = time + NEARBY * (model->end - time);
    if (!(later > time)) return;
    for (int i = 0; i < equations.n_inputs; i++) rates[i] = inputs[i];
    model->inputs_wanted(model, later);
    for (int i = 0; i < equations.n_inputs; i++) {
        const double present = rates[i];
        rates[i] = (inputs[i] - present) / (later - time);
        inputs[i] = present;
    }
    model_changed(model, AFTER_POINT);
}

const double *inputs_rates(Model *model) {
    const double time = model_time(model);
    for (int i = 0; i < equations.n_inputs; i++)
        model->inputs_rates[i] = model->inputs_move ? polynomial(model, i, 1, time - model->inputs_origin) : 0.0;
    if (model->inputs_wanted != NULL) difference(model, time);
    return model->inputs_rates;
}
