#include "live/worker_hub.h"

#include <spdlog/spdlog.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/json_text.h"
#include "live/batch_message.h"
#include "live/line_server.h"
#include "live/message_numbers.h"

namespace allot {
namespace {

using Message = nlohmann::json;

constexpr Seconds kBetweenRefusals = 1;
constexpr double kMostProgress = 400;  // messages a second, of all workers together
constexpr Seconds kOftenest = 0.5;     // that a worker tells its progress
constexpr Seconds kRarest = 2;         // small beside the silence after which a worker is ended

double Monotonic() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// In time that does not tell how much of it was right.
bool SameSecret(const std::string& a, const std::string& b) {
  unsigned different = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return different == 0;
}

}  // namespace

std::string NewToken() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw RunError("the system has no random numbers: {}", SystemMessage());
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

struct WorkerHub::Impl {
  using ConnectionPtr = LineServer::ConnectionPtr;

  struct Worker {
    std::string job;
    ConnectionPtr connection;  // null: none
    bool joined = false;
    bool stop = false;
    std::string address;
    std::int64_t epoch = -1;        // that it trains in
    std::int64_t told_before = -1;  // the latest that it heard of before it joined
    std::int64_t broken = -1;
    double heard = 0;
  };
  struct Job {
    std::string token;
    Membership membership{-1, {}};
    JobProgress progress;
    WorkerBatchOrder batch;  // workers 0: none was told
    bool finished = false;
    std::set<std::string> workers;
  };

  explicit Impl(const std::string& address)
      : server(address,
               {.line = [this](const ConnectionPtr& from,
                               const std::string& line) { ReadLine(from, line); },
                .refused = [this](const ConnectionPtr& from,
                                  const std::string& why) { Refuse(from, why); },
                .closed = [this](const ConnectionPtr& connection) { Forget(connection); }}) {}

  // ---- connections ----

  void ReadLine(const ConnectionPtr& connection, const std::string& line) {
    try {
      important = Hear(connection, Message::parse(line)) || important;
    } catch (const Error& error) {
      const std::string& who = LineServer::WhoIs(connection);
      Refuse(connection,
             fmt::format("worker {}: {}", who.empty() ? "that joins" : who, error.what()));
    } catch (const std::exception& error) {
      Refuse(connection, fmt::format("a line is a message of the protocol: {}", error.what()));
    }
  }

  void Send(const ConnectionPtr& connection, const Message& message) {
    if (connection == nullptr) return;
    server.Send(connection, JsonText(message, -1));
  }

  void Forget(const ConnectionPtr& connection) {
    const auto worker = workers.find(LineServer::WhoIs(connection));
    if (worker == workers.end() || worker->second.connection != connection) return;
    worker->second.connection = nullptr;
    --connected;
    important = true;
  }

  // The worker has another connection, or none any more.
  void Detach(const ConnectionPtr& connection) {
    server.Introduce(connection, "");
    server.Close(connection);
  }

  void Refuse(const ConnectionPtr& connection, const std::string& why) {
    const double now = Monotonic();
    ++refused;
    // Strangers could fill the disk.
    if (!LineServer::WhoIs(connection).empty() || now - refusal_told > kBetweenRefusals) {
      spdlog::warn("a worker's connection is refused: {} (refused so far: {})", why, refused);
      refusal_told = now;
    }
    Send(connection, {{"say", "refused"}, {"why", why}});
    server.Close(connection);
  }

  // ---- the protocol ----

  void SendEpoch(const Job& job, const ConnectionPtr& connection) {
    if (job.membership.epoch < 0) return;
    Message addresses = Message::array();
    for (const std::string& member : job.membership.members) {
      const auto found = workers.find(member);
      addresses.push_back(found == workers.end() ? "" : found->second.address);
    }
    Send(connection, {{"say", "epoch"},
                      {"epoch", job.membership.epoch},
                      {"members", job.membership.members},
                      {"addresses", std::move(addresses)}});
  }

  void SendBatch(const Job& job, const ConnectionPtr& connection) {
    if (job.batch.workers == 0) return;
    Send(connection, {{"say", "batch"},
                      {"workers", job.batch.workers},
                      {"local", job.batch.local},
                      {"accumulation", job.batch.accumulation}});
  }

  void Welcome(const ConnectionPtr& connection) {
    Send(connection, {{"say", "welcome"}, {"every", every}});
  }

  // Powers of two of the shortest: so all are told anew a few times only.
  void SetPace() {
    Seconds wanted = kOftenest;
    while (wanted<kRarest&& static_cast<double>(connected)> kMostProgress * wanted) wanted *= 2;
    if (std::exchange(every, wanted) == wanted) return;
    for (const auto& named : workers) Welcome(named.second.connection);
  }

