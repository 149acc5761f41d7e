#include "report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/metrics/evaluation_fixture.h"

namespace allot {
namespace {

using testing_support::SmallEvaluation;
using testing_support::WriteSmallEvaluation;

std::filesystem::path Fresh(const std::string& name) {
  static const testing_support::TempFolder root;
  return root / name;
}

ReportInput InputOf(const std::filesystem::path& directory) {
  ReportInput input;
  input.title = "Demo";
  input.date = "2026-01-02";
  input.version = "0.1.0";
  input.evaluation_dirs = {directory.string()};
  return input;
}

std::string Render(const std::string& name, const Evaluation& evaluation) {
  const std::filesystem::path directory = Fresh(name);
  WriteSmallEvaluation(directory, evaluation);
  return RenderReport(InputOf(directory));
}

std::string Between(const std::string& text, const std::string& open, const std::string& close) {
  const std::size_t begin = text.find(open) + open.size();
  return text.substr(begin, text.find(close, begin) - begin);
}

nlohmann::json DataOf(const std::string& page) {
  return nlohmann::json::parse(Between(page, "id=\"data\">", "</script>"));
}

TEST(Report, IsSelfContained) {
  const std::string page = Render("self", SmallEvaluation());
  for (const char* outside : {"http://", "https://", "src=", "@import", "url(", "<link"}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
}

TEST(Report, TableNamesEveryPolicyWithoutJavaScript) {
  const std::string page = Render("table", SmallEvaluation());
  const std::string table = Between(page, "<tbody>", "</tbody>");
  for (const char* policy :
       {"</span>fifo</th>", "</span>learned</th>", "</span>srtf<span class=\"tag\">oracle"}) {
    EXPECT_NE(table.find(policy), std::string::npos) << policy;
  }
}

TEST(Report, OpensWithTheHeadline) {
  const std::string page = Render("headline", SmallEvaluation());
  EXPECT_EQ(Between(page, "<p class=\"finding\">", "</p>"),
            "learned has a 64.6 % shorter average JCT than fifo (95 % interval: 99.6 % shorter "
            "to 28.9 times as long), on 2 unseen workloads.");
}

TEST(Report, ANameIsTextAndNeverMarkup) {
  Evaluation evaluation = SmallEvaluation();
  const std::string evil = "</script><img src=x onerror=alert(1)>\"'&";
  evaluation.policies[0].id = evil;
  evaluation.policies[0].label = evil;
  evaluation.workloads[0].name = evil;
  evaluation.title = evil;
  evaluation.command = evil;
  evaluation.cluster = evil;
  const std::string page = Render("evil", evaluation);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  std::size_t scripts = 0;
  for (std::size_t at = page.find("</script>"); at != std::string::npos;
       at = page.find("</script>", at + 1)) {
    ++scripts;
  }
  EXPECT_EQ(scripts, 2U) << "the data island and the code, nothing else, end a script";
  EXPECT_NE(DataOf(page)["figures"]["evaluation-0-cdf"]["csv"].get<std::string>().find("<img"),
            std::string::npos);
}

std::string CsvOf(const std::string& page, const std::string& figure) {
  return DataOf(page)["figures"][figure]["csv"];
}

TEST(Report, CurvesAreThinned) {
  const std::string queue = CsvOf(Render("thin", SmallEvaluation()), "evaluation-0-queue");
  EXPECT_EQ(std::count(queue.begin(), queue.end(), '\n'), 1 + 3 * 300) << "3 policies";
}

// The fixture's JCTs are 200 + 90 i, twice: a few jobs are drawn step by step.
TEST(Report, DistributionIsThatOfTheJobs) {
  const std::string cdf = CsvOf(Render("cdf", SmallEvaluation()), "evaluation-0-cdf");
  EXPECT_EQ(cdf.substr(0, cdf.find('\n')), "panel,series,jct_s,share_of_jobs");
  for (const char* row :
       {"\n,fifo,200,0\n", "\n,fifo,200,0.05\n", "\n,fifo,290,0.2\n", "\n,fifo,1010,1\n"}) {
    EXPECT_NE(cdf.find(row), std::string::npos) << row;
  }
}

// It is drawn for wide and for narrow windows, without JavaScript.
TEST(Report, FiguresAreDrawnTwice) {
  const std::string page = Render("drawn", SmallEvaluation());
  std::size_t drawings = 0;
  for (std::size_t at = page.find("aria-label=\"How long jobs take\""); at != std::string::npos;
       at = page.find("aria-label=\"How long jobs take\"", at + 1)) {
    ++drawings;
  }
  EXPECT_EQ(drawings, 2U);
}

TEST(Report, StaysSmallForEightPolicies) {
  Evaluation evaluation = SmallEvaluation();
  const EvaluatedPolicy policy = evaluation.policies[0];
  for (int i = 3; i < 8; ++i) {
    evaluation.policies.push_back(policy);
    evaluation.policies.back().id = evaluation.policies.back().label =
        "policy-" + std::to_string(i);
  }
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f"};
  for (const std::string& name : names) {
    evaluation.workloads.push_back({name, 10, 1, 3});
    for (EvaluatedPolicy& p : evaluation.policies) p.runs.push_back(p.runs.front());
  }
  EXPECT_LT(Render("small", evaluation).size(), 1'500'000U);
}

TEST(Report, SameInputSameBytes) {
  EXPECT_EQ(Render("bytes", SmallEvaluation()), Render("bytes", SmallEvaluation()));
}

TEST(Report, ShowsTrainingCurvesAndToleratesMissingColumns) {
  const std::filesystem::path directory = Fresh("training");
  WriteTextFile(directory / "curve.csv",
                "iteration,train_ratio,validation_ratio\n1,1.02,\n2,0.95,0.97\n");
  ReportInput input;
  input.training_dirs = {directory.string() + "/"};
  const std::string page = RenderReport(input);
  EXPECT_NE(page.find("Reinforcement learning <span class=\"tag\">training"), std::string::npos);
  EXPECT_EQ(CsvOf(page, "training-0-learning"),
            "panel,series,iteration,jct_over_teacher\n,training workloads,1,1.02\n"
            ",training workloads,2,0.95\n,validation workloads,2,0.97\n");
}

TEST(Report, ShowsImitation) {
  const std::filesystem::path directory = Fresh("pretrain");
  WriteTextFile(directory / "pretrain.csv",
                "epoch,loss,held_out_loss,agreement\n1,0.9,1,0.6\n2,0.5,0.7,0.875\n");
  ReportInput input;
  input.training_dirs = {directory.string()};
  const std::string page = RenderReport(input);
  EXPECT_NE(page.find("<dd>0.7000</dd>"), std::string::npos) << "last held-out loss";
  EXPECT_NE(page.find("<dd>87.5 %</dd>"), std::string::npos) << "last agreement";
}

TEST(Report, APolicyKeepsItsColourInEverySection) {
  const std::filesystem::path first = Fresh("colour1");
  const std::filesystem::path second = Fresh("colour2");
  WriteSmallEvaluation(first, SmallEvaluation());
  Evaluation other = SmallEvaluation();
  other.reference = "fifo";
  WriteSmallEvaluation(second, other);
  ReportInput input = InputOf(first);
  input.evaluation_dirs.push_back(second.string());
  const std::string page = RenderReport(input);
  const std::size_t second_table = page.find("<tbody>", page.find("evaluation-1"));
  for (const auto& [policy, colour] :
       std::map<std::string, int>{{"learned", 0}, {"fifo", 1}, {"srtf", 2}}) {
    const std::string swatch = "var(--c" + std::to_string(colour) + ")\"></span>" + policy;
    EXPECT_NE(page.find(swatch), std::string::npos) << "the first reference has colour 0";
    EXPECT_NE(page.find(swatch, second_table), std::string::npos) << policy;
  }
}

TEST(Report, ShowsHowUsersWereServed) {
  Evaluation evaluation = SmallEvaluation();
  EXPECT_EQ(Render("unserved", evaluation).find("How users were served"), std::string::npos);
  for (EvaluatedPolicy& policy : evaluation.policies) {
    ServiceSummary& service = policy.runs.front().service.emplace();
    service.avg_fairness = 1.25;
    service.deadlines = 10;
    service.missed_deadlines = 3;
    service.tenants = {{.tenant = "vc<1>", .jobs = 10, .avg_fairness = 2.5}};
  }
  const std::string page = Render("served", evaluation);
  for (const char* part : {"How users were served", "<td>1.25</td>", "vc&lt;1&gt; 2.50", "3 of 10"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST(Report, TheSameFolderTwiceIsAnError) {
  const std::filesystem::path directory = Fresh("twice");
  WriteSmallEvaluation(directory, SmallEvaluation());
  ReportInput input = InputOf(directory);
  input.evaluation_dirs.push_back(directory.string() + "/.");
  ExpectError(ExitCode::kUsage, {"given twice"}, [&] { RenderReport(input); });
}

TEST(Report, NothingToShowIsAnError) {
  ExpectError(ExitCode::kUsage, {}, [&] { RenderReport({}); });
}

TEST(Report, DirectoryWithoutCurvesIsAnError) {
  const std::filesystem::path directory = Fresh("nothing");
  std::filesystem::create_directories(directory);
  ReportInput input;
  input.training_dirs = {directory.string()};
  EXPECT_THROW(RenderReport(input), Error);
}

TEST(Report, MissingRunNamesTheFile) {
  const std::filesystem::path directory = Fresh("missing");
  WriteSmallEvaluation(directory, SmallEvaluation());
  std::filesystem::remove(directory / "week-2" / "learned" / "jobs.csv");
  ExpectError(ExitCode::kBadData, {"week-2/learned/jobs.csv"},
              [&] { RenderReport(InputOf(directory)); });
}

TEST(Report, IsWrittenWhole) {
  const std::filesystem::path directory = Fresh("write");
  WriteSmallEvaluation(directory, SmallEvaluation());
  const ReportInput input = InputOf(directory);
  WriteReport(input, (directory / "report.html").string());
  EXPECT_EQ(ReadTextFile((directory / "report.html").string()), RenderReport(input));
}

}  // namespace
}  // namespace allot
