#include "solve/speedup_genetic.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "core/index.h"

namespace allot {
namespace {

constexpr double kCrosses = 0.9;        // of matings
constexpr double kResets = 0.1;         // of rows, to the current one
constexpr double kZeroes = 0.1;         // of rows; and of such a row's entries
constexpr int kMostMatings = 101;       // a generation: where all states are known, it is smaller
constexpr std::size_t kMostNodes = 16;  // of a job

// GPUs of each job on each node, row by row.
using Matrix = std::vector<std::uint8_t>;

struct Individual {
  Matrix gpus;
  double fitness = 0;  // as minus the sum of costs
  double utility = 0;
  int rank = 0;
  double crowding = 0;
};

bool Beats(const Individual& a, const Individual& b) {
  return a.fitness >= b.fitness && a.utility >= b.utility &&
         (a.fitness > b.fitness || a.utility > b.utility);
}

class GeneticSearch {
 public:
  GeneticSearch(const SpeedupProblem& problem, const GeneticOptions& options, Rng* rng)
      : problem_(problem),
        costs_(problem),
        options_(options),
        rng_(*rng),
        jobs_(problem.jobs.size()),
        nodes_(problem.capacity.size()) {
    RowSet rows;
    for (const SpeedupProblem::Job& job : problem.jobs) rows.push_back(job.current);
    current_ = MatrixOf(rows);
    TabulateCosts();
  }

  GeneticAnswer Solve(std::span<const RowSet> starts) {
    std::vector<Individual> population;
    if (starts.empty()) Admit(current_, &population);
    for (const RowSet& start : starts) Admit(MatrixOf(start), &population);
    population_size_ = population.size();
    Survive(&population);
    for (int generation = 1; generation < options_.generations; ++generation) {
      const std::size_t parents = population.size();
      Mate(&population);
      if (population.size() == parents) break;  // every state is known
      Survive(&population);
    }
    GeneticAnswer answer;
    const auto fittest = std::max_element(
        population.begin(), population.end(),
        [](const Individual& a, const Individual& b) { return a.fitness < b.fitness; });
    answer.rows = RowsOf(fittest->gpus);
    answer.fitness = costs_.FitnessOf(-fittest->fitness);
    for (const Individual& one : population) {
      if (one.rank == 0) answer.front.push_back(RowsOf(one.gpus));
    }
    return answer;
  }

 private:
  Matrix MatrixOf(const RowSet& rows) const {
    Matrix matrix(jobs_ * nodes_, 0);
    for (std::size_t job = 0; job < std::min(jobs_, rows.size()); ++job) {
      for (const NodeGpus& share : rows[job]) {
        if (share.node < 0 || At(share.node) >= nodes_) continue;
        matrix[job * nodes_ + At(share.node)] = static_cast<std::uint8_t>(
            std::clamp(share.gpus, 0, std::min(problem_.capacity[At(share.node)], 255)));
      }
    }
    return matrix;
  }
  RowSet RowsOf(const Matrix& matrix) const {
    RowSet rows(jobs_);
    for (std::size_t job = 0; job < jobs_; ++job) {
      for (std::size_t n = 0; n < nodes_; ++n) {
        const std::int32_t gpus = matrix[job * nodes_ + n];
        if (gpus > 0) rows[job].push_back({static_cast<std::int32_t>(n), gpus});
      }
    }
    return rows;
  }
  double Draw() { return static_cast<double>(rng_.NextU32()) * 0x1p-32; }

  // ---- What an individual is worth

  void TabulateCosts() {
    first_.push_back(0);
    for (std::size_t job = 0; job < jobs_; ++job) {
      const SpeedupProblem::Job& of = problem_.jobs[job];
      for (std::int32_t k = 1; k <= of.most(); ++k) {
        for (const bool several : {false, true}) {
          cost_.push_back(costs_.Changed(job, k, several));
          speedup_.push_back((several ? of.several : of.one)[At(k)]);
        }
      }
      first_.push_back(cost_.size());
    }
  }
  void Evaluate(Individual* one) const {
    double cost = 0;
    double speedups = 0;
    used_.assign(nodes_, 0);
    for (std::size_t job = 0; job < jobs_; ++job) {
      const std::uint8_t* row = one->gpus.data() + job * nodes_;
      std::size_t gpus = 0;
      std::size_t nodes = 0;
      for (std::size_t n = 0; n < nodes_; ++n) {
        gpus += row[n];
        nodes += row[n] > 0 ? 1 : 0;
        used_[n] |= row[n];
      }
      const bool same = std::memcmp(row, current_.data() + job * nodes_, nodes_) == 0;
      if (gpus == 0) {
        cost += costs_.Idle();
        continue;
      }
      const std::size_t at = first_[job] + 2 * (gpus - 1) + (nodes > 1 ? 1 : 0);
      cost += same ? costs_.Keep(job) : cost_[at];
      speedups += speedup_[at];
    }
    std::int32_t in_use = 0;
    for (std::size_t n = 0; n < nodes_; ++n) in_use += used_[n] != 0 ? problem_.capacity[n] : 0;
    one->fitness = -cost;
    one->utility = in_use > 0 ? speedups / in_use : 0;
  }

