#pragma once
// A folder of its own for each test, gone afterwards, whatever else runs at the time. What every
// C++ test writes files in; those in Python have pytest's tmp_path.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace allot::testing_support {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = testing::TempDir() + "allot-test-XXXXXX";
    const char* made = ::mkdtemp(pattern.data());
    if (made == nullptr) throw std::filesystem::filesystem_error("mkdtemp", pattern, {});
    path_ = made;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string string() const { return path_.string(); }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }
  // NOLINTNEXTLINE(google-explicit-constructor): a folder is its path
  operator const std::filesystem::path&() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string Bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace allot::testing_support
