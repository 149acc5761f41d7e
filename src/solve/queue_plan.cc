#include "solve/queue_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"
#include "core/error.h"
#include "core/index.h"

namespace allot {
namespace {

constexpr double kNowhere = std::numeric_limits<double>::infinity();

// Jobs are put in one after the other, each along the cheapest path over places that moves others
// on. Place (type, k) is looked at once (type, k - 1) is full: before that it is never the cheaper.
class QueueAssignment {
 public:
  QueueAssignment(std::span<const std::int32_t> machines, std::span<const double> seconds)
      : machines_(machines), seconds_(seconds), jobs_(seconds.size() / machines.size()) {
    for (std::int32_t type = 0; At(type) < machines_.size(); ++type) {
      if (machines_[At(type)] > 0) Open(type, 1);
    }
    place_of_.assign(jobs_, -1);
    price_of_job_.assign(jobs_, 0.0);
  }

  QueuePlan Plan() {
    for (std::int32_t job = 0; At(job) < jobs_; ++job) Insert(job);
    QueuePlan plan;
    for (std::size_t job = 0; job < jobs_; ++job) {
      const Place& place = places_[At(place_of_[job])];
      plan.type.push_back(place.type);
      plan.from_end.push_back(place.from_end);
      plan.cost += place.from_end * seconds_[job * machines_.size() + At(place.type)];
    }
    ListFirst(&plan);
    return plan;
  }

 private:
  struct Place {
    std::int32_t type = 0;
    std::int32_t from_end = 1;
    std::vector<std::int32_t> jobs;
    double price = 0;
    // Of one search.
    double distance = kNowhere;
    std::int32_t by_job = -1;
    bool reached = false;
  };

  double Cost(std::int32_t job, const Place& place) const {
    return place.from_end * seconds_[At(job) * machines_.size() + At(place.type)];
  }

  void Open(std::int32_t type, std::int32_t from_end) {
    Place place;
    place.type = type;
    place.from_end = from_end;
    places_.push_back(std::move(place));
  }

  bool Full(const Place& place) const {
    return static_cast<std::int32_t>(place.jobs.size()) >= machines_[At(place.type)];
  }

  void LookFrom(std::int32_t job, double before) {
    for (Place& place : places_) {
      if (place.reached) continue;
      const double reduced = Cost(job, place) - price_of_job_[At(job)] - place.price;
      if (before + reduced < place.distance) {
        place.distance = before + reduced;
        place.by_job = job;
      }
    }
  }

  void Insert(std::int32_t job) {
    for (Place& place : places_) {
      place.distance = kNowhere;
      place.reached = false;
    }
    reached_jobs_.assign(1, {job, 0.0});
    LookFrom(job, 0);
    std::int32_t end = -1;
    while (end < 0) {
      std::int32_t nearest = -1;
      for (std::int32_t p = 0; At(p) < places_.size(); ++p) {
        if (places_[At(p)].reached || !(places_[At(p)].distance < kNowhere)) continue;
        if (nearest < 0 || places_[At(p)].distance < places_[At(nearest)].distance) nearest = p;
      }
      ALLOT_CHECK(nearest >= 0);
      Place& place = places_[At(nearest)];
      place.reached = true;
      if (!Full(place)) {
        end = nearest;
        break;
      }
      const double distance = place.distance;
      for (const std::int32_t other : place.jobs) {
        reached_jobs_.emplace_back(other, distance);
        LookFrom(other, distance);
      }
    }
    const double length = places_[At(end)].distance;
    for (const auto& [reached, distance] : reached_jobs_) {
      price_of_job_[At(reached)] += length - distance;
    }
    for (Place& place : places_) {
      if (place.reached) place.price -= length - place.distance;
    }
    MoveAlong(job, end);
  }

  void MoveAlong(std::int32_t job, std::int32_t end) {
    for (std::int32_t to = end;;) {
      const std::int32_t mover = places_[At(to)].by_job;
      const std::int32_t from = place_of_[At(mover)];
      places_[At(to)].jobs.push_back(mover);
      place_of_[At(mover)] = to;
      if (mover == job) break;
      std::erase(places_[At(from)].jobs, mover);
      to = from;
    }
    const Place& place = places_[At(end)];
    if (!Full(place)) return;
    const std::int32_t type = place.type;
    const std::int32_t next = place.from_end + 1;
    // Its price is 0, and no job has a cheaper way there than to the last place before.
    Open(type, next);
  }

