#pragma once
// A copy of a shipped reference folder, to damage. Shared by the fidelity tests.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "core/file.h"
#include "core/strings.h"
#include "fidelity/peer.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {

inline const PeerInfo& Peer(const std::string& id) {
  return Registry<PeerInfo>::Global().Get("peer", id);
}

inline std::filesystem::path Shipped(const std::string& peer) {
  return std::filesystem::path(ALLOT_SOURCE_DIR) / "tests" / "reference" / peer;
}

class AlteredReference {
 public:
  AlteredReference(const std::string& peer, const std::string& name)
      : peer_(peer), folder_(temp_ / fmt::format("altered-{}-{}", peer, name)) {
    std::filesystem::copy(Shipped(peer), folder_, std::filesystem::copy_options::recursive);
  }
  std::string path() const { return folder_.string(); }

  // The first `from`.
  void Replace(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = ReadTextFile((folder_ / file).string());
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << file << " has no '" << from << "'";
    text.replace(at, from.size(), to);
    WriteTextFile(folder_ / file, text);
  }
  // Keeps each line so many times.
  template <typename Times>
  void KeepLines(const std::string& file, const Times& times) {
    std::string kept;
    const std::string text = ReadTextFile((folder_ / file).string());
    int number = 0;
    for (const std::string_view line : Split(text, '\n')) {
      if (line.empty()) continue;
      ++number;
      for (int i = 0; i < times(number, line); ++i) kept.append(line).append("\n");
    }
    WriteTextFile(folder_ / file, kept);
  }
  void Remove(const std::string& file) {
    ASSERT_TRUE(std::filesystem::remove(folder_ / file)) << file;
  }
  void RunAll() const {
    for (const FidelityCase& c : Peer(peer_).cases(path())) c.run();
  }

 private:
  std::string peer_;
  testing_support::TempFolder temp_;
  std::filesystem::path folder_;
};

}  // namespace allot
