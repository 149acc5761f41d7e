#include "elastic/member.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "auth/secret.h"
#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"

namespace allot {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kHeartbeat{500};  // unless the daemon asks for a longer one
constexpr std::chrono::milliseconds kRarest{5000};
constexpr std::chrono::milliseconds kReconnect{500};
constexpr std::chrono::seconds kAnswer{10};  // for the daemon to prove itself
constexpr std::chrono::seconds kAnswerOfSeveral{3};
constexpr int kMissedMessages = 3;  // after so many, another daemon may be active
constexpr std::chrono::seconds kLongestSilence{60};

std::atomic<bool> terminated = false;
static_assert(std::atomic<bool>::is_always_lock_free, "set by a signal's handler");

void Put(json& message, const char* key, double value) {
  if (std::isfinite(value)) message[key] = value;
}

json BatchJson(const TrainingProgress& progress) {
  const BatchRange& range = progress.range;
  const WorkerBatch& batch = progress.batch;
  json said{{"initial", range.initial},          {"most", range.most},
            {"least_local", range.least_local},  {"most_local", range.most_local},
            {"workers", batch.workers},          {"local", batch.local},
            {"accumulation", batch.accumulation}};
  if (progress.seconds.iteration > 0) {
    said["timed"] = {{"workers", progress.timed.workers},
                     {"local", progress.timed.local},
                     {"gradient", progress.seconds.gradient},
                     {"iteration", progress.seconds.iteration}};
  }
  return said;
}

std::vector<std::string> DaemonsOf(const std::string& text) {
  std::vector<std::string> daemons;
  for (const std::string_view one : Split(text, ',')) daemons.emplace_back(one);
  return daemons;
}

}  // namespace

int Epoch::rank_of(const std::string& worker) const {
  const auto found = std::find(members.begin(), members.end(), worker);
  return found == members.end() ? -1 : static_cast<int>(found - members.begin());
}

Member::Member(WorkerEnvironment environment,
               const std::function<std::string(std::string)>& address,
               std::chrono::milliseconds patience)
    : environment_(std::move(environment)), daemons_(DaemonsOf(environment_.daemon)) {
  const auto deadline = Clock::now() + patience;
  while (!ConnectToAny()) {
    if (Clock::now() > deadline) {
      throw RunError("worker {}: the daemon must answer within {} s, but nobody listens at {}",
                     environment_.worker, patience.count() / 1000, environment_.daemon);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  address_ = address(socket_.own_host());
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  Hello();
  thread_ = std::thread([this] { Serve(); });

  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [this] { return welcomed_ || refusal_; });
  if (welcomed_) return;
  const std::string why = refusal_ ? *refusal_ : rejection_.value_or("no answer");
  over_ = true;
  lock.unlock();
  WakeThread();
  thread_.join();
  close(wake_);
  throw RunError("worker {} of job {}: the daemon at {} must welcome it, but: {}",
                 environment_.worker, environment_.job, environment_.daemon, why);
}

Member::~Member() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  WakeThread();
  thread_.join();
  close(wake_);
}

Epoch Member::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

bool Member::later_than(std::int64_t number) const {
  const std::lock_guard lock(mutex_);
  return latest_.number > number;
}

std::optional<Epoch> Member::WaitForLater(std::int64_t number) const {
  std::unique_lock lock(mutex_);
  while (!stop_ && !terminated && latest_.number <= number) {
    changed_.wait_for(lock, std::chrono::milliseconds(50));  // a signal notifies nobody
  }
  if (latest_.number > number) return latest_;
  return std::nullopt;
}

bool Member::stopping() const {
  const std::lock_guard lock(mutex_);
  return stop_ || terminated;
}

std::optional<std::string> Member::refusal() const {
  const std::lock_guard lock(mutex_);
  return refusal_;
}

void Member::StopOnSigterm() {
  struct sigaction action {};
  action.sa_handler = [](int) { terminated = true; };
  sigaction(SIGTERM, &action, nullptr);
}

bool Member::TakeSaveWanted() {
  const std::lock_guard lock(mutex_);
  if (saves_wanted_ == 0) return false;
  saves_wanted_ = 0;  // one checkpoint answers all
  return true;
}

WorkerBatch Member::batch_wanted() const {
  const std::lock_guard lock(mutex_);
  return batch_wanted_;
}

std::optional<Seconds> Member::checkpoint_every() const {
  const std::lock_guard lock(mutex_);
  return checkpoint_every_ ? checkpoint_every_ : environment_.checkpoint_every;
}

void Member::Reached(std::int64_t epoch, std::int64_t step) {
  {
    const std::lock_guard lock(mutex_);
    trained_epoch_ = epoch;
    progress_.step = step;
    progress_.seconds = {};  // measured in another group
  }
  Enqueue(json{{"say", "reached"}, {"epoch", epoch}, {"step", step}}.dump());
}

