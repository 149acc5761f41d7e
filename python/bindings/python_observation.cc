#include "bindings/python_observation.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>

#include "core/error.h"
#include "core/index.h"

namespace allot {
namespace {

namespace nb = nanobind;

constexpr std::size_t kMostTables = 4096;  // kept; tables that are renewed come without end

template <typename T, typename Field>
nb::object Column(const ConfigurationTable& table, const Field& field) {
  std::vector<T> values;
  values.reserve(At(table.size()));
  for (std::int32_t i = 0; i < table.size(); ++i) values.push_back(field(table[i], i));
  return OwnArray(std::move(values));
}

// Elements of a struct within an array of it: `stride` and `count` in elements of T.
template <typename T>
nb::object Strided(const T* first, std::size_t rows, std::int64_t stride, nb::handle owner) {
  return nb::cast(nb::ndarray<nb::numpy, const T, nb::ndim<1>>(first, {rows}, owner, {stride}));
}

}  // namespace

nb::object TableColumns::Of(const ConfigurationTable& table) {
  const auto known = tables_.find(table.fingerprint());
  if (known != tables_.end()) return known->second;
  std::vector<std::string> kinds;
  for (const UnitKind& kind : table.kinds()) kinds.push_back(kind.name);
  using C = Configuration;
  nb::dict columns;
  columns["name"] = table.name();
  columns["kinds"] = kinds;
  columns["gpus"] = Column<std::int32_t>(table, [](const C& c, int) { return c.demand.gpus; });
  columns["cpus"] = Column<std::int32_t>(table, [](const C& c, int) { return c.demand.cpus; });
  columns["first_units"] =
      Column<std::int32_t>(table, [](const C& c, int) { return c.units.of(0); });
  columns["second_units"] =
      Column<std::int32_t>(table, [](const C& c, int) { return c.units.of(1); });
  columns["gpu_type"] = Column<std::int32_t>(table, [](const C& c, int) { return c.gpu_type; });
  columns["cost"] = Column<double>(table, [](const C& c, int) { return c.cost; });
  columns["rate"] = Column<double>(table, [](const C& c, int) { return c.rate; });
  columns["least_nodes"] =
      Column<std::int32_t>(table, [](const C& c, int) { return c.span.least; });
  columns["most_nodes"] = Column<std::int32_t>(table, [](const C& c, int) { return c.span.most; });
  columns["shared"] = Column<std::uint8_t>(
      table, [](const C& c, int) { return std::uint8_t{c.partner != kNoPartner}; });
  columns["allocatable"] = Column<std::uint8_t>(
      table, [&](const C&, std::int32_t i) { return std::uint8_t{table.Allocatable(i)}; });
  const nb::object made = nb::module_::import_("allot.policy").attr("Table")(**columns);
  if (tables_.size() >= kMostTables) tables_.clear();
  return tables_[table.fingerprint()] = made;
}

const Observation& PythonObservation::get() const {
  if (observation_ == nullptr) {
    throw UsageError(
        "the observation of decision {} is over: an observation is valid during decide only, that "
        "of "
        "an environment until its next step; keep its arrays, or observation.columns()",
        decision_);
  }
  return *observation_;
}

nb::object PythonObservation::ShareArray(const char* name) {
  const std::vector<NodeShare>& shares = get().shares;
  nb::object& array = arrays_[name];
  if (array.is_valid()) return array;
  const std::string_view field(name);
  static_assert(sizeof(NodeShare) == 16 && offsetof(NodeShare, units) == 4 &&
                offsetof(NodeShare, gpus) == 8 && sizeof(UnitCounts) == 4);
  const std::size_t n = shares.size();
  if (n == 0) {
    array = field == "share_node"   ? OwnArray(std::vector<std::int32_t>())
            : field == "share_gpus" ? OwnArray(std::vector<std::uint64_t>())
                                    : OwnArray(std::vector<std::int16_t>()).attr("reshape")(0, 2);
    return array;
  }
  const nb::handle owner = OwnerOf(shares);
  if (field == "share_node") {
    array = Strided(&shares[0].node, n, 4, owner);
  } else if (field == "share_gpus") {
    array = Strided(&shares[0].gpus, n, 2, owner);
  } else {
    using Matrix = nb::ndarray<nb::numpy, const std::int16_t, nb::ndim<2>>;
    array = nb::cast(Matrix(shares[0].units.counts().data(), {n, 2}, owner, {8, 1}));
  }
  return array;
}

nb::object PythonObservation::Table(std::int32_t row) {
  const Observation& o = get();
  if (row < 0 || row >= o.rows()) {
    throw UsageError("a row must be from 0 to {}, got {}", o.rows() - 1, row);
  }
  return tables_->Of(*o.table[At(row)]);
}

void PythonObservation::End() {
  arrays_.clear();
  for (auto& [vector, memory] : memory_) {
    if (Py_REFCNT(memory.owner.ptr()) > 1) {
      nb::cast<ArrayMemory&>(memory.owner).kept = memory.leave();
    }
  }
  memory_.clear();
  observation_ = nullptr;
}

}  // namespace allot
