// Failures as they were recorded: a CSV with columns node, down_day, up_day (days since the record
// began; class and description are not read), of servers 0 to `nodes` - 1, of which those without a
// row had no failure. With `sample` each node of the cluster is a server drawn at random, and all
// of them begin on the same day, drawn too; without it node n is server n from day 0 on. Past its
// end the record begins again. With `notice` the rows are recalls, as of spare capacity.

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "core/file.h"
#include "sim/fault_law.h"
#include "table/csv.h"

namespace allot {
namespace {

constexpr Seconds kRecordedDay = 86400;

class RecordedFaults : public FaultLaw {
 public:
  explicit RecordedFaults(const Params& params)
      : path_(params.Text("file")),
        servers_(static_cast<std::uint64_t>(params.Integer("nodes"))),
        sample_(params.Flag("sample")) {
    if (!params.Text("notice").empty()) notice_ = params.Duration("notice");
    const std::string text = ReadTextFile(path_);
    CsvReader csv(text, path_, {"node", "down_day", "up_day"}, {"class", "description"});
    while (csv.Next()) {
      csv.CheckRow();
      const auto server = static_cast<std::uint64_t>(csv.Integer("node", 0, 10'000'000));
      const Outage outage{kRecordedDay * csv.Number("down_day"),
                          kRecordedDay * csv.Number("up_day")};
      if (server >= servers_) {
        throw DataError("{}: 'node' must be below nodes={}, got {}", csv.place(), servers_, server);
      }
      if (!(outage.down >= 0 && outage.up >= outage.down)) {
        throw DataError("{}: days must be 0 <= down_day <= up_day, got {} and {}", csv.place(),
                        csv.Text("down_day"), csv.Text("up_day"));
      }
      end_ = std::max(end_, outage.up);
      Add(outage, &outages_[server], csv.place());
    }
    if (outages_.empty()) throw DataError("{}: a record of failures must have a row", path_);
  }

  std::vector<Outage> OutagesOf(std::uint64_t node, Seconds horizon,
                                std::uint64_t seed) const override {
    Rng rng = StreamOf(node, seed);
    const auto found = outages_.find(sample_ ? rng.Below(servers_) : node);
    std::vector<Outage> outages;
    if (found == outages_.end()) return outages;
    const Seconds begin = sample_ ? Rng(seed, "failure-window").Uniform(0, end_) : 0;
    for (Seconds round = -begin; round < horizon; round += end_) {
      for (const Outage& outage : found->second) {
        const Outage moved{std::max(0.0, outage.down + round), outage.up + round};
        const bool follows = outages.empty() || moved.down > outages.back().up;
        if (moved.down < horizon && moved.up > moved.down && follows) outages.push_back(moved);
      }
    }
    return outages;
  }
  double rate() const override {
    double failures = 0;
    double up = static_cast<double>(servers_) * end_;
    for (const auto& [server, outages] : outages_) {
      failures += static_cast<double>(outages.size());
      for (const Outage& outage : outages) up -= outage.up - outage.down;
    }
    return failures / up;
  }
  std::optional<Seconds> notice() const override { return notice_; }

  void CheckNodes(std::size_t nodes) const override {
    const std::uint64_t first = outages_.begin()->first;
    if (sample_ || first < nodes) return;
    throw DataError(
        "{}: with sample=false 'node' must name a node of the cluster, from 0 to {}, got none "
        "below {}",
        path_, nodes - 1, first);
  }

 private:
  // Joins outages that overlap or touch; one without a length has no effect.
  static void Add(const Outage& outage, std::vector<Outage>* of, const std::string& place) {
    if (!of->empty() && outage.down < of->back().down) {
      throw DataError("{}: 'down_day' must ascend for each node, {} follows {}", place,
                      outage.down / kRecordedDay, of->back().down / kRecordedDay);
    }
    if (!of->empty() && outage.down <= of->back().up) {
      of->back().up = std::max(of->back().up, outage.up);
    } else if (outage.up > outage.down) {
      of->push_back(outage);
    }
  }

  std::string path_;
  std::uint64_t servers_;
  bool sample_;
  std::optional<Seconds> notice_;
  Seconds end_ = 0;                                       // of the record
  std::map<std::uint64_t, std::vector<Outage>> outages_;  // by server
};

ALLOT_REGISTER(FaultLawInfo,
               (FaultLawInfo{.id = "trace",
                             .summary = "failures as they were recorded",
                             .params = {FileParam({"file", "", "CSV: node, down_day, up_day"}),
                                        {"nodes", "0",
                                         "servers of the record, those without a failure "
                                         "included",
                                         1, 1e7},
                                        {"sample", "true",
                                         "nodes are servers drawn at random, from a day "
                                         "drawn at random on"},
                                        {"notice", "",
                                         "the rows are recalls, which jobs know of so long before; "
                                         "empty: failures",
                                         0, 1e9}},
                             .make = [](const Params& params) {
                               return std::make_unique<RecordedFaults>(params);
                             }}));

}  // namespace
}  // namespace allot
