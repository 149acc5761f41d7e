#pragma once
// Process-wide settings under which libtorch's numbers are reproducible.

namespace allot {

// Call once, before the first tensor and before threads start: one thread inside each torch and
// BLAS call. Our parallelism is over rollouts and batches; nested threads would compete with it,
// and a sum split over threads would depend on how many there are.
void ConfigureTorch();

}  // namespace allot
