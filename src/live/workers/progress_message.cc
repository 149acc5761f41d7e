#include "live/workers/progress_message.h"

#include "live/workers/batch_message.h"
#include "live/workers/message_numbers.h"

namespace allot {

JobProgress ReadProgress(const nlohmann::json& message, bool leads, const JobProgress& known) {
  const bool saved = message.at("say") == "saved";
  const MessageNumbers numbers(message);
  JobProgress told = known;
  const std::int64_t step = numbers.Whole("step", told.step);
  if ((leads && !saved) || message.at("say") == "finished") told.step = step;
  numbers.Real("work", NumberRule::kNotNegative, saved ? &told.saved_work : &told.work);
  numbers.Real("rate", NumberRule::kNotNegative, &told.rate);
  numbers.Real("total", NumberRule::kNotNegative, &told.total_work);
  numbers.Real("noise", NumberRule::kNotNegative, &told.noise_scale);
  numbers.Real("loss", NumberRule::kFinite, &told.loss);
  if (message.contains("batch")) told.batch = ReadBatch(message["batch"]);
  return told;
}

}  // namespace allot
