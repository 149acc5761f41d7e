#pragma once
// Lists and arrays of whole numbers that Python gives.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

namespace allot {

using WholeNumbers = nanobind::ndarray<const std::int64_t, nanobind::ndim<1>, nanobind::c_contig,
                                       nanobind::device::cpu>;

// Of a list or an array of one dimension; fractions are not cut off. UsageError naming `what`, the
// dtype and the dimensions.
WholeNumbers WholeNumbersOf(nanobind::handle given, const char* what);

}  // namespace allot
