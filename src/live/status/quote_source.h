#pragma once
// Who makes quotes beside a running daemon (wait_forecast/live_quotes.h). The servers of its two
// sockets ask it, each in a thread of its own.

#include <functional>
#include <string>

#include "live/status/quote.h"

namespace allot {

// The answer of a daemon without such a source.
inline constexpr const char* kNoQuotes =
    "this daemon makes no quotes: its forecasts are off, or its policy is in a library or in "
    "Python";

struct QuoteAnswer {
  Quote quote{};
  std::string error{};  // empty: the quote holds
};

class QuoteSource {
 public:
  virtual ~QuoteSource() = default;
  // Calls `answer` once, at once or later in another thread, with a quote for a job of this user.
  virtual void Ask(const QuoteRequest& request, const std::string& user,
                   std::function<void(QuoteAnswer)> answer) = 0;
};

}  // namespace allot
