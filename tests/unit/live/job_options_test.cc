// Options of jobs, one row of a table each: what all places where users write them have in common.

#include "live/runtimes/job_options.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/error.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

using Given = std::map<std::string, std::string>;

RuntimeJob Said(const Given& given) {
  RuntimeJob job;
  ReadJobOptions(given, "comment", "", &job);
  return job;
}

// For each option a text that is not its default, beside what it needs.
const std::map<std::string, Given>& Examples() {
  static const std::map<std::string, Given> examples = {
      {"comm_share", {{"comm_share", "0.3"}}},
      {"cooldown", {{"cooldown", "10m"}}},
      {"gpus", {{"gpus", "2"}}},
      {"grace", {{"grace", "2m"}}},
      {"max", {{"max", "8"}}},
      {"min", {{"min", "2"}}},
      {"model", {{"model", "resnet50"}}},
      {"preempt", {{"preempt", "no"}, {"resize", "restart"}}},
      {"resize", {{"resize", "restart"}}},
      {"sizes", {{"sizes", "powers-of-two"}}},
      {"types", {{"types", "a100|v100"}}},
      {"work", {{"work", "1e6"}}}};
  return examples;
}

TEST(JobOptionsTest, GraceIsReadStrictly) {
  EXPECT_EQ(Said({{"grace", "2m"}}).grace, 120);
  EXPECT_THROW(Said({{"grace", "6m"}}), Error);
}

TEST(JobOptionsTest, CooldownsAreReadStrictly) {
  EXPECT_EQ(Said({{"cooldown", "10m"}}).cooldown, 600);
  for (const char* text : {"-1", "2h", "soon"}) {
    EXPECT_THROW(Said({{"cooldown", text}}), Error) << text;
  }
}

TEST(JobOptionsTest, SharesOfCommunicationAreReadStrictly) {
  EXPECT_EQ(Said({{"comm_share", "0.3"}}).comm_share, 0.3);
  for (const char* text : {"-0.1", "1", "0.999999999", "30%"}) {
    EXPECT_THROW(Said({{"comm_share", text}}), Error) << text;
  }
}

TEST(JobOptionsTest, SizesAreReadStrictly) {
  EXPECT_EQ(Said({{"max", "8"}, {"sizes", "4|2"}}).sizes, "2|4");
  EXPECT_THROW(Said({{"max", "8"}, {"sizes", "even"}}), Error);
}

TEST(JobOptionsTest, NumbersOfGpusThatAreNotSaidFollowFromTheOthers) {
  const auto sizes = [](const Given& given) {
    const RuntimeJob job = Said(given);
    return std::to_string(job.min_gpus) + "<=" + std::to_string(job.requested) +
           "<=" + std::to_string(job.max_gpus);
  };
  EXPECT_EQ(sizes({}), "1<=1<=1");
  EXPECT_EQ(sizes({{"gpus", "2"}}), "1<=2<=2");
  EXPECT_EQ(sizes({{"min", "2"}}), "2<=2<=2");
  EXPECT_EQ(sizes({{"max", "4"}}), "1<=1<=4");
}

TEST(JobOptionsTest, ErrorsNameThePlaceAndThePrefix) {
  RuntimeJob job;
  EXPECT_EQ(
      ErrorOf(ExitCode::kBadData,
              [&] {
                ReadJobOptions({{"min", "4"}, {"max", "2"}}, "annotations", "allot.dev/", &job);
              }),
      "annotations: 'allot.dev/min' must be at most 'allot.dev/max', got 4 and 2");
}

TEST(JobOptionsTest, EachSurvivesTheWayThroughAJournal) {
  for (const JobOption& option : JobOptions()) {
    ASSERT_TRUE(Examples().contains(option.key)) << "give an example of " << option.key;
    const RuntimeJob job = Said(Examples().at(option.key));
    EXPECT_FALSE(AskTheSame(job, RuntimeJob{})) << option.key;
    nlohmann::ordered_json record = nlohmann::ordered_json::object();
    RecordJobOptions(job, &record);
    RuntimeJob again;
    TakeJobOptions(record, &again);
    EXPECT_TRUE(AskTheSame(job, again)) << option.key << ": " << record.dump();
  }
}

// What daemons of before read, and wrote.
TEST(JobOptionsTest, TheJournalKeepsItsNames) {
  nlohmann::ordered_json record = nlohmann::ordered_json::object();
  RecordJobOptions(RuntimeJob{}, &record);
  EXPECT_EQ(record.dump(),
            R"({"gpus":1,"min_gpus":1,"max_gpus":1,"gpu_types":"","resize":"hot","model":"",)"
            R"("total_work":null})");
  Given all;
  for (const auto& [key, example] : Examples()) all.insert({key, example.at(key)});
  all["max"] = "4";
  record = nlohmann::ordered_json::object();
  RecordJobOptions(Said(all), &record);
  EXPECT_EQ(record.dump(),
            R"({"gpus":2,"min_gpus":2,"max_gpus":4,"gpu_types":"a100|v100","resize":"restart",)"
            R"("model":"resnet50","total_work":1000000.0,"comm_share":0.3,)"
            R"("preempt":false,"sizes":"powers-of-two","cooldown":600.0,"grace":120.0})");
}

TEST(JobOptionsTest, AnOlderJournalLacksWhatWasAddedLater) {
  nlohmann::ordered_json record = nlohmann::ordered_json::object();
  RecordJobOptions(RuntimeJob{}, &record);
  record.erase("gpu_types");
  RuntimeJob job;
  TakeJobOptions(record, &job);
  EXPECT_TRUE(AskTheSame(job, RuntimeJob{}));
}

}  // namespace
}  // namespace allot