void Member::Broken(std::int64_t epoch) {
  {
    const std::lock_guard lock(mutex_);
    broken_epoch_ = epoch;
  }
  Enqueue(json{{"say", "broken"}, {"epoch", epoch}}.dump());
}

void Member::Report(const TrainingProgress& progress) {
  const std::lock_guard lock(mutex_);
  progress_ = progress;  // sent with the next heartbeat
}

void Member::Saved(std::int64_t step, double work, Seconds seconds) {
  Enqueue(json{{"say", "saved"}, {"step", step}, {"work", work}, {"seconds", seconds}}.dump());
}

bool Member::Finish(std::int64_t step, double work) {
  const std::string line = json{{"say", "finished"}, {"step", step}, {"work", work}}.dump();
  {
    const std::lock_guard lock(mutex_);
    finished_ = line;
  }
  Enqueue(line);
  std::unique_lock lock(mutex_);
  while (!acknowledged_ && !stop_ && !terminated) {
    changed_.wait_for(lock, std::chrono::milliseconds(50));
  }
  return acknowledged_;
}

void Member::Enqueue(const std::string& line) {
  {
    const std::lock_guard lock(mutex_);
    outbox_.push_back(line);
  }
  WakeThread();
}

void Member::WakeThread() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
}

std::string Member::ProgressLine() const {
  json message{{"say", "progress"}, {"epoch", trained_epoch_}, {"step", progress_.step}};
  Put(message, "work", progress_.work);
  Put(message, "rate", progress_.rate);
  Put(message, "total", progress_.total_work);
  Put(message, "noise", progress_.noise_scale);
  Put(message, "loss", progress_.loss);
  if (progress_.range.initial > 0 && progress_.batch.local > 0) {
    message["batch"] = BatchJson(progress_);
  }
  return message.dump();
}

// Tries each address once, beginning with the present one.
bool Member::ConnectToAny() {
  for (std::size_t tries = 0; tries < daemons_.size(); ++tries) {
    if (socket_.Connect(PresentAddress())) return true;
    at_ = (at_ + 1) % daemons_.size();
  }
  return false;
}

// A daemon that hangs, or whose machine or network is gone, closes no connection.
void Member::LeaveSilentDaemon() {
  if (!socket_.connected() || !session_ || speaks_.count() == 0) return;
  if (Clock::now() - heard_ <= kMissedMessages * speaks_) return;
  socket_.Close();
  reconnect_ = Clock::now();
  at_ = (at_ + 1) % daemons_.size();
}

// The first message on a connection. It contains no secret.
void Member::Hello() {
  session_.reset();
  nonce_ = NewToken();
  speaks_ = {};
  answer_due_ = Clock::now() + (daemons_.size() > 1 ? kAnswerOfSeveral : kAnswer);
  reconnect_ = Clock::now() + kReconnect;
  socket_.Send(json{
      {"say", "hello"},
      {"job", environment_.job},
      {"worker", environment_.worker},
      {"nonce",
       nonce_}}.dump());
}

// Reads the file each time, because the platform renews it. On failure "": the daemon then reports
// that it needs an identity.
std::string Member::Identity() const {
  try {
    return std::string(Trim(ReadTextFile(environment_.identity->string())));
  } catch (const Error& error) {
    fmt::print(stderr, "allot: worker {}: its identity cannot be read: {}\n", environment_.worker,
               error.what());
    return "";
  }
}

// Joins once the daemon has proved itself, and repeats what an earlier daemon may not have
// received.
void Member::SendJoin() {
  const std::lock_guard lock(mutex_);
  outbox_.clear();
  json join{{"say", "join"},           {"job", environment_.job}, {"worker", environment_.worker},
            {"epoch", trained_epoch_}, {"heard", latest_.number}, {"step", progress_.step}};
  if (!address_.empty()) join["address"] = address_;
  if (environment_.identity) join["identity"] = Identity();
  socket_.Send(session_->Sign(join.dump()));
  if (broken_epoch_ >= 0 && broken_epoch_ >= latest_.number) {
    socket_.Send(session_->Sign(json{{"say", "broken"}, {"epoch", broken_epoch_}}.dump()));
  }
  if (finished_) socket_.Send(session_->Sign(*finished_));
}

