// allot reproduce: repeats a peer's own runs under its profile, and compares them job by job.

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/typed_command.h"
#include "core/error.h"
#include "core/file.h"
#include "core/parallel.h"
#include "core/progress.h"
#include "fidelity/peer.h"
#include "fidelity/report.h"
#include "metrics/table.h"

namespace allot {
namespace {

struct ReproduceOptions {
  std::string peer;
  std::string reference;
  std::string only = "*";
  int repeat = 1;
  std::string markdown;
};

// The result of the case; its CPU time is the median of `repeat` runs.
FidelityResult RunCase(const FidelityCase& c, int repeat) {
  FidelityResult result = c.run();
  std::vector<double> seconds = {result.our_cpu_s};
  for (int i = 1; i < repeat; ++i) seconds.push_back(c.run().our_cpu_s);
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  result.our_cpu_s = *middle;
  return result;
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
                  FigureText("{:.3f}", r.peer_avg_jct_s), FigureText("{:.3f}", r.our_avg_jct_s),
                  FigureText("{:.3g}", r.largest_difference_s),
                  FigureText("{:.3g}", r.mean_difference_s), where.empty() ? "-" : where});
  }
  table.AddNote(fmt::format("equal: {}", peer.tolerance));
  std::printf("%s", table.ToText().c_str());
}

PeerResults RunCases(const PeerInfo& peer, const std::vector<FidelityCase>& cases,
                     const ReproduceOptions& o, const GlobalOptions& globals) {
  PeerResults found{&peer, std::vector<FidelityResult>(cases.size()),
                    std::vector<double>(cases.size(), kUnknown)};
  Progress progress("reproducing " + peer.id, static_cast<std::int64_t>(cases.size()),
                    globals.quiet);
  std::mutex mutex;
  std::int64_t done = 0;
  ParallelFor(cases.size(), globals.threads, [&](std::size_t i) {
    found.results[i] = RunCase(cases[i], o.repeat);
    if (!o.markdown.empty()) found.repaired_avg_jct_s[i] = cases[i].repaired_avg_jct_s();
    const std::lock_guard lock(mutex);
    progress.Update(++done, cases[i].name);
  });
  return found;
}

std::int64_t CountOf(const PeerResults& peer, FidelityResult::Verdict verdict) {
  return std::count_if(peer.results.begin(), peer.results.end(),
                       [verdict](const FidelityResult& r) { return r.verdict == verdict; });
}

void PrintTotals(const PeerResults& peer) {
  double cpu = 0, peer_cpu = 0;
  for (const FidelityResult& r : peer.results) {
    cpu += r.our_cpu_s;
    if (std::isfinite(r.peer_cpu_s)) peer_cpu += r.peer_cpu_s;
  }
  std::printf("\n%s: %lld runs equal, %lld different, %lld not rebuilt; %.3f CPU-seconds here",
              peer.peer->id.c_str(),
              static_cast<long long>(CountOf(peer, FidelityResult::Verdict::kEqual)),
              static_cast<long long>(CountOf(peer, FidelityResult::Verdict::kDifferent)),
              static_cast<long long>(CountOf(peer, FidelityResult::Verdict::kNotRebuilt)), cpu);
  if (peer_cpu > 0) std::printf(", %.1f at the peer", peer_cpu);
  std::printf("\n");
}

int Reproduce(const ReproduceOptions& o, const GlobalOptions& globals) {
  if (o.peer.empty() || o.reference.empty()) {
    throw UsageError("reproduce needs a PEER ({}) and --reference",
                     Join(Registry<PeerInfo>::Global().ids(), ", "));
  }
  struct Chosen {
    const PeerInfo* peer;
    std::vector<FidelityCase> cases;  // those that --only selects
  };
  std::vector<Chosen> chosen;
  std::size_t unmatched = 0;
  const auto names = Split(o.peer, ',');
  for (const std::string_view name : names) {
    const PeerInfo& peer = Registry<PeerInfo>::Global().Get("peer", name);
    std::string folder = o.reference + "/" + peer.id;
    if (names.size() == 1 && !std::filesystem::is_directory(folder)) folder = o.reference;
    std::vector<FidelityCase> cases = peer.cases(folder);
    unmatched += std::erase_if(cases, [&o](const FidelityCase& c) {
      return fnmatch(o.only.c_str(), c.name.c_str(), 0) != 0;
    });
    if (!cases.empty()) chosen.push_back({&peer, std::move(cases)});
  }
  if (chosen.empty()) {
    throw UsageError("--only '{}' must match a run of '{}', it matches none of {}", o.only,
                     o.reference, unmatched);
  }
  std::vector<PeerResults> peers;
  peers.reserve(chosen.size());
  for (const Chosen& c : chosen) peers.push_back(RunCases(*c.peer, c.cases, o, globals));
  if (globals.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const PeerResults& peer : peers) {
      nlohmann::ordered_json json = {{"peer", peer.peer->id},
                                     {"runs", nlohmann::ordered_json::array()}};
      for (const FidelityResult& r : peer.results) json["runs"].push_back(ToJson(r));
      list.push_back(std::move(json));
    }
    std::printf("%s\n", (names.size() == 1 ? list[0] : list).dump(2).c_str());
  } else {
    for (const PeerResults& peer : peers) {
      PrintTable(*peer.peer, peer.results);
      PrintTotals(peer);
    }
  }
  if (!o.markdown.empty()) WriteTextFile(o.markdown, FidelityMarkdown(peers, TypedCommand()));
  std::int64_t different = 0;
  std::size_t all = 0;
  for (const PeerResults& peer : peers) {
    different += CountOf(peer, FidelityResult::Verdict::kDifferent);
    all += peer.results.size();
  }
  if (different > 0) throw CheckError("{} of {} runs differ from the peer's", different, all);
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "reproduce", "repeat a peer's own runs and compare them job by job",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<ReproduceOptions>();
          line.Option(
              "peer", o->peer,
              "peer, or several joined by ',': " + Join(Registry<PeerInfo>::Global().ids(), ", "));
          line.Option("--reference", o->reference,
                      "folder of the peer's workloads and results, or the folder that holds the "
                      "folders of several peers");
          line.Option("--only", o->only, "runs whose name matches this pattern: 'w2.Las.*'")
              .ShowDefault();
          line.Option("--repeat", o->repeat, "runs of each case; CPU time is their median")
              .Range(1, 100000)
              .ShowDefault();
          line.Option("--markdown", o->markdown,
                      "write the runs, and the peer's defects, to this file");
          return [o, &globals] { return Reproduce(*o, globals); };
        },
        /*needs_torch=*/true}));

}  // namespace
}  // namespace allot
