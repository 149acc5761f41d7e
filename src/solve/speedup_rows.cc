#include "solve/speedup_rows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "core/index.h"
#include "core/rng.h"
#include "solve/multiple_choice.h"

namespace allot {
namespace {

constexpr double kClose = 5e-4;   // of the bound, relative
constexpr double kBetter = 1e-9;  // of a cost: less is no difference
constexpr double kNoRow = std::numeric_limits<double>::infinity();
constexpr std::int32_t kGives = 4;  // GPUs that a job may lose to another

class RowSearch {
 public:
  RowSearch(const SpeedupProblem& problem, std::int64_t most_looks)
      : problem_(problem),
        costs_(problem),
        looks_(most_looks),
        largest_node_(*std::max_element(problem.capacity.begin(), problem.capacity.end())) {
    for (const SpeedupProblem::Job& job : problem.jobs) {
      current_.push_back(GpusIn(job.current) <= job.most() ? job.current : JobRowGpus{});
    }
    ListOptions();
  }

  SpeedupRows Solve() {
    FindSizes();
    double best = Improve([&] { PackSizes(/*keep=*/true); });
    std::vector<JobRowGpus> rows = rows_;
    const auto improve = [&](const auto& start) {
      if (best <= enough() || looks_ <= 0) return;
      const double sum = Improve(start);
      if (sum >= best) return;
      best = sum;
      rows = rows_;
    };
    improve([&] { StartFromCurrent(); });
    improve([&] { PackSizes(/*keep=*/false); });
    if (best > enough()) {
      Clear();
      for (std::size_t job = 0; job < rows.size(); ++job) Put(job, rows[job]);
      best = Rebuild(best);
      rows = rows_;
    }
    SpeedupRows answer;
    answer.fitness = costs_.FitnessOf(best);
    answer.bound = costs_.FitnessOf(bound_);
    answer.rows = std::move(rows);
    return answer;
  }

 private:
  // A row that is not the current one, as far as its cost goes.
  struct Option {
    double cost;
    std::int32_t gpus;
    bool several;
  };

  // Better ones first. More GPUs at no lower cost are no option; fragments of what would fit on one
  // node are, for when no node has room.
  void ListOptions() {
    options_.resize(problem_.jobs.size());
    const std::int32_t total = problem_.gpus();
    for (std::size_t job = 0; job < options_.size(); ++job) {
      double best = costs_.Idle();
      double best_on_one = costs_.Idle();
      for (std::int32_t k = 1; k <= std::min(problem_.jobs[job].most(), total); ++k) {
        if (k <= largest_node_) {
          const double on_one = costs_.Changed(job, k, false);
          if (on_one < best_on_one - kBetter) {
            options_[job].push_back({on_one, k, false});
            best_on_one = on_one;
          }
        }
        if (k >= 2) {
          const double on_several = costs_.Changed(job, k, true);
          if (on_several < best - kBetter) {
            options_[job].push_back({on_several, k, true});
            best = on_several;
          }
        }
      }
      std::stable_sort(options_[job].begin(), options_[job].end(),
                       [](const Option& a, const Option& b) { return a.cost < b.cost; });
    }
  }

