#include <cmath>
#include <memory>

#include "agents/training/sequence_imitation.h"
#include "core/error.h"
#include "core/progress.h"
#include "core/rng.h"
#include "episode_log/verify.h"
#include "experiment/training/pretrain.h"
#include "experiment/world.h"

namespace allot {
namespace {

struct Lessons {
  std::vector<Lesson> all;
  std::string teacher;
  World world;  // of the setting; teachers are made there
};

void AddLogged(const PretrainOptions& o, Lessons* lessons) {
  for (const std::string& log : o.logs) {
    std::int64_t number = 0;
    for (LoggedEpisode& episode : ReadEpisodeLog(log)) {
      RequireVerified(log, number++, episode);
      if (episode.seen != nullptr) {
        throw UsageError(
            "a sequence network learns from logs that can be simulated again, '{}' is of a live "
            "run; pretrain an index network from it",
            log);
      }
      const auto kept = std::make_shared<const LoggedEpisode>(std::move(episode));
      if (lessons->all.empty()) lessons->teacher = kept->policy;
      const Lesson lesson{
          .scenario = kept->scenario,
          .teacher = [kept] { return std::make_unique<RecordedPolicy>(kept->decisions); },
          .must_follow = true};
      lessons->all.push_back(lesson);
    }
  }
}

void AddTaught(const PretrainOptions& o, Lessons* lessons) {
  lessons->world = World(WorldSpec{.setting = o.setting});
  lessons->teacher = o.teacher;
  const std::vector<Setting>& settings = lessons->world.settings();
  for (int k = 0; k < o.episodes; ++k) {
    const auto number = static_cast<std::uint64_t>(k);
    const Setting& setting = settings[number % settings.size()];
    World* world = &lessons->world;
    lessons->all.push_back(
        {.scenario = setting.episodes(Rng(o.imitation.seed, "teaching-episode", number).NextU64()),
         .teacher = [world, spec = o.teacher] { return world->MakePolicy(spec); }});
  }
}

}  // namespace

Pretrained PretrainIncrements(const PretrainOptions& o, const NetWeights& start,
                              const GlobalOptions& globals) {
  Lessons lessons;
  AddLogged(o, &lessons);
  if (!o.setting.empty()) AddTaught(o, &lessons);
  if (lessons.all.empty()) throw DataError("the logs hold no episode");
  // Whole episodes are held out; of a single one agreement is that with what was learned.
  const auto total = lessons.all.size();
  const auto held_out = std::min(
      total - 1, static_cast<std::size_t>(std::ceil(o.hold_out * static_cast<double>(total))));
  const std::vector<Lesson> learned(lessons.all.begin(),
                                    lessons.all.end() - static_cast<std::ptrdiff_t>(held_out));
  const std::vector<Lesson> unseen(held_out > 0
                                       ? lessons.all.end() - static_cast<std::ptrdiff_t>(held_out)
                                       : lessons.all.begin(),
                                   lessons.all.end());

  SequenceImitationOptions imitation;
  imitation.seed = o.imitation.seed;
  imitation.passes = o.passes;
  imitation.smoothing = o.smoothing;
  imitation.entropy = o.entropy;
  imitation.threads = globals.threads;
  if (o.imitation.epochs > 0) imitation.epochs = o.imitation.epochs;
  if (o.imitation.learning_rate > 0) {
    imitation.learning_rate = o.imitation.learning_rate;
    imitation.final_learning_rate = o.imitation.learning_rate / 10;
  }
  Pretrained result;
  result.teacher = lessons.teacher;
  result.measured_on = held_out > 0 ? "held-out episodes" : "the episode learned from";
  result.agreement_before = IncrementAgreement(unseen, {start, {}}, globals.threads);
  result.curve = "epoch,loss,held_out_loss,agreement\n";
  Progress progress("pretraining", imitation.epochs * imitation.passes, globals.quiet);
  result.weights =
      ImitateIncrements(learned, imitation, start, [&](const SequenceImitationReport& report) {
        result.agreement = IncrementAgreement(unseen, {report.weights, {}}, globals.threads);
        result.curve += fmt::format("{},{},,{}\n", report.epoch, report.loss, result.agreement);
        progress.Update(report.epoch, fmt::format("loss {:.4f}, agreement {:.1f} %", report.loss,
                                                  100 * result.agreement));
      });
  return result;
}

}  // namespace allot