  bool Join(const ConnectionPtr& connection, const Message& message) {
    const std::string id = message.at("worker");
    const std::string job_id = message.at("job");
    const auto job = jobs.find(job_id);
    const auto worker = workers.find(id);
    if (job == jobs.end() || worker == workers.end() || worker->second.job != job_id ||
        !SameSecret(job->second.token, message.at("token"))) {
      Refuse(connection, "no such job, worker or token");
      return false;
    }
    Worker& w = worker->second;
    const MessageNumbers numbers(message);
    (void)numbers.Whole("epoch", -1, -1);  // all before anything changes
    (void)numbers.Whole("heard", -1, -1);
    (void)numbers.Whole("step", 0);
    if (w.connection != nullptr) {
      Detach(w.connection);  // it is dead or will be
    } else {
      ++connected;
      SetPace();
    }
    server.Introduce(connection, id);
    w.connection = connection;
    w.joined = true;
    w.heard = Monotonic();
    w.address = message.value("address", "");
    w.epoch = numbers.Whole("epoch", -1, -1);
    w.told_before = numbers.Whole("heard", -1, -1);
    job->second.progress.step = std::max(job->second.progress.step, numbers.Whole("step", 0));
    Welcome(connection);
    SendBatch(job->second, connection);
    SendEpoch(job->second, connection);
    if (w.stop) Send(connection, {{"say", "stop"}});
    return true;
  }

  // True for what is more than mere progress, or a stranger's.
  bool Hear(const ConnectionPtr& connection, const Message& message) {
    const std::string say = message.at("say");
    const std::string& who = LineServer::WhoIs(connection);
    if (who.empty()) {
      if (say == "join") return Join(connection, message);
      Refuse(connection, "a connection begins with 'join'");
      return false;
    }
    Worker& worker = workers.at(who);
    Job& job = jobs.at(worker.job);
    worker.heard = Monotonic();
    const MessageNumbers numbers(message);
    const std::int64_t epoch = numbers.Whole("epoch", worker.epoch, -1);
    if (say == "progress" || say == "reached" || say == "saved" || say == "finished") {
      if (say != "saved") worker.epoch = epoch;
      if (epoch < job.membership.epoch && say == "progress") return false;  // of a group that was
      if (job.finished && say != "finished") return false;
      const auto& members = job.membership.members;
      const bool leads = members.empty() || members.front() == who;
      JobProgress told = job.progress;  // all of the message or nothing
      const std::int64_t step = numbers.Whole("step", told.step);
      if ((leads && say != "saved") || say == "finished") told.step = step;
      numbers.Real("work", NumberRule::kNotNegative,
                   say == "saved" ? &told.saved_work : &told.work);
      numbers.Real("rate", NumberRule::kNotNegative, &told.rate);
      numbers.Real("total", NumberRule::kNotNegative, &told.total_work);
      numbers.Real("noise", NumberRule::kNotNegative, &told.noise_scale);
      numbers.Real("loss", NumberRule::kFinite, &told.loss);
      if (message.contains("batch")) told.batch = ReadBatch(message["batch"]);
      job.progress = told;
      if (say == "finished") {
        if (!std::exchange(job.finished, true) && on_finished) on_finished(worker.job);
        Send(connection, {{"say", "acknowledged"}});
      }
      return say != "progress";
    }
    if (say == "broken") {
      worker.broken = std::max(worker.broken, epoch);
      return true;
    }
    Refuse(connection, fmt::format("'say' must be one of the protocol, got '{}'", say));
    return true;
  }

