#pragma once
// Counter-based random numbers (Philox4x32-10, Salmon et al., SC'11, through Random123).
//
// A stream is named by (seed, purpose, a, b): equal names give equal numbers whatever was drawn
// elsewhere and on whichever thread, which is what makes runs independent of the thread count.
// The distributions are our own because std:: ones differ between standard libraries.

#include <array>
#include <cstdint>
#include <string_view>

namespace allot {

class Rng {
 public:
  // `purpose` separates uses of one seed ("length-estimate", "rollout"); a and b index inside a
  // use.
  Rng(std::uint64_t seed, std::string_view purpose, std::uint64_t a = 0, std::uint64_t b = 0);

  std::uint32_t NextU32();
  std::uint64_t NextU64();
  double Uniform();                          // [0, 1), 53 bits
  double Uniform(double low, double high);   // [low, high)
  std::uint64_t Below(std::uint64_t bound);  // [0, bound), unbiased; bound >= 1
  double Normal();                           // Box-Muller, mean 0, variance 1
  double Exponential(double mean);
  std::int64_t Poisson(double mean);  // exact; O(mean)

 private:
  void Refill();
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

inline constexpr std::uint64_t kEmptyHash = 0xcbf29ce484222325ULL;  // of no text

// FNV-1a, 64 bit: the stable hash behind purposes and file fingerprints. `before`: of the text that
// this one continues.
std::uint64_t StableHash(std::string_view text, std::uint64_t before = kEmptyHash);

}  // namespace allot
