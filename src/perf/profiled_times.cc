#include "perf/profiled_times.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "core/check.h"
#include "core/index.h"

namespace allot {
namespace {

constexpr double kFlat = 1e-9;    // six volumes of a simplex that counts as flat
constexpr double kInside = 1e-9;  // a weight that much below 0 is still inside

using Rows = std::vector<ProfiledTimes::Row>;

StepTime Mixed(const StepTime& a, const StepTime& b, double share) {
  const auto mix = [share](double from, double to) { return from + share * (to - from); };
  return {mix(a.step, b.step), mix(a.synchronisation, b.synchronisation)};
}

StepTime Between(const Rows& rows, std::int32_t batch) {
  const auto above = std::lower_bound(
      rows.begin(), rows.end(), batch,
      [](const ProfiledTimes::Row& row, std::int32_t b) { return row.local_batch < b; });
  if (above == rows.end()) return {};
  if (above->local_batch == batch) return above->time;
  if (above == rows.begin()) return {};
  const ProfiledTimes::Row& below = *std::prev(above);
  return Mixed(
      below.time, above->time,
      static_cast<double>(batch - below.local_batch) / (above->local_batch - below.local_batch));
}

}  // namespace

std::string CanonicalPlacement(std::span<const UnitCounts> nodes) {
  std::string given;
  for (const UnitCounts& units : nodes) {
    if (units.of(0) > 0) given.push_back(static_cast<char>(units.of(0)));
  }
  std::string least = given;
  std::string turned = given;
  for (std::size_t i = 1; i < given.size(); ++i) {
    std::rotate(turned.begin(), turned.begin() + 1, turned.end());
    if (turned < least) least = turned;
  }
  return least;
}

std::string PlacementText(std::string_view canonical) {
  std::string text;
  for (const char gpus : canonical) {
    if (!text.empty()) text += ' ';
    text += std::to_string(static_cast<int>(gpus));
  }
  return text;
}

void ProfiledTimes::Triangulate(std::vector<Point> points, std::vector<StepTime> values,
                                const std::vector<Simplex>& simplices) {
  ALLOT_CHECK_EQ(points.size(), values.size());
  points_ = std::move(points);
  values_ = std::move(values);
  volumes_of_.assign(kMostNodes + 1, {});
  for (const Simplex& simplex : simplices) {
    const auto corner = [&](std::size_t i) { return points_[At(simplex[i])]; };
    const Point last = corner(3);
    // Columns are edges from the last corner.
    double m[3][3];
    Volume volume{simplex, last, last, {}};
    for (std::size_t i = 0; i < 3; ++i) {
      const Point p = corner(i);
      m[0][i] = p.nodes - last.nodes;
      m[1][i] = p.gpus - last.gpus;
      m[2][i] = p.local_batch - last.local_batch;
      for (std::int32_t Point::*axis : {&Point::nodes, &Point::gpus, &Point::local_batch}) {
        volume.low.*axis = std::min(volume.low.*axis, p.*axis);
        volume.high.*axis = std::max(volume.high.*axis, p.*axis);
      }
    }
    const auto minor = [&m](int r, int c) {
      const int r1 = (r + 1) % 3;
      const int r2 = (r + 2) % 3;
      const int c1 = (c + 1) % 3;
      const int c2 = (c + 2) % 3;
      return m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1];
    };
    const double determinant =
        m[0][0] * minor(0, 0) + m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2);
    if (std::abs(determinant) < kFlat) continue;
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) volume.inverse[At(3 * r + c)] = minor(c, r) / determinant;
    }
    const auto index = static_cast<std::int32_t>(volumes_.size());
    for (std::int32_t n = volume.low.nodes; n <= std::min(volume.high.nodes, kMostNodes); ++n) {
      volumes_of_[At(n)].push_back(index);
    }
    volumes_.push_back(volume);
  }
}

void ProfiledTimes::Finish() {
  for (auto& [placement, rows] : placements_) {
    std::sort(rows.begin(), rows.end(),
              [](const Row& a, const Row& b) { return a.local_batch < b.local_batch; });
  }
  for (const auto& [point, times] : shapes_) {
    means_[{point.gpus, point.nodes}].push_back({point.local_batch, MeanOf(point)});
  }
  shapes_.clear();
}

StepTime ProfiledTimes::MeanOf(const Point& point) const {
  const auto found = shapes_.find(point);
  if (found == shapes_.end()) return {};
  StepTime sum{0, 0};
  for (const StepTime& time : found->second) {
    sum.step += time.step;
    sum.synchronisation += time.synchronisation;
  }
  const auto count = static_cast<double>(found->second.size());
  return {sum.step / count, sum.synchronisation / count};
}

