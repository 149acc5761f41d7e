#pragma once
// Whether one unit more finds a node, while an allocation is built unit by unit: totals do not say
// so where units are of several GPUs or of CPUs. What a node still holds is FreeMap's answer, by
// whose rules allocations are validated and applied. Units go to the fullest node that holds them;
// when none does, all that was placed is placed anew, largest units first, and where that does not
// do, every way is tried up to kMostTries placed units: what small clusters can hold is found, on
// large ones a unit may be refused that some other arrangement would hold. What it says fits, it
// can place: a question leaves everything where it is, so that Take goes the way that Fits went.
// SequenceAction derives its mask from it. O(nodes) a question, O((units + kMostTries) nodes) where
// all is placed anew; equal ones are remembered.

#include <array>
#include <span>
#include <vector>

#include "cluster/free_map.h"
#include "cluster/observation.h"

namespace allot {

class UnitFit {
 public:
  // Nothing placed. The cluster must outlive it.
  void Reset(const ClusterSpec& cluster);

  // Whether units of these counts and kinds fit on nodes of the type, beside all that is placed.
  bool Fits(GpuTypeIndex type, const std::vector<UnitKind>& kinds, const UnitCounts& counts);
  // Places them for a row. They must fit.
  void Take(std::int32_t row, GpuTypeIndex type, const std::vector<UnitKind>& kinds,
            const UnitCounts& counts);

  // What was placed as an allocation; `configurations`: of each row, -1: nothing. Where a row lies
  // on more or fewer nodes than its configuration spans, as the one of equal units that spans them;
  // without one it gets nothing.
  void Finish(const Observation& observation, std::span<const std::int32_t> configurations,
              Allocation* allocation);

 private:
  static constexpr int kMostTries = 1000;
  struct Unit {
    std::int32_t row;
    std::int32_t kind;
    GpuTypeIndex type;
    Resources demand;
    NodeIndex node;
    std::uint64_t gpus;  // it holds
  };
  struct Answer {
    GpuTypeIndex type;
    std::array<Resources, kMaxUnitKinds> demands;
    UnitCounts counts;
    bool fits;
  };
  enum class Found { kNone, kBesideOthers, kAnew };  // kAnew: others were moved
  Found PlaceMore(std::int32_t row, GpuTypeIndex type, const std::vector<UnitKind>& kinds,
                  const UnitCounts& counts);
  bool PlaceAnew();
  bool PlaceLargestFirst();
  bool PlaceAnyWay(std::size_t first, int* tries_left);
  void RestoreBefore();  // PlaceAnew
  void Undo(std::size_t units);
  bool Place(Unit* unit);  // on the fullest node that holds it
  NodeIndex Fullest(GpuTypeIndex type, const Resources& demand) const;

  const ClusterSpec* cluster_ = nullptr;
  FreeMap free_;
  std::vector<Unit> units_;
  std::vector<Answer> answers_;  // since the last Take
  FreeMap free_before_;
  std::vector<Unit> units_before_;
  FreeMap gpus_;
  std::vector<NodeShare> shares_;
};

}  // namespace allot
