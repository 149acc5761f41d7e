#include "wait_forecast/live_quotes.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/cpu_time.h"
#include "core/error.h"
#include "wait_forecast/quote.h"

namespace allot {
namespace {

constexpr double kPausePerWork = 19;   // 5 % of a core
constexpr Seconds kLongestPause = 8;   // users wait for an answer
constexpr Seconds kCpuPerQuote = 0.3;  // with more jobs it looks less far ahead
constexpr std::int64_t kFewestQuoteRows = 100'000;

// "": that of the user's jobs that are known (RulesPast). Else users are their own accounts.
std::string AccountOf(const std::string& user, const LiveMoment& at) {
  return std::find(at.users.begin(), at.users.end(), user) != at.users.end() ? "" : user;
}

}  // namespace

LiveQuotes::LiveQuotes(Settings settings, std::unique_ptr<Policy> policy)
    : settings_(std::move(settings)), policy_(std::move(policy)) {
  thread_ = std::thread([this] { Run(); });
}

LiveQuotes::~LiveQuotes() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
  for (const Question& question : questions_) question.answer({{}, "the daemon ends"});
}

void LiveQuotes::SetKnown(Known known) {
  const std::lock_guard lock(mutex_);
  known_ = std::move(known);
}

void LiveQuotes::Ask(const QuoteRequest& request, const std::string& user,
                     std::function<void(QuoteAnswer)> answer) {
  std::string refused;
  {
    const std::lock_guard lock(mutex_);
    refused = WhyRefused(user);
    if (refused.empty()) {
      questions_.push_back({request, user, std::move(answer)});
      changed_.notify_all();
      return;
    }
  }
  answer({{}, refused});
}

std::string LiveQuotes::WhyRefused(const std::string& user) const {
  if (known_.moment == nullptr) {
    return "the daemon has made no forecast yet; ask again in a minute";
  }
  if (std::any_of(questions_.begin(), questions_.end(),
                  [&user](const Question& one) { return one.user == user; })) {
    return "another quote of yours waits for its turn; ask again in a minute";
  }
  if (questions_.size() >= kMostQuestions) {
    return fmt::format("{} users wait for a quote; ask again in a minute", questions_.size());
  }
  return "";
}

void LiveQuotes::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !questions_.empty(); });
    if (stop_) return;
    const Question question = std::move(questions_.front());
    questions_.pop_front();
    const Known known = known_;
    lock.unlock();
    const Seconds begin = ThreadCpuSeconds();
    question.answer(Answer(question, known));
    const Seconds pause = std::min(kPausePerWork * (ThreadCpuSeconds() - begin), kLongestPause);
    lock.lock();
    changed_.wait_for(lock, std::chrono::duration<double>(pause), [this] { return stop_; });
  }
}

QuoteAnswer LiveQuotes::Answer(const Question& question, const Known& known) try {
  const Seconds begin = ThreadCpuSeconds();
  const LiveMoment& at = *known.moment;
  WaitForecastOptions options = settings_.forecast;
  options.step = kLiveStep;
  options.most_rows =
      std::max(kFewestQuoteRows, static_cast<std::int64_t>(kCpuPerQuote / cpu_per_row_));
  SimOptions rules = settings_.rules;
  rules.rules = at.rules.rules;
  const WaitForecaster forecaster(std::move(rules), options, known.arrivals);
  const WaitForecaster::Moment moment = {at.observation, settings_.origin, nullptr, at.Past()};
  std::int64_t rows = 0;
  QuoteAnswer answer{MakeQuote(question.request,
                               {.forecaster = forecaster,
                                .moment = moment,
                                .lengths = *known.lengths,
                                .policy = *policy_,
                                .cluster = at.nominal,
                                .rules = at.rules.rules.get(),
                                .user = question.user,
                                .account = AccountOf(question.user, at),
                                .rows_shown = &rows},
                               settings_.calibration)};
  // Without a change the moment may be old. A job that would have started since then starts now.
  const std::chrono::duration<double> age = std::chrono::steady_clock::now() - at.taken;
  for (QuotedJob& job : answer.quote.jobs) {
    if (!job.start) continue;
    for (Seconds& time : *job.start) time = std::max(0.0, time - age.count());
  }
  if (rows > 0) cpu_per_row_ = (ThreadCpuSeconds() - begin) / static_cast<double>(rows);
  return answer;
} catch (const std::exception& error) {
  return {{}, error.what()};
}

}  // namespace allot
