#include "elastic/torch/allot_elastic.h"

#include <chrono>
#include <exception>
#include <string>
#include <vector>

#include "elastic/torch/elastic_worker.h"

struct allot_elastic_worker {
  explicit allot_elastic_worker(const allot::WorkerEnvironment& environment,
                                const allot::ElasticOptions& options)
      : worker(environment, options) {}
  allot::ElasticWorker worker;
  bool says_done = false;
  bool done = false;
};

namespace {

thread_local std::string last_error;

std::chrono::milliseconds Milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

std::vector<allot::StateBlock> State(const allot_elastic_block* blocks, std::size_t count) {
  std::vector<allot::StateBlock> state;
  for (std::size_t i = 0; i < count; ++i) state.push_back({blocks[i].data, blocks[i].bytes});
  return state;
}

// Keeps exceptions within the library.
template <typename Function>
int Guarded(const Function& function) {
  try {
    return function();
  } catch (const std::exception& error) {
    last_error = error.what();
    return -1;
  }
}

}  // namespace

extern "C" {

int allot_elastic_version(void) { return ALLOT_ELASTIC_VERSION; }

const char* allot_elastic_error(void) { return last_error.c_str(); }

allot_elastic_worker* allot_elastic_open(double total_work, double save_seconds,
                                         double peer_seconds) {
  allot_elastic_worker* opened = nullptr;
  Guarded([&] {
    allot::ElasticOptions options;
    if (total_work >= 0) options.total_work = total_work;
    if (save_seconds >= 0) options.save_every = Milliseconds(save_seconds);
    if (peer_seconds >= 0) options.peer_timeout = Milliseconds(peer_seconds);
    const auto environment = allot::WorkerEnvironment::OfThisProcess();
    opened = new allot_elastic_worker(environment, options);
    return 0;
  });
  return opened;
}

void allot_elastic_close(allot_elastic_worker* worker) { delete worker; }

int allot_elastic_adapt(allot_elastic_worker* worker, const allot_elastic_range* range,
                        const char* rule) {
  return Guarded([&] {
    worker->worker.AdaptBatch({{range->initial, range->most, range->least_local, range->most_local},
                               allot::ParseLearningRateRule(rule)});
    return 0;
  });
}

int allot_elastic_current_batch(const allot_elastic_worker* worker, allot_elastic_batch* batch) {
  const allot::WorkerBatch& now = worker->worker.batch();
  *batch = {now.local, now.passes(), worker->worker.rate_factor()};
  return 0;
}

int allot_elastic_accumulate(allot_elastic_worker* worker, const float* gradient, size_t size,
                             double loss, double samples) {
  return Guarded([&] {
    worker->worker.Accumulate({gradient, size}, {.loss = loss, .samples = samples});
    return 0;
  });
}

int allot_elastic_say_done(allot_elastic_worker* worker) {
  worker->says_done = true;
  return 0;
}

int allot_elastic_done(const allot_elastic_worker* worker) { return worker->done ? 1 : 0; }

double allot_elastic_work(const allot_elastic_worker* worker) { return worker->worker.work(); }

int allot_elastic_join(allot_elastic_worker* worker, const allot_elastic_block* state,
                       size_t blocks, int64_t* step) {
  return Guarded([&] { return worker->worker.Join(State(state, blocks), step) ? 1 : 0; });
}

int allot_elastic_rank(const allot_elastic_worker* worker) { return worker->worker.rank(); }

int allot_elastic_world_size(const allot_elastic_worker* worker) {
  return worker->worker.world_size();
}

int allot_elastic_reduce(allot_elastic_worker* worker, float* gradient, size_t size, double loss,
                         double samples, allot_elastic_turn* turn) {
  return Guarded([&] {
    const allot::Turn now = worker->worker.Reduce(
        {gradient, size}, {.loss = loss, .samples = samples, .done = worker->says_done});
    worker->done = now.done;
    *turn = {now.apply ? 1 : 0, now.regroup ? 1 : 0, now.loss};
    return 0;
  });
}

int allot_elastic_save_due(const allot_elastic_worker* worker) {
  return worker->worker.save_due() ? 1 : 0;
}

int allot_elastic_after_step(allot_elastic_worker* worker, int64_t step,
                             const allot_elastic_block* state, size_t blocks) {
  return Guarded([&] {
    worker->worker.AfterStep(step, State(state, blocks));
    return 0;
  });
}

int allot_elastic_finish(allot_elastic_worker* worker, int64_t step,
                         const allot_elastic_block* state, size_t blocks) {
  return Guarded([&] { return worker->worker.Finish(step, State(state, blocks)); });
}

}  // extern "C"
