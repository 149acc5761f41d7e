// WhatIfFindings: the sentences of a what-if.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/counted.h"
#include "metrics/humanise.h"
#include "metrics/whatif.h"

namespace allot {
namespace {

using Kind = WhatIfScene::Kind;

// The alternative of this kind with the smallest mean completion time.
const WhatIfScene* BestOf(const WhatIf& what_if, Kind kind) {
  const WhatIfScene* best = nullptr;
  for (const WhatIfScene& scene : what_if.scenes) {
    if (scene.kind != kind || scene.oracle || !std::isfinite(scene.avg_jct_s)) continue;
    if (best == nullptr || scene.avg_jct_s < best->avg_jct_s) best = &scene;
  }
  return best;
}

bool Alike(double a, double b) { return HumanDuration(a) == HumanDuration(b); }

bool ChangesNothing(const WhatIfScene& scene, const WhatIfScene& present) {
  return Alike(scene.avg_wait_s, present.avg_wait_s) && Alike(scene.avg_jct_s, present.avg_jct_s);
}

// "a mean wait of 2h 05m instead of 3h 10m", "the same mean wait (3h 10m)".
std::string Beside(const char* figure, double value, double present) {
  return Alike(value, present) ? fmt::format("the same {} ({})", figure, HumanDuration(value))
                               : fmt::format("a {} of {} instead of {}", figure,
                                             HumanDuration(value), HumanDuration(present));
}

std::string Change(const WhatIfScene& scene, const WhatIfScene& present) {
  std::string text =
      fmt::format("{}, {}, and {}", Beside("mean wait", scene.avg_wait_s, present.avg_wait_s),
                  Beside("longest wait", scene.max_wait_s, present.max_wait_s),
                  Beside("mean completion time", scene.avg_jct_s, present.avg_jct_s));
  // Jobs that a failing node stops are no fault of the policy.
  if (const double own = scene.preemptions_per_job - scene.node_stops_per_job; own > 0.005) {
    text += fmt::format(" (it stops jobs {} times per job on average, which then need checkpoints)",
                        HumanFixed(own, 2));
  }
  return text;
}

// " (without those that know true lengths: sjf, srtf)"; "" where none of this kind does.
std::string WithoutOracles(const WhatIf& what_if, Kind kind) {
  std::string names;
  for (const WhatIfScene& scene : what_if.scenes) {
    if (scene.kind != kind || !scene.oracle) continue;
    names += (names.empty() ? "" : ", ") + scene.name;
  }
  return names.empty() ? "" : fmt::format(" (without those that know true lengths: {})", names);
}

// What the simulation lacks of the record, as far as it is known; "" for nothing of weight.
std::string KnownCauses(const WhatIf& what_if) {
  constexpr double kOfWeight = 0.01;  // of all GPU time
  double lost = 0;
  for (const DropCount& drop : what_if.left_out) lost += drop.gpu_hours;
  const double all = lost + what_if.gpu_hours;
  if (!(lost > kOfWeight * all)) return "";
  return fmt::format(
      "First of all, {} of {} GPU-hours of the file are left out, most of them as \"{}\". ",
      HumanHours(lost), HumanHours(all), what_if.left_out.front().reason);
}

// What is said of jobs that do not fit the cluster, and whether they are so many that nothing else
// comes before it.
struct UnfitFinding {
  std::string sentence;
  bool many = false;
};

std::optional<UnfitFinding> UnfitJobs(const WhatIf& what_if) {
  constexpr double kMany = 0.05;  // of the jobs, or of the GPU time
  std::int64_t without_type = 0;
  double hours = what_if.without_room.gpu_hours + what_if.without_hosts.gpu_hours;
  for (const LackingType& type : what_if.lacking_types) {
    without_type += type.jobs;
    hours += type.gpu_hours;
  }
  const std::int64_t unfit = without_type + what_if.without_room.rows + what_if.without_hosts.rows;
  if (unfit == 0) return std::nullopt;
  UnfitFinding finding;
  finding.sentence =
      fmt::format("{} of {} jobs of the trace, with {} of {} GPU-hours, are not in these figures",
                  HumanCount(unfit), HumanCount(unfit + what_if.jobs), HumanHours(hours),
                  HumanHours(hours + what_if.gpu_hours));
  if (without_type > 0) {
    finding.sentence += fmt::format(
        ": this cluster lacks the GPU type that they ask for, {} (--type-map THEIRS=OURS gives "
        "types the names of the cluster's)",
        LackingTypesInWords(what_if.lacking_types));
  }
  const auto add = [&](const DropCount& jobs, const char* reason) {
    if (jobs.rows == 0) return;
    finding.sentence += fmt::format("{} {} {} {}", without_type > 0 ? ", and" : ":",
                                    HumanCount(jobs.rows), jobs.rows == 1 ? "asks" : "ask", reason);
    if (!jobs.example.empty()) finding.sentence += fmt::format(" (first: {})", jobs.example);
    without_type = 1;
  };
  add(what_if.without_room, "for more GPUs or GPU memory than this cluster has");
  add(what_if.without_hosts, "for more host memory or CPUs than the nodes of this cluster have");
  finding.sentence += '.';
  finding.many = static_cast<double>(unfit) > kMany * static_cast<double>(unfit + what_if.jobs) ||
                 hours > kMany * (hours + what_if.gpu_hours);
  return finding;
}

// "" where no type is asked for more than it has.
std::string OverloadedType(const WhatIf& what_if) {
  const TypeLoad* const most = MostLoaded(what_if.loads);
  if (most == nullptr || most->demand <= 1) return "";
  return fmt::format(
      "Jobs ask for {} times the GPU time that the {} GPUs of type {} have while jobs are "
      "submitted, "
      "so that their queue grows (by type: {}).",
      HumanFixed(most->demand, 2), most->gpus, most->type, LoadsInWords(what_if.loads));
}

std::string TargetInWords(const WhatIf& what_if) {
  const WhatIfTarget& target = *what_if.target;
  const std::string wanted = fmt::format("A mean wait of at most {}", HumanDuration(target.wait_s));
  if (!target.nodes) {
    return fmt::format("{} is not reached with {} more nodes ({}): it is then {}.", wanted,
                       HumanCount(target.most_tried), what_if.added_nodes,
                       HumanDuration(target.reached_wait_s));
  }
  if (*target.nodes == 0) {
    return fmt::format("{} needs no more nodes: it is {}.", wanted,
                       HumanDuration(target.reached_wait_s));
  }
  return fmt::format(
      "{} needs {} more node{} ({}): under the present policy it is then {}, with one "
      "node less {}.",
      wanted, HumanCount(*target.nodes), *target.nodes == 1 ? "" : "s", what_if.added_nodes,
      HumanDuration(target.reached_wait_s), HumanDuration(target.one_less_wait_s));
}

std::string Percent(double ratio) { return HumanShare(std::abs(1 - ratio)); }

}  // namespace

const WhatIfScene* SceneOf(const WhatIf& what_if, Kind kind) {
  const auto found = std::find_if(what_if.scenes.begin(), what_if.scenes.end(),
                                  [kind](const WhatIfScene& scene) { return scene.kind == kind; });
  return found == what_if.scenes.end() ? nullptr : &*found;
}

std::vector<std::string> WhatIfFindings(const WhatIf& what_if) {
  std::vector<std::string> findings;
  const WhatIfScene* const recorded = SceneOf(what_if, Kind::kRecorded);
  const WhatIfScene* const present = SceneOf(what_if, Kind::kPresent);
  const bool none_ended = what_if.jobs == what_if.running + what_if.pending;
  if (none_ended) {
    findings.emplace_back(
        "No job of the record has ended: no run time is known, so that no comparison with the "
        "record is possible, and completion times have no mean. How long jobs take is guessed from "
        "how long they have run and from their time limits. 'allot forecast' predicts when the "
        "pending jobs start.");
  } else if (recorded != nullptr) {
    const std::string half =
        recorded->p50_wait_s > 0
            ? fmt::format("half of them {} or less", HumanDuration(recorded->p50_wait_s))
            : std::string("half of them not at all");
    findings.push_back(fmt::format("Jobs waited {} on average, {}, one in twenty {} or more.",
                                   HumanDuration(recorded->avg_wait_s), half,
                                   HumanDuration(recorded->p95_wait_s)));
  }
  if (const auto unfit = UnfitJobs(what_if)) {
    findings.insert(unfit->many ? findings.begin() : findings.end(), unfit->sentence);
  }
  if (what_if.most_gpus_at_once > what_if.gpus) {
    findings.push_back(fmt::format("The record held {} GPUs at once, this cluster has {}.",
                                   what_if.most_gpus_at_once, what_if.gpus));
  }
  if (!what_if.node_events.empty()) findings.push_back(what_if.node_events);
  if (none_ended) {
    if (std::string overloaded = OverloadedType(what_if); !overloaded.empty()) {
      findings.push_back(std::move(overloaded));
    }
    return findings;
  }
  if (present == nullptr) return findings;
  if (recorded != nullptr) {
    const double ratio = present->avg_wait_s / recorded->avg_wait_s;
    std::string text =
        fmt::format("The present policy, simulated ({}), lets them wait {} on average",
                    present->name, HumanDuration(present->avg_wait_s));
    const double apart = std::abs(present->avg_wait_s - recorded->avg_wait_s);
    if (Alike(present->avg_wait_s, recorded->avg_wait_s) || apart <= 0.01 * recorded->avg_jct_s) {
      text += ", as in the record to a hundredth of the mean completion time.";
    } else if (ratio >= 0.75 && ratio <= 1.25) {
      text += fmt::format(", within {} of the record.", Percent(ratio));
    } else if (ratio >= 0.5 && ratio <= 2) {
      text += fmt::format(", {} times what the trace records.", HumanFixed(ratio, 2));
    } else if (ratio < 1) {
      text += fmt::format(
          ". That is far from the record. {}The trace does not tell all that the scheduler goes by "
          "(partitions, limits of users, reservations, priorities, nodes that were down, jobs that "
          "need CPUs only). Take the other rows as directions, not as minutes.",
          KnownCauses(what_if));
    } else {
      text +=
          ". That is far from the record: the jobs had more room in truth (nodes that this cluster "
          "does not have, GPUs that were shared, other types), or the scheduler chose better. Take "
          "the other rows as directions, not as minutes.";
    }
    findings.push_back(std::move(text));
  } else {
    findings.push_back(fmt::format(
        "The present policy, simulated ({}), lets jobs wait {} on "
        "average, one in twenty {} or more.",
        present->name, HumanDuration(present->avg_wait_s), HumanDuration(present->p95_wait_s)));
  }
  if (std::string overloaded = OverloadedType(what_if); !overloaded.empty()) {
    findings.push_back(std::move(overloaded));
  }
  if (what_if.target) findings.push_back(TargetInWords(what_if));
  if (const WhatIfScene* const best = BestOf(what_if, Kind::kPolicy)) {
    const std::string without = WithoutOracles(what_if, Kind::kPolicy);
    findings.push_back(
        best->avg_jct_s < present->avg_jct_s
            ? fmt::format("Of the other policies{} {} makes jobs end earliest: {}.", without,
                          best->title, Change(*best, *present))
            : fmt::format("None of the other policies{} makes jobs end earlier on average.",
                          without));
  }
  for (const Kind kind : {Kind::kNodes, Kind::kElastic}) {
    const auto first = SceneOf(what_if, kind);
    if (first == nullptr) continue;
    const WhatIfScene* const best = kind == Kind::kNodes ? first : BestOf(what_if, kind);
    if (best == nullptr) continue;
    std::string changed = best->title.substr(best->name.size() + 2);  // "easy, ..."
    if (kind == Kind::kNodes) changed += fmt::format(" ({})", what_if.added_nodes);
    const std::string policy = kind == Kind::kNodes ? "The present policy" : best->name;
    std::string finding =
        ChangesNothing(*best, *present)
            ? fmt::format("{} with {} changes nothing for these jobs.", policy, changed)
            : fmt::format("{} with {} gives {}.", policy, changed, Change(*best, *present));
    if (best->more_jobs > 0) {
      finding += fmt::format(
          " {} that the present cluster has no room for then {}: {} in the queue there, but in "
          "none "
          "of these means.",
          Counted(best->more_jobs, "job"), best->more_jobs == 1 ? "fits" : "fit",
          best->more_jobs == 1 ? "it is" : "they are");
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace allot
