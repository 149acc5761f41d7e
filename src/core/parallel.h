#pragma once
// Deterministic parallel loops: which index runs on which thread never influences a result, because
// every index writes only its own slot.

#include <cstddef>
#include <functional>

namespace allot {

// Runs body(i) for i in [0, count) on up to `threads` threads (<= 0: all cores), in dynamic order.
// The first exception is rethrown after all threads stopped. threads == 1 or count == 1 runs
// inline.
void ParallelFor(std::size_t count, int threads, const std::function<void(std::size_t)>& body);

int CoreCount();

}  // namespace allot
