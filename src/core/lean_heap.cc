#include "core/lean_heap.h"

#include <malloc.h>

namespace allot {

// That a limit is set at all keeps it: else it rises with each large block that is freed.
void KeepHeapLean() {
  constexpr int kLarge = 128 * 1024;
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, kLarge);
  mallopt(M_TRIM_THRESHOLD, kLarge);
}

}  // namespace allot
