// Blox's dynamic scheduler (Agarwal et al., EuroSys'24, section 5.3): in every round each pair of a
// policy and an admission is simulated on the known jobs to the last completion, and the best pair
// schedules this round. Lengths are the estimates; Blox knows them.

#include <algorithm>

#include "agents/lookahead/chooser.h"
#include "core/named_files.h"
#include "core/strings.h"
#include "sched/stages.h"
#include "sim/profile.h"

namespace allot {
namespace {

// "index/alpha=1/beta=0" (a policy inside a policy's parameter) under an admission.
std::string PairSpec(const std::string& part, std::string_view admission) {
  std::string policy = NestedSpec(part);
  if (admission == "accept-all") return policy;  // what policies without stages have, too
  const char separator = policy.find(':') == std::string::npos ? ':' : ',';
  return fmt::format("{}{}admission={}", policy, separator, admission);
}

template <NamedFiles kFilesOfPart>
std::vector<std::string> FilesOfEach(const std::string& value) {
  std::vector<std::string> files;
  for (const std::string_view part : Split(value, '|')) {
    const auto named = kFilesOfPart(std::string(part));
    files.insert(files.end(), named.begin(), named.end());
  }
  return files;
}

// Policies as the profile means them, each under every admission.
std::vector<std::string> Pairs(const Params& params) {
  const ProfileInfo& profile =
      Registry<ProfileInfo>::Global().Get("profile", params.Text("profile"));
  std::vector<std::string> specs;
  for (const std::string_view policy : Split(params.Text("policies"), '|')) {
    for (const std::string_view admission : Split(params.Text("admissions"), '|')) {
      specs.push_back(PolicySpecUnder(profile, PairSpec(std::string(policy), admission)));
    }
  }
  return specs;
}

PolicyInfo DynamicInfo() {
  PolicyInfo info;
  info.id = "dynamic";
  info.summary = "simulates policies x admissions ahead and uses the best (Blox's dynamic)";
  info.source = "Agarwal et al., Blox, EuroSys 2024, section 5.3";
  info.needs_lengths = true;
  info.time_driven = true;
  info.params = {FileParam({"policies", "las|fifo|srtf", "candidates joined by '|'"},
                           FilesOfEach<FilesOfInnerPolicy>),
                 FileParam({"admissions", "accept-all|load/factor=1.2|load/factor=1.4",
                            "admission stages joined by '|'"},
                           FilesOfEach<FilesOfPart<AdmissionInfo>>)};
  for (ParamSpec& param : ChooserParams(0, 1)) info.params.push_back(std::move(param));
  info.make = [info](const Params& params) -> std::unique_ptr<Policy> {
    return std::make_unique<LookaheadChooser>(info, Pairs(params), ChooserOptionsOf(params),
                                              params.loader());
  };
  return info;
}

ALLOT_REGISTER(PolicyInfo, DynamicInfo());

}  // namespace
}  // namespace allot
