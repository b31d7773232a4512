/* Access to variables in FMI 3.0 (section 2.2.6): 64-bit floats and 32-bit integers, scalars and arrays. No variables
   of other types and no clocks exist. */

#include "fmi3_instance.h"
#include "table.h"
#include "variables.h"

/* ---- Accessible variables ---------------------------------------------------------------------------------------- */

/* Checks that all variables exist, and that the number of values is that of their elements. */
static bool expect_values(fmi3Instance instance, const fmi3ValueReference references[], size_t n, const void *values,
                          size_t n_values, bool integer) {
    size_t elements = 0;
    if (!expect_array(instance, "valueReferences", references, n) || !expect_array(instance, "values", values, n_values))
        return false;
    for (size_t i = 0; i < n; i++) {
        const int more = variable_elements(instance, references[i], integer);
        if (more == 0 || !expect_accessible(instance, references[i])) return false;
        elements += (size_t)more;
    }
    return elements == n_values || model_fail(instance, "nValues is %lu, expected %lu", (unsigned long)n_values,
                                              (unsigned long)elements);
}

static int elements_of(fmi3ValueReference reference) { return equations.variables[reference].elements; }

/* ---- Floats and integers ---------------------------------------------------------------------------------------- */

fmi3Status fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                          fmi3Float64 values[], size_t nValues) {
    if (!call_allowed(instance, "fmi3GetFloat64", MODES_fmi3Get) ||
        !expect_values(instance, valueReferences, nValueReferences, values, nValues, false))
        return finish(instance, false);
    bool computed = true;
    for (size_t i = 0; i < nValueReferences; i++)
        for (int k = 0; computed && k < elements_of(valueReferences[i]); k++)
            computed = variable_get_real(instance, valueReferences[i] + (unsigned)k, values++);
    return finish_computed(instance, computed);
}

fmi3Status fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                          const fmi3Float64 values[], size_t nValues) {
    bool right = call_allowed(instance, "fmi3SetFloat64", MODES_fmi3Set) &&
                 expect_values(instance, valueReferences, nValueReferences, values, nValues, false);
    for (size_t i = 0; right && i < nValueReferences; i++)
        for (int k = 0; right && k < elements_of(valueReferences[i]); k++)
            right = variable_set_real(instance, valueReferences[i] + (unsigned)k, *values++);
    return finish(instance, right);
}

fmi3Status fmi3GetInt32(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        fmi3Int32 values[], size_t nValues) {
    bool right = call_allowed(instance, "fmi3GetInt32", MODES_fmi3Get) &&
                 expect_values(instance, valueReferences, nValueReferences, values, nValues, true);
    for (size_t i = 0; right && i < nValueReferences; i++)
        right = variable_get_integer(instance, valueReferences[i], &values[i]);
    return finish(instance, right);
}

fmi3Status fmi3SetInt32(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        const fmi3Int32 values[], size_t nValues) {
    bool right = call_allowed(instance, "fmi3SetInt32", MODES_fmi3Set) &&
                 expect_values(instance, valueReferences, nValueReferences, values, nValues, true);
    for (size_t i = 0; right && i < nValueReferences; i++)
        right = variable_set_integer(instance, valueReferences[i], values[i]);
    return finish(instance, right);
}

/* ---- Dependencies (2.2.9) --------------------------------------------------------------------------------------- */

/* Returns the dependency list of a variable, which is empty if it depends on nothing. NULL and a message: the
   variable does not exist, or dependencies are unknown. */
static const int *dependencies_of(Model *model, fmi3ValueReference reference) {
    static const int none[] = {0};
    const bool running = !(model->run.mode & (MODE_INSTANTIATED | MODE_INITIALIZATION));
    const int *const *table = running ? equations.dependencies : equations.start_dependencies;
    if (reference >= (fmi3ValueReference)equations.n_variables || equations.variables[reference].elements == 0) {
        model_fail(model, "there is no variable with value reference %u", (unsigned)reference);
        return NULL;
    }
    if (table != NULL) return table[reference] != NULL ? table[reference] : none;
    model_fail(model, "the dependencies are not known");
    return NULL;
}

fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance instance, fmi3ValueReference valueReference,
                                               size_t *nDependencies) {
    if (!ALLOWED(fmi3GetNumberOfVariableDependencies) || !expect_pointer(instance, "nDependencies", nDependencies))
        return finish(instance, false);
    const int *list = dependencies_of(instance, valueReference);
    if (list != NULL) *nDependencies = (size_t)list[0];
    return finish(instance, list != NULL);
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance instance, fmi3ValueReference dependent,
                                       size_t elementIndicesOfDependent[], fmi3ValueReference independents[],
                                       size_t elementIndicesOfIndependents[], fmi3DependencyKind dependencyKinds[],
                                       size_t nDependencies) {
    const int *list = ALLOWED(fmi3GetVariableDependencies) ? dependencies_of(instance, dependent) : NULL;
    if (list == NULL ||
        !expect_size(instance, "elementIndicesOfDependent", elementIndicesOfDependent, nDependencies, list[0]) ||
        !expect_array(instance, "independents", independents, nDependencies) ||
        !expect_array(instance, "elementIndicesOfIndependents", elementIndicesOfIndependents, nDependencies) ||
        !expect_array(instance, "dependencyKinds", dependencyKinds, nDependencies))
        return finish(instance, false);
    for (size_t i = 0; i < nDependencies; i++) {
        elementIndicesOfDependent[i] = elementIndicesOfIndependents[i] = 0; /* all elements */
        independents[i] = (fmi3ValueReference)list[1 + i];
        dependencyKinds[i] = fmi3Dependent;
    }
    return fmi3OK;
}

