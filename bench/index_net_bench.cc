// The forward pass of one decision without libtorch: for one job, a usual queue, and a thousand
// jobs. The shape is that of the index network.

#include <benchmark/benchmark.h>

#include <vector>

#include "core/rng.h"
#include "features/encoder.h"
#include "models/index_net.h"

namespace {

void BM_IndexNetForward(benchmark::State& state) {
  const allot::IndexNetShape shape{allot::kJobFeatures, allot::kContextFeatures, 16, 3};
  const auto n = static_cast<std::size_t>(state.range(0));
  const allot::IndexNet net(allot::InitIndexNet(shape, 1));
  allot::Rng rng(1, "bench");
  std::vector<float> jobs(n * allot::kJobFeatures);
  for (float& value : jobs) value = static_cast<float>(rng.Normal());
  std::vector<float> context(allot::kContextFeatures);
  for (float& value : context) value = static_cast<float>(rng.Normal());
  std::vector<float> out(n * 3);
  allot::IndexNet::Scratch scratch;
  for (auto _ : state) {
    net.Forward(jobs, context, out, &scratch);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(n));
}
BENCHMARK(BM_IndexNetForward)->Arg(1)->Arg(50)->Arg(1000);

}  // namespace
