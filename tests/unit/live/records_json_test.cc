// A journal keeps its bytes: daemons of later versions read what earlier ones wrote.

#include "live/state/records_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/error.h"

namespace allot {
namespace {

class RecordsJson : public testing::TestWithParam<const char*> {};

TEST_P(RecordsJson, EachKindKeepsItsBytes) {
  const std::string line = GetParam();
  const TimedRecord record = RecordFrom(nlohmann::ordered_json::parse(line));
  EXPECT_FALSE(std::holds_alternative<record::Other>(record.record));
  EXPECT_EQ(ToJson(record).dump(), line);
}

// Written by version 0.2.0.
constexpr const char* kLines[] = {
    R"({"at":0.5,"what":"serve","origin":1795618972.8,"pid":28662,"runtime":"local","policy":"drf"})",
    R"({"at":0.5,"what":"serve","origin":1795618972.8})",
    R"({"at":1.0,"what":"nodes","nodes":[{"node":"n1","type":"gpu","gpus":4,"cpus":32,"up":true},)"
    R"({"node":"n2","type":"gpu","gpus":4,"cpus":8,"up":false,"taken":2,"drained":true}]})",
    R"({"at":1.0,"what":"nodes","nodes":[{"node":"n1","type":"gpu","gpus":4,"cpus":32,"up":true,)"
    R"("recalled_from":86400.0,"recalled_until":null,"binds_limits":true}]})",
    R"({"at":1.0,"what":"drain"})",
    R"({"at":1.0,"what":"drain","node":"n2"})",
    R"({"at":1.0,"what":"undrain","node":"n2"})",
    R"({"at":1.0,"what":"maintenance","nodes":["n1","n2"]})",
    R"({"at":1.0,"what":"pause"})",
    R"({"at":1.0,"what":"nodes before","node_seconds":86400.0,"failures":2.0,"repaired":["n2"],)"
    R"("failed_at":-60.0})",
    R"({"at":1.0,"what":"resume"})",
    R"({"at":1.2,"what":"job","job":"2-6b","user":"ann","name":"t.sh","submit":0.5,)"
    R"("submit_unix":1795754789.0,"deadline":null,"gpus":1,"min_gpus":1,"max_gpus":20,)"
    R"("gpu_types":"","resize":"restart","model":"","total_work":null,"preempt":false,)"
    R"("sizes":"1|3","cooldown":1.0,"grace":14.0,"time_limit":null,"priority":-0.0,)"
    R"("comment":"allot min=1","known_as":"2","account":"vision","profile":""})",
    R"({"at":1.5,"what":"give","job":"a","configuration":"gpus=3 type=v100",)"
    R"("shares":[["n1",3],["n2",8]],"why":"decision 4","share":1.0})",
    R"({"at":1.5,"what":"give","job":"a","configuration":"gpus=2 type=v100","shares":[["n1",3]],)"
    R"("why":"it was found running","since":2.0})",
    R"({"at":1.5,"what":"give","job":"a","shares":[["n1",3]],"why":"a node is down","lost":true})",
    R"({"at":1.5,"what":"give","job":"a","configuration":"gpus=2 type=v100","shares":[["n1",3]],)"
    R"("plan":"dp=1 tp=2","why":"decision 4"})",
    R"({"at":1.5,"what":"placed","job":"a","configuration":"gpus=1 type=v100","shares":[["n2",1]],)"
    R"("why":"its workers are there"})",
    R"({"at":2.0,"what":"take","job":"a","why":"it is held"})",
    R"({"at":6.8,"what":"account","job":"a","step":0,"work":0.0,"gpu_seconds":14.6,"seconds":4.8})",
    R"({"at":0.6,"what":"over","job":"a","state":"cancelled","reason":"","step":60,"work":3840.0,)"
    R"("gpu_seconds":1.05,"run_time":null})",
    R"({"at":0.6,"what":"over","job":"a","state":"finished","gpu_seconds":1.05,"run_time":2.5})",
    R"({"at":0.7,"what":"retire","job":"a"})",
    R"({"at":0.1,"what":"start","job":"a","workers":[{"worker":"a.0","node":"n1","gpus":1}]})",
    R"({"at":0.1,"what":"found","job":"a","workers":[{"worker":"a.0","node":"n1","gpus":1}]})",
    R"({"at":7.7,"what":"refused","job":"a","workers":["a.0"],"why":"slurmctld is away"})",
    R"({"at":0.1,"what":"announce","job":"a","epoch":0,"members":["a.0"],"why":"workers join"})",
    R"({"at":5.5,"what":"stop","job":"a","worker":"a.0","kill":true,"late":false,"stalled":true,)"
    R"("step":317,"why":"the job is over"})",
    R"({"at":5.5,"what":"stays","job":"a","why":"it runs and may not be stopped"})",
    R"({"at":0.6,"what":"gone","job":"a","worker":"a.0","failed":false,"step":60,"reason":"0"})",
    R"({"at":1.4,"what":"rate","job":"a","type":"gpu","gpus":2,"nodes":"any","rate":8802.4})",
    R"({"at":2.5,"what":"batch","job":"a","initial":32,"most":2048,"least_local":1,)"
    R"("most_local":512})",
    R"({"at":2.5,"what":"noise","job":"a","noise":140.05})",
    R"({"at":2.5,"what":"timed","job":"a","type":"gpu","nodes":1,"gpus":4,"local":8,)"
    R"("gradient":0.01,"iteration":0.013})",
    R"({"at":3.0,"what":"renewed","archived":1048576})",
    R"({"at":3.0,"what":"kept","job":"a","configuration":"","shares":[],"plan":"dp=1 tp=2",)"
    R"("changes":2,)"
    R"("waiting_since":1.5,"gpu_seconds":3.5,"seconds":2.5,"first_start":null,"preemptions":1,)"
    R"("restarts":1,"moves":0,"failures":0,"fit":[{"type":"v100","nodes":"1","gpus":2,)"
    R"("log_rate":0.5,"weight":60.0,"used":null}],"group":{"workers":[{"worker":"a.0",)"
    R"("node":"n1","gpus":1,"leaving":false,"killed":true,"since":0.5}],"epoch":3,)"
    R"("members":["a.0"],"next_number":4,"restarting":false,"failures":1,"late_tries":2,)"
    R"("refusals":0,"refusal":"","refused_since":0.0,"step_at_failure":7,"not_before":1.0},)"
    R"("given_at":null,"restarts_at":[1.0,2.0],"lost":true,"training":{"initial":64.0,)"
    R"("most":4096.0,"least_local":4.0,"most_local":512.0,"noise":null,"timed":[{"type":"v100",)"
    R"("nodes":2,"gpus":4,"local":16.0,"gradient":0.01,"iteration":0.02}]}})",
    R"({"at":3.0,"what":"learned","user":"ann","model":"own","fit":[]})",
    R"({"at":3.0,"what":"learned","of":"ann\nown\n64 4096 4 512","training":{"initial":64.0,)"
    R"("most":4096.0,"least_local":4.0,"most_local":512.0,"noise":100.0,"timed":[]}})",
    R"({"at":3.0,"what":"counts","finished":12,"last_submit":2.5})",
    R"({"at":2.4,"what":"cancel","job":"a"})",
    R"({"at":16.3,"what":"give up","job":"a","why":"its workers failed 6 times in a row"})",
    R"({"at":0.1,"what":"decide","decision":1,"launched":1,"preempted":0,"resized":2,"moved":0})",
    R"({"at":0.1,"what":"trains","job":"a","epoch":0,"workers":2,"step":0,"took":0.06})",
    R"({"at":2.5,"what":"trains with","job":"a","gpus":4,"local":16,"accumulation":0,"total":64,)"
    R"("noise":140.5})",
};
INSTANTIATE_TEST_SUITE_P(Kinds, RecordsJson, testing::ValuesIn(kLines));

struct Refusal {
  const char* line;
  const char* why;
};
class RefusedRecord : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedRecord, NamesKindRuleAndValue) {
  try {
    (void)RecordFrom(nlohmann::ordered_json::parse(GetParam().line));
    FAIL() << "it was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadData);
    EXPECT_STREQ(error.what(), GetParam().why);
  }
}
INSTANTIATE_TEST_SUITE_P(
    Each, RefusedRecord,
    testing::Values(
        Refusal{"[1]", "a record must be an object with 'at' and 'what', got [1]"},
        Refusal{R"({"at":"2","what":"pause"})", "'at' must be a number, got \"2\""},
        Refusal{R"({"at":2,"what":"start","job":"a"})", "'start': 'workers' is missing"},
        Refusal{R"({"at":2,"what":"take","job":7})", "'take': 'job' must be text, got 7"},
        Refusal{R"({"at":2,"what":"placed","job":"a","shares":[["n1",-1]]})",
                "'placed': 'shares' must be a whole number, got -1"},
        Refusal{R"({"at":2,"what":"over","job":"a","state":"lost"})",
                "'over': 'state' must be the state of a job, got \"lost\""},
        Refusal{R"({"at":2,"what":"batch","job":"a","initial":0,"most":1,)"
                R"("least_local":1,"most_local":1})",
                "'batch': 'batch' must have 'initial' from 1 to 16777216, got 0"}));

TEST(RecordsJson, KindsOfALaterVersionAreKept) {
  const auto later = nlohmann::ordered_json::parse(R"({"at":1.0,"what":"later","job":"a"})");
  EXPECT_EQ(KindOf(RecordFrom(later).record), "later");
}

}  // namespace
}  // namespace allot