  // ---- Rules

  void Repair(Matrix* matrix) {
    if (problem_.apart) KeepApart(matrix);
    std::vector<std::uint32_t>& order = order_;
    order.resize(nodes_);
    for (std::size_t job = 0; job < jobs_; ++job) {
      std::uint8_t* row = matrix->data() + job * nodes_;
      std::size_t gpus = 0;
      std::size_t nodes = 0;
      for (std::size_t n = 0; n < nodes_; ++n) {
        gpus += row[n];
        nodes += row[n] > 0 ? 1 : 0;
      }
      const std::size_t most = At(problem_.jobs[job].most());
      if (gpus <= most && nodes <= kMostNodes) continue;
      std::iota(order.begin(), order.end(), 0U);
      for (std::size_t n = nodes_; n > 1; --n) std::swap(order[n - 1], order[rng_.Below(n)]);
      std::size_t left = most;
      std::size_t nodes_left = kMostNodes;
      for (const std::uint32_t n : order) {
        const std::size_t takes = nodes_left > 0 ? std::min<std::size_t>(row[n], left) : 0;
        row[n] = static_cast<std::uint8_t>(takes);
        left -= takes;
        nodes_left -= takes > 0 ? 1 : 0;
      }
    }
    for (std::size_t n = 0; n < nodes_; ++n) {
      std::int32_t left = problem_.capacity[n];
      for (std::size_t job = 0; job < jobs_; ++job) {
        std::uint8_t& gpus = (*matrix)[job * nodes_ + n];
        gpus = static_cast<std::uint8_t>(std::min<std::int32_t>(gpus, left));
        left -= gpus;
      }
    }
  }
  // The first job of several nodes on a node keeps it.
  void KeepApart(Matrix* matrix) {
    used_.assign(nodes_, 0);
    for (std::size_t job = 0; job < jobs_; ++job) {
      std::uint8_t* row = matrix->data() + job * nodes_;
      if (std::count_if(row, row + nodes_, [](std::uint8_t gpus) { return gpus > 0; }) < 2) {
        continue;
      }
      for (std::size_t n = 0; n < nodes_; ++n) {
        if (row[n] == 0) continue;
        if (used_[n] != 0) row[n] = 0;
        used_[n] = 1;
      }
    }
  }

  // ---- Offspring

  void Mutate(Matrix* matrix) {
    for (std::size_t job = 0; job < jobs_; ++job) {
      if (Draw() >= kResets) continue;
      std::copy_n(current_.begin() + static_cast<std::ptrdiff_t>(job * nodes_), nodes_,
                  matrix->begin() + static_cast<std::ptrdiff_t>(job * nodes_));
    }
    for (std::size_t job = 0; job < jobs_; ++job) {
      if (Draw() >= kZeroes) continue;
      for (std::size_t n = 0; n < nodes_; ++n) {
        if (Draw() < kZeroes) (*matrix)[job * nodes_ + n] = 0;
      }
    }
    for (std::size_t n = 0; n < nodes_; ++n) {
      std::int32_t free = problem_.capacity[n];
      std::size_t here = 0;
      for (std::size_t job = 0; job < jobs_; ++job) {
        const std::uint8_t gpus = (*matrix)[job * nodes_ + n];
        free -= gpus;
        here += gpus > 0 ? 1 : 0;
      }
      if (free <= 0) continue;
      // Every job fits where one GPU is free.
      const double of_all = 1 / static_cast<double>(jobs_);
      const double of_here = here > 0 ? 1 / static_cast<double>(here) : 0;
      for (std::size_t job = 0; job < jobs_; ++job) {
        std::uint8_t& gpus = (*matrix)[job * nodes_ + n];
        const double more = gpus > 0 ? of_here : 0;
        if (Draw() >= of_all + more - of_all * more) continue;
        const std::int32_t most = problem_.capacity[n];
        if (gpus >= most) continue;
        gpus = static_cast<std::uint8_t>(gpus +
                                         rng_.Below(static_cast<std::uint64_t>(most - gpus) + 1));
      }
    }
  }

  // False: it is known.
  bool Admit(Matrix matrix, std::vector<Individual>* population) {
    Repair(&matrix);
    const std::uint64_t hash =
        StableHash({reinterpret_cast<const char*>(matrix.data()), matrix.size()});
    const auto [begin, end] = known_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      if ((*population)[it->second].gpus == matrix) return false;
    }
    known_.emplace(hash, population->size());
    Individual one;
    one.gpus = std::move(matrix);
    Evaluate(&one);
    population->push_back(std::move(one));
    return true;
  }

