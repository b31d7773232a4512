/* FMU state in FMI 3.0: get, set and serialise (section 2.2.7); partial derivatives (section 2.2.11). */

#include "derivatives.h"
#include "fmi3_instance.h"
#include "snapshot.h"
#include "table.h"

#include <stdlib.h>

/* ---- FMU state ------------------------------------------------------------------------------------------------- */

fmi3Status fmi3GetFMUState(fmi3Instance instance, fmi3FMUState *FMUState) {
    return finish(instance, ALLOWED(fmi3GetFMUState) && snapshot_get(instance, FMUState));
}

fmi3Status fmi3SetFMUState(fmi3Instance instance, fmi3FMUState FMUState) {
    return finish(instance, ALLOWED(fmi3SetFMUState) && snapshot_set(instance, FMUState));
}

fmi3Status fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState *FMUState) {
    if (!ALLOWED(fmi3FreeFMUState)) return finish(instance, false);
    if (FMUState == NULL) return fmi3OK;
    free(*FMUState);
    *FMUState = NULL;
    return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState FMUState, size_t *size) {
    if (!ALLOWED(fmi3SerializedFMUStateSize) || !expect_pointer(instance, "FMUState", FMUState) ||
        !expect_pointer(instance, "size", size))
        return finish(instance, false);
    *size = snapshot_size();
    return fmi3OK;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState FMUState, fmi3Byte serializedState[],
                                 size_t size) {
    return finish(instance,
                  ALLOWED(fmi3SerializeFMUState) && snapshot_write(instance, FMUState, serializedState, size));
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte serializedState[], size_t size,
                                   fmi3FMUState *FMUState) {
    return finish(instance,
                  ALLOWED(fmi3DeserializeFMUState) && snapshot_read(instance, serializedState, size, FMUState));
}

/* ---- Partial derivatives ---------------------------------------------------------------------------------------- */

/* Value references of scalars and of all elements of arrays. */
typedef struct {
    unsigned *references; /* NULL: invalid references, or not enough memory */
    size_t n;
} Scalars;

static size_t count_elements(fmi3Instance instance, const fmi3ValueReference references[], size_t n) {
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const int elements = variable_elements(instance, references[i], false);
        if (elements == 0) return 0;
        sum += (size_t)elements;
    }
    return sum;
}

/* Expands value references of arrays to those of their elements. `name` is the name of the argument with the values,
   which must have one value per element. The caller frees the references. */
static bool flatten(fmi3Instance instance, const fmi3ValueReference references[], size_t n, const char *name,
                    const void *values, size_t n_values, Scalars *scalars) {
    *scalars = (Scalars){NULL, 0};
    if (!expect_array(instance, "valueReferences", references, n)) return false;
    const size_t elements = count_elements(instance, references, n);
    if (n > 0 && elements == 0) return false;
    if (!expect_size(instance, name, values, n_values, (int)elements)) return false;
    scalars->references = malloc((elements + 1) * sizeof *scalars->references);
    if (scalars->references == NULL) return model_fail(instance, "there is no memory for the value references");
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < equations.variables[references[i]].elements; k++)
            scalars->references[scalars->n++] = references[i] + (unsigned)k;
    return true;
}

typedef bool Derivative(Model *model, const unsigned *unknowns, size_t n_unknowns, const unsigned *knowns,
                        size_t n_knowns, const double *seed, double *sensitivity);

/* Two sides of a derivative: variables of the seeds and of the sensitivities. */
typedef struct {
    Scalars unknowns, knowns;
} Sides;

static fmi3Status derive(fmi3Instance instance, bool flattened, Derivative *derivative, const Sides *sides,
                         const fmi3Float64 seed[], fmi3Float64 sensitivity[]) {
    const bool right = flattened && model_expect_derivatives(instance, sides->unknowns.references, sides->unknowns.n,
                                                             sides->knowns.references, sides->knowns.n);
    const bool computed = right && derivative(instance, sides->unknowns.references, sides->unknowns.n,
                                              sides->knowns.references, sides->knowns.n, seed, sensitivity);
    free(sides->unknowns.references);
    free(sides->knowns.references);
    return right ? finish_computed(instance, computed) : finish(instance, false);
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t nUnknowns,
                                        const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[],
                                        size_t nSeed, fmi3Float64 sensitivity[], size_t nSensitivity) {
    Sides sides = {{NULL, 0}, {NULL, 0}};
    const bool flattened =
        ALLOWED(fmi3GetDirectionalDerivative) &&
        flatten(instance, unknowns, nUnknowns, "sensitivity", sensitivity, nSensitivity, &sides.unknowns) &&
        flatten(instance, knowns, nKnowns, "seed", seed, nSeed, &sides.knowns);
    return derive(instance, flattened, model_directional_derivative, &sides, seed, sensitivity);
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t nUnknowns,
                                    const fmi3ValueReference knowns[], size_t nKnowns, const fmi3Float64 seed[],
                                    size_t nSeed, fmi3Float64 sensitivity[], size_t nSensitivity) {
    Sides sides = {{NULL, 0}, {NULL, 0}};
    const bool flattened =
        ALLOWED(fmi3GetAdjointDerivative) &&
        flatten(instance, unknowns, nUnknowns, "seed", seed, nSeed, &sides.unknowns) &&
        flatten(instance, knowns, nKnowns, "sensitivity", sensitivity, nSensitivity, &sides.knowns);
    return derive(instance, flattened, model_adjoint_derivative, &sides, seed, sensitivity);
}
