#pragma once
// A catalogue of made-up speedups, for worlds that are to be elastic without measured profiles:
// rate(n) = n^p, times c beyond a node's eight GPUs, with p and c evenly spread over [0.6, 0.98]
// and [0.7, 1]. Profiles "power:P:C", rates in one-GPU seconds per second. Used through the setting
// 'trace' (speedups=power).

#include "perf/catalogue.h"

namespace allot {

const Catalogue& PowerLawCatalogue();

}  // namespace allot