  LineServer server;  // first: workers hold its connections, which must not outlive it
  std::size_t refused = 0;
  double refusal_told = -kNever;
  bool important = false;  // something was said that is more than progress
  std::function<void(const std::string&)> on_finished;
  std::size_t connected = 0;  // workers
  Seconds every = kOftenest;  // as they were told
  std::map<std::string, Worker> workers;
  std::map<std::string, Job> jobs;
};

WorkerHub::WorkerHub(const std::string& address) : impl_(std::make_unique<Impl>(address)) {}

WorkerHub::~WorkerHub() = default;
const std::string& WorkerHub::address() const { return impl_->server.address(); }

void WorkerHub::Wake() {
  impl_->server.Post([this] { impl_->important = true; });
}

void WorkerHub::AddJob(const std::string& job, const std::string& token) {
  Impl::Job& known = impl_->jobs[job];
  if (known.token.empty()) known.token = token;
}

void WorkerHub::RemoveJob(const std::string& job) {
  const auto found = impl_->jobs.find(job);
  if (found == impl_->jobs.end()) return;
  for (const std::string& worker : std::set(found->second.workers)) RemoveWorker(worker);
  impl_->jobs.erase(found);
}

void WorkerHub::Expect(const std::string& job, const std::string& worker) {
  const auto [known, is_new] = impl_->workers.try_emplace(worker);
  if (is_new) known->second.heard = Monotonic();
  known->second.job = job;
  impl_->jobs.at(job).workers.insert(worker);
}

void WorkerHub::RemoveWorker(const std::string& worker) {
  const auto found = impl_->workers.find(worker);
  if (found == impl_->workers.end()) return;
  if (found->second.connection != nullptr) {
    impl_->Detach(found->second.connection);
    --impl_->connected;
  }
  impl_->jobs.at(found->second.job).workers.erase(worker);
  impl_->workers.erase(found);
}

bool WorkerHub::Announce(const std::string& job, const Membership& membership) {
  const auto found = impl_->jobs.find(job);
  if (found == impl_->jobs.end()) return false;
  Membership& latest = found->second.membership;
  if (membership.epoch < latest.epoch) return false;
  if (membership.epoch == latest.epoch) return true;
  latest = membership;
  found->second.progress.batch.iteration = kUnknown;  // of the group before
  for (const std::string& worker : found->second.workers) {
    impl_->SendEpoch(found->second, impl_->workers.at(worker).connection);
  }
  return true;
}

void WorkerHub::Stop(const std::string& worker) {
  const auto found = impl_->workers.find(worker);
  if (found == impl_->workers.end() || std::exchange(found->second.stop, true)) return;
  impl_->Send(found->second.connection, {{"say", "stop"}});
}

void WorkerHub::SetBatch(const std::string& job, const WorkerBatchOrder& batch) {
  const auto found = impl_->jobs.find(job);
  if (found == impl_->jobs.end()) return;
  found->second.batch = batch;
  for (const std::string& worker : found->second.workers) {
    impl_->SendBatch(found->second, impl_->workers.at(worker).connection);
  }
}

void WorkerHub::Save(const std::string& job) {
  const auto found = impl_->jobs.find(job);
  if (found == impl_->jobs.end()) return;
  for (const std::string& worker : found->second.workers) {
    impl_->Send(impl_->workers.at(worker).connection, {{"say", "save"}});
  }
}

JobProgress WorkerHub::Progress(const std::string& id) const {
  const auto found = impl_->jobs.find(id);
  if (found == impl_->jobs.end()) return {};
  const Impl::Job& job = found->second;
  JobProgress progress = job.progress;
  std::int64_t least = job.membership.epoch;
  std::int64_t most = -1;
  for (const std::string& member : job.membership.members) {
    const auto worker = impl_->workers.find(member);
    if (worker == impl_->workers.end()) continue;
    least = std::min(least, worker->second.epoch);
    progress.broken = progress.broken || worker->second.broken == job.membership.epoch;
  }
  // Before anything was announced here, workers of an earlier daemon say what they are in, and what
  // they have heard of: an epoch that is not later says nothing to them.
  for (const std::string& name : job.workers) {
    const Impl::Worker& worker = impl_->workers.at(name);
    most = std::max({most, worker.epoch, worker.told_before});
  }
  progress.epoch = job.membership.epoch < 0 ? most : least;
  return progress;
}

void WorkerHub::OnFinished(std::function<void(const std::string&)> listener) {
  impl_->on_finished = std::move(listener);
}

bool WorkerHub::finished(const std::string& job) const {
  const auto found = impl_->jobs.find(job);
  return found != impl_->jobs.end() && found->second.finished;
}

bool WorkerHub::joined(const std::string& worker) const {
  const auto found = impl_->workers.find(worker);
  return found != impl_->workers.end() && found->second.joined;
}

bool WorkerHub::announced(const std::string& job) const {
  const auto found = impl_->jobs.find(job);
  return found != impl_->jobs.end() && found->second.membership.epoch >= 0;
}

bool WorkerHub::member(const std::string& worker) const {
  const auto found = impl_->workers.find(worker);
  if (found == impl_->workers.end()) return false;
  const auto& members = impl_->jobs.at(found->second.job).membership.members;
  return std::find(members.begin(), members.end(), worker) != members.end();
}

Seconds WorkerHub::silent(const std::string& worker) const {
  const auto found = impl_->workers.find(worker);
  return found == impl_->workers.end() ? 0 : Monotonic() - found->second.heard;
}

bool WorkerHub::Serve(Seconds at_most) {
  impl_->important = false;
  impl_->server.Serve(at_most, [this] { return impl_->important; });
  return impl_->important;
}

}  // namespace allot
