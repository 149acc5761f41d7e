#pragma once
// Jobs to GPU types, or to waiting, so that the sum of values is largest: a transport problem with
// as many sinks as types (Ahuja, Magnanti, Orlin, Network Flows, sections 9.7 and 12.4).
//
// Jobs are inserted one after the other, each along the best augmenting path over types: it goes to
// a type, whose job goes to the next, until a GPU is free or a job waits. Insertion keeps what is
// there optimal, so that the answer is exact where each job needs one GPU. Jobs of several GPUs are
// inserted as if they could be divided; the few that end divided are then made whole by exchanging
// sets of jobs, of which only those are tried that the prices do not rule out. Not always the best
// then: bound() says how far it may be off.
//
// O(jobs x types^2 x (log jobs + types)), for jobs of several GPUs times their augmentations. No
// allocation in steady state.

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace allot {

inline constexpr std::int32_t kWaits = -1;

struct TypeAssignmentProblem {
  std::span<const std::int32_t> capacity;  // GPUs, by type
  std::span<const std::int32_t> gpus;      // that each job needs, on any type, > 0
  // [job][type]: what the whole job is worth there; <= 0: it cannot go there. Finite.
  std::span<const double> values;
  // The first so many jobs get in by their order, whatever they are worth: each, as long as it can
  // be placed with all before it; types among them still maximise the sum. The others get in by
  // value.
  std::size_t by_order = 0;
};

class TypeAssigner {
 public:
  // Equal problems get equal answers. Of equally good answers, jobs named first keep their places.
  void Solve(const TypeAssignmentProblem& problem);

  // By job: its type or kWaits. Valid, as all below, until the next Solve.
  std::span<const std::int32_t> types() const { return type_; }
  double value() const { return value_; }  // the sum
  // No assignment has a larger sum (of those with the same jobs by order): that of divided jobs.
  double bound() const { return bound_; }
  // Dual prices, by type, per GPU: what one GPU less would cost. 0 where one is free, the largest
  // value where there is none; larger than all values where jobs by order have filled all.
  std::span<const double> prices() const { return price_; }

 private:
  static constexpr double kNone = -std::numeric_limits<double>::infinity();
  static constexpr double kEqual = 1e-12;  // of the largest value: less is no difference
  struct Move {
    double gain;  // per GPU
    std::int32_t job;
  };
  struct Leaver {
    double loss;
    std::int32_t job;
    std::int32_t to;  // a type or kWaits
  };
  std::size_t types_count() const { return problem_.capacity.size(); }
  bool Allowed(std::size_t job, std::size_t type) const { return Value(job, type) > 0; }
  double Value(std::size_t job, std::size_t type) const {
    return problem_.values[job * types_count() + type];
  }
  double ValuePerGpu(std::size_t job, std::size_t type) const {
    return Value(job, type) / problem_.gpus[job];
  }
  std::int32_t& Flow(std::size_t job, std::size_t type) {
    return flow_[job * types_count() + type];
  }

  void Insert(std::size_t job);
  bool Augment(std::size_t job, std::int32_t* left);
  void FindPaths(std::size_t job);
  bool Best(std::size_t from, std::size_t to, Move* best);
  void Offer(std::size_t job, std::size_t type);
  void OfferAll(std::size_t type);
  void Put(std::size_t job, std::size_t type, std::int32_t gpus);
  void FindPrices();

  void MakeWhole();
  bool PutBestPlace(std::size_t job);
  void Improve();
  double Consider(std::size_t job, std::size_t type);
  void Exchange(std::size_t job, std::size_t type);
  void FillRooms();
  void Occupy(std::size_t job, std::int32_t type);

  TypeAssignmentProblem problem_;
  double scale_ = 0;  // the largest value per GPU
  std::vector<std::int32_t> type_;
  double value_ = 0;
  double bound_ = 0;
  std::vector<double> price_;
  std::vector<std::int32_t> room_;               // by type
  std::vector<std::int32_t> flow_;               // [job][type], GPUs
  std::vector<std::vector<std::int32_t>> jobs_;  // by type: that are or were there
  std::vector<char> offered_;                    // by type: its moves are in the heaps
  std::vector<std::vector<Move>> moves_;  // [from][to or out]: heaps, the best on top; some stale
  std::vector<double> distance_;          // by type
  std::vector<std::int32_t> previous_;
  std::vector<std::int32_t> mover_;                    // who goes from the previous one to this one
  std::vector<double> surplus_;                        // by job: the best of value less price
  std::vector<std::pair<double, std::size_t>> tries_;  // reduced cost, job x type
  std::vector<std::int32_t> divided_;
  std::vector<Leaver> leavers_;
  std::vector<Leaver> chosen_;
  std::vector<std::int32_t> spare_;  // room while an exchange is considered
};

}  // namespace allot