ProfiledTimes::Place ProfiledTimes::PlaceOf(std::string_view canonical) const {
  Place place;
  for (const char gpus : canonical) place.gpus += gpus;
  place.nodes = std::min(static_cast<std::int32_t>(canonical.size()), kMostNodes);
  if (const auto found = placements_.find(canonical); found != placements_.end()) {
    place.rows = &found->second;
  }
  return place;
}

StepTime ProfiledTimes::TimeAt(std::span<const UnitCounts> nodes, std::int32_t local_batch) const {
  return TimeAt(PlaceOf(CanonicalPlacement(nodes)), local_batch);
}

StepTime ProfiledTimes::TimeAt(const Place& place, std::int32_t local_batch) const {
  if (place.rows != nullptr) return Between(*place.rows, local_batch);
  if (triangulated()) return InTriangulation(place, local_batch);
  const Rows* nearest = Nearest(place);
  return nearest == nullptr ? StepTime{} : Between(*nearest, local_batch);
}

StepTime ProfiledTimes::InTriangulation(const Place& place, std::int32_t local_batch) const {
  const Point at{place.nodes, place.gpus, local_batch};
  if (const auto found = exact_.find(at); found != exact_.end()) return found->second;
  for (const std::int32_t index : volumes_of_[At(place.nodes)]) {
    const Volume& v = volumes_[At(index)];
    if (at.gpus < v.low.gpus || at.gpus > v.high.gpus || at.local_batch < v.low.local_batch ||
        at.local_batch > v.high.local_batch) {
      continue;
    }
    const Point& last = points_[At(v.corners[3])];
    const double x = at.nodes - last.nodes;
    const double y = at.gpus - last.gpus;
    const double z = at.local_batch - last.local_batch;
    double weights[4];
    weights[3] = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      weights[i] = v.inverse[3 * i] * x + v.inverse[3 * i + 1] * y + v.inverse[3 * i + 2] * z;
      weights[3] -= weights[i];
    }
    if (*std::min_element(weights, weights + 4) < -kInside) continue;
    StepTime time{0, 0};
    for (std::size_t i = 0; i < 4; ++i) {
      const StepTime& value = values_[At(v.corners[i])];
      time.step += weights[i] * value.step;
      time.synchronisation += weights[i] * value.synchronisation;
    }
    return time;
  }
  return {};
}

const Rows* ProfiledTimes::Nearest(const Place& place) const {
  const Rows* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  std::int32_t least_nodes = 0;
  for (const auto& [shape, rows] : means_) {
    const double ratio = std::abs(std::log(static_cast<double>(shape.first) / place.gpus));
    const std::int32_t nodes = std::abs(shape.second - place.nodes);
    if (ratio < least || (ratio == least && nodes < least_nodes)) {
      best = &rows;
      least = ratio;
      least_nodes = nodes;
    }
  }
  return best;
}

std::int32_t ProfiledTimes::LargestBatch(const Place& place) const {
  std::int32_t largest = 0;
  if (place.rows != nullptr) return place.rows->back().local_batch;
  for (const auto& [shape, rows] : means_) {
    if (shape.first < place.gpus || shape.second < place.nodes) continue;
    largest = std::max(largest, rows.back().local_batch);
  }
  return largest;
}

double ProfiledTimes::MostSamples() const {
  const std::array<UnitCounts, 1> one = {UnitCounts(1)};
  const auto rows = placements_.find(CanonicalPlacement(one));
  if (rows == placements_.end()) return 0;
  std::int32_t batch = 0;
  Seconds step = 0;
  for (const Row& row : rows->second) {
    batch = std::max(batch, row.local_batch);
    step = std::max(step, row.time.step);
  }
  return step > 0 ? batch / step : 0;
}

std::array<std::int32_t, 2> ProfiledTimes::BatchesOf(const Place& place) const {
  if (place.rows != nullptr)
    return {place.rows->front().local_batch, place.rows->back().local_batch};
  std::array<std::int32_t, 2> range{0, 0};
  for (const auto& [shape, rows] : means_) {
    if (range[0] == 0) range[0] = rows.front().local_batch;
    range[0] = std::min(range[0], rows.front().local_batch);
    range[1] = std::max(range[1], rows.back().local_batch);
  }
  return range;
}

}  // namespace allot
