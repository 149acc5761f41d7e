#pragma once
// Seconds of a training iteration as they were measured: at placements (GPUs on each node) and
// batches of one GPU, and what lies between. The truth that simulators of Pollux and Sia play
// (Qiao et al., OSDI'21, artifact, simulator; Jayaram Subramanya et al., SOSP'23, artifact).
//
// A placement is known by its GPUs on each node, in the order of the allocation, up to rotation:
// 2,1,1 is 1,1,2, but 1,2,1,2 is not 1,1,2,2.

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/types.h"
#include "perf/units.h"

namespace allot {

struct StepTime {
  Seconds step = kUnknown;             // of an iteration of one pass
  Seconds synchronisation = kUnknown;  // the part of it after the gradients

  bool known() const { return step > 0; }
  Seconds gradient() const { return step - synchronisation; }
  // `accumulation` passes without synchronisation, then one with it.
  Seconds Iteration(int accumulation) const { return step + accumulation * gradient(); }
};

// GPUs on each node that has some, as the smallest of their rotations: one character a node.
std::string CanonicalPlacement(std::span<const UnitCounts> nodes);
std::string PlacementText(std::string_view canonical);  // "4 4 1"

class ProfiledTimes {
 public:
  struct Row {
    std::int32_t local_batch = 0;
    StepTime time;
  };
  struct Point {
    std::int32_t nodes = 0;
    std::int32_t gpus = 0;
    std::int32_t local_batch = 0;
    friend auto operator<=>(const Point&, const Point&) = default;
  };
  using Simplex = std::array<std::int32_t, 4>;  // indices of points

  // Of a canonical placement, each of its batches once.
  void AddPlacement(const std::string& canonical, Row row) {
    placements_[canonical].push_back(row);
  }
  // Of any placement with so many nodes and GPUs. Used where there is no triangulation.
  void AddShape(const Point& point, StepTime time) { shapes_[point].push_back(time); }
  // The mean of what was added for such a shape; not known() where nothing was.
  StepTime MeanOf(const Point& point) const;
  // Linear in (nodes, GPUs, batch) inside each simplex; the first that holds a point answers. Those
  // without volume are left out.
  void Triangulate(std::vector<Point> points, std::vector<StepTime> values,
                   const std::vector<Simplex>& simplices);
  // Where simplices overlap and another than the first that holds the point shall answer.
  void AddExact(const Point& point, StepTime time) { exact_[point] = time; }
  // To be called when all is added.
  void Finish();

  // What a job of these GPUs looks up. Valid as long as this object.
  struct Place {
    const std::vector<Row>* rows = nullptr;  // null: it was not measured itself
    std::int32_t nodes = 0;                  // at most kMostNodes
    std::int32_t gpus = 0;
  };
  Place PlaceOf(std::string_view canonical) const;
  // Measured placements: linear between its batches. Others: in the triangulation, or where there
  // is none that of the nearest measured shape: least |log GPUs ratio|, then nodes, then the
  // smaller; linear between its batches. Not known() beyond what was measured.
  // O(log rows), O(simplices of so many nodes).
  StepTime TimeAt(const Place& place, std::int32_t local_batch) const;
  StepTime TimeAt(std::span<const UnitCounts> nodes, std::int32_t local_batch) const;

  // The largest batch of one GPU that was measured on exactly so many GPUs, or on more where there
  // are none; 0: none.
  std::int32_t LargestBatch(const Place& place) const;
  // The largest batch of a single GPU over its longest step, samples per second; 0: none was
  // measured (so Sia's artifact compares GPU types).
  double MostSamples() const;
  // The least and most batch that was measured there, for messages.
  std::array<std::int32_t, 2> BatchesOf(const Place& place) const;
  bool triangulated() const { return !points_.empty(); }
  bool empty() const { return placements_.empty(); }
  const std::map<std::string, std::vector<Row>, std::less<>>& placements() const {
    return placements_;
  }

  static constexpr std::int32_t kMostNodes = 16;  // in a query: more count as so many

 private:
  struct Volume {
    Simplex corners;
    Point low;
    Point high;
    std::array<double, 9> inverse;  // of the edges to the last corner: weights by coordinates
  };
  StepTime InTriangulation(const Place& place, std::int32_t local_batch) const;
  const std::vector<Row>* Nearest(const Place& place) const;

  std::map<std::string, std::vector<Row>, std::less<>> placements_;
  std::map<Point, std::vector<StepTime>> shapes_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Row>> means_;  // by (gpus, nodes)
  std::vector<Point> points_;
  std::vector<StepTime> values_;
  std::vector<Volume> volumes_;
  std::vector<std::vector<std::int32_t>> volumes_of_;  // by number of nodes
  std::map<Point, StepTime> exact_;
};

}  // namespace allot