/* ---- Types that no variable has --------------------------------------------------------------------------------- */

static fmi3Status no_variables(fmi3Instance instance, const char *function, unsigned modes, size_t n) {
    return finish(instance, call_allowed(instance, function, modes) && expect_none(instance, n));
}

#define NO_VARIABLES(Type)                                                                                             \
    fmi3Status fmi3Get##Type(fmi3Instance instance, const fmi3ValueReference valueReferences[],                        \
                             size_t nValueReferences, fmi3##Type values[], size_t nValues) {                           \
        (void)valueReferences, (void)values, (void)nValues;                                                            \
        return no_variables(instance, "fmi3Get" #Type, MODES_fmi3Get, nValueReferences);                               \
    }                                                                                                                  \
    fmi3Status fmi3Set##Type(fmi3Instance instance, const fmi3ValueReference valueReferences[],                        \
                             size_t nValueReferences, const fmi3##Type values[], size_t nValues) {                     \
        (void)valueReferences, (void)values, (void)nValues;                                                            \
        return no_variables(instance, "fmi3Set" #Type, MODES_fmi3Set, nValueReferences);                               \
    }

NO_VARIABLES(Float32)
NO_VARIABLES(Int8)
NO_VARIABLES(UInt8)
NO_VARIABLES(Int16)
NO_VARIABLES(UInt16)
NO_VARIABLES(UInt32)
NO_VARIABLES(Int64)
NO_VARIABLES(UInt64)
NO_VARIABLES(Boolean)
NO_VARIABLES(String)

fmi3Status fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                         size_t valueSizes[], fmi3Binary values[], size_t nValues) {
    (void)valueReferences, (void)valueSizes, (void)values, (void)nValues;
    return no_variables(instance, "fmi3GetBinary", MODES_fmi3Get, nValueReferences);
}

fmi3Status fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                         const size_t valueSizes[], const fmi3Binary values[], size_t nValues) {
    (void)valueReferences, (void)valueSizes, (void)values, (void)nValues;
    return no_variables(instance, "fmi3SetBinary", MODES_fmi3Set, nValueReferences);
}

/* ---- Clocks (2.2.8.3) ------------------------------------------------------------------------------------------- */

fmi3Status fmi3GetClock(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        fmi3Clock values[]) {
    (void)valueReferences, (void)values;
    return no_variables(instance, "fmi3GetClock", MODE_EVENT, nValueReferences);
}

fmi3Status fmi3SetClock(fmi3Instance instance, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                        const fmi3Clock values[]) {
    (void)valueReferences, (void)values;
    return no_variables(instance, "fmi3SetClock", MODE_EVENT, nValueReferences);
}

enum { CLOCK_TIMES = MODE_INITIALIZATION | MODE_EVENT };

fmi3Status fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                  size_t nValueReferences, fmi3Float64 intervals[],
                                  fmi3IntervalQualifier qualifiers[]) {
    (void)valueReferences, (void)intervals, (void)qualifiers;
    return no_variables(instance, "fmi3GetIntervalDecimal", CLOCK_TIMES, nValueReferences);
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                   size_t nValueReferences, fmi3UInt64 counters[], fmi3UInt64 resolutions[],
                                   fmi3IntervalQualifier qualifiers[]) {
    (void)valueReferences, (void)counters, (void)resolutions, (void)qualifiers;
    return no_variables(instance, "fmi3GetIntervalFraction", CLOCK_TIMES, nValueReferences);
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                               size_t nValueReferences, fmi3Float64 shifts[]) {
    (void)valueReferences, (void)shifts;
    return no_variables(instance, "fmi3GetShiftDecimal", MODE_INITIALIZATION, nValueReferences);
}

fmi3Status fmi3GetShiftFraction(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                size_t nValueReferences, fmi3UInt64 counters[], fmi3UInt64 resolutions[]) {
    (void)valueReferences, (void)counters, (void)resolutions;
    return no_variables(instance, "fmi3GetShiftFraction", MODE_INITIALIZATION, nValueReferences);
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                  size_t nValueReferences, const fmi3Float64 intervals[]) {
    (void)valueReferences, (void)intervals;
    return no_variables(instance, "fmi3SetIntervalDecimal", CLOCK_TIMES, nValueReferences);
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                   size_t nValueReferences, const fmi3UInt64 counters[],
                                   const fmi3UInt64 resolutions[]) {
    (void)valueReferences, (void)counters, (void)resolutions;
    return no_variables(instance, "fmi3SetIntervalFraction", CLOCK_TIMES, nValueReferences);
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                               size_t nValueReferences, const fmi3Float64 shifts[]) {
    (void)valueReferences, (void)shifts;
    return no_variables(instance, "fmi3SetShiftDecimal", MODE_INITIALIZATION, nValueReferences);
}

fmi3Status fmi3SetShiftFraction(fmi3Instance instance, const fmi3ValueReference valueReferences[],
                                size_t nValueReferences, const fmi3UInt64 counters[],
                                const fmi3UInt64 resolutions[]) {
    (void)valueReferences, (void)counters, (void)resolutions;
    return no_variables(instance, "fmi3SetShiftFraction", MODE_INITIALIZATION, nValueReferences);
}