  std::size_t Tournament(const std::vector<Individual>& population) {
    const std::size_t a = rng_.Below(population_size_);
    const std::size_t b = rng_.Below(population_size_);
    if (Beats(population[a], population[b])) return a;
    if (Beats(population[b], population[a])) return b;
    if (population[a].crowding != population[b].crowding) {
      return population[a].crowding > population[b].crowding ? a : b;
    }
    return rng_.Below(2) == 0 ? a : b;
  }

  void Mate(std::vector<Individual>* population) {
    population_size_ = population->size();
    const std::size_t full = population_size_ + At(options_.population);
    for (int mating = 0; mating < kMostMatings && population->size() < full; ++mating) {
      const std::size_t missing = full - population->size();
      for (std::size_t pair = 0; pair < (missing + 1) / 2; ++pair) {
        Matrix first = (*population)[Tournament(*population)].gpus;
        Matrix second = (*population)[Tournament(*population)].gpus;
        if (Draw() < kCrosses) {
          const auto point = static_cast<std::ptrdiff_t>(rng_.Below(jobs_) * nodes_);
          std::swap_ranges(first.begin(), first.begin() + point, second.begin());
        }
        for (Matrix* child : {&first, &second}) {
          Mutate(child);
          if (population->size() < full) Admit(std::move(*child), population);
        }
      }
    }
  }

  // ---- Survival: by fronts, the last of them by crowding.

  void Survive(std::vector<Individual>* population) {
    std::sort(population->begin(), population->end(), [](const Individual& a, const Individual& b) {
      if (a.fitness != b.fitness) return a.fitness > b.fitness;
      if (a.utility != b.utility) return a.utility > b.utility;
      return a.gpus < b.gpus;
    });
    RankFronts(population);
    for (int rank = 0; Crowd(rank, population); ++rank) {
    }
    std::stable_sort(population->begin(), population->end(),
                     [](const Individual& a, const Individual& b) {
                       return a.rank != b.rank ? a.rank < b.rank : a.crowding > b.crowding;
                     });
    if (population->size() > At(options_.population)) population->resize(At(options_.population));
    known_.clear();
    for (std::size_t i = 0; i < population->size(); ++i) {
      const Matrix& gpus = (*population)[i].gpus;
      known_.emplace(StableHash({reinterpret_cast<const char*>(gpus.data()), gpus.size()}), i);
    }
  }
  // By falling fitness, an individual's front is the first whose best utility it exceeds; one that
  // is equal in both objectives joins.
  static void RankFronts(std::vector<Individual>* population) {
    std::vector<const Individual*> last;
    for (Individual& one : *population) {
      std::size_t rank = 0;
      while (rank < last.size() && Beats(*last[rank], one)) ++rank;
      if (rank == last.size()) last.push_back(&one);
      last[rank] = &one;
      one.rank = static_cast<int>(rank);
    }
  }
  static bool Crowd(int rank, std::vector<Individual>* population) {
    std::vector<Individual*> front;
    for (Individual& one : *population) {
      if (one.rank == rank) front.push_back(&one);
    }
    if (front.empty()) return false;
    for (Individual* one : front) one->crowding = 0;
    for (const auto value : {&Individual::fitness, &Individual::utility}) {
      std::stable_sort(front.begin(), front.end(), [&](const Individual* a, const Individual* b) {
        return a->*value < b->*value;
      });
      const double range = front.back()->*value - front.front()->*value;
      front.front()->crowding = front.back()->crowding = std::numeric_limits<double>::infinity();
      for (std::size_t i = 1; i + 1 < front.size() && range > 0; ++i) {
        front[i]->crowding += (front[i + 1]->*value - front[i - 1]->*value) / range;
      }
    }
    return true;
  }

  const SpeedupProblem& problem_;
  RowCosts costs_;
  GeneticOptions options_;
  Rng& rng_;
  std::size_t jobs_;
  std::size_t nodes_;
  Matrix current_;
  std::vector<std::size_t> first_;  // of each job, in the tables below: [GPUs - 1][one, several]
  std::vector<double> cost_;
  std::vector<double> speedup_;
  std::size_t population_size_ = 0;  // without this generation's offspring
  std::unordered_multimap<std::uint64_t, std::size_t> known_;
  std::vector<std::uint32_t> order_;
  mutable std::vector<std::uint8_t> used_;
};

}  // namespace

GeneticAnswer SearchSpeedupRowsGenetically(const SpeedupProblem& problem,
                                           std::span<const RowSet> starts, Rng* rng,
                                           const GeneticOptions& options) {
  CheckSpeedupProblem(problem);
  if (problem.jobs.empty() || problem.gpus() == 0) {
    return {RowSet(problem.jobs.size()), 0, {}};
  }
  return GeneticSearch(problem, options, rng).Solve(starts);
}

}  // namespace allot
