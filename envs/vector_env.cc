#include "envs/vector_env.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/check.h"
#include "core/error.h"
#include "core/parallel.h"

namespace allot {
namespace {

// With less work than this a thread costs more than it saves.
constexpr std::int64_t kMinEnvsPerThread = 2;

int TeamSize(std::int64_t count, int threads) {
  const std::int64_t wanted = threads > 0 ? threads : CoreCount();
  return static_cast<int>(std::clamp<std::int64_t>(count / kMinEnvsPerThread, 1, wanted));
}

std::vector<ObservationView> RowsOf(ObservationBuffer* buffer, std::size_t count) {
  std::vector<ObservationView> rows;
  rows.reserve(count);
  for (std::size_t i = 0; i < count; ++i) rows.push_back(buffer->Row(i));
  return rows;
}

bool SameShapes(const EnvSpec& a, const EnvSpec& b) {
  return a.id == b.id && a.action_kind == b.action_kind && a.action.shape == b.action.shape &&
         a.action.high == b.action.high &&
         std::equal(a.observation.begin(), a.observation.end(), b.observation.begin(),
                    b.observation.end(), [](const TensorSpec& x, const TensorSpec& y) {
                      return x.name == y.name && x.dtype == y.dtype && x.shape == y.shape;
                    });
}

std::string_view NameOf(Autoreset mode) {
  constexpr std::string_view kNames[] = {"SameStep", "NextStep", "Disabled"};
  return kNames[static_cast<int>(mode)];
}

}  // namespace

VectorEnv::VectorEnv(std::int64_t count, const Factory& factory, int threads, Autoreset autoreset)
    : autoreset_(autoreset),
      team_(TeamSize(count, threads)),
      shares_(static_cast<std::size_t>(team_.parts())) {
  if (count < 1) throw UsageError("a vector env needs at least 1 environment, got {}", count);
  const auto size = static_cast<std::size_t>(count);
  envs_.reserve(size);
  for (std::int64_t i = 0; i < count; ++i) {
    envs_.push_back(factory(i));
    if (!SameShapes(envs_.back()->spec(), envs_.front()->spec())) {
      throw UsageError(
          "environments of a vector must have equal spaces: environment {} differs from 0", i);
    }
  }
  spec_.single = envs_.front()->spec();
  spec_.num_envs = count;
  spec_.autoreset_mode = NameOf(autoreset);
  over_.resize(size);
  next_seed_.resize(size);
  std::iota(next_seed_.begin(), next_seed_.end(), std::uint64_t{0});
  final_observation_ = ObservationBuffer(spec_.single, size);
  final_views_ = RowsOf(&final_observation_, size);
  rewards_.resize(size);
  terminated_.resize(size);
  truncated_.resize(size);
  final_mask_.resize(size);
  infos_.resize(size);
  final_infos_.resize(size);
  errors_.resize(size);
  AddObservation();
}

std::size_t VectorEnv::AddObservation() {
  RefuseInFlight("more memory for observations");
  const auto size = static_cast<std::size_t>(spec_.num_envs);
  auto buffer = std::make_unique<ObservationBuffer>(spec_.single, size);
  std::vector<ObservationView> rows = RowsOf(buffer.get(), size);
  shown_.push_back({std::move(buffer), std::move(rows)});
  return shown_.size() - 1;
}

void VectorEnv::ShowIn(std::size_t which) {
  RefuseInFlight("step or reset");
  ALLOT_CHECK(which < shown_.size());
  stale_ = stale_ || which != current_;
  current_ = which;
}

template <typename Body>
void VectorEnv::ForEach(const Body& body) {
  ready_ = false;
  const std::size_t count = envs_.size();
  const std::size_t parts = shares_.size();
  for (std::size_t p = 0; p < parts; ++p) {
    shares_[p].next.store(p * count / parts, std::memory_order_relaxed);
    shares_[p].end = (p + 1) * count / parts;
  }
  // Equal shares in a fixed order: each environment stays on the thread that has it in its cache,
  // but for what another thread takes over when it is done with its own.
  team_.Run([&](int part) {
    for (std::size_t k = 0; k < parts; ++k) {
      Share& share = shares_[(static_cast<std::size_t>(part) + k) % parts];
      for (std::size_t i = share.next.fetch_add(1, std::memory_order_relaxed); i < share.end;
           i = share.next.fetch_add(1, std::memory_order_relaxed)) {
        try {
          body(i);
        } catch (...) {
          errors_[i] = std::current_exception();
        }
      }
    }
  });
  std::exception_ptr first;
  for (std::exception_ptr& error : errors_) {
    if (error && !first) first = error;
    error = nullptr;
  }
  if (first) std::rethrow_exception(first);
  ready_ = true;
}

void VectorEnv::ResetOne(std::size_t index) {
  const std::uint64_t seed = next_seed_[index];
  next_seed_[index] = NextEpisodeSeed(seed);
  rewards_[index] = 0;
  terminated_[index] = truncated_[index] = final_mask_[index] = over_[index] = 0;
  infos_[index] = envs_[index]->Reset(seed);
  Observe(index);
}

void VectorEnv::ResetAll() {
  RefuseInFlight("reset");
  ForEach([this](std::size_t i) { ResetOne(i); });
  stale_ = false;
}

void VectorEnv::Reset(std::optional<std::uint64_t> seed) {
  if (seed) std::iota(next_seed_.begin(), next_seed_.end(), *seed);
  ResetAll();
}

void VectorEnv::Reset(std::span<const std::uint64_t> seeds) {
  if (seeds.size() != envs_.size()) {
    throw UsageError("reset needs one seed an environment: expected {}, got {}", envs_.size(),
                     seeds.size());
  }
  std::copy(seeds.begin(), seeds.end(), next_seed_.begin());
  ResetAll();
}

void VectorEnv::Reset(std::span<const std::optional<std::uint64_t>> seeds,
                      std::span<const std::uint8_t> mask) {
  if (seeds.size() != envs_.size() || mask.size() != envs_.size()) {
    throw UsageError(
        "reset needs one seed and one mask an environment: expected {}, got {} seeds and a mask "
        "of {}",
        envs_.size(), seeds.size(), mask.size());
  }
  const bool all = std::all_of(mask.begin(), mask.end(), [](std::uint8_t m) { return m != 0; });
  if (!ready_ && !all) {
    throw UsageError("the first reset of a vector env must be of all its environments");
  }
  RefuseInFlight("reset");
  for (std::size_t i = 0; i < envs_.size(); ++i) {
    if (mask[i] != 0 && seeds[i]) next_seed_[i] = *seeds[i];
  }
  ForEach([&](std::size_t i) {
    if (mask[i] != 0) {
      ResetOne(i);
    } else if (stale_) {
      Observe(i);
    }
  });
  stale_ = false;
}

void VectorEnv::RefuseInFlight(const char* what) const {
  if (queue_ != nullptr && queue_->in_flight() > 0) {
    throw UsageError("{} while {} environments are in flight: receive them first", what,
                     queue_->in_flight());
  }
}

void VectorEnv::StepOne(std::size_t index, std::span<const float> action) {
  Env& env = *envs_[index];
  if (over_[index] != 0) {
    ResetOne(index);
    return;
  }
  const StepResult result = env.Step(action);
  rewards_[index] = result.reward;
  terminated_[index] = result.terminated ? 1 : 0;
  truncated_[index] = result.truncated ? 1 : 0;
  final_mask_[index] = result.terminated || result.truncated ? 1 : 0;
  over_[index] = final_mask_[index];
  if (final_mask_[index] == 0 || autoreset_ != Autoreset::kSameStep) {
    infos_[index] = result.info;
    Observe(index);
    return;
  }
  final_infos_[index] = result.info;
  env.Observe(final_views_[index]);
  ResetOne(index);
  rewards_[index] = result.reward;  // of the episode that ended
  terminated_[index] = result.terminated ? 1 : 0;
  truncated_[index] = result.truncated ? 1 : 0;
  final_mask_[index] = 1;
}

void VectorEnv::RefuseOver(std::size_t index) const {
  if (autoreset_ == Autoreset::kDisabled && over_[index] != 0) {
    throw UsageError("the episode of environment {} is over: reset it with a mask first", index);
  }
}

void VectorEnv::Step(std::span<const float> actions) {
  if (!ready_)
    throw UsageError(
        "step of a vector env that is not reset, or whose last step failed: call reset first");
  const auto width = static_cast<std::size_t>(spec_.single.action.elements());
  if (actions.size() != envs_.size() * width) {
    throw UsageError("a step of {} environments takes {} numbers ({} each), got {}", envs_.size(),
                     envs_.size() * width, width, actions.size());
  }
  RefuseInFlight("step");
  for (std::size_t i = 0; i < envs_.size(); ++i) RefuseOver(i);
  ForEach([&](std::size_t i) { StepOne(i, actions.subspan(i * width, width)); });
  stale_ = false;
}

void VectorEnv::Send(std::span<const float> actions, std::span<const std::int64_t> environments) {
  if (!ready_) throw UsageError("send to a vector env that is not reset: call reset first");
  const auto width = static_cast<std::size_t>(spec_.single.action.elements());
  if (actions.size() != environments.size() * width) {
    throw UsageError("sending to {} environments takes {} numbers ({} each), got {}",
                     environments.size(), environments.size() * width, width, actions.size());
  }
  if (queue_ == nullptr) {
    sent_.resize(envs_.size() * width);
    queue_ = std::make_unique<StepQueue>(envs_.size(), team_.parts(), [this, width](std::size_t i) {
      StepOne(i, std::span<const float>(sent_).subspan(i * width, width));
    });
  }
  for (const std::int64_t i : environments) {
    if (i < 0 || i >= spec_.num_envs) {
      throw UsageError("environments are numbered 0..{}, got {}", spec_.num_envs - 1, i);
    }
    RefuseOver(static_cast<std::size_t>(i));
  }
  queue_->RequireIdle(environments);
  for (std::size_t i = 0; stale_ && i < envs_.size(); ++i) Observe(i);  // none is in flight
  stale_ = false;
  for (std::size_t k = 0; k < environments.size(); ++k) {
    std::copy_n(actions.begin() + static_cast<std::ptrdiff_t>(k * width), width,
                sent_.begin() + environments[k] * static_cast<std::ptrdiff_t>(width));
  }
  queue_->Push(environments);
}

const Env& VectorEnv::At(std::int64_t index) const {
  if (!ready_) throw UsageError("the vector env is not reset: call reset first");
  if (index < 0 || index >= spec_.num_envs) {
    throw UsageError("environments are numbered 0..{}, got {}", spec_.num_envs - 1, index);
  }
  RefuseInFlight("looking at an environment");
  return env(index);
}

void VectorEnv::Settle() {
  while (queue_ != nullptr && queue_->in_flight() > 0) {
    try {
      queue_->Pop(1);
    } catch (const std::exception&) {  // nobody asks for it any more
      continue;
    }
  }
}

std::vector<std::int64_t> VectorEnv::Receive(std::int64_t count) {
  if (queue_ == nullptr) throw UsageError("receive before the first send");
  return queue_->Pop(count);
}

}  // namespace allot
