#pragma once
// The throughput profiles that a workload may name, by name.
//
// The catalogue that ships with allot is traces/catalogue.csv, embedded in the program; a user's
// own has the same columns (docs/formats/catalogue.md). Read by the commands, used by TableCache
// and MakeElastic.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/registry.h"
#include "perf/throughput_model.h"

namespace allot {

class Catalogue {
 public:
  explicit Catalogue(std::string id = "") : id_(std::move(id)) {}
  // Of those that come with allot, by which logs name them (CatalogueInfo); "" for a user's own.
  const std::string& id() const { return id_; }

  void Add(ModelPtr model);                   // DataError when the name is taken
  ModelPtr Get(std::string_view name) const;  // DataError with did-you-mean when unknown
  const std::vector<ModelPtr>& models() const { return models_; }  // in order of addition
  // GPU types with measured rates, in order of appearance; without the unnamed one. Of a catalogue
  // that is made by code none.
  const std::vector<std::string>& gpu_types() const { return gpu_types_; }
  // What a user's own was read from; "" for the embedded one and those made by code.
  const std::string& csv() const { return csv_; }

  // CSV with columns profile,gpu_type,gpus,rate and perhaps nodes, or with 'kind' and the columns
  // of the kinds it names (ThroughputModelInfo); rows of a profile together. DataError with file
  // and line when malformed. Path for messages only.
  static Catalogue FromCsv(std::string_view text, const std::string& path);
  static Catalogue FromFile(const std::string& path);
  static const Catalogue& Embedded();

 private:
  std::string id_;
  std::vector<ModelPtr> models_;
  std::vector<std::string> gpu_types_;
  std::string csv_;
};

// A catalogue that comes with allot.
struct CatalogueInfo {
  std::string id;
  std::string summary;
  const Catalogue& (*get)();
};

}  // namespace allot
