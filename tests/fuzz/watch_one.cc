// What everything that an API server of Kubernetes sends must lead to, whatever it sends.
//
// The input is "KIND\nTEXT": nodes, jobs or pods, and the text of a watch, whose parts behind each
// kCompanionMark come one after the other, as from a socket. "list KIND\nTEXT": a list of these.
// "reply CODE\nTEXT": any answer. What follows from it does not depend on the parts; the server is
// asked again within a minute; what is no event is told of; what a Job asks for is legal or refused
// in words; its workers' pods are read as what they were made for; and its status is never written
// as the API would refuse it (tests/unit/live/runtimes/kubernetes/fake_objects.h). Anything else
// ends the program.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "clients/kubernetes/api/list_watch.h"
#include "clients/kubernetes/node.h"
#include "core/file.h"
#include "core/strings.h"
#include "live/runtimes/job_options.h"
#include "live/runtimes/kubernetes/job_status.h"
#include "live/runtimes/kubernetes/managed_request.h"
#include "live/runtimes/kubernetes/worker_spec.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/unit/live/runtimes/kubernetes/fake_objects.h"

namespace allot {
namespace {

using Json = nlohmann::json;

constexpr Seconds kLongestSilence = 60;
constexpr const char* kTimeOfWrites = "2026-11-23T00:00:00Z";

void Expect(bool holds, const char* what, const std::string& got) {
  if (holds) return;
  std::fprintf(stderr, "%s: %.2000s\n", what, got.c_str());
  std::abort();
}

// ---- what follows from a Job ----

// A status that no API server would keep says nothing about what is made of it.
bool IsStatusOfTheApi(const Json& job) {
  try {
    const Json& status = job.at("status");
    if (status.dump().find("null") != std::string::npos) return false;
    CheckJobStatus(job, job);
    return true;
  } catch (const std::exception&) {
    return false;
  } catch (const FakeRefusal&) {
    return false;
  }
}

// From one write of the status to the next, as the runtime goes.
void CheckStatus(ManagedJob job, Json object, JobState state, int active) {
  const JobEnd end{state, "why"};
  for (int step = 0; step < 3; ++step) {
    const auto said = EndIn(job);
    const auto patch = StatusPatch(job, said ? said : end, active, active, kTimeOfWrites);
    active = 0;
    if (!patch) continue;
    const Json before = object;
    object["status"].merge_patch(patch->at("status"));
    try {
      CheckJobStatus(before, object);
    } catch (const FakeRefusal& refusal) {
      Expect(false, "a status is refused", refusal.message + " " + object["status"].dump());
    }
    job = *ReadManagedJob(object);
  }
  Expect(IsClosed(job), "a Job does not come to its end", object["status"].dump());
}

constexpr const char* kGpuResource = "nvidia.com/gpu";

void CheckPod(const ManagedJob& job, const RuntimeJob& asked) {
  const WorkerRequest request{NameOfManagedJob(job) + ".7", "n1", 1};
  WorkerSpec spec{.request = request,
                  .job = NameOfManagedJob(job),
                  .gpu = kGpuResource,
                  .gpu_type = "a100",
                  .daemon = "tcp:127.0.0.1:1",
                  .secret = "s",
                  .tolerated = {"t"}};
  if (asked.mode == ResizeMode::kRestart) {
    spec.team = 1;
    spec.first = request.worker;
  }
  Json pod = MakeWorkerPod(job, spec);
  pod["metadata"]["uid"] = "u";
  const auto read = ReadWorkerPod(pod);
  Expect(read && read->worker == request.worker && read->node == "n1" && read->gpus == 1 &&
             read->job_uid == job.uid && read->space == job.space,
         "a worker's pod is read as another one", pod.dump());
}

void CheckJob(const ManagedJob& job, const Json& object) {
  RuntimeJob asked;
  bool legal = true;
  try {
    ReadManagedRequest(job, kGpuResource, &asked);
  } catch (const std::exception& refusal) {
    legal = false;
    Expect(refusal.what()[0] != '\0', "a refusal says nothing", object.dump());
  }
  if (legal) {
    Expect(asked.min_gpus >= 1 && asked.min_gpus <= asked.requested &&
               asked.requested <= asked.max_gpus && asked.max_gpus <= kMostGpusAsked &&
               std::isfinite(asked.priority) && !(asked.total_work <= 0),
           "a Job asks for what is not legal", object.dump());
    CheckPod(job, asked);
  }
  (void)MakeJobEvent(job, {.reason = "r", .message = "m"}, kTimeOfWrites)
      .dump(-1, ' ', false, Json::error_handler_t::replace);
  const bool has_start = object.contains("status") && object["status"].contains("startTime");
  if (!IsStatusOfTheApi(object) || (has_start && std::isnan(job.started))) return;
  for (const JobState state : {JobState::kFinished, JobState::kFailed, JobState::kCancelled}) {
    for (const int active : {0, 2}) {
      if (!IsClosed(job)) CheckStatus(job, object, state, active);
    }
  }
}

// ---- streams ----

// What is known in the end, and what is asked next.
struct WatchEnd {
  std::vector<std::string> known;
  std::string ask, trouble;
  friend bool operator==(const WatchEnd&, const WatchEnd&) = default;
};

// The next request, once it is due.
ListWatch::Ask AskAgain(ListWatch& watch, Seconds now) {
  Expect(watch.due() <= now + kLongestSilence, "the server is not asked again", watch.trouble());
  const auto ask = watch.Next(std::max(now, watch.due()));
  Expect(ask.has_value(), "the server is not asked again", watch.trouble());
  return *ask;
}

template <typename Object>
WatchEnd Follow(const std::vector<std::string_view>& pieces,
                const typename ObjectStore<Object>::Reader& reader) {
  ObjectStore<Object> store(reader);
  ListWatch watch("/api", "", store);
  (void)watch.Next(0);
  watch.OnList(ReadKubeReply(200, R"({"metadata":{"resourceVersion":"1"}})"), 0);
  (void)watch.Next(0);
  watch.OnOpen(0);
  for (const std::string_view piece : pieces) {
    if (!watch.wants_end()) watch.OnBytes(piece, 0);
  }
  watch.OnEnd(0);
  WatchEnd end{{}, AskAgain(watch, 0).path, watch.trouble()};
  store.ForEach([&](const Object& one) { end.known.push_back(one.name); });
  return end;
}

template <typename Object>
void CheckStream(std::string_view text, bool list,
                 const typename ObjectStore<Object>::Reader& reader) {
  if (list) {
    ObjectStore<Object> store(reader);
    ListWatch watch("/api", "", store);
    (void)watch.Next(0);
    watch.OnList(ReadKubeReply(200, text), 0);
    (void)AskAgain(watch, 0);
    return;
  }
  std::string whole(text);
  std::erase(whole, kCompanionMark);
  Expect(Follow<Object>(Split(text, kCompanionMark), reader) == Follow<Object>({whole}, reader),
         "parts of a stream change what it says", whole);
}

void CheckKind(std::string_view kind, std::string_view text, bool list) {
  if (kind == "nodes") {
    CheckStream<KubeNode>(text, list, [](const Json& node) {
      KubeNode read = ReadKubeNode(node, NodeReading());
      Expect(read.gpus >= 0 && read.cpus >= 0 && read.memory_mib >= 0,
             "a node has what no node can have", node.dump());
      return std::optional(std::move(read));
    });
  } else if (kind == "jobs") {
    CheckStream<ManagedJob>(text, list, [](const Json& job) {
      auto read = ReadManagedJob(job);
      if (read) CheckJob(*read, job);
      return read;
    });
  } else {
    CheckStream<WorkerPod>(text, list, ReadWorkerPod);
  }
}

void CheckReply(std::string_view code, std::string_view text) {
  const long number = static_cast<long>(ParseInteger(code).value_or(200));
  const KubeReply reply = ReadKubeReply(number, text);
  Expect(!reply.ok() || reply.body.is_object(), "an answer is no object", std::string(text));
  Expect(reply.ok() || reply.ToStatus("x").message().starts_with("x: "), "a refusal has no place",
         std::string(text));
}

}  // namespace

// A watch in samples of a few events each, so that mutations find something in them.
std::vector<std::string> SampleInputs(const std::string& folder) {
  constexpr std::size_t kEvents = 4;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  for (const std::filesystem::path& path : paths) {
    const std::string name = path.stem().string();
    const std::string text = ReadTextFile(path.string());
    const std::string second = name.substr(name.find('-') + 1);  // watch-KIND, error-CODE-REASON
    if (path.extension() == ".jsonl") {
      std::size_t begin = 0;
      while (begin < text.size()) {
        std::size_t end = begin;
        for (std::size_t event = 0; event < kEvents && end < text.size(); ++event) {
          end = std::min(text.find('\n', end), text.size() - 1) + 1;
        }
        inputs.push_back(fmt::format("{}\n{}", second, text.substr(begin, end - begin)));
        begin = end;
      }
    } else if (name.starts_with("error-")) {
      inputs.push_back(fmt::format("reply {}\n{}", second.substr(0, second.find('-')), text));
    } else {
      inputs.push_back(fmt::format("list {}\n{}", name, text));
    }
  }
  return inputs;
}

}  // namespace allot

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::optional<allot::NamedInput> input = allot::NamedInputOf(data, size);
  if (!input) return 0;
  const auto& [head, text] = *input;
  if (head.starts_with("reply ")) {
    allot::CheckReply(head.substr(6), text);
  } else if (head.starts_with("list ")) {
    allot::CheckKind(head.substr(5), text, true);
  } else {
    allot::CheckKind(head, text, false);
  }
  return 0;
}
