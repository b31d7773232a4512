/* Lookup in a piecewise polynomial by bisection. */

#include "lookup.h"

int lookup_piece(int n, int width, const double *pieces, double x) {
    int low = 0, high = n - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (x < pieces[middle * width])
            high = middle - 1;
        else
            low = middle;
    }
    return low;
}
