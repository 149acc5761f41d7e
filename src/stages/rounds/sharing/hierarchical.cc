// Fairness on two floors (Gavel, OSDI'20, section 4.3): tenants, users or groups divide the cluster
// by weight, and each gives its part to its jobs, by their weights or to the first come. Jobs of no
// known entity are one entity together.

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/index.h"
#include "core/strings.h"
#include "sched/policy.h"
#include "solve/water_filling.h"
#include "stages/rounds/share_rows.h"

namespace allot {
namespace {

class Hierarchical : public Sharing {
 public:
  explicit Hierarchical(const Params& params) : by_(params.Text("by")) {
    if (by_ != "tenant" && by_ != "user" && by_ != "group") {
      throw UsageError("sharing 'hierarchical': 'by' must be tenant, user or group, got '{}'", by_);
    }
    for (const std::string_view part : Parts(params.Text("weights"))) {
      const std::size_t equals = part.rfind('=');
      const auto weight =
          equals == std::string_view::npos ? std::nullopt : ParseNumber(part.substr(equals + 1));
      if (!weight || !(*weight > 0)) {
        throw UsageError(
            "sharing 'hierarchical': 'weights' must be NAME=WEIGHT joined by '|', each "
            "weight > 0, got '{}'",
            part);
      }
      weights_[std::string(part.substr(0, equals))] = *weight;
    }
    for (const std::string_view name : Parts(params.Text("fifo"))) {
      if (name == "all") {
        all_first_come_ = true;
      } else {
        first_come_[std::string(name)] = true;
      }
    }
  }

  void OnEpisodeStart(const EpisodeContext& context) override {
    tenants_.clear();
    if (context.tenants != nullptr) tenants_ = *context.tenants;
    // Live, who submits is not known in advance.
    unchecked_ = context.tenants != nullptr;
  }

  void Share(const Observation& o, std::span<const std::int32_t> rows,
             std::vector<TimeShare>* shares) override {
    const ShareRows read = ReadShareRows(o, rows);
    const std::vector<std::int32_t>& column = by_ == "tenant" ? o.tenant
                                              : by_ == "user" ? o.user
                                                              : o.group;
    const std::vector<std::string>* names = by_ == "tenant" ? &tenants_
                                            : by_ == "user" ? o.user_names
                                                            : o.group_names;
    if (unchecked_ && names != nullptr) CheckNames(*names);
    unchecked_ = false;
    std::map<std::int32_t, std::int32_t> entity_of_id;
    std::vector<ShareEntity> entities;
    std::vector<std::int32_t> of;
    for (const std::int32_t row : read.row) {
      const std::int32_t id = column[At(row)];
      const auto [at, added] = entity_of_id.emplace(id, static_cast<std::int32_t>(entities.size()));
      if (added) {
        const bool known = id >= 0 && names != nullptr && At(id) < names->size();
        entities.push_back(EntityNamed(known ? (*names)[At(id)] : ""));
      }
      of.push_back(at->second);
    }
    AppendShares(read, HierarchicalShares(read.problem, entities, of).of, shares);
  }

 private:
  static std::vector<std::string_view> Parts(const std::string& text) {
    return text.empty() ? std::vector<std::string_view>{} : Split(text, '|');
  }

  void CheckNames(const std::vector<std::string>& names) const {
    const auto check = [&](const char* parameter, const std::string& name) {
      if (std::find(names.begin(), names.end(), name) != names.end()) return;
      throw UsageError("sharing 'hierarchical': '{}' must name a {} of the workload ({}), got '{}'",
                       parameter, by_, names.empty() ? "there is none" : Join(names, ", "), name);
    };
    for (const auto& [name, weight] : weights_) check("weights", name);
    for (const auto& [name, fifo] : first_come_) check("fifo", name);
  }

  ShareEntity EntityNamed(const std::string& name) const {
    const auto weight = weights_.find(name);
    return {weight == weights_.end() ? 1.0 : weight->second,
            all_first_come_ || first_come_.contains(name)};
  }

  std::string by_;
  std::map<std::string, double> weights_;
  std::map<std::string, bool> first_come_;
  bool all_first_come_ = false;
  std::vector<std::string> tenants_;
  bool unchecked_ = false;  // names are known in advance, and were not looked at yet
};

ALLOT_REGISTER(SharingInfo, ([] {
                 SharingInfo info;
                 info.id = "hierarchical";
                 info.summary =
                     "entities divide the cluster by weight, each of them among its jobs";
                 info.params = {
                     {"by", "tenant", "what an entity is: tenant, user or group"},
                     {"weights", "", "NAME=WEIGHT joined by '|'; others have 1"},
                     {"fifo", "",
                      "entities, joined by '|', whose jobs are served first come, first served, or "
                      "all; the others divide by weight"}};
                 info.make = [](const Params& params) {
                   return std::make_unique<Hierarchical>(params);
                 };
                 return info;
               }()));

}  // namespace
}  // namespace allot
