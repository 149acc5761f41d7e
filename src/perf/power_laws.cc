#include "perf/power_laws.h"

#include <fmt/format.h>

#include <cmath>

namespace allot {
namespace {

constexpr int kExponents = 20;
constexpr int kPenalties = 4;
constexpr double kLeastExponent = 0.6;
constexpr double kMostExponent = 0.98;
constexpr double kLeastBeyondNode = 0.7;
constexpr double kMostBeyondNode = 1;
constexpr GpuCount kNode = 8;
constexpr GpuCount kMostGpus = 64;

// The middle of part k of n equal parts of [low, high].
double Middle(double low, double high, int k, int n) { return low + (high - low) * (k + 0.5) / n; }

ModelPtr PowerLaw(double exponent, double beyond_node) {
  GpuScalingPoints points;
  for (GpuCount n = 1; n <= kMostGpus; ++n) {
    points.points.emplace_back(n, std::pow(n, exponent) * (n > kNode ? beyond_node : 1));
  }
  return MakeGpuScalingModel(fmt::format("power:{:.4f}:{:.4f}", exponent, beyond_node), {points});
}

}  // namespace

const Catalogue& PowerLawCatalogue() {
  static const Catalogue catalogue = [] {
    Catalogue all("power-laws");
    for (int p = 0; p < kExponents; ++p) {
      for (int c = 0; c < kPenalties; ++c) {
        all.Add(PowerLaw(Middle(kLeastExponent, kMostExponent, p, kExponents),
                         Middle(kLeastBeyondNode, kMostBeyondNode, c, kPenalties)));
      }
    }
    return all;
  }();
  return catalogue;
}

namespace {

ALLOT_REGISTER(CatalogueInfo,
               (CatalogueInfo{"power-laws", "artificial speedups n^p", &PowerLawCatalogue}));

}  // namespace
}  // namespace allot
