// What environments can be made of, as tables for Python: settings, options, features, rewards.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings/binding.h"
#include "core/strings.h"
#include "envs/agent_side.h"
#include "envs/rewards/reward.h"
#include "envs/setting.h"
#include "experiment/world_options.h"
#include "features/encoder.h"
#include "features/feature_table.h"

namespace allot {
namespace {

void Bind(nb::module_& module) {
  module.def("settings", [] {
    nb::list rows;
    for (const SettingInfo& setting : Registry<SettingInfo>::Global().entries()) {
      nb::list params;
      for (const ParamSpec& param : setting.params) {
        params.append(nb::make_tuple(param.name, param.default_value, param.help));
      }
      rows.append(nb::make_tuple(setting.id, setting.summary, params));
    }
    return rows;
  });
  module.def("world_options", [] {
    nb::list names;
    for (const WorldOption& option : WorldOptionTable()) {
      names.append(nb::make_tuple(option.name, option.help));
    }
    return names;
  });
  module.def("did_you_mean", [](const std::string& word, const std::vector<std::string>& known) {
    return DidYouMean(word, known);
  });
  // For env.metadata and allot.features: what each column of the tensors is.
  module.def("feature_tables", [] {
    const auto rows = [](const std::vector<FeatureInfo>& table) {
      nb::list list;
      for (const FeatureInfo& f : table) {
        nb::dict row;
        row["name"] = f.name;
        row["unit"] = f.unit;
        row["meaning"] = f.meaning;
        row["low"] = f.low;
        row["high"] = f.high;
        list.append(row);
      }
      return list;
    };
    nb::dict tensors;
    tensors["jobs"] = rows(JobFeatureTable());
    tensors["context"] = rows(ContextFeatureTable());
    tensors["configurations"] = rows(ConfigurationColumnTable());
    tensors["nodes"] = rows(NodeColumnTable());
    nb::dict tables;
    tables["features"] = tensors;
    tables["feature_version"] = kFeatureVersion;
    return tables;
  });
  module.attr("INDEX_ACTION_SCALE") = kIndexActionScale;
  module.def("rewards", [] { return Registry<RewardInfo>::Global().ids(); });
}

ALLOT_REGISTER(BindingInfo,
               (BindingInfo{"environment_tables", "what environments are made of", Bind}));

}  // namespace
}  // namespace allot
