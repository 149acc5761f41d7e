#include "live/status/status_json.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"

namespace allot {
namespace {

// Every optional member is set once and unset once.
constexpr const char* kStatus =
    R"({"now":62.5,"written":1760000000.5,"looked":1750000000.0,"decided":null,"interval":10.0,)"
    R"("runtime":"slurm","trouble":"no route to host","policy":"index","rules":"",)"
    R"("fair_shares":true,"corrected":2,"paused":true,)"
    R"("drained":false,"finished":3,"more_jobs":960,"decisions":7,"decision_us":0.1,)"
    R"("resizes":2,"last_resize_s":1.5,"workers_failed":1,"nodes":[)"
    R"({"node":"n1","type":"a100","gpus":8,"held":2,"taken":1,"up":true,"drained":false,)"
    R"("drained_by":"","maintenance":false},)"
    R"({"node":"n2","type":"v100","gpus":4,"held":0,"taken":0,"up":false,"drained":true,)"
    R"("drained_by":"cluster","maintenance":false},)"
    R"({"node":"n3","type":"v100","gpus":4,"held":0,"taken":0,"up":true,"drained":false,)"
    R"("drained_by":"","maintenance":true},)"
    R"({"node":"n4","type":"v100","gpus":4,"held":0,"taken":0,"up":false,"drained":false,)"
    R"("drained_by":"","maintenance":false},)"
    R"({"node":"n5","type":"v100","gpus":4,"held":1,"taken":0,"up":true,"avoided":"j1 failed there",)"
    R"("suspicion":{"odds":120.0,"jobs":["j1","j2"]},)"
    R"("drained":false,"drained_by":"","maintenance":false}],)"
    R"("warning":"'elastic' is up",)"
    R"("shadow":{"policy":"fifo","decisions":5,"failed":1,"agreement":0.5,"asked":false},"jobs":[)"
    R"({"job":"7-5f","name":"team/mlp","title":"mlp","user":"eve","model":"vgg","stage":"joining",)"
    R"("reason":"gone","gpus":3,"held":2,"asked":1,"min":1,"max":4,"type":"a100",)"
    R"("types":"a100|v100","limits":"--constraint=nvlink","rates":{"v100":1.5,"a100":2.25},)"
    R"("nodes":{"n2":1,"n1":2},"epoch":4,"step":50,"work":60.0,"total":100.0,"rate":2.5,"loss":0.1,)"
    R"("noise_scale":12.0,"batch":{"total":1024,"local":32,"accumulation":3},"age":9.0,"waits":4.0,)"
    R"("gpu_seconds":5.0,"changes":6,"plan":"dp=1 tp=3","eta":{"made":60.0,"until":86460.0,)"
    R"("start":{"0.1":61.0,"0.5":62.5,"0.9":null},"end":{"0.1":90.0,"0.5":null,"0.9":null}}},)"
    R"({"job":"8","name":"8","title":"","user":"","model":"","stage":"fits nowhere","reason":"",)"
    R"("gpus":0,"held":0,"asked":0,"min":0,"max":0,"type":"","types":"","limits":"","rates":{},)"
    R"("nodes":{},"epoch":0,"step":0,"work":0.0,"total":null,"rate":null,"loss":null,)"
    R"("noise_scale":null,"batch":null,"age":0.0,"waits":null,"gpu_seconds":0.0,"changes":0}]})";

TEST(StatusJson, WritesWhatItReads) {
  const DaemonStatus status = ReadStatus(kStatus);
  EXPECT_EQ(WriteStatus(status), kStatus);
  EXPECT_EQ(WriteStatus(ReadStatus(WriteStatus(status, 2))), kStatus);
  EXPECT_EQ(WriteStatus(ReadStatus(WriteStatus({}))), WriteStatus({}));
}

TEST(StatusJson, WritesQuotesAsItReadsThem) {
  constexpr const char* kQuote =
      R"({"made":60.0,"ahead":86400.0,"jobs":[{"job":"as asked","gpus":4,"max":4,"type":"a100",)"
      R"("limit":3600.0,"start":{"0.1":0.0,"0.5":62.5,"0.9":null}},{"job":"elastic","gpus":2,)"
      R"("max":8,"type":"","limit":null,"start":null}],"gpus":8,"free":1,)"
      R"("running":[{"user":"ann","jobs":2,"gpus":7}],"waiting":[],)"
      R"("notes":["a window"]})";
  const Quote quote = ReadQuote(kQuote);
  EXPECT_EQ(WriteQuote(quote), kQuote);
  EXPECT_EQ((*quote.jobs[0].start)[2], kNever);
  constexpr const char* kRequest =
      R"({"do":"quote","quote":{"gpus":4,"type":"a100","limit":60.0}})";
  EXPECT_EQ(WriteRequest(ReadRequest(kRequest)), kRequest);
  EXPECT_THROW(ReadRequest(R"({"do":"quote"})"), Error);
}

TEST(StatusJson, ReadsMembersByTheirKeys) {
  const DaemonStatus status = ReadStatus(kStatus);
  EXPECT_EQ(status.nodes[0].foreign_gpus, 1);
  EXPECT_EQ(status.nodes[1].drained_by, Drainer::kCluster);
  EXPECT_EQ(status.nodes[3].state, NodeState::kDown);
  EXPECT_EQ(status.nodes[4].state, NodeState::kAvoided);
  EXPECT_EQ(status.nodes[4].suspicion->jobs.at(1), "j2");
  EXPECT_EQ(status.jobs[0].stage, JobStage::kJoining);
  EXPECT_EQ(status.jobs[0].allocated_gpus, 3);
  EXPECT_EQ(status.jobs[0].worker_gpus, 2);
  EXPECT_EQ(status.jobs[0].done(), 0.6);
  EXPECT_EQ(status.jobs[0].forecast->start->at(2), kNever);
  EXPECT_FALSE(status.jobs[1].reason);
}

TEST(StatusJson, ReadsNumbersThatAreNotFiniteAsUnknown) {
  DaemonStatus status;
  JobStatus& job = status.jobs.emplace_back();
  job.work = kUnknown;
  job.gpu_seconds = kNever;
  job.rates = {{"a100", kUnknown}};
  const DaemonStatus read = ReadStatus(WriteStatus(status));
  EXPECT_TRUE(std::isnan(read.jobs[0].work));
  EXPECT_TRUE(std::isnan(read.jobs[0].gpu_seconds));
  EXPECT_TRUE(std::isnan(read.jobs[0].rates.at(0).second));
}

TEST(StatusJson, RefusesAStatusThatLacksAField) {
  EXPECT_THROW(ReadStatus(R"({"now":1.0,"jobs":[]})"), Error);
  try {
    ReadStatus(R"({"error":"the daemon ends"})");
    FAIL() << "an error is no status";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the daemon ends");
  }
}

TEST(ControlJson, ReadsBackRequestsAndReplies) {
  for (const char* text : {R"({"do":"status"})", R"({"do":"cancel","job":"7-5f"})",
                           R"({"do":"drain"})", R"({"do":"drain","node":"n1","undo":true})"}) {
    EXPECT_EQ(WriteRequest(ReadRequest(text)), text);
  }
  for (const char* text :
       {R"({"done":"pause","paused":true,"drained":false})",
        R"({"done":"drain","paused":false,"drained":false,"node":{"node":"n1","state":"drained"}})",
        R"({"done":"drain","paused":false,"drained":true,"node":{"node":"n9","state":"gone"}})"}) {
    EXPECT_EQ(WriteReply(ReadReply(text)), text);
  }
}

TEST(ControlJson, RefusesWhatIsNoRequest) {
  for (const char* text : {"", "7", "{}", R"({"do":"dance"})", R"({"do":7})", R"({"do":"cancel"})",
                           R"({"do":"drain","node":7})", R"({"do":"drain","undo":"yes"})"}) {
    EXPECT_THROW(ReadRequest(text), Error) << text;
  }
}

}  // namespace
}  // namespace allot
