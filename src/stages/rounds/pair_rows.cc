#include "stages/rounds/pair_rows.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/index.h"
#include "stages/fill/pair_rates.h"

namespace allot {
PairRows ReadPairRows(const Observation& o, std::span<const std::int32_t> rows) {
  PairRows read;
  read.rows = ReadShareRows(o, rows);
  read.problem.alone = read.rows.problem;
  const std::size_t types = read.problem.alone.types();
  struct Kind {
    const ConfigurationTable* table;
    std::int32_t requested;
    std::size_t job;
  };
  std::vector<Kind> kinds;
  std::map<std::pair<std::uint64_t, std::int32_t>, std::int32_t> number;
  for (std::size_t i = 0; i < read.rows.jobs(); ++i) {
    const std::size_t row = At(read.rows.row[i]);
    const auto [at, added] =
        number.emplace(std::pair(o.table[row]->fingerprint(), o.requested[row]),
                       static_cast<std::int32_t>(kinds.size()));
    if (added) kinds.push_back({o.table[row], o.requested[row], i});
    read.problem.kind.push_back(at->second);
  }
  read.problem.kinds = kinds.size();
  read.problem.beside.assign(kinds.size() * kinds.size() * types, 0.0);
  read.configuration.assign(read.problem.beside.size(), -1);
  for (std::size_t a = 0; a < kinds.size(); ++a) {
    for (std::size_t b = 0; b < kinds.size(); ++b) {
      if (read.problem.alone.gpus[kinds[a].job] != read.problem.alone.gpus[kinds[b].job]) continue;
      for (std::size_t g = 0; g < types; ++g) {
        const std::int32_t c = Beside(*kinds[a].table, (*kinds[a].table)[kinds[a].requested].units,
                                      kinds[b].table->name(), static_cast<GpuTypeIndex>(g));
        // Only where it runs alone too: the job's demand fits there.
        const bool there = read.rows.configuration[kinds[a].job * types + g] >= 0;
        if (c < 0 || !there || !((*kinds[a].table)[c].rate > 0)) continue;
        const std::size_t slot = (a * kinds.size() + b) * types + g;
        read.configuration[slot] = c;
        read.problem.beside[slot] = (*kinds[a].table)[c].rate;
      }
    }
  }
  return read;
}

void AppendShares(const PairRows& rows, const PackedShares& of, std::vector<TimeShare>* shares) {
  AppendShares(rows.rows, of.of, shares);
  const PackedProblem& problem = rows.problem;
  const std::size_t types = problem.alone.types();
  for (const PairShare& pair : of.pairs) {
    const auto configuration = [&](std::int32_t job, std::int32_t beside) {
      const std::size_t a = At(problem.kind[At(job)]);
      const std::size_t b = At(problem.kind[At(beside)]);
      return rows.configuration[(a * problem.kinds + b) * types + pair.type];
    };
    const std::int32_t first = configuration(pair.first, pair.second);
    const std::int32_t second = configuration(pair.second, pair.first);
    if (first < 0 || second < 0 || !(pair.share > 0)) continue;
    shares->push_back({rows.rows.row[At(pair.first)], first, std::min(1.0, pair.share),
                       rows.rows.row[At(pair.second)], second});
  }
}

void RefusePairsOfAssumedSpeeds(const std::string& sharing, const std::string& speeds, bool pairs) {
  if (!pairs || speeds == "known") return;
  throw UsageError("sharing '{}': 'pairs' goes with speeds=known only, got speeds={}", sharing,
                   speeds);
}

}  // namespace allot
