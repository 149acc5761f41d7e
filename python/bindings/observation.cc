// allot.Observation: columns of jobs, nodes, events and tables for policies in Python.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "bindings/binding.h"
#include "bindings/python_observation.h"
#include "bindings/whole_numbers.h"
#include "cluster/topology.h"
#include "core/error.h"
#include "core/index.h"

namespace allot {
namespace {

namespace nb = nanobind;

// By node: the GPUs that no job holds.
std::vector<std::uint64_t> FreeMasks(const Observation& o) {
  std::vector<std::uint64_t> masks = o.cluster->gpu_masks();
  for (const NodeShare& share : o.shares) {
    if (At(share.node) < masks.size()) masks[At(share.node)] &= ~share.gpus;
  }
  return masks;
}

// field(node) of each node.
template <typename Field>
nb::object OfNodes(const PythonObservation& view, const Field& field) {
  const std::vector<Node>& nodes = view.get().cluster->nodes();
  std::vector<std::decay_t<decltype(field(nodes[0]))>> values;
  values.reserve(nodes.size());
  for (const Node& node : nodes) values.push_back(field(node));
  return OwnArray(std::move(values));
}

// field(configuration) of one configuration a row; `none` for -1.
template <typename T, typename Field>
nb::object OfConfigurations(const PythonObservation& view, nb::handle given, T none,
                            const Field& field) {
  const Observation& o = view.get();
  const WholeNumbers configurations = WholeNumbersOf(given, "configurations");
  if (configurations.shape(0) != At(o.rows())) {
    throw UsageError("one configuration a row is needed: {} rows, got {}", o.rows(),
                     configurations.shape(0));
  }
  std::vector<T> values(At(o.rows()), none);
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const std::int64_t index = configurations.data()[row];
    const ConfigurationTable& table = *o.table[At(row)];
    if (index < -1 || index >= table.size()) {
      throw UsageError("row {} (job {}): a configuration must be -1 or 0 to {}, got {}", row,
                       o.job[At(row)], table.size() - 1, index);
    }
    if (index >= 0) values[At(row)] = field(table[static_cast<std::int32_t>(index)]);
  }
  return OwnArray(std::move(values));
}

nb::dict Ended(const PythonObservation& view) {
  nb::dict columns;
  const std::vector<EndedJob>& ended = view.get().events.ended;
  ForEachEndedField([&](const auto& field) {
    using T = typename std::decay_t<decltype(field)>::Value;
    std::vector<T> values;
    values.reserve(ended.size());
    for (const EndedJob& job : ended) values.push_back(job.*field.value);
    columns[field.name] = OwnArray(std::move(values));
  });
  return columns;
}

std::vector<std::string> NamesOf(const std::vector<std::string>* names) {
  return names == nullptr ? std::vector<std::string>() : *names;
}

nb::object Partner(PythonObservation& view) {
  const Observation& o = view.get();
  if (!o.partner.empty()) return view.Array("partner", o.partner);
  return OwnArray(std::vector<JobIndex>(At(o.rows()), kAlone));
}

template <typename T>
constexpr bool kIsNumber = std::is_arithmetic_v<T>;

nb::dict Columns(PythonObservation& view) {
  nb::dict columns;
  ForEachJobColumn([&](const auto& column) {
    using T = typename std::decay_t<decltype(column)>::Value;
    if constexpr (kIsNumber<T>) {
      columns[column.name] = view.Array(column.name, view.get().*column.values);
    }
  });
  return columns;
}

nb::dict Units() {
  nb::dict units;
  ForEachJobColumn([&](const auto& column) {
    units[column.name] = nb::make_tuple(column.unit, column.meaning);
  });
  return units;
}

void BindColumns(nb::class_<PythonObservation>& type) {
  ForEachJobColumn([&](const auto& column) {
    using T = typename std::decay_t<decltype(column)>::Value;
    if constexpr (kIsNumber<T>) {
      // The text must outlive the class.
      const auto* doc = new std::string(
          fmt::format("Array by row: {}{}", column.meaning,
                      *column.unit == '\0' ? std::string() : fmt::format(" [{}]", column.unit)));
      type.def_prop_ro(
          column.name,
          [name = column.name, values = column.values](PythonObservation& view) {
            return view.Array(name, view.get().*values);
          },
          doc->c_str());
    }
  });
}

void BindEvents(nb::class_<PythonObservation>& type) {
  type.def_prop_ro(
          "arrived",
          [](PythonObservation& v) { return v.Array("arrived", v.get().events.arrived); },
          "Rows that are new since the decision before.")
      .def_prop_ro(
          "changed",
          [](PythonObservation& v) { return v.Array("changed", v.get().events.changed); },
          "Rows that started, stopped, were resized or moved since the decision before.")
      .def_prop_ro(
          "table_changed",
          [](PythonObservation& v) {
            return v.Array("table_changed", v.get().events.table_changed);
          },
          "Rows whose table is another or has other rates than at the decision before.")
      .def_prop_ro("ended", Ended,
                   "Jobs that ended since the decision before: dict of arrays, one element a job.");
}

void BindCluster(nb::class_<PythonObservation>& type) {
  type.def_prop_ro(
          "gpu_types", [](const PythonObservation& v) { return v.get().cluster->types(); },
          "Names of the GPU types, by index.")
      .def_prop_ro(
          "total_gpus", [](const PythonObservation& v) { return v.get().cluster->total().gpus; },
          "GPUs of all nodes that are up.")
      .def_prop_ro(
          "node_type",
          [](const PythonObservation& v) {
            return OfNodes(v, [](const Node& n) { return std::int32_t{n.type}; });
          },
          "By node: index of its GPU type.")
      .def_prop_ro(
          "node_gpus",
          [](const PythonObservation& v) {
            return OfNodes(v, [](const Node& n) { return n.capacity.gpus; });
          },
          "By node: its GPUs; 0 where it is down.")
      .def_prop_ro(
          "node_cpus",
          [](const PythonObservation& v) {
            return OfNodes(v, [](const Node& n) { return n.capacity.cpus; });
          },
          "By node: its CPUs.")
      .def_prop_ro(
          "free_gpu_mask", [](const PythonObservation& v) { return OwnArray(FreeMasks(v.get())); },
          "By node: bit mask of the GPUs that no job holds now.")
      .def_prop_ro(
          "free_gpus",
          [](const PythonObservation& v) {
            std::vector<std::int32_t> free;
            for (const std::uint64_t mask : FreeMasks(v.get())) free.push_back(std::popcount(mask));
            return OwnArray(std::move(free));
          },
          "By node: GPUs that no job holds now.")
      .def_prop_ro(
          "share_begin",
          [](PythonObservation& v) { return v.Array("share_begin", v.get().share_begin); },
          "Row r holds the shares share_begin[r] to share_begin[r + 1], the last one excluded.")
      .def_prop_ro(
          "share_node", [](PythonObservation& v) { return v.ShareArray("share_node"); },
          "By share: the node.")
      .def_prop_ro(
          "share_units", [](PythonObservation& v) { return v.ShareArray("share_units"); },
          "By share: units of each kind, shape (shares, 2).")
      .def_prop_ro(
          "share_gpus", [](PythonObservation& v) { return v.ShareArray("share_gpus"); },
          "By share: bit mask of the node's GPUs.");
}

// `field` of each row of a cluster with a topology, else `none` for all.
nb::object OfPlaces(const PythonObservation& view, float none, float (*field)(const PlaceRow&)) {
  const Observation& o = view.get();
  std::vector<float> values(At(o.rows()), none);
  std::transform(o.places.begin(), o.places.end(), values.begin(), field);
  return OwnArray(std::move(values));
}

// (name, factor) of each level between the node and the cluster, from below.
std::vector<std::pair<std::string, double>> Levels(const PythonObservation& view) {
  std::vector<std::pair<std::string, double>> levels;
  const Topology* const topology = view.get().cluster->topology();
  for (int level = 1; topology != nullptr && level < topology->top(); ++level) {
    levels.emplace_back(topology->level(level).name, topology->level(level).factor);
  }
  return levels;
}

nb::object DomainsOf(const PythonObservation& view, int level) {
  const ClusterSpec& cluster = *view.get().cluster;
  const Topology* const topology = cluster.topology();
  const int levels = topology == nullptr ? 0 : topology->top() - 1;
  if (level < 0 || level >= levels) {
    throw UsageError("a level must be one of the {} in `levels`, from 0, got {}", levels, level);
  }
  std::vector<std::int32_t> domains;
  domains.reserve(cluster.nodes().size());
  for (std::size_t node = 0; node < cluster.nodes().size(); ++node) {
    domains.push_back(topology->DomainOf(level + 1, static_cast<NodeIndex>(node)));
  }
  return OwnArray(std::move(domains));
}

void BindTopology(nb::class_<PythonObservation>& type) {
  type.def_prop_ro("levels", Levels,
                   "Levels of the network between the node and the cluster, from below, as (name, "
                   "factor of the time of communication); none without a topology.")
      .def("domains_of", DomainsOf, nb::arg("level"),
           "By node: its domain (leaf, pod) at a level, by its place in `levels`.")
      .def_prop_ro(
          "comm_share",
          [](const PythonObservation& v) {
            return OfPlaces(v, 0, [](const PlaceRow& p) { return p.communication.share; });
          },
          "By row: part of an iteration in which the job communicates, on its best place.")
      .def_prop_ro(
          "congestion",
          [](const PythonObservation& v) {
            return OfPlaces(v, 1, [](const PlaceRow& p) { return p.congestion; });
          },
          "By row: factor on the time of communication because of others on the same links.");
}

void BindTables(nb::class_<PythonObservation>& type) {
  type.def("table", &PythonObservation::Table, nb::arg("row"),
           "The configurations that the job in this row can be given, as numpy columns.")
      .def(
          "gpus_of",
          [](const PythonObservation& v, const nb::object& configurations) {
            return OfConfigurations<std::int32_t>(
                v, configurations, 0, [](const Configuration& c) { return c.demand.gpus; });
          },
          nb::arg("configurations"), "GPUs of one configuration a row; 0 for -1.")
      .def(
          "rate_of",
          [](const PythonObservation& v, const nb::object& configurations) {
            return OfConfigurations<double>(v, configurations, 0,
                                            [](const Configuration& c) { return c.rate; });
          },
          nb::arg("configurations"), "Rate (work/s) of one configuration a row; 0 for -1.")
      .def(
          "type_of",
          [](const PythonObservation& v, const nb::object& configurations) {
            return OfConfigurations<std::int32_t>(
                v, configurations, -1,
                [](const Configuration& c) { return int{static_cast<unsigned char>(c.gpu_type)}; });
          },
          nb::arg("configurations"), "GPU type of one configuration a row; -1 for -1.");
}

void Bind(nb::module_& m) {
  const nb::class_<ArrayMemory> memory(m, "_ArrayMemory",
                                       "What arrays of an observation hold on to.");
  nb::class_<PythonObservation> type(
      m, "Observation",
      "What a policy may know at a decision. Columns have one element for each unfinished job (a\n"
      "row); rows ascend by time of submission. Arrays are read-only and made without a copy.\n"
      "They may be kept: their values never change. The observation itself ends with the "
      "decision\n"
      "(of environments: with the next step or reset), using it later is a UsageError.");
  type.def("__len__", [](const PythonObservation& v) { return v.get().rows(); })
      .def_prop_ro(
          "now", [](const PythonObservation& v) { return v.get().now; },
          "Time [s] since the start of the workload.")
      .def_prop_ro(
          "interval", [](const PythonObservation& v) { return v.get().interval; },
          "Time [s] between scheduled decisions.")
      .def_prop_ro(
          "decision", [](const PythonObservation& v) { return v.get().decision; },
          "0, 1, ... within the episode.")
      .def_prop_ro(
          "lent", [](const PythonObservation& v) { return v.get().lent; },
          "GPUs of the nodes that services lend to jobs and may call back; None where no services "
          "do.")
      .def_prop_ro(
          "guaranteed",
          [](PythonObservation& v) { return v.Array("guaranteed", v.get().guaranteed); },
          "GPUs that will be lent 0, 15, 30, ... minutes from now, as the lender predicts; empty "
          "where nothing is lent.")
      .def_prop_ro("partner", Partner, "By row: the job on the same GPUs, -1: it is alone.")
      .def_prop_ro(
          "user_names", [](const PythonObservation& v) { return NamesOf(v.get().user_names); },
          "Names by the numbers in `user`; empty where they are not known.")
      .def_prop_ro(
          "group_names", [](const PythonObservation& v) { return NamesOf(v.get().group_names); },
          "Names by the numbers in `group`; empty where they are not known.")
      .def("columns", Columns, "All columns of jobs: dict of arrays by name.")
      .def_static("units", Units, "(unit, meaning) of each column, by name.");
  BindColumns(type);
  BindEvents(type);
  BindCluster(type);
  BindTopology(type);
  BindTables(type);
}

ALLOT_REGISTER(BindingInfo, (BindingInfo{"observation", "observations as numpy columns", Bind}));

}  // namespace
}  // namespace allot
