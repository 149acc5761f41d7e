#include <utility>
#include <vector>

#include "core/check.h"
#include "perf/throughput_model.h"

namespace allot {
namespace {

class WorkerServerModel final : public ThroughputModel {
 public:
  WorkerServerModel(std::string name, UnitKind worker, UnitKind server,
                    std::vector<std::vector<double>> rates)
      : name_(std::move(name)),
        kinds_{std::move(worker), std::move(server)},
        rates_(std::move(rates)) {
    ALLOT_CHECK(!rates_.empty());
  }

  const std::string& name() const override { return name_; }
  const std::vector<UnitKind>& kinds() const override { return kinds_; }
  double Rate(const RunShape& shape, const TrainingState&) const override {
    const UnitCounts units = shape.units();
    const auto workers = static_cast<std::size_t>(units.of(0));
    const auto servers = static_cast<std::size_t>(units.of(1));
    if (servers >= rates_.size() || workers >= rates_[servers].size()) return 0;
    return rates_[servers][workers];
  }

 private:
  std::string name_;
  std::vector<UnitKind> kinds_;
  std::vector<std::vector<double>> rates_;
};

}  // namespace

ModelPtr MakeWorkerServerModel(std::string name, UnitKind worker, UnitKind server,
                               std::vector<std::vector<double>> rates) {
  return std::make_shared<WorkerServerModel>(std::move(name), std::move(worker), std::move(server),
                                             std::move(rates));
}

namespace {

ALLOT_REGISTER(ThroughputModelInfo,
               (ThroughputModelInfo{"worker-server",
                                    "rates measured at numbers of workers and parameter servers",
                                    {},
                                    {},
                                    {}}));

}  // namespace
}  // namespace allot
