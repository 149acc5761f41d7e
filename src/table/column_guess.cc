#include "table/column_guess.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "core/strings.h"
#include "table/length_text.h"

namespace allot {
namespace {

constexpr int kRowsToLookAt = 1000;
constexpr int kExactName = 100, kPartOfName = 60;

// What the first rows show of a column.
struct Values {
  std::string first;
  int filled = 0, numbers = 0, lengths = 0, clocks = 0, whole = 0;
  bool negative = false;
  std::set<std::string, std::less<>> texts;
  bool repeated = false;  // a text stands there twice
  double most = 0;
  std::set<double> different;  // numbers, up to a few
  TimeSurvey times;

  bool AreTimes() const { return filled > 0 && 10 * times.understood() >= 9 * filled; }
  bool AreDates() const { return AreTimes() && times.Style({}).calendar; }
  bool MayBeDates() const { return AreTimes() && (AreDates() || times.Style({}).open); }
  bool AreLengths() const { return filled > 0 && 10 * lengths >= 9 * filled && !negative; }
  bool AreNumbers() const { return filled > 0 && 10 * numbers >= 9 * filled; }
  // Of GPUs: small numbers, parts of one included.
  bool AreGpus() const { return AreNumbers() && !negative && most <= 100000; }
  // Few and small, with the sizes that GPUs come in.
  bool LookLikeGpus() const {
    const auto power = [](double value) {
      return value >= 1 && std::exp2(std::round(std::log2(value))) == value;
    };
    const auto powers = std::count_if(different.begin(), different.end(), power);
    return AreGpus() && whole == numbers && most <= 4096 && different.size() >= 2 && powers >= 2 &&
           2 * powers >= static_cast<std::ptrdiff_t>(different.size());
  }
};

void Look(std::string_view text, DecimalMark decimal, Values* values) {
  constexpr std::size_t kFew = 40;
  if (IsMissing(text)) return;
  if (values->filled++ == 0) values->first = text;
  values->repeated = !values->texts.emplace(text).second || values->repeated;
  values->times.Look(text, decimal);
  const bool clock = text.find(':') != std::string_view::npos;
  if (const auto length = ReadLength(text, 1, decimal)) {
    ++values->lengths;
    if (clock) ++values->clocks;
    if (*length < 0) values->negative = true;
  }
  if (const auto number = ParseTableNumber(text, decimal)) {
    ++values->numbers;
    if (*number == std::floor(*number)) ++values->whole;
    values->most = std::max(values->most, *number);
    if (values->different.size() < kFew) values->different.insert(*number);
  }
}

std::string Letters(std::string_view name) {
  std::string letters = ToLower(name);
  std::erase_if(letters, [](char c) {
    return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<signed char>(c) < 0);
  });
  return letters;
}

// The name without the unit that it ends with.
std::string WithoutUnit(std::string_view name) {
  if (!UnitInName(name)) return std::string(name);
  const std::size_t mark = name.find_last_of("_ -.([/");
  return std::string(mark == std::string_view::npos ? name : name.substr(0, mark));
}

struct Names {
  const char* meaning;
  std::vector<std::string> exact;           // the better ones first
  std::vector<std::string> parts;           // a name that holds one of them
  bool must_differ = false;                 // no value stands there twice
  std::vector<std::string> with_unit = {};  // only with a unit behind it: "run_min"
};

// In the order in which columns are given away.
const std::vector<Names>& KnownNames() {
  static const std::vector<Names> names = {
      {"submit",
       {"submit",        "submittime",        "submitted",  "submittedat", "submittedtime",
        "submission",    "submissiontime",    "submitat",   "submitts",    "submittimestamp",
        "arrival",       "arrivaltime",       "arrived",    "created",     "createdat",
        "creationtime",  "creationtimestamp", "createtime", "queuedat",    "queuedtime",
        "enqueued",      "enqueuedat",        "qtime",      "requestedat", "eingereicht",
        "eingereichtam", "eingereichtum",     "qdate"},
       {"submit", "arriv", "creat", "enqueue"}},
      {"start",
       {"start", "started", "starttime", "startedat", "startts", "starttimestamp", "begin",
        "begintime", "launchtime", "launchedat", "scheduledtime", "gestartet", "gestartetam",
        "beginn", "startzeit", "jobstartdate"},
       {"start", "begin"}},
      {"end",
       {"end",           "ended",          "endtime",      "endedat",    "endts",
        "finish",        "finished",       "finishtime",   "finishedat", "completed",
        "completedat",   "completiontime", "endtimestamp", "stoptime",   "stoppedat",
        "deletiontime",  "beendet",        "beendetam",    "ende",       "endzeit",
        "completiondate"},
       {"finish", "complet", "endtime"}},
      {"gpu_types",
       {"gputypes", "gputype", "gpumodel", "gpuname", "gpuproduct", "gpuspec", "gpukind",
        "acceleratortype", "gputyp"},
       {}},
      {"gpus",
       {"gpus",          "gpu",           "ngpus",      "ngpu",      "numgpus",  "numgpu",
        "gpunum",        "gpucount",      "gpureq",     "gpusreq",   "reqgpus",  "reqgpu",
        "requestedgpus", "gpusrequested", "gpurequest", "totalgpus", "gputotal", "allocgpus",
        "gpusalloc",     "anzahlgpus",    "requestgpus"},
       {"gpu"}},
      {"duration",
       {"duration", "runtime", "elapsed", "elapsedtime", "elapsedraw", "runningtime", "walltime",
        "wallclock", "executiontime", "exectime", "servicetime", "joblength", "length", "laufzeit",
        "dauer", "runseconds", "remotewallclocktime"},
       {"duration", "elapsed", "runtime", "laufzeit"},
       false,
       {"run", "exec", "execution"}},
      {"id",
       {"id", "jobid", "jobidraw", "jobindex", "taskid", "uid", "uuid", "runid", "auftrag"},
       {"jobid"}},
      {"id", {"job", "jobname", "name"}, {}, true},
      {"user",
       {"user", "username", "userid", "owner", "submitter", "submittedby", "benutzer", "login"},
       {"user"}},
      {"tenant",
       {"tenant", "queue", "queuename", "partition", "partitionname", "account", "project", "vc",
        "virtualcluster", "team", "namespace", "organization", "organisation", "department",
        "warteschlange", "usergroup", "groupname"},
       {"queue", "partition", "tenant"}},
      // Not `model`: that would have to be a name of the catalogue.
      {"group",
       {"application", "app", "appname", "script", "command", "jobtype", "jobname", "workload",
        "model", "modelname"},
       {}},
      {"outcome",
       {"outcome", "state", "status", "jobstate", "jobstatus", "finalstate", "finalstatus",
        "result", "exitstatus", "zustand"},
       {"status", "state"}},
      {"limit",
       {"limit", "timelimit", "timelimitraw", "walltimelimit", "requestedtime", "reqtime",
        "requestedwalltime", "timerequested", "maxruntime", "zeitlimit"},
       {"timelimit"}},
      // Not `cpu`: it is the use of CPUs as often.
      {"cpus",
       {"cpus", "ncpus", "numcpus", "cpucount", "reqcpus", "cpureq", "cpusreq", "requestedcpus",
        "cpurequest", "totalcpus", "alloccpus", "cores", "ncores", "numcores", "cpucores"},
       {}},
      {"priority", {"priority", "prio"}, {}},
      {"deadline", {"deadline", "duedate", "due"}, {}},
  };
  return names;
}

// Whether values like these can have the meaning.
bool CanMean(std::string_view meaning, const Values& values) {
  if (meaning == "submit" || meaning == "start" || meaning == "end" || meaning == "deadline") {
    return values.AreTimes();
  }
  if (meaning == "gpus") return values.AreGpus();
  if (meaning == "duration" || meaning == "limit") {
    return values.AreLengths() && !values.AreDates();
  }
  if (meaning == "priority") return values.AreNumbers();
  if (meaning == "cpus") return values.AreNumbers() && !values.negative;
  if (meaning == "outcome" || meaning == "gpu_types") return values.filled > values.numbers;
  return values.filled > 0;
}

// How well a column's name fits: 0 not at all; of exact names the first of the list fits best.
int NameScore(const Names& known, const std::string& column) {
  const std::string whole = Letters(column);
  const std::string bare = Letters(WithoutUnit(column));
  for (std::size_t i = 0; i < known.exact.size(); ++i) {
    if (whole == known.exact[i] || bare == known.exact[i]) {
      return kExactName + static_cast<int>(known.exact.size() - i);
    }
  }
  const bool has_unit = bare != whole;
  if (has_unit &&
      std::find(known.with_unit.begin(), known.with_unit.end(), bare) != known.with_unit.end()) {
    return kExactName;
  }
  for (const std::string& part : known.parts) {
    if (whole.find(part) != std::string::npos) return kPartOfName;
  }
  return 0;
}

// The words of a name: "gpuUtil (%)" -> gpu, util. What is joined to "gpu" is a word of its own.
std::vector<std::string> WordsOf(const std::string& name) {
  std::string spaced;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool upper = c >= 'A' && c <= 'Z';
    const bool after_lower = i > 0 && name[i - 1] >= 'a' && name[i - 1] <= 'z';
    if (upper && after_lower) spaced += ' ';
    spaced += std::isalnum(c) != 0 ? static_cast<char>(std::tolower(c)) : ' ';
  }
  constexpr std::string_view kGpuWord = "gpu";
  for (std::size_t at = 0; (at = spaced.find(kGpuWord, at)) != std::string::npos;) {
    std::size_t end = at + kGpuWord.size();
    if (spaced.substr(end, 1) == "s") ++end;
    spaced.insert(end, " ");
    spaced.insert(at, " ");
    at = end + 2;
  }
  std::vector<std::string> words;
  for (const std::string_view word : Split(spaced, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

// 'gpu_util', 'gpu_id', 'GPU hours', 'gpus_per_node', 'cpus' are no number of GPUs.
bool NamesOtherThanGpus(const std::string& column) {
  static constexpr std::array<std::string_view, 45> kOther = {
      "id",   "ids",   "idx",  "index",   "rank",    "uuid",  "serial",  "bus",    "slot",
      "type", "model", "name", "kind",    "product", "gen",   "arch",    "vendor", "list",
      "hour", "hours", "time", "sec",     "seconds", "min",   "minutes", "power",  "watts",
      "per",  "ratio", "frac", "percent", "pct",     "cost",  "price",   "avg",    "mean",
      "temp", "clock", "cpu",  "cpus",    "core",    "cores", "node",    "nodes",  "priority"};
  const auto other = [](const std::string& word) {
    const bool begins = word.starts_with("util") || word.starts_with("mem") ||
                        word.starts_with("usage") || word.starts_with("temperature") ||
                        word.starts_with("exit");
    return begins || std::find(kOther.begin(), kOther.end(), word) != kOther.end();
  };
  const auto words = WordsOf(column);
  return std::any_of(words.begin(), words.end(), other);
}

class Guesser {
 public:
  explicit Guesser(const TableFile& table) : table_(table), values_(table.header().size()) {
    CsvReader rows = table.Rows();
    for (int row = 0; row < kRowsToLookAt && rows.Next(); ++row) {
      for (std::size_t i = 0; i < std::min(values_.size(), rows.fields()); ++i) {
        Look(rows.At(i), table.decimal(), &values_[i]);
      }
    }
  }

  ColumnGuess Guess() {
    for (const bool exact : {true, false}) {
      for (const Names& known : KnownNames()) ByName(known, exact);
    }
    if (!Given("gpus")) ByNodes();
    ByTheirValues();
    return Result();
  }

 private:
  bool Free(std::size_t i) const { return !meaning_.contains(i) && nodes_ != i; }
  bool Given(std::string_view meaning) const {
    return std::any_of(meaning_.begin(), meaning_.end(),
                       [&](const auto& each) { return each.second.first == meaning; });
  }
  void Give(std::size_t i, const std::string& meaning, const std::string& why) {
    meaning_[i] = {meaning, why};
  }

  void ByName(const Names& known, bool exact) {
    if (Given(known.meaning)) return;
    std::size_t best = values_.size();
    int best_score = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const int score = NameScore(known, table_.header()[i]);
      if (!Free(i) || (score >= kExactName) != exact || score <= best_score) continue;
      if (!CanMean(known.meaning, values_[i])) continue;
      if (known.must_differ && values_[i].repeated) continue;
      if (!exact && std::string_view(known.meaning) == "gpus" && !CanCountGpus(i)) continue;
      best = i;
      best_score = score;
    }
    if (best_score > 0) Give(best, known.meaning, exact ? "its name" : "a part of its name");
  }

  // GPUs as a product: nodes, times GPUs on each.
  void ByNodes() {
    static const Names names_of_nodes = {
        "nodes",
        {"nodes", "nnodes", "numnodes", "nodecount", "numberofnodes", "reqnodes", "allocnodes"},
        {}};
    static const Names names_of_each = {
        "gpus per node",
        {"gpuspernode", "gpupernode", "ngpuspernode", "ngpupernode", "numgpuspernode"},
        {}};
    const auto find = [this](const Names& known) {
      for (std::size_t i = 0; i < values_.size(); ++i) {
        if (Free(i) && NameScore(known, table_.header()[i]) > 0 && values_[i].AreGpus()) {
          return std::optional(i);
        }
      }
      return std::optional<std::size_t>();
    };
    const auto nodes = find(names_of_nodes), each = find(names_of_each);
    if (!nodes || !each) return;
    nodes_ = nodes;
    Give(*each, "gpus", "its name, times the nodes");
  }

  bool CanCountGpus(std::size_t i) const {
    const std::string& name = table_.header()[i];
    return values_[i].whole == values_[i].numbers && !UnitInName(name) && !NamesOtherThanGpus(name);
  }

  void ByTheirValues() {
    if (!Given("submit")) {
      const std::string why = "its values: the first column of times";
      for (std::size_t i = 0; i < values_.size() && !Given("submit"); ++i) {
        if (Free(i) && values_[i].MayBeDates()) Give(i, "submit", why);
      }
    }
    if (!Given("gpus")) {
      for (std::size_t i = 0; i < values_.size() && !Given("gpus"); ++i) {
        if (Free(i) && values_[i].LookLikeGpus() && CanCountGpus(i))
          Give(i, "gpus", "its values: 1, 2, 4, 8, ...");
      }
    }
    if (!Given("duration") && !(Given("start") && Given("end"))) {
      for (std::size_t i = 0; i < values_.size() && !Given("duration"); ++i) {
        const Values& values = values_[i];
        const bool clocks = values.clocks > 0 && values.AreLengths() && !values.AreDates();
        if (Free(i) && clocks) Give(i, "duration", "its values: HH:MM:SS");
      }
    }
  }

  // By its name, or by its number where the name does not tell it from others.
  std::string Named(std::size_t i) const {
    const auto& header = table_.header();
    const bool plain = !header[i].empty() && !header[i].starts_with('#') &&
                       std::find(header.begin(), header.end(), header[i]) - header.begin() ==
                           static_cast<std::ptrdiff_t>(i);
    return plain ? header[i] : fmt::format("#{}", i + 1);
  }

  ColumnGuess Result() const {
    ColumnGuess guess;
    // A length that is written wins over one that is worked out.
    for (const ColumnMeaning& meaning : ColumnMeanings()) {
      for (const auto& [i, given] : meaning_) {
        if (given.first != meaning.name) continue;
        const bool product = nodes_ && given.first == "gpus";
        guess.map.Set(meaning.name,
                      product ? fmt::format("{}*{}", Named(*nodes_), Named(i)) : Named(i));
      }
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (nodes_ == i) {
        guess.columns.push_back(
            {Named(i), "gpus", values_[i].first, "its name, times GPUs on each"});
        continue;
      }
      if (Free(i)) {
        guess.others.push_back(Named(i));
        continue;
      }
      const auto& [meaning, why] = meaning_.at(i);
      if (meaning == "submit" && values_[i].times.Style(UnitInName(table_.header()[i])).open) {
        guess.map.times = "excel";
      }
      guess.columns.push_back({Named(i), meaning, values_[i].first, why});
    }
    return guess;
  }

  const TableFile& table_;
  std::vector<Values> values_;
  std::optional<std::size_t> nodes_;  // the column whose product with that of `gpus` counts
  std::map<std::size_t, std::pair<std::string, std::string>> meaning_;  // by column: and why
};

}  // namespace

ColumnGuess GuessColumns(const TableFile& table) { return Guesser(table).Guess(); }

}  // namespace allot
