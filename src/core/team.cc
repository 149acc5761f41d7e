#include "core/team.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/check.h"
#include "core/parallel.h"

namespace allot {
namespace {

class One : public Team {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::vector<std::string> Gather(const std::string& mine) override { return {mine}; }
};

void Append(const void* data, std::size_t bytes, std::string* text) {
  text->append(static_cast<const char*>(data), bytes);
}

// Each list as its length and its values.
std::string Packed(const std::vector<std::vector<double>>& lists) {
  std::string bytes;
  for (const std::vector<double>& list : lists) {
    const std::uint64_t length = list.size();
    Append(&length, sizeof(length), &bytes);
    Append(list.data(), length * sizeof(double), &bytes);
  }
  return bytes;
}

std::vector<double> TakeList(const std::string& bytes, std::size_t* at) {
  std::uint64_t length = 0;
  ALLOT_CHECK(*at + sizeof(length) <= bytes.size());
  std::memcpy(&length, bytes.data() + *at, sizeof(length));
  *at += sizeof(length);
  std::vector<double> list(length);
  ALLOT_CHECK(*at + length * sizeof(double) <= bytes.size());
  if (length > 0) std::memcpy(list.data(), bytes.data() + *at, length * sizeof(double));
  *at += length * sizeof(double);
  return list;
}

}  // namespace

std::shared_ptr<Team> TeamOfOne() {
  static const auto team = std::make_shared<One>();
  return team;
}

std::vector<std::size_t> ShareOf(const Team& team, std::size_t count) {
  std::vector<std::size_t> share;
  for (auto i = static_cast<std::size_t>(team.rank()); i < count;
       i += static_cast<std::size_t>(team.size())) {
    share.push_back(i);
  }
  return share;
}

std::vector<std::vector<double>> ComputeShared(
    Team& team, std::size_t count, int threads,
    const std::function<std::vector<double>(std::size_t)>& compute) {
  const std::vector<std::size_t> share = ShareOf(team, count);
  std::vector<std::vector<double>> mine(share.size());
  ParallelFor(share.size(), threads, [&](std::size_t k) { mine[k] = compute(share[k]); });
  const auto size = static_cast<std::size_t>(team.size());
  if (size == 1) return mine;
  const std::vector<std::string> all = team.Gather(Packed(mine));
  std::vector<std::size_t> at(size, 0);
  std::vector<std::vector<double>> results(count);
  for (std::size_t i = 0; i < count; ++i) results[i] = TakeList(all[i % size], &at[i % size]);
  return results;
}

bool AnyOf(Team& team, bool mine) {
  if (team.size() == 1) return mine;
  const std::vector<std::string> all = team.Gather(mine ? "1" : "0");
  return std::find(all.begin(), all.end(), "1") != all.end();
}

}  // namespace allot
