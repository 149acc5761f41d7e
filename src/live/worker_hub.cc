#include "live/worker_hub.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "auth/secret.h"
#include "core/error.h"
#include "core/json_text.h"
#include "core/user_json.h"
#include "live/hub_records.h"
#include "live/line_server.h"
#include "live/listening.h"
#include "live/message_numbers.h"
#include "live/progress_message.h"
#include "live/refusal_log.h"
#include "live/waiting_joins.h"
#include "live/worker_pace.h"
#include "live/worker_sessions.h"

namespace allot {
namespace {

using Message = nlohmann::json;

}  // namespace

struct WorkerHub::Impl {
  using ConnectionPtr = LineServer::ConnectionPtr;
  using Worker = HubWorker;
  using Job = HubJob;

  Impl(const std::string& address, std::function<Seconds()> its_clock)
      : clock(std::move(its_clock)),
        server(address,
               {.line = [this](const ConnectionPtr& from,
                               const std::string& line) { ReadLine(from, line); },
                .refused =
                    [this](const ConnectionPtr& from, const std::string& why) {
                      if (sessions.NamesOf(from) != nullptr) return Cut(from, why);
                      Refuse(from, why);
                    },
                .closed = [this](const ConnectionPtr& connection) { Forget(connection); }}) {}

  // ---- connections ----

  void ReadLine(const ConnectionPtr& connection, const std::string& line) {
    const std::optional<std::string> text = sessions.Open(connection, line);
    if (!text) {
      const LineSession::Names& names = *sessions.NamesOf(connection);
      return Cut(connection, fmt::format("worker {} of job {}: a line must have the code of its "
                                         "place, got another or none",
                                         names.worker, names.job));
    }
    const auto message = ParseUserJson<Message>(*text);
    if (message.is_discarded()) return Refuse(connection, "a line must be a JSON object");
    Take(connection, message);
  }

