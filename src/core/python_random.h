#pragma once
// The random numbers of Python's `random.Random(seed)`, number for number: for peers that are
// written in Python. All of allot's own come from core/rng.h.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace allot {

class PythonRandom {
 public:
  explicit PythonRandom(std::uint64_t seed) : engine_(MakeEngine(seed)) {}

  // `count` random bits, 1 to 32.
  std::uint32_t Bits(int count) { return static_cast<std::uint32_t>(engine_()) >> (32 - count); }
  // In [0, 1), with 53 random bits.
  double Uniform() {
    const double high = Bits(27);
    const double low = Bits(26);
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }
  // In [0, below), below >= 1.
  std::uint32_t Below(std::uint32_t below) {
    const int count = std::bit_width(below);
    std::uint32_t drawn = Bits(count);
    while (drawn >= below) drawn = Bits(count);
    return drawn;
  }
  // What `random.sample(range(count), drawn)` returns, drawn <= count.
  std::vector<std::uint32_t> Sample(std::uint32_t count, std::uint32_t drawn) {
    // Python keeps a list of what is left where that is smaller than a set of what is drawn.
    constexpr std::uint32_t kSmallSet = 21, kFewest = 5;
    double most_listed = kSmallSet;
    if (drawn > kFewest) most_listed += std::pow(4, std::ceil(std::log(3.0 * drawn) / std::log(4)));
    std::vector<std::uint32_t> sample;
    if (count <= most_listed) {
      std::vector<std::uint32_t> left(count);
      std::iota(left.begin(), left.end(), 0);
      for (; sample.size() < drawn; left.pop_back()) {
        std::uint32_t& chosen = left[Below(static_cast<std::uint32_t>(left.size()))];
        sample.push_back(std::exchange(chosen, left.back()));
      }
    }
    while (sample.size() < drawn) {
      const std::uint32_t chosen = Below(count);
      const bool is_new = std::find(sample.begin(), sample.end(), chosen) == sample.end();
      if (is_new) sample.push_back(chosen);
    }
    return sample;
  }
  template <typename T>
  void Shuffle(std::vector<T>* values) {
    for (std::size_t i = values->size(); i-- > 1;) {
      const std::size_t j = Below(static_cast<std::uint32_t>(i + 1));
      std::swap((*values)[i], (*values)[j]);
    }
  }

 private:
  // The state that Python makes of a seed: init_by_array of Matsumoto and Nishimura (TOMACS 1998,
  // their code of 2002) over its 32-bit digits. std::mt19937 takes what a seed sequence generates
  // as its state.
  struct SeededState {
    using result_type = std::uint32_t;  // NOLINT(readability-identifier-naming): the standard's
    std::vector<std::uint32_t> digits;

    template <typename Iterator>
    void generate(Iterator begin, Iterator end) const {  // the name is the standard's
      const auto n = static_cast<std::size_t>(end - begin);
      const auto mixed = [&](std::size_t i) {
        const std::uint32_t before = begin[static_cast<std::ptrdiff_t>(i - 1)];
        return before ^ (before >> 30);
      };
      const auto at = [&](std::size_t i) -> auto& { return begin[static_cast<std::ptrdiff_t>(i)]; };
      at(0) = 19650218U;
      for (std::size_t i = 1; i < n; ++i) {
        at(i) = 1812433253U * mixed(i) + static_cast<std::uint32_t>(i);
      }
      std::size_t i = 1;
      std::size_t digit = 0;
      const auto next = [&] {
        if (++i < n) return;
        at(0) = at(n - 1);
        i = 1;
      };
      for (std::size_t k = std::max(n, digits.size()); k > 0; --k) {
        at(i) = (at(i) ^ (mixed(i) * 1664525U)) + digits[digit] + static_cast<std::uint32_t>(digit);
        digit = (digit + 1) % digits.size();
        next();
      }
      for (std::size_t k = n - 1; k > 0; --k) {
        at(i) = (at(i) ^ (mixed(i) * 1566083941U)) - static_cast<std::uint32_t>(i);
        next();
      }
      at(0) = 0x80000000U;
    }
  };
  static std::mt19937 MakeEngine(std::uint64_t seed) {
    SeededState state{{static_cast<std::uint32_t>(seed)}};
    if (seed >> 32 != 0) state.digits.push_back(static_cast<std::uint32_t>(seed >> 32));
    return std::mt19937(state);
  }

  std::mt19937 engine_;
};

}  // namespace allot
