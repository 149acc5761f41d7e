// allot reproduce: a peer's own runs, repeated under its profile and compared job by job.

#include <fnmatch.h>

#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/progress.h"
#include "fidelity/peer.h"
#include "metrics/table.h"

namespace allot {
namespace {

struct ReproduceOptions {
  std::string peer;
  std::string reference;
  std::string only = "*";
};

const char* VerdictName(FidelityResult::Verdict verdict) {
  switch (verdict) {
    case FidelityResult::Verdict::kEqual:
      return "equal";
    case FidelityResult::Verdict::kDifferent:
      return "DIFFERENT";
    case FidelityResult::Verdict::kNotRebuilt:
      return "not rebuilt";
  }
  return "";
}

nlohmann::ordered_json ToJson(const FidelityResult& r) {
  const auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  };
  return {{"run", r.name},
          {"verdict", VerdictName(r.verdict)},
          {"jobs", r.jobs},
          {"peer_avg_jct_s", number(r.peer_avg_jct_s)},
          {"avg_jct_s", number(r.our_avg_jct_s)},
          {"largest_difference_s", number(r.largest_difference_s)},
          {"mean_difference_s", number(r.mean_difference_s)},
          {"first_difference", r.first_difference},
          {"note", r.note},
          {"peer_cpu_s", number(r.peer_cpu_s)},
          {"cpu_s", number(r.our_cpu_s)}};
}

void PrintTable(const PeerInfo& peer, const std::vector<FidelityResult>& results) {
  TextTable table({{"run", TextTable::Align::kLeft},
                   {"verdict", TextTable::Align::kLeft},
                   {"jobs"},
                   {"peer avg JCT s"},
                   {"ours s"},
                   {"largest diff s"},
                   {"mean diff s"},
                   {"first difference", TextTable::Align::kLeft}});
  for (const FidelityResult& r : results) {
    const std::string& where = r.note.empty() ? r.first_difference : r.note;
    table.AddRow({r.name, VerdictName(r.verdict), fmt::format("{}", r.jobs),
                  fmt::format("{:.3f}", r.peer_avg_jct_s), fmt::format("{:.3f}", r.our_avg_jct_s),
                  fmt::format("{:.3g}", r.largest_difference_s),
                  fmt::format("{:.3g}", r.mean_difference_s), where.empty() ? "-" : where});
  }
  table.AddNote(fmt::format("equal: {}", peer.tolerance));
  std::printf("%s", table.ToText().c_str());
}

int Reproduce(const ReproduceOptions& o, const GlobalOptions& globals) {
  const PeerInfo& peer = Registry<PeerInfo>::Global().Get("peer", o.peer);
  std::vector<FidelityCase> cases = peer.cases(o.reference);
  const std::size_t all = cases.size();
  std::erase_if(cases, [&o](const FidelityCase& c) {
    return fnmatch(o.only.c_str(), c.name.c_str(), 0) != 0;
  });
  if (cases.empty()) {
    throw UsageError("--only '{}' must match a run of '{}', it matches none of {}", o.only,
                     o.reference, all);
  }
  std::vector<FidelityResult> results(cases.size());
  Progress progress("reproducing " + peer.id, static_cast<std::int64_t>(cases.size()),
                    globals.quiet);
  std::mutex mutex;
  std::int64_t done = 0;
  ParallelFor(cases.size(), globals.threads, [&](std::size_t i) {
    results[i] = cases[i].run();
    const std::lock_guard lock(mutex);
    progress.Update(++done, cases[i].name);
  });

  std::int64_t equal = 0, different = 0;
  double cpu = 0, peer_cpu = 0;
  for (const FidelityResult& r : results) {
    equal += r.verdict == FidelityResult::Verdict::kEqual;
    different += r.verdict == FidelityResult::Verdict::kDifferent;
    cpu += r.our_cpu_s;
    if (std::isfinite(r.peer_cpu_s)) peer_cpu += r.peer_cpu_s;
  }
  if (globals.json) {
    nlohmann::ordered_json json = {{"peer", peer.id}, {"runs", nlohmann::ordered_json::array()}};
    for (const FidelityResult& r : results) json["runs"].push_back(ToJson(r));
    std::printf("%s\n", json.dump(2).c_str());
  } else {
    PrintTable(peer, results);
    std::printf(
        "\n%s: %lld runs equal, %lld different, %lld not rebuilt; %.3f CPU-seconds here",
        peer.id.c_str(), static_cast<long long>(equal), static_cast<long long>(different),
        static_cast<long long>(static_cast<std::int64_t>(results.size()) - equal - different), cpu);
    if (peer_cpu > 0) std::printf(", %.1f at the peer", peer_cpu);
    std::printf("\n");
  }
  if (different > 0) {
    throw CheckError("{} of {} runs differ from the peer's", different, results.size());
  }
  return 0;
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{
                   "reproduce", "repeat a peer's own runs and compare them job by job",
                   [](CLI::App& app, const GlobalOptions& globals) {
                     auto o = std::make_shared<ReproduceOptions>();
                     app.add_option("peer", o->peer, Join(Registry<PeerInfo>::Global().ids(), ", "))
                         ->required();
                     app.add_option("--reference", o->reference,
                                    "folder of the peer's workloads and results (docs/fidelity.md)")
                         ->required();
                     app.add_option("--only", o->only,
                                    "runs whose name matches this pattern: 'w2.Las.*'")
                         ->capture_default_str();
                     return [o, &globals] { return Reproduce(*o, globals); };
                   }}));

}  // namespace
}  // namespace allot