  void FindSizes() {
    MultipleChoiceProblem choice;
    choice.capacity = {problem_.gpus()};
    std::vector<ChoiceOption> options;
    double bound = 0;
    for (std::size_t job = 0; job < options_.size(); ++job) {
      options.clear();
      for (const Option& option : options_[job]) {
        options.push_back({0, option.gpus, costs_.Idle() - option.cost});
      }
      if (const std::int32_t held = GpusIn(current_[job]); held > 0) {
        options.push_back({0, held, costs_.Idle() - costs_.Keep(job)});
      }
      choice.Add(options);
      bound += costs_.Idle();
    }
    const MultipleChoiceAnswer answer = SolveMultipleChoice(choice, 1e-8, 300'000);
    sizes_.assign(options_.size(), 0);
    for (std::size_t job = 0; job < options_.size(); ++job) {
      if (answer.chosen[job] >= 0) sizes_[job] = choice.of(job)[At(answer.chosen[job])].gpus;
    }
    bound_ = bound - answer.bound;
  }

  static std::int32_t GpusIn(const JobRowGpus& row) {
    std::int32_t gpus = 0;
    for (const NodeGpus& share : row) gpus += share.gpus;
    return gpus;
  }
  double enough() const { return bound_ + kClose * std::abs(bound_); }

  // ---- Room

  void Clear() {
    free_ = problem_.capacity;
    spread_.assign(free_.size(), 0);
    rows_.assign(options_.size(), {});
    cost_.assign(options_.size(), costs_.Idle());
    FindLargest();
  }
  void Occupy(const JobRowGpus& row, std::int32_t sign) {
    for (const NodeGpus& share : row) {
      free_[At(share.node)] -= sign * share.gpus;
      if (row.size() > 1) spread_[At(share.node)] += sign;
    }
    if (!row.empty()) FindLargest();
  }
  // What one node has, and what all of those have that a job of several nodes may use.
  void FindLargest() {
    looks_ -= static_cast<std::int64_t>(free_.size());
    most_on_one_ = 0;
    on_several_ = 0;
    for (std::size_t n = 0; n < free_.size(); ++n) {
      most_on_one_ = std::max(most_on_one_, free_[n]);
      if (MaySpread(n)) on_several_ += free_[n];
    }
  }
  bool MaySpread(std::size_t node) const { return !problem_.apart || spread_[node] == 0; }
  bool Fits(const JobRowGpus& row) const {
    return std::all_of(row.begin(), row.end(), [&](const NodeGpus& share) {
      return share.gpus <= free_[At(share.node)] && (row.size() < 2 || MaySpread(At(share.node)));
    });
  }

  // On the node where it leaves least.
  bool BuildOnOne(std::int32_t gpus, JobRowGpus* row) {
    if (gpus > most_on_one_) return false;
    looks_ -= static_cast<std::int64_t>(free_.size());
    std::size_t best = free_.size();
    for (std::size_t n = 0; n < free_.size(); ++n) {
      if (free_[n] >= gpus && (best == free_.size() || free_[n] < free_[best])) best = n;
    }
    row->assign(1, {static_cast<std::int32_t>(best), gpus});
    return true;
  }
  // On the emptiest nodes, the last of them the one where it leaves least; always at least two.
  bool BuildOnSeveral(std::int32_t gpus, JobRowGpus* row) {
    if (gpus > on_several_) return false;
    order_.clear();
    for (std::size_t n = 0; n < free_.size(); ++n) {
      if (free_[n] > 0 && MaySpread(n)) order_.push_back(static_cast<std::int32_t>(n));
    }
    looks_ -= static_cast<std::int64_t>(free_.size() + 4 * order_.size());
    if (order_.size() < 2) return false;
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::int32_t a, std::int32_t b) { return free_[At(a)] > free_[At(b)]; });
    row->clear();
    for (std::int32_t left = gpus; left > 0;) {
      const std::int32_t most = row->empty() ? gpus - 1 : left;
      std::size_t at = 0;
      while (at + 1 < order_.size() && free_[At(order_[at + 1])] >= most) ++at;
      const std::int32_t takes = std::min(most, free_[At(order_[at])]);
      row->push_back({order_[at], takes});
      left -= takes;
      order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    std::sort(row->begin(), row->end(),
              [](const NodeGpus& a, const NodeGpus& b) { return a.node < b.node; });
    return true;
  }
  bool Build(const Option& option, JobRowGpus* row) {
    return option.several ? BuildOnSeveral(option.gpus, row) : BuildOnOne(option.gpus, row);
  }
  bool BuildSize(std::size_t job, std::int32_t gpus, JobRowGpus* row) {
    const SpeedupProblem::Job& of = problem_.jobs[job];
    const bool several_first = gpus > 1 && of.several[At(gpus)] > of.one[At(gpus)];
    if (several_first && BuildOnSeveral(gpus, row)) return true;
    return BuildOnOne(gpus, row) || (gpus > 1 && BuildOnSeveral(gpus, row));
  }

  // The best row of a job for which there is room, if it costs less than `least`.
  double BestRow(std::size_t job, double least, JobRowGpus* row) {
    const JobRowGpus& current = current_[job];
    bool found = false;
    if (!current.empty() && costs_.Keep(job) < least && Fits(current)) {
      *row = current;
      least = costs_.Keep(job);
      found = true;
    }
    for (const Option& option : options_[job]) {
      if (option.cost >= least) break;
      if (!Build(option, &built_)) continue;
      *row = built_;
      // It may be the current row, by chance.
      return costs_.Of(job, *row);
    }
    if (!found && costs_.Idle() < least) {
      row->clear();
      return costs_.Idle();
    }
    return found ? least : kNoRow;
  }

