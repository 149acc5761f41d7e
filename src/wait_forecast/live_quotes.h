#pragma once
// Makes quotes (wait_forecast/quote.h) beside a running daemon, in a thread of its own that uses at
// most 5 % of a core. They are made from the moment of the last wait forecast.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "live/status/quote_source.h"
#include "wait_forecast/forecast_calibration.h"
#include "wait_forecast/live_moment.h"
#include "wait_forecast/wait_forecaster.h"

namespace allot {

class LiveQuotes : public QuoteSource {
 public:
  // Questions that wait, one of a user; further ones are refused.
  static constexpr std::size_t kMostQuestions = 4;

  struct Settings {
    SimOptions rules{};
    WaitForecastOptions forecast{};
    ForecastCalibration calibration{};
    Seconds origin = 0;  // calendar time of the run's 0, since 1970
  };
  // `policy` is a further object of the active policy.
  LiveQuotes(Settings settings, std::unique_ptr<Policy> policy);
  ~LiveQuotes() override;  // answers all questions
  LiveQuotes(const LiveQuotes&) = delete;
  LiveQuotes& operator=(const LiveQuotes&) = delete;

  struct Known {
    std::shared_ptr<const LiveMoment> moment{};
    std::shared_ptr<const LengthModel> lengths{};
    std::shared_ptr<const PastArrivals> arrivals{};  // null: no further jobs arrive
  };
  void SetKnown(Known known);  // from now on

  void Ask(const QuoteRequest& request, const std::string& user,
           std::function<void(QuoteAnswer)> answer) override;

 private:
  struct Question {
    QuoteRequest request;
    std::string user;
    std::function<void(QuoteAnswer)> answer;
  };
  void Run();
  std::string WhyRefused(const std::string& user) const;  // "": it is not; under the lock
  QuoteAnswer Answer(const Question& question, const Known& known);

  Settings settings_;
  std::unique_ptr<Policy> policy_;  // of the thread
  Seconds cpu_per_row_ = 1e-6;      // likewise; per row shown to the policy, in the last quote

  std::mutex mutex_;
  std::condition_variable changed_;
  Known known_;
  std::deque<Question> questions_;
  bool stop_ = false;
  std::thread thread_;  // last, so that it begins when all other members exist
};

}  // namespace allot
