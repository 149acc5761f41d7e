#include "core/rng.h"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

#include "core/check.h"

namespace allot {

std::uint64_t StableHash(std::string_view text, std::uint64_t before) {
  std::uint64_t hash = before;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

namespace {

// Mixes a stream name into 64 bits (SplitMix64 finaliser, Steele et al., OOPSLA'14).
std::uint64_t Mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::uint32_t Low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t High(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

}  // namespace

Rng::Rng(std::uint64_t seed, std::string_view purpose, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t key = Mix(Mix(seed) ^ StableHash(purpose));
  const std::uint64_t name = Mix(Mix(a) + Mix(~b));
  key_ = {Low(key), High(key)};
  counter_ = {0, 0, Low(name), High(name)};
}

void Rng::Refill() {
  const r123::Philox4x32 philox;
  const r123::Philox4x32::ctr_type counter = {{counter_[0], counter_[1], counter_[2], counter_[3]}};
  const r123::Philox4x32::key_type key = {{key_[0], key_[1]}};
  const auto block = philox(counter, key);
  for (std::size_t i = 0; i < 4; ++i) block_[i] = block[i];
  if (++counter_[0] == 0) ++counter_[1];
  used_ = 0;
}

std::uint32_t Rng::NextU32() {
  if (used_ == 4) Refill();
  return block_[static_cast<std::size_t>(used_++)];
}

std::uint64_t Rng::NextU64() {
  const std::uint64_t low = NextU32();
  return (static_cast<std::uint64_t>(NextU32()) << 32) | low;
}

double Rng::Uniform() { return static_cast<double>(NextU64() >> 11) * 0x1.0p-53; }

double Rng::Uniform(double low, double high) { return low + (high - low) * Uniform(); }

std::uint64_t Rng::Below(std::uint64_t bound) {
  ALLOT_CHECK_GE(bound, std::uint64_t{1});
  const std::uint64_t limit = bound * (~std::uint64_t{0} / bound);
  std::uint64_t draw = NextU64();
  while (draw >= limit) draw = NextU64();
  return draw % bound;
}

double Rng::Normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
  const double angle = 2.0 * std::numbers::pi * Uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

double Rng::Exponential(double mean) { return -mean * std::log(1.0 - Uniform()); }

std::int64_t Rng::Poisson(double mean) {
  // Sums of inversions: exact at any mean, linear in it (our means are arrivals per interval).
  std::int64_t total = 0;
  for (double left = mean; left > 0; left -= 20.0) {
    const double floor = std::exp(-std::min(left, 20.0));
    double product = Uniform();
    while (product > floor) {
      ++total;
      product *= Uniform();
    }
  }
  return total;
}

}  // namespace allot
