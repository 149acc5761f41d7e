#include "elastic/torch/elastic_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "elastic/gradient_noise.h"
#include "elastic/job_folder.h"
#include "elastic/member.h"
#include "elastic/profile_folder.h"
#include "elastic/torch/group.h"
#include "elastic/torch/state_sharing.h"
#include "elastic/training_meter.h"

namespace allot {
namespace {

// Values behind the gradient in a reduction, summed over the members.
enum Slot : std::size_t {
  kLoss,
  kSamples,
  kSquaredNorm,
  kPassSeconds,
  kLaterEpoch,
  kStop,
  kSave,
  kDone,
  kNextLocal,  // set by rank 0 alone: the batch from the next step on
  kNextAccumulation,
  kSlots
};

constexpr Seconds kSaveUnadvised = 60;

struct Position {
  std::int64_t step = 0;
  double work = 0;
};

// What rank 0 sends beside the state; a checkpoint has only the position.
struct Shared {
  Position position;
  std::int64_t batch = 0;
  NoiseAverages noise;
};

Seconds Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

struct ElasticWorker::Impl {
  Impl(const WorkerEnvironment& environment, const ElasticOptions& given)
      : options(given),
        folder(OpenRunFolder(environment.run_dir)),
        place(environment),
        member(environment, [this](const std::string& host) { return place.Open(host); }) {}

  const ElasticOptions options;
  const OwnedFolder folder;
  MeetingPlace place;
  Member member;
  Epoch epoch;
  std::optional<Group> group;
  TrainingMeter meter;
  GradientNoise noise;
  std::optional<BatchOptions> adapt;
  std::optional<ProfileFolder> profile;
  std::int64_t total = 0;     // last chosen batch of all workers; 0: not yet
  WorkerBatch batch;          // the present step
  WorkerBatch reduced;        // the step that was reduced last
  double rate_factor = 1;     // that of `reduced`
  std::vector<float> passes;  // sum of the passes before the last; empty: none
  int passed = 0;             // passes of the step, with their sums
  LocalStep sums;
  double squared_norms = 0;
  Seconds pass_began = 0;
  Seconds pass_seconds = 0;
  Seconds step_began = 0;
  std::vector<float> flat;
  double loss = kUnknown;
  int last_rank = -1;  // in the last epoch that was reached; -1: this worker has no state yet
  bool torn = false;   // the state is half received: the sender was lost
  bool save = false;   // a checkpoint is due after the present step
  Seconds saved_at = 0;

  const WorkerEnvironment& environment() const { return member.environment(); }

  // Our own values travel with the state as one more block.
  template <typename Ours>
  static std::vector<StateBlock> With(Ours* ours, std::span<const StateBlock> state) {
    std::vector<StateBlock> blocks{{ours, sizeof *ours}};
    blocks.insert(blocks.end(), state.begin(), state.end());
    return blocks;
  }

  void Save(std::int64_t step, std::span<const StateBlock> state) {
    const Seconds begin = Now();
    Position position{step, meter.work()};
    SaveCheckpoint(folder, step, With(&position, state));
    saved_at = Now();
    member.Saved(step, position.work, saved_at - begin);
    save = false;
  }

  Seconds SaveEvery() const {
    if (options.save_every) return std::chrono::duration<double>(*options.save_every).count();
    return member.checkpoint_every().value_or(kSaveUnadvised);
  }

  void Restore(std::int64_t* step, std::span<const StateBlock> state) {
    Position position;
    if (!LoadCheckpoint(folder, With(&position, state))) {
      // The worker that replaces this one starts from the beginning.
      if (torn) throw RunError("the state came in part only, and there is no checkpoint");
      return;
    }
    torn = false;
    *step = position.step;
    meter.SetWork(position.work);
  }

  // Reports to the daemon and to the job's output.
  void ReportBroken(const char* why) {
    fmt::print(stderr, "allot: the group of epoch {} is broken: {}\n", epoch.number, why);
    member.Broken(epoch.number);
  }