  void Put(std::size_t job, const JobRowGpus& row) {
    rows_[job] = row;
    cost_[job] = costs_.Of(job, row);
    Occupy(row, 1);
  }
  JobRowGpus Remove(std::size_t job) {
    Occupy(rows_[job], -1);
    return std::exchange(rows_[job], {});
  }

  // ---- Starts

  // Jobs of several nodes, and jobs of unchanged size, where `keep` says so, first.
  void PackSizes(bool keep) {
    Clear();
    std::vector<std::size_t> order(rows_.size());
    std::iota(order.begin(), order.end(), 0);
    if (keep) {
      for (const std::size_t job : order) {
        const JobRowGpus& current = current_[job];
        if (!current.empty() && GpusIn(current) == sizes_[job] && Fits(current)) Put(job, current);
      }
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return sizes_[a] > sizes_[b]; });
    if (keep) {
      // What fits a node goes first: it has nowhere else to go.
      std::stable_partition(order.begin(), order.end(),
                            [&](std::size_t job) { return sizes_[job] <= largest_node_; });
    }
    JobRowGpus row;
    for (const std::size_t job : order) {
      if (!rows_[job].empty()) continue;
      for (std::int32_t gpus = sizes_[job]; gpus > 0; --gpus) {
        if (!BuildSize(job, gpus, &row)) continue;
        Put(job, row);
        break;
      }
    }
  }
  void StartFromCurrent() {
    Clear();
    for (std::size_t job = 0; job < rows_.size(); ++job) {
      if (!current_[job].empty() && Fits(current_[job])) Put(job, current_[job]);
    }
  }

  // ---- Steps

  template <typename Start>
  double Improve(const Start& start) {
    constexpr int kMostPasses = 4;
    start();
    double sum = std::accumulate(cost_.begin(), cost_.end(), 0.0);
    for (int pass = 0; pass < kMostPasses && sum > enough() && looks_ > 0; ++pass) {
      const double before = sum;
      for (std::size_t job = 0; job < rows_.size(); ++job) sum -= Reconsider(job);
      for (std::size_t job = 0; job < rows_.size(); ++job) {
        for (std::size_t other = 0; other < rows_.size() && looks_ > 0; ++other) {
          if (other == job || rows_[other].empty()) continue;
          sum -= Exchange(job, other);
          if (sum <= enough()) return sum;
        }
      }
      if (sum > before - 1e-6 * std::abs(before)) break;
    }
    return sum;
  }

  // The gain of the best row.
  double Reconsider(std::size_t job) {
    const double before = cost_[job];
    JobRowGpus old = Remove(job);
    const double best = BestRow(job, before - kBetter, &first_);
    if (best < before - kBetter) {
      Put(job, first_);
      return before - cost_[job];
    }
    Put(job, old);
    return 0;
  }

  // `other` keeps its size, loses up to four GPUs, or takes what `job` leaves over; `job` gets the
  // best row with that. The gain.
  double Exchange(std::size_t job, std::size_t other) {
    const double before = cost_[job] + cost_[other];
    const double least = LeastCost(job);
    // Nothing that `other` could lose would be outweighed.
    if (least >= cost_[job] - kBetter) return 0;
    const std::int32_t held = GpusIn(rows_[other]);
    const JobRowGpus old = Remove(job);
    const JobRowGpus old_other = Remove(other);
    double best = before - kBetter;
    bool found = false;
    const auto take = [&](double sum) {
      if (sum >= best) return;
      best = sum;
      best_first_ = first_;
      best_second_ = second_;
      found = true;
    };
    for (std::int32_t gives = 0; gives <= std::min(kGives, held); ++gives) {
      const std::int32_t size = held - gives;
      double of_other = costs_.Idle();
      second_.clear();
      if (size > 0) {
        if (size > problem_.jobs[other].most() || !BuildSize(other, size, &second_)) continue;
        of_other = costs_.Of(other, second_);
      }
      if (of_other + least >= best) continue;
      Occupy(second_, 1);
      take(of_other + BestRow(job, best - of_other, &first_));
      Occupy(second_, -1);
    }
    if (const double of_job = BestRow(job, best - LeastCost(other), &first_); of_job < best) {
      Occupy(first_, 1);
      take(of_job + BestRow(other, best - of_job, &second_));
      Occupy(first_, -1);
    }
    Put(job, found ? best_first_ : old);
    Put(other, found ? best_second_ : old_other);
    return before - cost_[job] - cost_[other];
  }