void Member::Serve() {
  auto heartbeat = Clock::now() + kHeartbeat;
  for (;;) {
    socket_.Wait(wake_, static_cast<int>(kHeartbeat.count() / 2));
    std::uint64_t count;
    [[maybe_unused]] const ssize_t drained = read(wake_, &count, sizeof count);
    while (const auto line = socket_.NextLine()) Read(*line);
    if (socket_.connected() && !session_ && Clock::now() > answer_due_) RejectDaemon("no answer");
    LeaveSilentDaemon();

    std::vector<std::string> messages;
    bool over;
    {
      const std::lock_guard lock(mutex_);
      if (socket_.connected() && session_) {
        messages.swap(outbox_);
        if (Clock::now() >= heartbeat && welcomed_) {
          messages.push_back(ProgressLine());
          heartbeat = Clock::now() + heartbeat_;
        }
      }
      over = over_;
    }
    for (const std::string& message : messages) socket_.Send(session_->Sign(message));
    if (over) return;
    if (!socket_.connected() && Clock::now() >= reconnect_) {
      reconnect_ = Clock::now() + kReconnect;
      if (ConnectToAny()) Hello();
    }
  }
}

void Member::Read(const std::string& line) {
  if (!session_) return OnChallenge(line);
  heard_ = Clock::now();
  if (const std::optional<std::string> message = session_->Open(line)) return OnMessage(*message);
  RejectDaemon("a line has a wrong code");
}

void Member::OnChallenge(const std::string& line) {
  const json message = json::parse(line, nullptr, false);
  const auto text = [&](const char* key) {
    const bool is_there = message.is_object() && message.contains(key) && message[key].is_string();
    return is_there ? message[key].get<std::string>() : std::string();
  };
  session_.emplace(
      LineSession::Side::kWorker, environment_.token,
      LineSession::Names{environment_.job, environment_.worker, nonce_, text("nonce")});
  if (session_->Open(line)) return SendJoin();
  session_.reset();
  const std::string why = text("why");  // not authenticated: escape control characters
  RejectDaemon(why.empty()
                   ? "it sends a wrong code, or none"
                   : "it answers " + json(why).dump(-1, ' ', true, json::error_handler_t::replace));
}

void Member::RejectDaemon(const std::string& why) {
  const std::string tried = PresentAddress();
  socket_.Close();
  reconnect_ = Clock::now() + kReconnect;
  at_ = (at_ + 1) % daemons_.size();
  const std::lock_guard lock(mutex_);
  rejection_ = "it does not prove that it knows the job's token: " + why;
  if (std::exchange(warned_, true)) return;
  fmt::print(stderr, "allot: worker {}: no daemon of job {} at {}: {}. Trying again\n",
             environment_.worker, environment_.job, tried, *rejection_);
}

void Member::OnMessage(const std::string& text) {
  const json message = json::parse(text, nullptr, false);
  if (!message.is_object() || !message.contains("say") || !message["say"].is_string()) return;
  const std::string say = message["say"];
  const std::lock_guard lock(mutex_);
  if (say == "welcome") {
    welcomed_ = true;
    warned_ = false;
    const auto every = message.find("every");
    if (every != message.end() && every->is_number()) {
      const double least = std::chrono::duration<double>(kHeartbeat).count();
      const double most = std::chrono::duration<double>(kRarest).count();
      heartbeat_ = std::chrono::milliseconds(
          std::lround(1000 * std::clamp(every->get<double>(), least, most)));
    }
    const auto speaks = message.find("speaks");
    if (speaks != message.end() && speaks->is_number()) {
      const double longest = std::chrono::duration<double>(kLongestSilence).count();
      speaks_ = std::chrono::milliseconds(
          std::lround(1000 * std::clamp(speaks->get<double>(), 1.0, longest)));
    }
  } else if (say == "epoch") {
    Epoch epoch;
    try {
      message.at("epoch").get_to(epoch.number);
      message.at("members").get_to(epoch.members);
      if (message.contains("addresses")) message["addresses"].get_to(epoch.addresses);
    } catch (const json::exception&) {
      return;  // a malformed epoch is ignored
    }
    if (epoch.number > latest_.number) latest_ = std::move(epoch);
  } else if (say == "batch") {
    WorkerBatch batch;
    try {
      message.at("workers").get_to(batch.workers);
      message.at("local").get_to(batch.local);
      message.at("accumulation").get_to(batch.accumulation);
    } catch (const json::exception&) {
      return;  // a malformed batch is ignored
    }
    batch_wanted_ = batch;
  } else if (say == "checkpoint") {
    const auto every = message.find("every");
    if (every != message.end() && every->is_number() && every->get<double>() > 0) {
      checkpoint_every_ = every->get<double>();
    }
  } else if (say == "save") {
    ++saves_wanted_;
  } else if (say == "stop") {
    stop_ = true;
  } else if (say == "acknowledged") {
    acknowledged_ = true;
  } else if (say == "refused") {
    refusal_ = message.value("why", "no reason given");
    stop_ = true;
  }
  changed_.notify_all();
}

}  // namespace allot
