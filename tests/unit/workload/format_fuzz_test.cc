// Mutated samples of every format: reading either succeeds or throws Error, strict and lenient.

#include "core/file.h"
#include "core/rng.h"
#include "trace_testing.h"

namespace allot {
namespace {

constexpr int kMutations = 2000;

const std::string kFragments[] = {
    "\"", ",", "\n",     "\r\n", "-",    "nan",      "inf", "1e999", "99999999999999999999",
    "{",  "}", "[",      "]",    "null", "\"None\"", "\\",  "\xff",  std::string(1, '\0'),
    "0",  ":", "\\u0000"};

std::string Mutated(std::string text, Rng* rng) {
  for (std::uint64_t edits = 1 + rng->Below(4); edits > 0 && !text.empty(); --edits) {
    const std::size_t at = rng->Below(text.size());
    const std::size_t length = 1 + rng->Below(std::min<std::size_t>(text.size() - at, 40));
    switch (rng->Below(5)) {
      case 0:
        text[at] = static_cast<char>(rng->Below(256));
        break;
      case 1:
        text.insert(at, kFragments[rng->Below(std::size(kFragments))]);
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(at, length));
        break;
      default:
        if (rng->Below(8) == 0) text.resize(at);
    }
  }
  return text;
}

void Fuzz(const std::string& format, const std::string& sample) {
  const std::string text = ReadTextFile(ALLOT_SOURCE_DIR "/traces/samples/" + sample);
  int refused = 0;
  for (int i = 0; i < kMutations; ++i) {
    Rng rng(1, "format-fuzz", StableHash(format), static_cast<std::uint64_t>(i));
    const std::string mutated = Mutated(text, &rng);
    for (const bool lenient : {false, true}) {
      try {
        Workload workload = ReadText(format, mutated, lenient);
        workload.Finish();  // what a reader lets through obeys the rules of jobs
      } catch (const Error& error) {
        ++refused;
        EXPECT_EQ(error.code(), ExitCode::kBadData) << error.what();
      } catch (const std::exception& error) {
        FAIL() << "mutation " << i << " of " << sample
               << " threw another exception: " << error.what();
      }
    }
  }
  EXPECT_GT(refused, kMutations / 10);  // the mutations do bite
}

TEST(FormatFuzz, AllotCsv) { Fuzz("allot", "invented.csv"); }
TEST(FormatFuzz, PhillyJoined) { Fuzz("philly-joined", "philly_joined.csv"); }
TEST(FormatFuzz, PhillyJson) { Fuzz("philly", "philly_cluster_job_log.json"); }

TEST(FormatFuzz, DetectionNeverThrows) {
  const std::string text = ReadTextFile(ALLOT_SOURCE_DIR "/traces/samples/invented.csv");
  for (int i = 0; i < kMutations; ++i) {
    Rng rng(1, "detect-fuzz", static_cast<std::uint64_t>(i));
    const std::string mutated = Mutated(text, &rng);
    for (const TraceFormat& format : Registry<TraceFormat>::Global().entries()) {
      const int score = format.detect(mutated);
      EXPECT_TRUE(score >= 0 && score <= 100) << format.id << " " << score;
    }
  }
}

}  // namespace
}  // namespace allot