  // Sends rank 0's position, batch and noise to all members, and its state to those that lack it.
  void Share(std::int64_t* step, std::span<const StateBlock> state) {
    if (group->size() == 1) return;
    Shared shared{{*step, meter.work()}, total, noise.averages()};
    const std::uint64_t own = SizeOf(state);
    std::uint64_t bytes = own;
    const StateBlock size{&bytes, sizeof bytes};
    BroadcastBlocks(*group, With(&shared, {&size, 1}));
    if (bytes != own) {
      throw RunError("workers must have states of one size: rank 0 has {} bytes, {} has {}", bytes,
                     environment().worker, own);
    }
    // Members with equal steps have equal states. A member that is a step behind, because a peer
    // was lost, keeps its state until the new one is complete.
    const bool lacks = group->rank() > 0 && (last_rank < 0 || shared.position.step != *step);
    const std::vector<int> ranks = RanksThatPassState(*group, lacks);
    torn = lacks && last_rank < 0;  // until everything is received
    PassState(*group, ranks, lacks && !torn, state);
    torn = false;
    if (group->rank() == 0) return;
    *step = shared.position.step;
    meter.SetWork(shared.position.work);
    noise.Restore(shared.noise);
    total = shared.batch;
  }

  // Splits the unchanged total batch over the new members, and starts the clock.
  void BeginEpoch() {
    meter.BeginEpoch(Now());
    ClearPasses();
    if (adapt) {
      if (total == 0) total = adapt->range.initial;
      if (profile && profile->batch() > 0) total = profile->batch();
      batch = SplitOver(adapt->range, group->size(), total);
    }
    step_began = pass_began = Now();
  }

  // Exchanges the members' nodes.
  void ShareNodes() {
    if (!profile) return;
    constexpr std::size_t kExact = 1 << 24;  // floats are exact up to here
    const char* node = std::getenv("ALLOT_NODE");
    std::vector<float> nodes(static_cast<std::size_t>(group->size()), 0);
    nodes[static_cast<std::size_t>(group->rank())] =
        static_cast<float>(std::hash<std::string>{}(node == nullptr ? "" : node) % kExact);
    group->Sum(&nodes);
    profile->BeginEpoch(nodes);
  }

  void ClearPasses() {
    passes.clear();
    passed = 0;
    sums = {};
    squared_norms = 0;
    pass_seconds = 0;
  }

  void EndPass(std::span<const float> gradient, const LocalStep& local) {
    ++passed;
    sums.loss += local.loss;
    sums.samples += local.samples;
    squared_norms += SquaredNorm(gradient);
    const Seconds now = Now();
    pass_seconds += now - pass_began;
    pass_began = now;
  }

  // The daemon's choice if it is for this group; else the present batch.
  WorkerBatch NextBatch() const {
    if (profile && profile->batch() > 0) return batch;
    const WorkerBatch wanted = member.batch_wanted();
    const bool ours = wanted.workers == group->size() && Feasible(adapt->range, wanted);
    return ours ? wanted : batch;
  }

