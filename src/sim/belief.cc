#include "sim/belief.h"

#include "core/strings.h"

namespace allot {
namespace {

struct Chosen {
  const BeliefInfo& info;
  Params params;
};

Chosen Parse(std::string_view spec) {
  const std::size_t colon = spec.find(':');
  const std::string_view rest = colon == std::string_view::npos ? "" : spec.substr(colon + 1);
  const auto& info = Registry<BeliefInfo>::Global().Get("belief", spec.substr(0, colon));
  const bool by_name = rest.empty() || rest.find('=') != std::string_view::npos;
  const NamedParams named =
      by_name || info.params.empty()
          ? ParseNamedParams(spec)
          : NamedParams{info.id, {{info.params.front().name, std::string(rest)}}};
  return {info, Params(fmt::format("belief '{}'", info.id), info.params, named.given)};
}

}  // namespace

std::unique_ptr<Belief> MakeBelief(std::string_view spec, const Scenario& scenario) {
  const Chosen chosen = Parse(spec);
  return chosen.info.make(chosen.params, scenario);
}

void CheckBelief(std::string_view spec) {
  const Chosen chosen = Parse(spec);
  for (const ParamSpec& param : chosen.info.params) {
    if (ParseNumber(param.default_value)) {
      (void)chosen.params.Number(param.name);
    } else {
      (void)chosen.params.Flag(param.name);
    }
  }
}

std::int32_t RequestedAsBelieved(const ConfigurationTable& believed, std::int32_t requested) {
  for (const GpuTypeIndex type : believed.types()) {
    const std::int32_t same =
        believed[requested].gpu_type == type ? requested : believed.OnType(requested, type);
    if (same >= 0 && believed[same].rate > 0) return same;
  }
  return requested;
}

}  // namespace allot
