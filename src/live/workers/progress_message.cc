#include "live/workers/progress_message.h"

#include "live/workers/batch_message.h"
#include "live/workers/message_numbers.h"

namespace allot {

JobProgress ReadProgress(const nlohmann::json& message, bool leads, const JobProgress& known) {
  const bool saved = message.at("say") == "saved";
  const MessageNumbers numbers(message);
  JobProgress reported = known;
  const std::int64_t step = numbers.Whole("step", reported.step);
  if ((leads && !saved) || message.at("say") == "finished") reported.step = step;
  numbers.Real("work", NumberRule::kNotNegative, saved ? &reported.saved_work : &reported.work);
  if (saved) numbers.Real("seconds", NumberRule::kNotNegative, &reported.save_seconds);
  numbers.Real("rate", NumberRule::kNotNegative, &reported.rate);
  numbers.Real("total", NumberRule::kNotNegative, &reported.total_work);
  numbers.Real("noise", NumberRule::kNotNegative, &reported.noise_scale);
  numbers.Real("loss", NumberRule::kFinite, &reported.loss);
  if (message.contains("batch")) reported.batch = ReadBatch(message["batch"]);
  return reported;
}

}  // namespace allot