  // Counts a step of `samples` in `parts` gradients with the sum of squared norms `squares`.
  void CountStep(double samples, int parts, double squares, std::span<const float> average) {
    double worth = samples;
    if (adapt) {
      const auto initial = static_cast<double>(adapt->range.initial);
      if (parts > 1) {
        noise.Add(parts, samples / parts, squares / parts, SquaredNorm(average));
      } else {
        noise.AddAlone(average, samples);
      }
      rate_factor = LearningRateFactor(adapt->rule, noise.scale(), initial, samples);
      worth = GainOf(noise.scale(), initial, samples) * initial;
      if (profile && group->rank() == 0) {
        profile->AddStep(adapt->range, batch.total(), worth, meter.work() + worth,
                         options.total_work, noise);
      }
    } else {
      noise.Add(parts, samples / parts, squares / parts, SquaredNorm(average));
    }
    meter.AddStep(Now(), worth);
  }
};

ElasticWorker::ElasticWorker(const WorkerEnvironment& environment, const ElasticOptions& options)
    : impl_(std::make_unique<Impl>(environment, options)) {
  Member::StopOnSigterm();
}

ElasticWorker::~ElasticWorker() = default;

int ElasticWorker::rank() const { return impl_->group ? impl_->group->rank() : -1; }
int ElasticWorker::world_size() const { return impl_->group ? impl_->group->size() : 0; }
const WorkerBatch& ElasticWorker::batch() const { return impl_->batch; }
double ElasticWorker::rate_factor() const { return impl_->rate_factor; }
double ElasticWorker::work() const { return impl_->meter.work(); }
bool ElasticWorker::save_due() const { return impl_->save && impl_->last_rank == 0; }

void ElasticWorker::AdaptBatch(const BatchOptions& options) {
  options.range.Check();
  impl_->adapt = options;
  impl_->profile = ProfileFolder::FromEnvironment();
}

void ElasticWorker::Accumulate(std::span<const float> gradient, const LocalStep& local) {
  Impl& my = *impl_;
  my.EndPass(gradient, local);
  my.passes.resize(gradient.size(), 0);
  for (std::size_t i = 0; i < gradient.size(); ++i) my.passes[i] += gradient[i];
}

bool ElasticWorker::Join(std::span<const StateBlock> state, std::int64_t* step) {
  Impl& my = *impl_;
  my.group.reset();
  for (;;) {
    const std::optional<Epoch> next = my.member.WaitForLater(my.epoch.number);
    if (const std::optional<std::string> refusal = my.member.refusal()) {
      throw RunError("worker {}: the daemon refuses it: {}", my.environment().worker, *refusal);
    }
    if (!next) {
      if (my.last_rank == 0) my.Save(*step, state);
      return false;
    }
    my.epoch = *next;
    if (my.epoch.rank_of(my.environment().worker) < 0) {
      if (my.last_rank >= 0) return false;
      continue;  // its epoch has not begun yet
    }
    try {
      if (my.last_rank < 0 && my.epoch.rank_of(my.environment().worker) == 0) {
        my.Restore(step, state);
      }
      my.group.emplace(my.member, my.epoch, my.place, my.options.peer_timeout);
      my.Share(step, state);
      my.ShareNodes();
    } catch (const GroupBroken& broken) {
      my.group.reset();
      if (!my.member.later_than(my.epoch.number)) my.ReportBroken(broken.what());
      continue;
    }
    my.last_rank = my.group->rank();
    if (my.saved_at == 0) my.saved_at = Now();
    my.member.Reached(my.epoch.number, *step);
    my.BeginEpoch();
    return true;
  }
}

Turn ElasticWorker::Reduce(std::span<float> gradient, const LocalStep& local) {
  Impl& my = *impl_;
  my.EndPass(gradient, local);
  const std::size_t size = gradient.size();
  my.flat.assign(size + kSlots, 0);
  std::copy(gradient.begin(), gradient.end(), my.flat.begin());
  for (std::size_t i = 0; i < my.passes.size(); ++i) my.flat[i] += my.passes[i];
  const int passes = my.passed;
  const auto slot = [&](Slot at) -> float& { return my.flat[size + at]; };
  slot(kLoss) = static_cast<float>(my.sums.loss / passes);
  slot(kSamples) = static_cast<float>(my.sums.samples);
  slot(kSquaredNorm) = static_cast<float>(my.squared_norms);
  slot(kPassSeconds) = static_cast<float>(my.pass_seconds / passes);
  slot(kLaterEpoch) = my.member.later_than(my.epoch.number) ? 1 : 0;
  slot(kStop) = my.member.stopping() ? 1 : 0;
  slot(kSave) = my.member.TakeSaveWanted() ? 1 : 0;
  slot(kDone) = local.done ? 1 : 0;
  if (my.adapt && my.group->rank() == 0) {
    const WorkerBatch next = my.NextBatch();
    slot(kNextLocal) = static_cast<float>(next.local);
    slot(kNextAccumulation) = static_cast<float>(next.accumulation);
  }
  try {
    my.group->Sum(&my.flat);
  } catch (const GroupBroken& broken) {
    my.group.reset();
    my.ClearPasses();
    my.ReportBroken(broken.what());
    return {};
  }
  const int members = my.group->size();
  const int parts = members * passes;
  for (std::size_t i = 0; i < size; ++i) gradient[i] = my.flat[i] / static_cast<float>(parts);
  my.loss = static_cast<double>(slot(kLoss)) / members;
  my.save = my.save || slot(kSave) > 0 || Now() - my.saved_at >= my.SaveEvery();
  my.CountStep(static_cast<double>(slot(kSamples)), parts, static_cast<double>(slot(kSquaredNorm)),
               gradient);
  my.ClearPasses();
  my.pass_seconds = static_cast<double>(slot(kPassSeconds)) / members;
  my.reduced = my.batch;
  if (my.adapt) {
    my.batch = {members, static_cast<std::int64_t>(slot(kNextLocal)),
                static_cast<std::int32_t>(slot(kNextAccumulation))};
    if (my.batch != my.reduced) my.total = my.batch.total();
  }
  // If some members stop and others did not get that message, the others lose their group.
  if (slot(kStop) > 0 && !my.member.stopping()) my.ReportBroken("a peer is stopping");
  return {.apply = true,
          .regroup = slot(kLaterEpoch) > 0 || slot(kStop) > 0,
          .done = slot(kDone) > 0,
          .loss = my.loss};
}

void ElasticWorker::AfterStep(std::int64_t step, std::span<const StateBlock> state) {
  Impl& my = *impl_;
  TrainingProgress progress{.step = step,
                            .work = my.meter.work(),
                            .rate = my.meter.rate(),
                            .total_work = my.options.total_work,
                            .noise_scale = my.noise.settled() ? my.noise.scale() : kUnknown,
                            .loss = my.loss};
  if (my.adapt) {
    my.meter.AddTimes(my.reduced, my.pass_seconds, Now() - my.step_began);
    progress.range = my.adapt->range;
    progress.batch = my.batch;
    if (my.meter.measured()) {
      progress.seconds = my.meter.seconds();
      progress.timed = my.meter.measured_batch();
      if (my.profile && my.last_rank == 0) {
        my.profile->AddTimes(my.adapt->range, progress.timed, progress.seconds);
      }
    }
  }
  my.member.Report(progress);
  if (save_due()) my.Save(step, state);
  my.save = false;
  my.pass_seconds = 0;
  my.step_began = my.pass_began = Now();
}

int ElasticWorker::Finish(std::int64_t step, std::span<const StateBlock> state) {
  Impl& my = *impl_;
  if (my.last_rank == 0) my.Save(step, state);
  // No member reports that the work is done before the result is on disk. All have the same state.
  try {
    std::vector<float> arrived{1};
    my.group->Sum(&arrived);
  } catch (const GroupBroken&) {
    if (my.last_rank != 0) my.Save(step, state);
  }
  // The job's script waits for this file. Rank 0 writes it before it reports to the daemon, so that
  // no script waits for ever if the worker dies in between. If rank 0 is lost, the first member
  // that the daemon acknowledges writes it, because the daemon then stops the others.
  const std::string text = fmt::format("{}\n", step);
  if (my.last_rank == 0) my.folder.Write(kFinished, text);
  if (my.member.Finish(step, my.meter.work()) && !my.folder.Has(kFinished)) {
    my.folder.Write(kFinished, text);
  }
  return 0;
}

}  // namespace allot
