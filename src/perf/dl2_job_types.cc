#include "perf/dl2_job_types.h"

#include "core/error.h"
#include "table/csv.h"

namespace allot {

namespace internal {
extern const char kDl2SpeedsCsv[];
}

namespace {

struct Tables {
  std::vector<Dl2JobType> types;
  Catalogue catalogue{"dl2"};
};

Tables ReadTables() {
  constexpr int kWorkers = kDl2MostUnits + 1;
  std::vector<std::string> columns = {"model", "epoch_size", "epochs", "worker_gpu_slots",
                                      "servers"};
  for (int workers = 1; workers <= kWorkers; ++workers)
    columns.push_back(fmt::format("w{}", workers));
  CsvReader csv(internal::kDl2SpeedsCsv, "traces/dl2_speeds.csv", columns);
  Tables tables;
  std::vector<std::vector<double>> rates;  // [servers][workers], epochs a second
  std::int32_t gpu_slots = 0;
  const auto finish = [&] {
    if (rates.empty()) return;
    // A GPU slot costs half a CPU slot: a worker's GPU as much as its CPUs, and as a server.
    const double price = gpu_slots > 0 ? 4 : 2;
    tables.catalogue.Add(MakeWorkerServerModel(tables.types.back().model,
                                               {"worker", {gpu_slots, 2}, price}, {"ps", {0, 2}, 2},
                                               std::move(rates)));
  };
  while (csv.Next()) {
    csv.CheckRow();
    const std::string model(csv.Text("model"));
    if (tables.types.empty() || tables.types.back().model != model) {
      finish();
      tables.types.push_back({model, csv.Number("epochs")});
      gpu_slots = static_cast<std::int32_t>(csv.Integer("worker_gpu_slots", 0, 8));
      rates.assign(1, {});
    }
    std::vector<double> row = {0};
    for (int workers = 1; workers <= kWorkers; ++workers) {
      row.push_back(csv.Number(fmt::format("w{}", workers)) / csv.Number("epoch_size"));
    }
    rates.push_back(std::move(row));
  }
  finish();
  return tables;
}

const Tables& Embedded() {
  static const Tables tables = ReadTables();
  return tables;
}

}  // namespace

const std::vector<Dl2JobType>& Dl2JobTypes() { return Embedded().types; }
const Catalogue& Dl2Catalogue() { return Embedded().catalogue; }

namespace {

ALLOT_REGISTER(CatalogueInfo,
               (CatalogueInfo{"dl2", "workers and servers of DL2's job types", &Dl2Catalogue}));

}  // namespace
}  // namespace allot
