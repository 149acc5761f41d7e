#pragma once
// Reads an episode log back: replay, imitation learning and the report open the logs of allot and
// those that Minari wrote. Whatever is wrong with the files is a DataError naming file and data
// set; checksums are verified as the data are read.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "record/data_array.h"
#include "record/hdf5.h"

namespace allot {

struct EpisodeInfo {
  std::int64_t id = 0;
  std::int64_t steps = 0;
  std::optional<std::int64_t> seed;
  AttributeMap attributes;  // all of the episode's: results, "options/..."
};

class MinariReader {
 public:
  // The data set's folder (which holds data/), its data folder, or main_data.hdf5 itself. A folder
  // must hold a finished data set: metadata.json, and as many episodes as it says.
  explicit MinariReader(const std::filesystem::path& where);

  std::int64_t episodes() const { return episodes_; }
  const nlohmann::json& metadata() const { return metadata_; }  // null when a file was named
  AttributeMap attributes() const { return file_.Attributes("/"); }
  const std::filesystem::path& path() const { return file_.path(); }

  // `path` is inside the episode: "rewards", "observations/jobs", "allocation/node".
  EpisodeInfo Episode(std::int64_t episode) const;
  bool Has(std::int64_t episode, const std::string& path) const;
  std::vector<std::string> List(std::int64_t episode, const std::string& group) const;
  AttributeMap Attributes(std::int64_t episode, const std::string& path) const;
  DataArray Read(std::int64_t episode, const std::string& path) const;

  // The values as T, which the file must hold as such; the shape too if given.
  template <typename T>
  std::vector<T> ReadAs(std::int64_t episode, const std::string& path,
                        ArrayShape* shape = nullptr) const {
    DataArray array = Read(episode, path);
    auto* values = std::get_if<std::vector<T>>(&array.values);
    if (values == nullptr) {
      throw DataError("{}: data set '{}' must be {}, is {}", file_.path().string(),
                      InFile(episode, path), DtypeOf<T>(), DtypeName(array.values));
    }
    if (shape != nullptr) *shape = std::move(array.shape);
    return std::move(*values);
  }

 private:
  std::string InFile(std::int64_t episode, const std::string& path) const;

  nlohmann::json metadata_;
  Hdf5File file_;
  std::int64_t episodes_ = 0;
};

}  // namespace allot
