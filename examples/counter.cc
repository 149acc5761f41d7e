// The smallest elastic training job: linear regression on generated data, in plain C++ without
// libtorch. What a job must do so that allot can change its size while it trains, in one file:
// join, form the group of each epoch, hand the state on, leave together, save, report.
//
// Gradients are summed by rank 0, to whom the others are connected; a step takes as long as
// --pace-ms says, divided by what that many workers are worth (--worth).

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/command_line.h"
#include "core/error.h"
#include "core/rng.h"
#include "core/strings.h"
#include "elastic/checkpoint_file.h"
#include "elastic/job_folder.h"
#include "elastic/member.h"

namespace allot {
namespace {

constexpr std::size_t kInputs = 16;
constexpr double kMomentum = 0.9;
constexpr double kScaling = 0.85;  // n workers are worth n^0.85, where --worth says nothing

struct Options {
  std::int64_t steps = 1000;
  std::int64_t batch = 64;
  double rate = 0.005;
  double pace_ms = 10;
  std::int64_t save_every = 200;
  std::string until;          // a file; "": none
  std::vector<double> worth;  // of 1, 2, ... workers; of more, the last
};

struct State {
  std::int64_t step = 0;
  std::int64_t done = 0;  // 1: the file of --until was there
  std::array<double, kInputs> weights{};
  std::array<double, kInputs> velocity{};
};

// What is summed at every step.
struct Sums {
  std::array<double, kInputs> gradient{};
  double loss = 0;
  double later = 0;  // somebody knows of a later epoch
  double stop = 0;   // some member is stopping
  double save = 0;
  double done = 0;  // rank 0 has seen the file of --until
};
constexpr std::size_t kSums = sizeof(Sums) / sizeof(double);

struct GroupBroken {};

class Group {
 public:
  Group() {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw RunError("cannot listen on the loopback");
    }
    port_ = ntohs(address.sin_port);
    Limit(listener_);
  }
  ~Group() {
    Leave();
    ::close(listener_);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  int port() const { return port_; }
  int rank() const { return rank_; }
  int world() const { return world_; }

  void Form(const Epoch& epoch, int rank) {
    Leave();
    rank_ = rank;
    world_ = static_cast<int>(epoch.members.size());
    if (rank == 0) {
      for (const auto& [of, peer] : std::exchange(early_, {})) Admit(epoch.number, of, peer);
      while (static_cast<int>(peers_.size()) < world_ - 1) {
        const int peer = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (peer < 0) throw GroupBroken();
        Limit(peer);
        std::int64_t of = -1;
        Receive(peer, &of, sizeof(of));
        Admit(epoch.number, of, peer);
        if (!early_.empty()) throw GroupBroken();  // the others are further already
      }
      return;
    }
    const std::string& leader = epoch.addresses.at(0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(
        static_cast<std::uint16_t>(ParseInteger(leader.substr(leader.rfind(':') + 1)).value_or(0)));
    const int peer = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    peers_.push_back(peer);
    Limit(peer);
    if (::connect(peer, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      throw GroupBroken();
    }
    Send(peer, &epoch.number, sizeof(epoch.number));
  }

  void Leave() {
    for (const int peer : peers_) ::close(peer);
    peers_.clear();
  }

  void Broadcast(State* state) {
    for (const int peer : peers_) {
      if (rank_ == 0) {
        Send(peer, state, sizeof(*state));
      } else {
        Receive(peer, state, sizeof(*state));
      }
    }
  }

  void Reduce(Sums* sums) {
    auto* own = reinterpret_cast<double*>(sums);
    if (rank_ != 0) {
      Send(peers_[0], own, sizeof(*sums));
      Receive(peers_[0], own, sizeof(*sums));
      return;
    }
    std::array<double, kSums> others;
    for (const int peer : peers_) {
      Receive(peer, others.data(), sizeof(others));
      for (std::size_t i = 0; i < kSums; ++i) own[i] += others[i];
    }
    for (const int peer : peers_) Send(peer, own, sizeof(*sums));
  }

 private:
  // Those of a later epoch wait for us to come there; those of an earlier one are sent away.
  void Admit(std::int64_t epoch, std::int64_t of, int peer) {
    if (of == epoch) {
      peers_.push_back(peer);
    } else if (of > epoch) {
      early_.emplace_back(of, peer);
    } else {
      ::close(peer);
    }
  }

  // A peer that says nothing for this long is taken for dead.
  static void Limit(int socket) {
    const timeval patience{3, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  }
  static void Send(int socket, const void* data, std::size_t size) {
    if (::send(socket, data, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) throw GroupBroken();
  }
  static void Receive(int socket, void* data, std::size_t size) {
    if (::recv(socket, data, size, MSG_WAITALL) != static_cast<ssize_t>(size)) throw GroupBroken();
  }

  int listener_ = -1;
  int port_ = 0;
  int rank_ = 0;
  int world_ = 0;
  std::vector<std::pair<std::int64_t, int>> early_;  // epoch, socket
  std::vector<int> peers_;                           // of rank 0: all others; of the others: rank 0
};

// Rank r's samples of the step's batch, the same whatever the number of ranks.
void AddGradient(const Options& options, const State& state, int rank, int world, Sums* sums) {
  const std::int64_t begin = options.batch * rank / world;
  const std::int64_t end = options.batch * (rank + 1) / world;
  for (std::int64_t sample = begin; sample < end; ++sample) {
    Rng rng(1, "sample", static_cast<std::uint64_t>(state.step),
            static_cast<std::uint64_t>(sample));
    std::array<double, kInputs> x;
    double error = 0;
    for (std::size_t i = 0; i < kInputs; ++i) {
      x[i] = rng.Normal();
      error += (state.weights[i] - 1.0 / static_cast<double>(i + 1)) * x[i];
    }
    const double share = 1 / static_cast<double>(options.batch);
    for (std::size_t i = 0; i < kInputs; ++i) sums->gradient[i] += 2 * error * x[i] * share;
    sums->loss += error * error * share;
  }
}

class Training {
 public:
  explicit Training(const Options& options)
      : options_(options),
        member_(WorkerEnvironment::OfThisProcess(), [this](const std::string& host) {
          return fmt::format("{}:{}", host, group_.port());
        }) {}

  int Run() {
    while (true) {
      const std::optional<Epoch> epoch = member_.WaitForLater(epoch_);
      if (!epoch) return Leave("stopped");
      const int rank = epoch->rank_of(member_.environment().worker);
      if (rank < 0) {
        if (had_state_) return Leave("left");
        epoch_ = epoch->number;  // joined too late for this one
        continue;
      }
      epoch_ = epoch->number;
      try {
        group_.Form(*epoch, rank);
        if (rank == 0 && !had_state_) Restore();
        group_.Broadcast(&state_);
        had_state_ = true;
        member_.Reached(epoch_, state_.step);
        fmt::print("epoch={} rank={} world={} step={}\n", epoch_, rank, group_.world(),
                   state_.step);
        if (TrainEpoch()) return Leave(Over() ? "finished" : "stopped");
      } catch (const GroupBroken&) {
        group_.Leave();
        member_.Broken(epoch_);
        fmt::print("broken epoch={} step={}\n", epoch_, state_.step);
      }
    }
  }

 private:
  double Worth(int workers) const {
    if (options_.worth.empty()) return std::pow(workers, kScaling);
    return options_
        .worth[std::min<std::size_t>(static_cast<std::size_t>(workers), options_.worth.size()) - 1];
  }

  bool Over() const { return state_.done > 0 || state_.step >= options_.steps; }

  // True when it is over, false when the next epoch waits.
  bool TrainEpoch() {
    using Clock = std::chrono::steady_clock;
    const auto began = Clock::now();
    const std::int64_t first = state_.step;
    const double worth = Worth(group_.world());
    while (!Over()) {
      const auto begin = Clock::now();
      Sums sums;
      AddGradient(options_, state_, group_.rank(), group_.world(), &sums);
      sums.later = member_.later_than(epoch_) ? 1 : 0;
      sums.stop = member_.stopping() ? 1 : 0;
      sums.save = member_.TakeSaveWanted() ? 1 : 0;
      sums.done = group_.rank() == 0 && std::filesystem::exists(options_.until) ? 1 : 0;
      std::this_thread::sleep_until(
          begin + std::chrono::duration_cast<Clock::duration>(
                      std::chrono::duration<double, std::milli>(options_.pace_ms / worth)));
      group_.Reduce(&sums);
      for (std::size_t i = 0; i < kInputs; ++i) {
        state_.velocity[i] = kMomentum * state_.velocity[i] + sums.gradient[i];
        state_.weights[i] -= options_.rate * state_.velocity[i];
      }
      ++state_.step;
      if (sums.done > 0) state_.done = 1;
      const std::chrono::duration<double> took = Clock::now() - began;
      Report(sums.loss, static_cast<double>((state_.step - first) * options_.batch) / took.count());
      const bool stop = sums.stop > 0;
      if (group_.rank() == 0 && (stop || sums.save > 0 || state_.step % options_.save_every == 0)) {
        Save();
      }
      if (stop) return true;
      if (sums.later > 0) return false;
    }
    if (group_.rank() != 0) return false;  // until it must stop or becomes rank 0
    Save();
    // A job's script on Slurm ends by this file.
    folder_.Write(kFinished, fmt::format("{}\n", state_.step));
    member_.Finish(state_.step, Work());
    return true;
  }

  double Work() const { return static_cast<double>(state_.step * options_.batch); }

  void Report(double loss, double rate) {
    TrainingProgress progress;
    progress.step = state_.step;
    if (group_.rank() == 0) {
      progress.work = Work();
      progress.rate = rate;
      progress.total_work = static_cast<double>(options_.steps * options_.batch);
      progress.loss = loss;
      if (state_.step % 20 == 0) {
        fmt::print("step={} loss={:.6f} world={}\n", state_.step, loss, group_.world());
      }
    }
    member_.Report(progress);
  }

  void Save() {
    const auto begin = std::chrono::steady_clock::now();
    SaveCheckpoint(folder_, state_.step, Blocks());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    member_.Saved(state_.step, Work(), took.count());
  }
  void Restore() {
    if (LoadCheckpoint(folder_, Blocks())) {
      fmt::print("restored step={}\n", state_.step);
    }
  }
  std::vector<StateBlock> Blocks() { return {{&state_, sizeof(state_)}}; }

  int Leave(const char* how) {
    fmt::print("{} step={}\n", how, state_.step);
    return member_.refusal() ? 1 : 0;
  }

  Options options_;
  Group group_;
  Member member_;
  const OwnedFolder folder_ = OpenRunFolder(member_.environment().run_dir);
  State state_;
  bool had_state_ = false;
  std::int64_t epoch_ = -1;
};

}  // namespace
}  // namespace allot

int main(int argc, char** argv) {
  allot::Options options;
  allot::CommandLine line("The smallest elastic training job: started by allot, one process a GPU");
  line.Option("--steps", options.steps, "training steps").Positive();
  line.Option("--batch", options.batch, "samples a step, of all workers together");
  line.Option("--pace-ms", options.pace_ms, "what a step takes one worker, at least");
  line.Option("--save-every", options.save_every, "steps between checkpoints").Positive();
  line.Option("--worth", options.worth, "what 1, 2, ... workers are worth, joined by commas")
      .SplitAt(',');
  line.Option("--until", options.until, "end as soon as this file is there, whatever the steps");
  if (const std::optional<int> code = line.Parse(argc, argv)) return *code;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    allot::Member::StopOnSigterm();
    return allot::Training(options).Run();
  } catch (const allot::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
}
