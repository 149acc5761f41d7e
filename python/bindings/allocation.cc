// allot.Allocation: answers of policies in Python, and the short forms of them.

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <numeric>
#include <unordered_map>

#include "bindings/binding.h"
#include "bindings/python_observation.h"
#include "bindings/request_of.h"
#include "bindings/whole_numbers.h"
#include "core/error.h"
#include "core/index.h"

namespace allot {
namespace {

namespace nb = nanobind;

// (node, GPUs), or (node, (units of the first kind, of the second)).
using NodeUnits = std::pair<NodeIndex, nb::object>;

constexpr const char* kForms =
    "an allot.Allocation, a dict from job to configuration, or a whole number for each row (its "
    "configuration, -1: it waits)";

std::string TypeName(nb::handle object) {
  return nb::cast<std::string>(object.type().attr("__name__"));
}

// The rows in the order in which they are served.
std::vector<std::int32_t> RowsInOrder(const Observation& o, nb::handle order) {
  std::vector<std::int32_t> rows;
  if (order.is_none()) {
    rows.resize(At(o.rows()));
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }
  const WholeNumbers given = WholeNumbersOf(order, "`order`");
  for (std::size_t i = 0; i < given.shape(0); ++i) {
    const std::int64_t row = given.data()[i];
    if (row < 0 || row >= o.rows()) {
      throw UsageError("`order` holds rows, from 0 to {}, got {}", o.rows() - 1, row);
    }
    rows.push_back(static_cast<std::int32_t>(row));
  }
  return rows;
}

WholeNumbers OneARow(const Observation& o, nb::handle given, const char* what) {
  WholeNumbers values = WholeNumbersOf(given, what);
  if (values.shape(0) == At(o.rows())) return values;
  throw UsageError("{} must have one element for each of the {} rows, got {}", what, o.rows(),
                   values.shape(0));
}

AllocationRequest OfConfigurations(const Observation& o, nb::handle given, nb::handle order,
                                   const char* what) {
  const WholeNumbers configurations = OneARow(o, given, what);
  AllocationRequest request;
  for (const std::int32_t row : RowsInOrder(o, order)) {
    const std::int64_t index = configurations.data()[row];
    if (index == -1) continue;
    const auto narrow = static_cast<std::int32_t>(index);
    if (narrow != index || narrow < 0) {
      throw UsageError("row {} (job {}): a configuration must be -1 or from 0 to {}, got {}", row,
                       o.job[At(row)], o.table[At(row)]->size() - 1, index);
    }
    request.Add(o, {row, narrow, {}});
  }
  return request;
}

AllocationRequest OfGpus(const Observation& o, nb::handle given, nb::handle order) {
  const WholeNumbers gpus = OneARow(o, given, "gpus");
  std::vector<Resources> room;
  for (std::size_t type = 0; type < o.cluster->types().size(); ++type) {
    room.push_back(o.cluster->total_of(static_cast<GpuTypeIndex>(type)));
  }
  AllocationRequest request;
  for (const std::int32_t row : RowsInOrder(o, order)) {
    const std::int64_t wanted = gpus.data()[row];
    if (wanted < 0 || wanted > kMaxGpusPerJob) {
      throw UsageError("row {} (job {}): GPUs must be from 0 to {}, got {}", row, o.job[At(row)],
                       kMaxGpusPerJob, wanted);
    }
    if (wanted == 0) continue;
    const std::int32_t index = ConfigurationOfGpus(o, row, static_cast<GpuCount>(wanted), room);
    if (index < 0) continue;  // no room is left
    const Configuration& c = (*o.table[At(row)])[index];
    room[At(c.gpu_type)] -= c.demand;
    request.Add(o, {row, index, {}});
  }
  return request;
}

AllocationRequest OfDict(const Observation& o, const nb::dict& answer) {
  std::unordered_map<JobIndex, std::int32_t> row_of;
  for (std::int32_t row = 0; row < o.rows(); ++row) row_of[o.job[At(row)]] = row;
  AllocationRequest request;
  for (const auto& [key, value] : answer) {
    std::int32_t job = 0;
    std::int32_t configuration = 0;
    // Through int(): numpy's whole numbers are not Python's.
    if (!nb::try_cast(nb::int_(nb::borrow(key)), job) ||
        !nb::try_cast(nb::int_(nb::borrow(value)), configuration)) {
      throw UsageError("a dict must map job numbers to configurations, got {} to {}", TypeName(key),
                       TypeName(value));
    }
    const auto row = row_of.find(job);
    if (row == row_of.end()) {
      throw UsageError("job {} is not in the observation (its jobs: observation.job)", job);
    }
    if (configuration != -1) request.Add(o, {row->second, configuration, {}});
  }
  return request;
}

// A UnitCounts holds 16 bits a kind.
int CheckedUnits(nb::handle value) {
  int units = 0;
  if (!nb::try_cast(value, units) || units < 0 || units > kMaxGpusPerJob) {
    throw UsageError("units on a node must be whole numbers from 0 to {}, got {}", kMaxGpusPerJob,
                     nb::cast<std::string>(nb::repr(value)));
  }
  return units;
}

UnitCounts UnitsOf(const nb::object& value) {
  if (!nb::isinstance<nb::tuple>(value)) return {CheckedUnits(value)};
  const auto units = nb::cast<nb::tuple>(value);
  if (units.size() != 2) {
    throw UsageError("units of two kinds are (first, second), got {} of them", units.size());
  }
  return {CheckedUnits(units[0]), CheckedUnits(units[1])};
}

// A request that remembers whose rows it is of.
struct PythonAllocation {
  nb::object observation;
  AllocationRequest request;
  const Observation& of() const { return nb::cast<PythonObservation&>(observation).get(); }
};

void Bind(nb::module_& m) {
  nb::class_<PythonAllocation>(
      m, "Allocation",
      "Who runs: jobs in the order in which they are served. Those that name no nodes are placed\n"
      "on as few nodes as possible; who does not fit waits. Who is not in it does not run.")
      .def(
          "__init__",
          [](PythonAllocation* self, const nb::object& observation) {
            nb::cast<PythonObservation&>(observation).get();
            new (self) PythonAllocation{observation, {}};
          },
          nb::arg("observation"))
      .def(
          "give",
          [](PythonAllocation& self, std::int32_t row, std::int32_t configuration) {
            self.request.Add(self.of(), {row, configuration, {}});
          },
          nb::arg("row"), nb::arg("configuration"),
          "The job in this row runs in this configuration of its table. UsageError: there is none.")
      .def(
          "place",
          [](PythonAllocation& self, std::int32_t row, std::int32_t configuration,
             const std::vector<NodeUnits>& nodes) {
            AllocationRequest::Item item{row, configuration, {}};
            for (const auto& [node, units] : nodes) item.nodes.emplace_back(node, UnitsOf(units));
            if (item.nodes.empty()) throw UsageError("place needs at least one node, got none");
            self.request.Add(self.of(), std::move(item));
          },
          nb::arg("row"), nb::arg("configuration"), nb::arg("nodes"),
          "The same on these nodes: [(node, units)], or [(node, (workers, servers))]. Names nodes\n"
          "for all jobs of the allocation or for none.")
      .def("__len__", [](const PythonAllocation& self) { return self.request.items().size(); });

  // Methods of Observation, registered here: what they return is ours.
  nb::object type = m.attr("Observation");
  nb::cpp_function_def(
      [](const nb::object& self, const nb::object& configurations, const nb::object& order) {
        const Observation& o = nb::cast<PythonObservation&>(self).get();
        return PythonAllocation{self, OfConfigurations(o, configurations, order, "configurations")};
      },
      nb::scope(type), nb::name("allocate"), nb::is_method(), nb::arg("configurations"),
      nb::arg("order") = nb::none(),
      "An allocation from one configuration a row (-1: it waits). `order`: the rows in the order\n"
      "in which they are served; rows that it leaves out wait. Who does not fit is passed over.");
  nb::cpp_function_def(
      [](const nb::object& self, const nb::object& gpus, const nb::object& order) {
        const Observation& o = nb::cast<PythonObservation&>(self).get();
        return PythonAllocation{self, OfGpus(o, gpus, order)};
      },
      nb::scope(type), nb::name("allocate_gpus"), nb::is_method(), nb::arg("gpus"),
      nb::arg("order") = nb::none(),
      "The same from a number of GPUs a row (0: it waits): of configurations of so many GPUs the\n"
      "fastest, on a GPU type that has room. UsageError where a job has none of so many.");
}

ALLOT_REGISTER(BindingInfo, (BindingInfo{"observation_allocation", "answers of policies", Bind}));

}  // namespace

AllocationRequest RequestOf(const Observation& observation, nb::handle answer) {
  if (nb::isinstance<PythonAllocation>(answer)) {
    const auto& allocation = nb::cast<PythonAllocation&>(answer);
    if (&allocation.of() != &observation) {
      throw UsageError("decide returned an Allocation that was made for another observation");
    }
    return allocation.request;
  }
  if (answer.is_none()) throw UsageError("decide must return {}, got None", kForms);
  if (nb::isinstance<nb::dict>(answer)) return OfDict(observation, nb::cast<nb::dict>(answer));
  if (!nb::isinstance<nb::sequence>(answer) && !nb::hasattr(answer, "__array__")) {
    throw UsageError("decide must return {}, got {}", kForms, TypeName(answer));
  }
  return OfConfigurations(observation, answer, nb::none(), "what decide returns");
}

}  // namespace allot