  // At every place as many stand as at the one behind, or more: the queues of a type are as long as
  // they can be alike, and which jobs of a place begin is free where some of its queues go on.
  void ListFirst(QueuePlan* plan) const {
    for (const Place& place : places_) {
      std::size_t ahead = 0;
      for (const Place& other : places_) {
        if (other.type == place.type && other.from_end == place.from_end + 1) {
          ahead = other.jobs.size();
        }
      }
      std::vector<std::int32_t> jobs = place.jobs;
      std::sort(jobs.begin(), jobs.end());
      ALLOT_CHECK_LE(ahead, jobs.size());
      jobs.resize(jobs.size() - ahead);
      plan->first.insert(plan->first.end(), jobs.begin(), jobs.end());
    }
    std::sort(plan->first.begin(), plan->first.end());
  }

  std::span<const std::int32_t> machines_;
  std::span<const double> seconds_;
  std::size_t jobs_;
  std::vector<Place> places_;
  std::vector<std::int32_t> place_of_;
  std::vector<double> price_of_job_;
  std::vector<std::pair<std::int32_t, double>> reached_jobs_;
};

void CheckQueues(std::span<const std::int32_t> machines, std::span<const double> seconds) {
  const std::size_t types = machines.size();
  std::int64_t all = 0;
  for (const std::int32_t count : machines) all += count;
  if (all < 1) throw DataError("queues need a free machine, got none of {} types", types);
  for (std::size_t v = 0; v < seconds.size(); ++v) {
    if (seconds[v] > 0) continue;
    throw DataError("a time must be > 0, got {} (job {}, type {})", seconds[v], v / types,
                    v % types);
  }
  for (std::size_t job = 0; job < seconds.size() / types; ++job) {
    bool runs = false;
    for (std::size_t g = 0; g < types; ++g) {
      runs = runs || (machines[g] > 0 && std::isfinite(seconds[job * types + g]));
    }
    if (!runs)
      throw DataError("a job must run on a type with a free machine, job {} does not", job);
  }
}

}  // namespace

QueuePlan PlanQueues(std::span<const std::int32_t> machines, std::span<const double> seconds) {
  CheckQueues(machines, seconds);
  return QueueAssignment(machines, seconds).Plan();
}

QueuePlan PlanGangs(std::span<const std::int32_t> machines, std::span<const double> seconds,
                    std::span<const std::int32_t> takes) {
  const std::size_t types = machines.size();
  const std::size_t jobs = takes.size();
  ALLOT_CHECK_EQ(seconds.size(), jobs * types);
  std::vector<std::vector<double>> free_at(types);  // by type: of each machine, ascending
  for (std::size_t g = 0; g < types; ++g) free_at[g].assign(At(machines[g]), 0.0);
  std::vector<double> work(jobs, kNowhere);
  std::vector<std::int32_t> order(jobs);
  for (std::size_t i = 0; i < jobs; ++i) {
    order[i] = static_cast<std::int32_t>(i);
    for (std::size_t g = 0; g < types; ++g) {
      work[i] = std::min(work[i], seconds[i * types + g] * takes[i]);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return work[At(a)] < work[At(b)]; });
  QueuePlan plan;
  plan.type.assign(jobs, -1);
  for (const std::int32_t job : order) {
    const std::size_t count = At(takes[At(job)]);
    std::size_t best = types;
    double end = kNowhere;
    for (std::size_t g = 0; g < types; ++g) {
      if (count > free_at[g].size()) continue;
      const double then = free_at[g][count - 1] + seconds[At(job) * types + g];
      if (then < end) {
        end = then;
        best = g;
      }
    }
    if (best == types) continue;
    std::vector<double>& free = free_at[best];
    plan.type[At(job)] = static_cast<std::int32_t>(best);
    plan.cost += end;
    if (free[count - 1] == 0) plan.first.push_back(job);
    std::fill(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(count), end);
    std::sort(free.begin(), free.end());
  }
  std::sort(plan.first.begin(), plan.first.end());
  return plan;
}

}  // namespace allot
