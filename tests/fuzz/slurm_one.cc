// What every text that users can give Slurm must lead to.
//
// The input is "KIND\nTEXT": a job's comment, a GRES list, a tag of AdminComment, or a whole
// request: lines of comment, --gres, other GPUs, flags. A comment is ordinary, legal or refused
// with words; a legal request keeps min <= requested <= max; a tag that is read is written as it
// was. Anything else ends the program.

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "clients/slurm/resources.h"
#include "core/error.h"
#include "core/strings.h"
#include "live/runtimes/job_options.h"
#include "live/runtimes/slurm/job_comment.h"
#include "live/runtimes/slurm/job_request.h"
#include "live/runtimes/slurm/slurm_tags.h"
#include "tests/fuzz/fuzz_target.h"

namespace allot {
namespace {

void Expect(bool holds, const char* what, std::string_view text) {
  if (holds) return;
  std::fprintf(stderr, "%s: %.*s\n", what, static_cast<int>(text.size()), text.data());
  std::abort();
}

void CheckLegal(const RuntimeJob& job, std::string_view text) {
  Expect(job.min_gpus >= 1 && job.min_gpus <= job.requested && job.requested <= job.max_gpus &&
             job.max_gpus <= kMostGpusAsked,
         "a job asks for what is not legal", text);
  Expect(!(job.total_work <= 0) && !std::isinf(job.total_work), "a job's work is not legal", text);
}

// What comes of it; refused: only with words, as bad data.
template <typename Function>
void ReadOrRefuse(std::string_view text, const Function& function) {
  try {
    function();
  } catch (const Error& refusal) {
    Expect(refusal.code() == ExitCode::kBadData && refusal.what()[0] != '\0',
           "a refusal is not for the user", text);
  }
}

void ReadComment(std::string_view text) {
  ReadOrRefuse(text, [&] {
    RuntimeJob job;
    if (ReadJobComment(text, &job)) CheckLegal(job, text);
  });
}

void ReadTags(std::string_view text) {
  if (const auto tag = ParseJobTag(text)) {
    const std::string shown = ToText(*tag);
    const auto again = ParseJobTag(shown);
    Expect(again && ToText(*again) == shown, "a job's tag is another one", text);
    (void)SubmitTimeOf(tag->job);
  }
  if (const auto tag = ParseWorkerTag(text)) {
    const std::string shown = ToText(*tag);
    const auto again = ParseWorkerTag(shown);
    Expect(again && ToText(*again) == shown, "a worker's tag is another one", text);
    (void)SubmitTimeOf(tag->job);
  }
}

void ReadGres(std::string_view text) {
  for (const SlurmGpuType& one : GpuTypesOfGres(text)) {
    Expect(one.count >= 0, "GPUs below nothing", text);
    if (one.count > 0) (void)GpuTypesOfGres(GresRequest(one.count, one.name));
  }
}

void ReadWhole(std::string_view text) {
  const std::vector<std::string_view> lines = Split(text, '\n');
  const auto line = [&](std::size_t at) {
    return at < lines.size() ? std::string(lines[at]) : std::string();
  };
  SlurmJob slurm;
  slurm.comment = line(0);
  slurm.gpus = line(1);
  slurm.other_gpus = line(2);
  const std::string flags = line(3);
  if (flags.find('a') != std::string::npos) slurm.tasks = "0-3";
  slurm.part = flags.find('p') != std::string::npos;
  slurm.exclusive = flags.find('x') != std::string::npos;
  slurm.requeue = flags.find('n') == std::string::npos;
  slurm.nodes_asked = static_cast<std::uint32_t>(ParseInteger(line(4)).value_or(1));
  ReadOrRefuse(text, [&] {
    RuntimeJob job;
    ReadRequest(slurm, &job);
    CheckLegal(job, text);
  });
}

}  // namespace
}  // namespace allot

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::optional<allot::NamedInput> input = allot::NamedInputOf(data, size);
  if (!input) return 0;
  const auto& [kind, text] = *input;
  if (kind == "comment") allot::ReadComment(text);
  if (kind == "tag") allot::ReadTags(text);
  if (kind == "gres") allot::ReadGres(text);
  if (kind == "request") allot::ReadWhole(text);
  return 0;
}
