#include "perf/gavel_pairs.h"

#include <array>
#include <map>

#include "perf/gavel_job_types.h"
#include "table/csv.h"

namespace allot {

namespace internal {
extern const char kGavelPairsCsv[];
extern const char kGavelSpeedsCsv[];
}  // namespace internal

namespace {

constexpr std::array<const char*, 3> kGpuTypes = {"v100", "p100", "k80"};

// As rows of a catalogue (docs/formats/catalogue.md).
Catalogue ReadGavelPairs() {
  std::map<std::string, std::string> rows;  // by job type
  const auto add = [&](const std::string& job_type, const char* type, std::string_view gpus,
                       const std::string& partner, std::string_view rate) {
    rows[job_type] += fmt::format("{},measured,{},{},{},{}\n", job_type, type, gpus, partner, rate);
  };
  CsvReader alone(internal::kGavelSpeedsCsv, "traces/gavel_speeds.csv",
                  {"job_type", "gpus", "v100", "p100", "k80"});
  while (alone.Next()) {
    for (const char* type : kGpuTypes) {
      if (!alone.Has(type)) continue;
      add(std::string(alone.Text("job_type")), type, alone.Text("gpus"), "", alone.Text(type));
    }
  }
  CsvReader pairs(internal::kGavelPairsCsv, "traces/gavel_pairs.csv",
                  {"gpus", "job_type_a", "job_type_b", "v100_a", "v100_b", "p100_a", "p100_b",
                   "k80_a", "k80_b"});
  while (pairs.Next()) {
    const std::string a(pairs.Text("job_type_a"));
    const std::string b(pairs.Text("job_type_b"));
    for (const char* type : kGpuTypes) {
      const std::string of_a = fmt::format("{}_a", type);
      if (!pairs.Has(of_a)) continue;
      add(a, type, pairs.Text("gpus"), b, pairs.Text(of_a));
      if (a != b) add(b, type, pairs.Text("gpus"), a, pairs.Text(fmt::format("{}_b", type)));
    }
  }
  std::string text = "profile,kind,gpu_type,gpus,partner,rate\n";
  for (const GavelJobType& type : GavelJobTypes()) text += rows[type.name];
  return Catalogue::FromCsv(text, "traces/gavel_pairs.csv");
}

}  // namespace

const Catalogue& GavelPairsCatalogue() {
  static const Catalogue catalogue = ReadGavelPairs();
  return catalogue;
}

namespace {

ALLOT_REGISTER(CatalogueInfo,
               (CatalogueInfo{"gavel-pairs",
                              "Gavel's job types, alone and in pairs on the same GPUs",
                              &GavelPairsCatalogue}));

}  // namespace
}  // namespace allot
