#include "wait_forecast/length_check.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "core/index.h"

namespace allot {
namespace {

constexpr std::array<const char*, 2> kAskedNames = {"new", "under way"};
constexpr std::array<const char*, 5> kSizeNames = {"all", "1", "2-4", "5-8", "9 and more"};

std::size_t SizeOf(GpuCount gpus) { return gpus <= 1 ? 1 : gpus <= 4 ? 2 : gpus <= 8 ? 3 : 4; }

}  // namespace

LengthCheck::LengthCheck(const Scenario& scenario, LengthModel lengths, const CheckOptions& options)
    : scenario_(scenario),
      lengths_(std::move(lengths)),
      options_(options),
      next_(options.from),
      seen_(scenario.workload().jobs.size()) {
  lengths_.OnEpisodeStart();
}

void LengthCheck::OnDecision(const Observation& o, const Allocation&) {
  lengths_.Observe(o);
  const bool counts = o.now >= options_.from && o.now < options_.until;
  const bool moment = counts && o.now >= next_;
  while (moment && next_ <= o.now) next_ += options_.every;
  for (std::size_t r = 0; r < o.job.size(); ++r) {
    const bool is_new = !seen_[At(o.job[r])];
    seen_[At(o.job[r])] = true;
    if (is_new && counts) Ask(o, r, 0);
    if (!is_new && moment && o.done_work[r] > 0) Ask(o, r, 1);
  }
}

void LengthCheck::Ask(const Observation& o, std::size_t row, std::size_t asked) {
  const double work = scenario_.facts(o.job[row]).work - o.done_work[row];
  const Seconds left = work / o.table[row]->reference_rate();
  const std::size_t size = SizeOf((*o.table[row])[o.requested[row]].demand.gpus);
  for (const std::size_t of : {std::size_t{0}, size}) ++counts_[asked][of].questions;
  for (std::size_t l = 0; l < kLevels.size(); ++l) {
    if (left > lengths_.Remaining(o, static_cast<std::int32_t>(row), kLevels[l])) continue;
    for (const std::size_t of : {std::size_t{0}, size}) ++counts_[asked][of].covered[l];
  }
}

std::vector<LengthCoverage> LengthCheck::Coverage() const {
  std::vector<LengthCoverage> rows;
  for (std::size_t asked = 0; asked < kAsked; ++asked) {
    for (std::size_t size = 0; size < kSizes; ++size) {
      const Count& count = counts_[asked][size];
      if (count.questions == 0) continue;
      for (std::size_t l = 0; l < kLevels.size(); ++l) {
        rows.push_back(
            {kAskedNames[asked], kSizeNames[size], kLevels[l],
             static_cast<double>(count.covered[l]) / static_cast<double>(count.questions),
             count.questions});
      }
    }
  }
  return rows;
}

std::string CoverageCsv(const std::vector<LengthCoverage>& rows) {
  std::string csv = "asked,gpus,nominal,covered,questions\n";
  for (const LengthCoverage& row : rows) {
    fmt::format_to(std::back_inserter(csv), "{},{},{},{:.6g},{}\n", row.asked, row.gpus,
                   row.nominal, row.covered, row.questions);
  }
  return csv;
}

}  // namespace allot
