#pragma once
// HDF5 files through the C API: handles that close themselves, typed arrays, and failures as Errors
// that name file and object. The Minari writer and reader stand on it; nothing above includes HDF5.
//
// Data sets are chunked (the whole array, or about 1 MiB of rows), shuffled, gzipped at level 4 and
// checksummed (fletcher32), with an unlimited first dimension; files use the 1.10 format, which
// costs far less per object and guards all else with checksums, and carry no time stamps: equal
// content gives equal bytes. Text (UTF-8) is as long in the file as its longest element, so that
// checksums cover it, too; text of variable length, as h5py writes str, is not read. Paths are
// relative to the root: "episode_0/rewards". One thread at a time per file.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "record/data_array.h"

namespace allot {

class Hdf5File {
 public:
  // Replaces an existing file. RunError when it cannot be created.
  static Hdf5File Create(const std::filesystem::path& path);
  // Read only. DataError when absent, not HDF5, cut short, or left open by a writer that died.
  static Hdf5File Open(const std::filesystem::path& path);

  Hdf5File(Hdf5File&&) noexcept;
  Hdf5File& operator=(Hdf5File&&) noexcept;
  ~Hdf5File();  // closes; a failure then passes silently: call Close() where it matters

  const std::filesystem::path& path() const { return path_; }

  // Writing: RunError (a full disk, for one). After the first one the file takes nothing more in.
  void MakeGroup(const std::string& path);                      // with its parents; may exist
  void Write(const std::string& path, const DataArray& array);  // parents are made; must be new
  void SetAttributes(const std::string& object, const AttributeMap& attributes);  // "/" is the root
  void Flush();
  void Close();

  // Reading: DataError naming file and object.
  bool Has(const std::string& path) const;
  std::vector<std::string> List(const std::string& group) const;  // names, sorted
  DataArray Read(const std::string& path) const;                  // verifies the checksums
  // Whole numbers, floats and text; of text of variable length only that it is there.
  AttributeMap Attributes(const std::string& object) const;

 private:
  struct State;
  Hdf5File(std::filesystem::path path, std::unique_ptr<State> state);
  void CheckWrite(bool succeeded, const std::string& object) const;

  std::filesystem::path path_;
  std::unique_ptr<State> state_;
};

}  // namespace allot
