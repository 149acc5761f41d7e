#include "elastic/torch/elastic_worker.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "elastic/member.h"
#include "elastic/torch/group.h"
#include "elastic/training_meter.h"

namespace allot {
namespace {

// What travels behind the gradient: sums over the members.
enum Slot : std::size_t { kLoss, kSamples, kSquaredNorm, kLaterEpoch, kStop, kSave, kSlots };

struct Position {
  std::int64_t step = 0;
  double work = 0;
};

double SquaredNorm(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

Seconds Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

struct ElasticWorker::Impl {
  Impl(const WorkerEnvironment& environment, const ElasticOptions& given)
      : options(given), member(environment, [this](const std::string& host) {
          return fmt::format("{}:{}", host, place.port());
        }) {}

  const ElasticOptions options;
  MeetingPlace place;
  Member member;
  Epoch epoch;
  std::optional<Group> group;
  TrainingMeter meter;
  std::vector<float> flat;
  double loss = kUnknown;
  int last_rank = -1;  // in the last epoch that was reached; -1: this worker has no state yet
  bool save = false;   // a checkpoint is due after the step at hand
  Seconds saved_at = 0;

  const WorkerEnvironment& environment() const { return member.environment(); }

  // The position goes with the state as one more block.
  static std::vector<StateBlock> With(Position* position, std::span<const StateBlock> state) {
    std::vector<StateBlock> blocks{{position, sizeof *position}};
    blocks.insert(blocks.end(), state.begin(), state.end());
    return blocks;
  }

  void Save(std::int64_t step, std::span<const StateBlock> state) {
    Position position{step, meter.work()};
    SaveCheckpoint(environment().checkpoint(), step, With(&position, state));
    member.Saved(step, position.work);
    saved_at = Now();
    save = false;
  }

  void Restore(std::int64_t* step, std::span<const StateBlock> state) {
    Position position;
    if (!LoadCheckpoint(environment().checkpoint(), With(&position, state))) return;
    *step = position.step;
    meter.SetWork(position.work);
  }

  // To the daemon, and to the job's output.
  void SayBroken(const char* why) {
    fmt::print(stderr, "allot: the group of epoch {} is broken: {}\n", epoch.number, why);
    member.Broken(epoch.number);
  }

  // Rank 0's position and state to all, in one piece: who receives only a part has received
  // nothing.
  void Share(std::int64_t* step, std::span<const StateBlock> state) {
    if (group->size() == 1) return;
    Position position{*step, meter.work()};
    const std::vector<StateBlock> blocks = With(&position, state);
    std::size_t bytes = 0;
    for (const StateBlock& block : blocks) bytes += block.bytes;
    std::vector<std::uint8_t> all(bytes);
    const auto copy = [&](bool pack) {
      std::uint8_t* at = all.data();
      for (const StateBlock& block : blocks) {
        std::memcpy(pack ? at : block.data, pack ? block.data : at, block.bytes);
        at += block.bytes;
      }
    };
    if (group->rank() == 0) copy(true);
    group->Broadcast(&all);
    if (group->rank() == 0) return;
    copy(false);
    *step = position.step;
    meter.SetWork(position.work);
  }
};

ElasticWorker::ElasticWorker(const WorkerEnvironment& environment, const ElasticOptions& options)
    : impl_(std::make_unique<Impl>(environment, options)) {
  Member::StopOnSigterm();
}

ElasticWorker::~ElasticWorker() = default;

int ElasticWorker::rank() const { return impl_->group ? impl_->group->rank() : -1; }
int ElasticWorker::world_size() const { return impl_->group ? impl_->group->size() : 0; }

bool ElasticWorker::Join(std::span<const StateBlock> state, std::int64_t* step) {
  Impl& my = *impl_;
  my.group.reset();
  for (;;) {
    const std::optional<Epoch> next = my.member.WaitForLater(my.epoch.number);
    if (!my.member.refused().empty()) {
      throw RunError("worker {}: the daemon refuses it: {}", my.environment().worker,
                     my.member.refused());
    }
    if (!next) {
      if (my.last_rank == 0) my.Save(*step, state);
      return false;
    }
    my.epoch = *next;
    if (my.epoch.rank_of(my.environment().worker) < 0) {
      if (my.last_rank >= 0) return false;
      continue;  // came early: its epoch is still to come
    }
    try {
      if (my.last_rank < 0 && my.epoch.rank_of(my.environment().worker) == 0) {
        my.Restore(step, state);
      }
      my.group.emplace(my.member, my.epoch, my.place, my.options.peer_timeout);
      my.Share(step, state);
    } catch (const GroupBroken& broken) {
      my.group.reset();
      if (!my.member.later_than(my.epoch.number)) my.SayBroken(broken.what());
      continue;
    }
    my.last_rank = my.group->rank();
    if (my.saved_at == 0) my.saved_at = Now();
    my.member.Reached(my.epoch.number, *step);
    my.meter.Joined(Now());
    return true;
  }
}

Turn ElasticWorker::Reduce(std::span<float> gradient, const LocalStep& local) {
  Impl& my = *impl_;
  const std::size_t size = gradient.size();
  my.flat.assign(size + kSlots, 0);
  std::copy(gradient.begin(), gradient.end(), my.flat.begin());
  const auto slot = [&](Slot at) -> float& { return my.flat[size + at]; };
  slot(kLoss) = static_cast<float>(local.loss);
  slot(kSamples) = static_cast<float>(local.samples);
  slot(kSquaredNorm) = static_cast<float>(SquaredNorm(gradient));
  slot(kLaterEpoch) = my.member.later_than(my.epoch.number) ? 1 : 0;
  slot(kStop) = my.member.stopping() ? 1 : 0;
  slot(kSave) = my.member.TakeSaveWanted() ? 1 : 0;
  try {
    my.group->Sum(&my.flat);
  } catch (const GroupBroken& broken) {
    my.group.reset();
    my.SayBroken(broken.what());
    return {};
  }
  const int members = my.group->size();
  for (std::size_t i = 0; i < size; ++i) gradient[i] = my.flat[i] / static_cast<float>(members);
  my.loss = static_cast<double>(slot(kLoss)) / members;
  my.save = my.save || slot(kSave) > 0;
  my.meter.Step(Now(), static_cast<double>(slot(kSamples)), members,
                static_cast<double>(slot(kSquaredNorm)) / members, SquaredNorm(gradient));
  // If some stop and others did not get that message, the others have no process group left.
  if (slot(kStop) > 0 && !my.member.stopping()) my.SayBroken("a peer was told to stop");
  return {.apply = true, .regroup = slot(kLaterEpoch) > 0 || slot(kStop) > 0, .loss = my.loss};
}

void ElasticWorker::AfterStep(std::int64_t step, std::span<const StateBlock> state) {
  Impl& my = *impl_;
  my.member.Report({.step = step,
                    .work = my.meter.work(),
                    .rate = my.meter.rate(),
                    .total_work = my.options.total_work,
                    .noise_scale = my.meter.noise_scale(),
                    .loss = my.loss});
  const Seconds every = std::chrono::duration<double>(my.options.save_every).count();
  if (my.last_rank == 0 && (my.save || Now() - my.saved_at >= every)) my.Save(step, state);
  my.save = false;
}

int ElasticWorker::Finish(std::int64_t step, std::span<const StateBlock> state) {
  Impl& my = *impl_;
  if (my.last_rank == 0) my.Save(step, state);
  // Nobody says that the work is done before the result is on disk; all have the same state.
  try {
    std::vector<float> arrived{1};
    my.group->Sum(&arrived);
  } catch (const GroupBroken&) {
    if (my.last_rank != 0) my.Save(step, state);
  }
  // The job's script ends by this file. Rank 0 writes it before its message to the daemon, so that
  // a worker that dies in between leaves no script that waits for ever; where rank 0 is lost, the
  // first to be acknowledged does, for the others are told to stop then.
  const std::filesystem::path finished = my.environment().finished();
  const std::string text = fmt::format("{}\n", step);
  if (my.last_rank == 0) WriteTextFile(finished, text);
  if (my.member.Finish(step, my.meter.work()) && !std::filesystem::exists(finished)) {
    WriteTextFile(finished, text);
  }
  return 0;
}

}  // namespace allot
