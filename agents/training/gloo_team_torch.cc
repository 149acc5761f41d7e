#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>
#include <vector>

#include "agents/training/gloo_team.h"
#include "core/error.h"

namespace allot {
namespace {

constexpr std::chrono::minutes kWaitForAll{5};
// Shares differ in length, and a validation may take long.
constexpr std::chrono::hours kWaitForOne{1};

std::optional<std::string> Variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

int NumberIn(const char* name, const std::string& text, int least, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw UsageError("environment: {} must be a whole number in [{}, {}], got '{}'", name, least,
                     most, text);
  }
  return value;
}

class GlooTeam : public Team {
 public:
  GlooTeam(int rank, int size, const std::string& address, std::uint16_t port)
      : rank_(rank), size_(size) {
    try {
      c10d::TCPStoreOptions store;
      store.port = port;
      store.isServer = rank == 0;
      store.numWorkers = static_cast<std::size_t>(size);
      store.timeout = kWaitForAll;
      auto options = c10d::ProcessGroupGloo::Options::create();
      options->timeout = kWaitForOne;
      options->devices.push_back(OnThisMachine(address)
                                     ? c10d::ProcessGroupGloo::createDeviceForHostname(address)
                                     : c10d::ProcessGroupGloo::createDefaultDevice());
      group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(
          c10::make_intrusive<c10d::TCPStore>(address, store), rank, size, options);
    } catch (const std::exception& error) {
      throw RunError("process {} of {} found no team at {}:{}: {}", rank, size, address, port,
                     FirstLine(error));
    }
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::vector<std::string> Gather(const std::string& mine) override {
    try {
      std::vector<std::int64_t> lengths;
      for (const at::Tensor& length :
           GatherEqual(at::full({1}, static_cast<std::int64_t>(mine.size()), at::kLong))) {
        lengths.push_back(length.item<std::int64_t>());
      }
      const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
      at::Tensor padded = at::zeros({std::max<std::int64_t>(1, longest)}, at::kByte);
      std::memcpy(padded.data_ptr(), mine.data(), mine.size());
      std::vector<std::string> all;
      for (const at::Tensor& bytes : GatherEqual(padded)) {
        all.emplace_back(static_cast<const char*>(bytes.data_ptr()),
                         static_cast<std::size_t>(lengths[all.size()]));
      }
      return all;
    } catch (const std::exception& error) {
      throw RunError("process {} of {} lost the others: {}", rank_, size_, FirstLine(error));
    }
  }

 private:
  static bool OnThisMachine(std::string_view address) {
    return address == "localhost" || address.starts_with("127.");
  }

  static std::string FirstLine(const std::exception& error) {
    const std::string_view text = error.what();
    return std::string(text.substr(0, text.find('\n')));
  }

  std::vector<at::Tensor> GatherEqual(const at::Tensor& mine) {
    std::vector<std::vector<at::Tensor>> out(1);
    for (int r = 0; r < size_; ++r) out[0].push_back(at::empty_like(mine));
    std::vector<at::Tensor> in = {mine};
    group_->allgather(out, in)->wait();
    return std::move(out[0]);
  }

  int rank_;
  int size_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

}  // namespace

std::shared_ptr<Team> TeamFromEnvironment() {
  constexpr int kMost = 65'536;
  const auto address = Variable("MASTER_ADDR");
  // Every batch script has Slurm's variables: a team is meant where somebody says where to meet.
  const bool slurm = address && !Variable("WORLD_SIZE");
  const char* size_name = slurm ? "SLURM_NTASKS" : "WORLD_SIZE";
  const char* rank_name = slurm ? "SLURM_PROCID" : "RANK";
  const auto size_text = Variable(size_name);
  if (!size_text) return TeamOfOne();
  const int size = NumberIn(size_name, *size_text, 1, kMost);
  if (size == 1) return TeamOfOne();
  const auto rank_text = Variable(rank_name);
  if (!rank_text || !address) {
    throw UsageError("environment: {} = {} needs {} too", size_name, size,
                     rank_text ? "MASTER_ADDR" : rank_name);
  }
  const int rank = NumberIn(rank_name, *rank_text, 0, size - 1);
  int port = NumberIn("MASTER_PORT", Variable("MASTER_PORT").value_or("29500"), 1, 65'534);
  // torchrun listens there itself, in whatever protocol its version of torch speaks.
  if (Variable("TORCHELASTIC_USE_AGENT_STORE") == "True") ++port;
  return std::make_shared<GlooTeam>(rank, size, *address, static_cast<std::uint16_t>(port));
}

}  // namespace allot