  // Takes the rows of some jobs away and gives each the best one in another order, where that is
  // better for all of them together. The new sum of costs.
  double Rebuild(double sum) {
    constexpr int kMostTries = 300;
    Rng rng(1, "rebuilt-rows");
    std::array<std::size_t, 4> jobs{};
    std::array<JobRowGpus, 4> old;
    for (int tries = 0; tries < kMostTries && sum > enough() && looks_ > 0; ++tries) {
      const std::size_t count = std::min<std::size_t>(2 + rng.Below(3), rows_.size());
      double before = 0;
      for (std::size_t i = 0; i < count; ++i) {
        do {
          jobs[i] = rng.Below(rows_.size());
        } while (std::find(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(i), jobs[i]) !=
                 jobs.begin() + static_cast<std::ptrdiff_t>(i));
        before += cost_[jobs[i]];
      }
      for (std::size_t i = 0; i < count; ++i) old[i] = Remove(jobs[i]);
      double after = 0;
      for (std::size_t i = 0; i < count; ++i) {
        // All but the last may take less than the best, so that the others get more.
        const std::uint64_t draw = i + 1 < count ? rng.Below(3) : 0;
        BestRow(jobs[i], kNoRow, &first_);
        const std::int32_t gpus = GpusIn(first_);
        if (draw == 1 && gpus > 1) {
          BuildSize(jobs[i], static_cast<std::int32_t>(1 + rng.Below(At(gpus))), &first_);
        } else if (draw == 2 && gpus > 1) {
          Scatter(gpus, &rng, &first_);
        }
        Put(jobs[i], first_);
        after += cost_[jobs[i]];
      }
      if (after < before - kBetter) {
        sum += after - before;
        continue;
      }
      for (std::size_t i = 0; i < count; ++i) Remove(jobs[i]);
      for (std::size_t i = 0; i < count; ++i) Put(jobs[i], old[i]);
    }
    return sum;
  }
  // At most so many GPUs of some nodes, as many of each as chance says.
  void Scatter(std::int32_t gpus, Rng* rng, JobRowGpus* row) {
    looks_ -= static_cast<std::int64_t>(free_.size());
    row->clear();
    const std::size_t begin = rng->Below(free_.size());
    for (std::size_t i = 0; i < free_.size() && gpus > 0; ++i) {
      const std::size_t n = (begin + i) % free_.size();
      const std::int32_t most = std::min(gpus, MaySpread(n) ? free_[n] : 0);
      if (most <= 0) continue;
      const auto takes = static_cast<std::int32_t>(1 + rng->Below(At(most)));
      row->push_back({static_cast<std::int32_t>(n), takes});
      gpus -= takes;
    }
    std::sort(row->begin(), row->end(),
              [](const NodeGpus& a, const NodeGpus& b) { return a.node < b.node; });
  }
  double LeastCost(std::size_t job) const {
    const double changed = options_[job].empty() ? costs_.Idle() : options_[job].front().cost;
    return std::min(changed, costs_.Keep(job));
  }

  const SpeedupProblem& problem_;
  RowCosts costs_;
  std::int64_t looks_;
  std::int32_t largest_node_;
  std::vector<JobRowGpus> current_;  // where the job may still hold it
  std::vector<std::vector<Option>> options_;
  std::vector<std::int32_t> sizes_;
  double bound_ = 0;
  std::vector<std::int32_t> free_;
  std::vector<std::int32_t> spread_;  // jobs of several nodes, by node
  std::int32_t most_on_one_ = 0;
  std::int32_t on_several_ = 0;
  std::vector<JobRowGpus> rows_;
  std::vector<double> cost_;
  std::vector<std::int32_t> order_;
  JobRowGpus built_, first_, second_, best_first_, best_second_;
};

}  // namespace

SpeedupRows SearchSpeedupRows(const SpeedupProblem& problem, std::int64_t most_looks) {
  CheckSpeedupProblem(problem);
  if (problem.jobs.empty() || problem.gpus() == 0) {
    return {std::vector<JobRowGpus>(problem.jobs.size()), 0, 0};
  }
  return RowSearch(problem, most_looks).Solve();
}

}  // namespace allot