  void Take(const ConnectionPtr& connection, const Message& message) {
    try {
      important = Hear(connection, message) || important;
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
    server.Send(connection, sessions.Sign(connection, JsonText(message, -1)));
  }

  void Forget(const ConnectionPtr& connection) {
    sessions.End(connection);
    waiting.End(connection);
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

  // Without a word: where the worker did not say it itself, it is not to end by it.
  void Cut(const ConnectionPtr& connection, const std::string& why) {
    LogRefusal(connection, why);
    server.Close(connection);
  }

  void Refuse(const ConnectionPtr& connection, const std::string& why) {
    LogRefusal(connection, why);
    Send(connection, {{"say", "refused"}, {"why", why}});
    server.Close(connection);
  }

  void LogRefusal(const ConnectionPtr& connection, const std::string& why) {
    refusals.Tell(LineServer::WhoIs(connection).empty(), why, clock());
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
    Send(connection, {{"say", "welcome"}, {"every", pace.every()}, {"speaks", pace.speaks()}});
  }

  void TellPace() {
    for (const auto& named : workers) Welcome(named.second.connection);
  }

  // By this they know that the daemon lives.
  void SpeakToAll() {
    if (!pace.Speaks(clock())) return;
    for (const auto& named : workers) Send(named.second.connection, {{"say", "here"}});
  }

  // Null: there is no such job, or not with such a worker.
  Job* JobOf(const std::string& job, const std::string& worker) {
    const auto found = jobs.find(job);
    return found == jobs.end() || !found->second.workers.contains(worker) ? nullptr
                                                                          : &found->second;
  }

  // Shows that this is the daemon that knows the job's token; the worker does so by its next line.
  void Hello(const ConnectionPtr& connection, const Message& message) {
    const LineSession::Names names{.job = message.at("job"),
                                   .worker = message.at("worker"),
                                   .worker_nonce = message.at("nonce"),
                                   .daemon_nonce = NewToken()};
    const Job* const job = JobOf(names.job, names.worker);
    if (job == nullptr) return Refuse(connection, "no such job or worker");
    if (!LooksLikeToken(names.worker_nonce)) {
      return Refuse(connection, fmt::format("a nonce has 32 hexadecimal digits, got {} characters",
                                            names.worker_nonce.size()));
    }
    sessions.Begin(connection, job->token, names);
    Send(connection, {{"say", "challenge"}, {"nonce", names.daemon_nonce}});
  }

  // By the code of its line, or, where that has none, by the token itself.
  bool MayJoin(const ConnectionPtr& connection, const Message& message) {
    const std::string worker = message.at("worker");
    const std::string job_id = message.at("job");
    Job* const job = JobOf(job_id, worker);
    if (job == nullptr) return false;
    if (const LineSession::Names* const names = sessions.NamesOf(connection)) {
      return names->job == job_id && names->worker == worker;
    }
    const std::string token = message.at("token");
    if (!SameSecret(job->token, token)) return false;
    if (!std::exchange(job->told_token, true)) {
      spdlog::warn(
          "job {}: worker {} is of an earlier version, which says the job's token on the wire: "
          "whoever takes the daemon's place can speak for the job",
          job_id, worker);
    }
    return true;
  }

  bool Join(const ConnectionPtr& connection, const Message& message) {
    if (!MayJoin(connection, message)) {
      Refuse(connection, "no such job, worker or token");
      return false;
    }
    const std::string id = message.at("worker");
    const MessageNumbers numbers(message);  // all before anything changes
    for (const char* key : {"epoch", "heard"}) (void)numbers.Whole(key, -1, -1);
    (void)numbers.Whole("step", 0);
    (void)message.value("address", "");
    if (!workers.at(id).has_identity || !ask_identity) return Admit(connection, message);
    const std::string identity = message.value("identity", "");
    if (identity.empty()) {
      Refuse(connection,
             fmt::format("worker {} must say its identity ($ALLOT_IDENTITY_FILE), it says none: "
                         "is its program's allot-elastic older than the daemon?",
                         id));
      return false;
    }
    ask_identity(waiting.Hold(connection, message), id, identity);
    return false;
  }

  void Identified(const WaitingJoins::Join& held, const std::string& why) {
    const std::string worker = held.said.front().at("worker");
    if (!why.empty()) {
      return Cut(held.connection,
                 fmt::format("worker {} must be who it says it is, but {}", worker, why));
    }
    if (!workers.contains(worker)) return Refuse(held.connection, "no such worker any more");
    important = Admit(held.connection, held.said.front());
    for (std::size_t m = 1; m < held.said.size(); ++m) {
      if (!LineServer::WhoIs(held.connection).empty()) Take(held.connection, held.said[m]);
    }
  }

  // It is the worker.
  bool Admit(const ConnectionPtr& connection, const Message& message) {
    const std::string id = message.at("worker");
    Worker& w = workers.at(id);
    Job& job = jobs.at(w.job);
    const MessageNumbers numbers(message);
    if (w.connection != nullptr) {
      Detach(w.connection);  // it is dead or will be
    } else {
      ++connected;
      if (pace.Set(connected)) TellPace();
    }
    server.Introduce(connection, id);
    w.connection = connection;
    w.joined = true;
    w.heard = clock();
    w.address = message.value("address", "");
    w.epoch = numbers.Whole("epoch", -1, -1);
    w.told_before = numbers.Whole("heard", -1, -1);
    job.progress.step = std::max(job.progress.step, numbers.Whole("step", 0));
    Welcome(connection);
    SendBatch(job, connection);
    SendEpoch(job, connection);
    if (w.stop) Send(connection, {{"say", "stop"}});
    return true;
  }

  // True for what is more than mere progress, or a stranger's.
  bool Hear(const ConnectionPtr& connection, const Message& message) {
    const std::string say = message.at("say");
    const std::string& who = LineServer::WhoIs(connection);
    if (waiting.Holds(connection)) {
      if (!waiting.Add(connection, message)) Cut(connection, "too much before it is welcomed");
      return false;
    }
    if (who.empty()) {
      if (say == "join") return Join(connection, message);
      if (say == "hello" && sessions.NamesOf(connection) == nullptr) {
        Hello(connection, message);
      } else {
        Refuse(connection, "a connection begins with 'hello', then 'join'");
      }
      return false;
    }
    Worker& worker = workers.at(who);
    Job& job = jobs.at(worker.job);
    worker.heard = clock();
    const MessageNumbers numbers(message);
    const std::int64_t epoch = numbers.Whole("epoch", worker.epoch, -1);
    if (say == "progress" || say == "reached" || say == "saved" || say == "finished") {
      if (say != "saved") worker.epoch = epoch;
      if (epoch < job.membership.epoch && say == "progress") return false;  // of a group that was
      if (job.finished && say != "finished") return false;
      const auto& members = job.membership.members;
      const bool leads = members.empty() || members.front() == who;
      job.progress = ReadProgress(message, leads, job.progress);  // all of it or nothing
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

  const std::function<Seconds()> clock;
  Listening listening{clock()};
  LineServer
      server;  // before the rest: what follows holds its connections, which must not outlive it
  WorkerSessions sessions;
  WaitingJoins waiting;
  RefusalLog refusals;
  bool important = false;  // something was said that is more than progress
  std::function<void(const std::string&)> on_finished;
  std::size_t connected = 0;  // workers
  WorkerPace pace;            // as they were told
  IdentityQuestion ask_identity;
  std::map<std::string, Worker> workers;
  std::map<std::string, Job> jobs;
};

WorkerHub::WorkerHub(const std::string& address, std::function<Seconds()> clock)
    : impl_(std::make_unique<Impl>(address, std::move(clock))) {}

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

void WorkerHub::Expect(const std::string& job, const std::string& worker, bool has_identity) {
  const auto [known, is_new] = impl_->workers.try_emplace(worker);
  if (is_new) known->second.heard = impl_->clock();
  known->second.job = job;
  known->second.has_identity = known->second.has_identity || has_identity;
  impl_->jobs.at(job).workers.insert(worker);
}

void WorkerHub::AskIdentity(IdentityQuestion ask) { impl_->ask_identity = std::move(ask); }

void WorkerHub::Identified(std::uint64_t join, const std::string& why) {
  if (const auto held = impl_->waiting.Release(join)) impl_->Identified(*held, why);
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
  return found == impl_->jobs.end() ? JobProgress{} : ProgressOf(found->second, impl_->workers);
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
  return std::ranges::count(impl_->jobs.at(found->second.job).membership.members, worker) > 0;
}

Seconds WorkerHub::silent(const std::string& worker) const {
  const auto found = impl_->workers.find(worker);
  return found == impl_->workers.end() ? 0 : impl_->listening.SilenceSince(found->second.heard);
}

bool WorkerHub::Serve(Seconds at_most) {
  impl_->important = false;
  if (impl_->pace.Away(impl_->listening.Begin(impl_->clock()))) impl_->TellPace();
  impl_->SpeakToAll();
  impl_->server.Serve(at_most, [this] {
    impl_->listening.Heard(impl_->clock(), impl_->server.heard_all());
    return impl_->important;
  });
  return impl_->important;
}

}  // namespace allot
