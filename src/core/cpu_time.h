#pragma once
// CPU time of the calling thread, for figures that people read; it plays no part in results.

namespace allot {

double ThreadCpuSeconds();

}  // namespace allot
