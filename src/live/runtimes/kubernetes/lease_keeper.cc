#include "live/runtimes/kubernetes/lease_keeper.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <mutex>
#include <thread>
#include <utility>

#include "auth/secret.h"
#include "clients/kubernetes/api/kube_client.h"
#include "clients/kubernetes/kube_time.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/monotonic.h"

namespace allot {
namespace {

constexpr Seconds kLeasePatience = 2;

// A daemon that is started again is another one.
std::string OwnIdentity() {
  char host[256] = "";
  (void)::gethostname(host, sizeof host - 1);
  return fmt::format("{}_{}", host, NewToken());
}

std::pair<std::string, std::string> SpaceAndName(const std::string& lease) {
  const std::size_t slash = lease.find('/');
  if (slash == 0 || slash == std::string::npos || slash + 1 == lease.size()) {
    throw UsageError("kubernetes: 'lease' must be NAMESPACE/NAME, got '{}'", lease);
  }
  return {lease.substr(0, slash), lease.substr(slash + 1)};
}

// Between ours and coordination.k8s.io/v1.
Lease LeaseOf(const nlohmann::json& shown) {
  const nlohmann::json spec =
      shown.is_object() ? shown.value("spec", nlohmann::json::object()) : nlohmann::json::object();
  const auto text = [&](const char* key) {
    const auto found = spec.find(key);
    return found != spec.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto whole = [&](const char* key) {
    const auto found = spec.find(key);
    return found != spec.end() && found->is_number() ? found->get<int>() : 0;
  };
  return {.holder = text("holderIdentity"),
          .duration = static_cast<Seconds>(whole("leaseDurationSeconds")),
          .acquired = text("acquireTime"),
          .renewed = text("renewTime"),
          .changes = whole("leaseTransitions")};
}

nlohmann::json SpecOf(const Lease& lease) {
  return {{"holderIdentity", lease.holder},
          {"leaseDurationSeconds", static_cast<int>(lease.duration)},
          {"acquireTime", lease.acquired},
          {"renewTime", lease.renewed},
          {"leaseTransitions", lease.changes}};
}

}  // namespace

struct LeaseKeeper::Thread {
  Thread(const KubeConfig& config, const std::string& lease, const LeaseTiming& given,
         std::function<void(const std::string&)> told_why)
      : name(lease),
        timing(given),
        on_wait(std::move(told_why)),
        claim(OwnIdentity(), given),
        client(config, kLeasePatience, {}, {}) {
    const auto [space, own] = SpaceAndName(lease);
    collection = fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases", space);
    object = {{"apiVersion", "coordination.k8s.io/v1"},
              {"kind", "Lease"},
              {"metadata", {{"name", own}, {"namespace", space}}}};
    path = collection + "/" + own;
    thread = std::thread([this] { Run(); });
  }
  ~Thread() {
    {
      const std::lock_guard lock(mutex);
      over = true;
    }
    wake.notify_all();
    thread.join();
    GiveBack();
  }

  void Run() {
    std::unique_lock lock(mutex);
    bool had = false;
    std::string logged;
    while (!over) {
      lock.unlock();
      const std::string trouble = Renew();
      lock.lock();
      const bool has = claim.held(MonotonicSeconds());
      if (has && !std::exchange(had, true)) spdlog::info("acquired the lease {}", name);
      if (!has && had) {
        spdlog::error("lost the lease {}, this daemon ends: {}", name, trouble);
        (void)::kill(::getpid(), SIGTERM);
        return;
      }
      if (!has && logged != trouble) {
        spdlog::info("waiting for the lease {}: {}", name, trouble);
        lock.unlock();
        if (on_wait) on_wait(fmt::format("the lease {}: {}", name, trouble));
        lock.lock();
      }
      logged = trouble;
      wake.wait_for(lock, std::chrono::duration<double>(timing.renew), [this] { return over; });
    }
  }

  // "", or why it is not ours.
  std::string Renew() {
    const KubeReply shown = client.Do(KubeRequest{"GET", path});
    if (!shown.ok() && !shown.Is("NotFound")) return shown.Text();
    const std::string time = KubeTimeText(std::time(nullptr));
    nlohmann::json write = object;
    const Seconds asked = MonotonicSeconds();
    {
      const std::lock_guard lock(mutex);
      const auto next = claim.Next(shown.ok() ? LeaseOf(shown.body) : Lease(), asked,
                                   time.substr(0, time.size() - 1) + ".000000Z");
      if (!next) return "held by " + claim.holder().substr(0, claim.holder().rfind('_'));
      write["spec"] = SpecOf(*next);
    }
    // Of two that write at once, one is refused: by the name, or by the version.
    const bool is_new = !shown.ok();
    if (!is_new) write["metadata"]["resourceVersion"] = shown.body["metadata"]["resourceVersion"];
    const KubeReply done = client.Do(
        KubeRequest{is_new ? "POST" : "PATCH", is_new ? collection : path, std::move(write)});
    if (!done.ok()) return done.Text();
    const std::lock_guard lock(mutex);
    claim.Written(asked);
    return "";
  }

  void GiveBack() {
    if (!claim.held(MonotonicSeconds())) return;
    const KubeReply shown = client.Do(KubeRequest{"GET", path});
    if (!shown.ok() || LeaseOf(shown.body).holder != claim.self()) return;
    nlohmann::json write = object;
    write["metadata"]["resourceVersion"] = shown.body["metadata"]["resourceVersion"];
    write["spec"]["holderIdentity"] = "";
    (void)client.Do(KubeRequest{"PATCH", path, std::move(write)});
  }

  const std::string name;
  const LeaseTiming timing;
  const std::function<void(const std::string&)> on_wait;
  std::string collection, path;
  nlohmann::json object;
  mutable std::mutex mutex;  // of the claim and `over`
  std::condition_variable wake;
  LeaseClaim claim;
  bool over = false;
  KubeClient client;
  std::thread thread;
};

LeaseKeeper::LeaseKeeper(const KubeConfig& config, const std::string& lease,
                         const LeaseTiming& timing, std::function<void(const std::string&)> on_wait)
    : thread_(std::make_unique<Thread>(config, lease, timing, std::move(on_wait))) {}

LeaseKeeper::~LeaseKeeper() = default;

bool LeaseKeeper::held() const {
  const std::lock_guard lock(thread_->mutex);
  return thread_->claim.held(MonotonicSeconds());
}

void LeaseKeeper::WaitUntilHeld() const {
  constexpr std::chrono::milliseconds kLook{20};
  while (!held()) {
    ThrowIfInterrupted();
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace allot
