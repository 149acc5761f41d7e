#pragma once
// The throughput profiles that a workload may name, by name.
//
// The catalogue that ships with allot is traces/catalogue.csv, embedded in the program; a user's
// own has the same columns (docs/formats/catalogue.md). Read by the commands, used by TableCache
// and MakeElastic.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/registry.h"
#include "perf/throughput_model.h"

namespace allot {

// A rate as it stands in a catalogue's text.
struct CatalogueCell {
  std::string profile;
  std::string gpu_type;
  GpuCount gpus = 0;
  std::string nodes;    // "": any
  std::string partner;  // "": alone
  double rate = 0;
};

class Catalogue {
 public:
  explicit Catalogue(std::string id = "") : id_(std::move(id)) {}
  // Of those that come with allot, by which logs name them (CatalogueInfo); "" for a user's own.
  const std::string& id() const { return id_; }

  // DataError when the name is taken. `slowness_class` is SlownessClassOf of this model.
  void Add(ModelPtr model, std::string slowness_class = "");
  ModelPtr Get(std::string_view name) const;  // DataError with did-you-mean when unknown
  const std::vector<ModelPtr>& models() const { return models_; }  // in order of addition
  // The class of programs that differ alike from GPU to GPU (cluster/gpu_slowness.h) which the
  // model is of; "": of none.
  std::string_view SlownessClassOf(std::string_view name) const;
  // GPU types with measured rates, in order of appearance; without the unnamed one. Of models made
  // by code, those that they say (ThroughputModel::gpu_types).
  const std::vector<std::string>& gpu_types() const { return gpu_types_; }
  // What a user's own was read from; "" for the embedded one and those made by code.
  const std::string& csv() const { return csv_; }
  // Measured rates by GPU type and number of GPUs, in order; none of other kinds, and of a
  // catalogue that is made by code.
  const std::vector<CatalogueCell>& cells() const { return cells_; }

  // CSV with columns profile,gpu_type,gpus,rate and perhaps nodes, or with a column for each GPU
  // type (perf/type_columns.h), or with 'kind' and the columns of the kinds it names
  // (ThroughputModelInfo); rows of a profile together. DataError with file and line when malformed.
  // Path for messages only.
  static Catalogue FromCsv(std::string_view text, const std::string& path);
  // Of a file with such a text. Or of Gavel's tables (perf/gavel_tables.h): the file of rates
  // alone, and behind a comma that of pairs. Or a folder of applications
  // (perf/application_files.h); csv() is then the folder as one text.
  static Catalogue FromFile(const std::string& path);
  // One that comes with allot, where it has this name, else of the file.
  static Catalogue FromName(const std::string& name);
  // One that comes with allot, of such a text.
  static Catalogue Named(std::string id, std::string_view text, const std::string& path);
  static const Catalogue& Embedded();

 private:
  std::string id_;
  std::vector<ModelPtr> models_;
  std::map<std::string, std::string, std::less<>> slowness_classes_;  // by model
  std::vector<std::string> gpu_types_;
  std::string csv_;
  std::vector<CatalogueCell> cells_;
};

// A catalogue that comes with allot.
struct CatalogueInfo {
  std::string id;
  std::string summary;
  const Catalogue& (*get)();
};

}  // namespace allot
