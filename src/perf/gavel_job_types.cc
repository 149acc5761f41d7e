#include "perf/gavel_job_types.h"

#include <array>

#include "table/csv.h"

namespace allot {

namespace internal {
extern const char kGavelSpeedsCsv[];
}

namespace {

struct GavelTables {
  std::vector<GavelJobType> types;
  Catalogue catalogue{"gavel"};
};

GavelTables ReadGavelTables() {
  constexpr std::array<const char*, 3> kTypes = {"v100", "p100", "k80"};
  CsvReader csv(internal::kGavelSpeedsCsv, "traces/gavel_speeds.csv",
                {"job_type", "gpus", "v100", "p100", "k80"});
  GavelTables tables;
  std::vector<GpuScalingPoints> points;
  const auto finish = [&] {
    if (points.empty()) return;
    tables.catalogue.Add(MakeGpuScalingModel(tables.types.back().name, std::move(points)));
  };
  while (csv.Next()) {
    csv.CheckRow();
    const std::string name(csv.Text("job_type"));
    if (tables.types.empty() || tables.types.back().name != name) {
      finish();
      tables.types.push_back({name, false});
      points.clear();
      for (const char* type : kTypes) points.push_back({type, {}, {}});
    }
    const auto gpus = static_cast<GpuCount>(csv.Integer("gpus", 1, 8));
    if (gpus > 1) tables.types.back().several_gpus = true;
    for (std::size_t t = 0; t < kTypes.size(); ++t) {
      if (csv.Has(kTypes[t])) points[t].points.emplace_back(gpus, csv.Number(kTypes[t]));
    }
  }
  finish();
  return tables;
}

const GavelTables& EmbeddedGavel() {
  static const GavelTables tables = ReadGavelTables();
  return tables;
}

}  // namespace

const std::vector<GavelJobType>& GavelJobTypes() { return EmbeddedGavel().types; }
const Catalogue& GavelCatalogue() { return EmbeddedGavel().catalogue; }

namespace {

ALLOT_REGISTER(CatalogueInfo, (CatalogueInfo{"gavel", "Gavel's job types on V100, P100 and K80",
                                             &GavelCatalogue}));

}  // namespace
}  // namespace allot
