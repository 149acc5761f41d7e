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
//
// Solved again and again while little changes, it begins from the last prices: jobs that are far
// from indifferent at them are where these say, the others are inserted. The answer counts only if
// the new prices prove that it is the one solution of the divided problem; otherwise all are
// inserted. So the answer never depends on what was solved before.

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
  // Who can leave a type, as Consider needs them, until somebody moves.
  struct Leavers {
    struct One {
      double loss;  // per GPU
      std::int32_t job;
    };
    // What the answer depends on: see Consider.
    std::size_t type = 0;
    std::int32_t now = kWaits;
    std::int32_t gpus = 0;
    std::size_t stay = 0;
    std::uint64_t moves = 0;  // a count: what is listed held then
    std::vector<One> ones;    // a heap, the least loss on top; behind it, reversed, who was taken
    std::size_t sorted = 0;   // so many of them
    // Of those of so many GPUs: who loses least, and where that is in the list of the type.
    struct Alone {
      std::int32_t gpus;
      std::int32_t place;
      Leaver who;
    };
    std::vector<Alone> alone;
    const One& Next(std::size_t i);  // the i-th, from 0
  };
  std::size_t types_count() const { return problem_.capacity.size(); }
  bool Allowed(std::size_t job, std::size_t type) const { return Value(job, type) > 0; }
  double Value(std::size_t job, std::size_t type) const {
    return problem_.values[job * types_count() + type];
  }
  double ValuePerGpu(std::size_t job, std::size_t type) const {
    return per_gpu_[job * types_count() + type];
  }
  std::int32_t& Flow(std::size_t job, std::size_t type) {
    return flow_[job * types_count() + type];
  }

  void Clear();
  void ReadValues();
  bool InsertNearPrices();
  double PriceFactor();
  bool PlaceCertain(double factor);
  bool IsOnlySolution();
  bool Join(std::size_t a, std::size_t b);

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
  Leaver Leave(std::size_t job, std::size_t type, std::size_t stay) const;
  Leavers& LeaversOf(std::size_t type, std::int32_t now, std::int32_t gpus, std::size_t stay);
  void List(Leavers* leavers) const;
  void Exchange(std::size_t job, std::size_t type);
  void FillRooms();
  void Occupy(std::size_t job, std::int32_t type);

  TypeAssignmentProblem problem_;
  std::vector<double> per_gpu_;  // [job][type]
  double scale_ = 0;             // the largest of these
  bool whole_ = true;            // each job needs one GPU
  std::vector<std::int32_t> type_;
  double value_ = 0;
  double bound_ = 0;
  std::vector<double> price_;
  double near_ = 0.1;          // times the largest price: from there on a job is certain
  std::int32_t failures_ = 0;  // in a row, of the attempts near the last prices
  std::int32_t waits_ = 0;     // so many problems until the next attempt
  std::vector<std::int32_t> uncertain_;
  std::vector<std::pair<double, std::int32_t>> wants_;  // by job: value over price; GPUs
  std::vector<std::size_t> parent_;                     // of types and waiting: sets joined by ties
  std::vector<double> gain_;                            // [from][to]: of the best move
  std::vector<std::int32_t> room_;                      // by type
  std::vector<std::int32_t> flow_;                      // [job][type], GPUs
  std::vector<std::vector<std::int32_t>> jobs_;         // by type: that are or were there
  std::vector<char> offered_;                           // by type: its moves are in the heaps
  std::vector<std::vector<Move>> moves_;  // [from][to or out]: heaps, the best on top; some stale
  std::vector<double> distance_;          // by type
  std::vector<std::int32_t> previous_;
  std::vector<std::int32_t> mover_;                    // who goes from the previous one to this one
  std::vector<double> surplus_;                        // by job: the best of value less price
  std::vector<std::pair<double, std::size_t>> tries_;  // reduced cost, job x type
  std::vector<std::int32_t> divided_;
  static constexpr std::size_t kMostLists = 16;
  static constexpr std::size_t kUsualSizes = 64;  // different numbers of GPUs: memory for these
  std::vector<Leavers> leavers_;
  std::size_t replaced_ = 0;  // the last list that gave way to another
  std::uint64_t moved_ = 1;   // a count; 0: of lists that were never made
  std::vector<Leaver> chosen_;
  std::vector<std::int32_t> spare_;  // room while an exchange is considered
};

}  // namespace allot
