// Networks that give jobs numbers: the margins by which the logged decisions prefer what they gave.

#include <cstdio>

#include "core/counted.h"
#include "core/error.h"
#include "core/progress.h"
#include "episode_log/verify.h"
#include "experiment/training/pretrain.h"

namespace allot {
namespace {

constexpr double kFew = 0.75;  // agreement
constexpr const char* kDecisions = "held-out contended decisions";

}  // namespace

Pretrained PretrainMargins(const PretrainOptions& o, const NetWeights& begin,
                           const GlobalOptions& globals) {
  const Part learned{.held_out = false, .hold_out_share = o.hold_out};
  const Part unseen{.held_out = true, .hold_out_share = o.hold_out};
  ImitationData data;
  ImitationData held_out;
  std::vector<LoggedEpisode> episodes;
  for (const std::string& log : o.logs) {
    std::int64_t number = 0;
    for (LoggedEpisode& episode : ReadEpisodeLog(log)) {
      RequireVerified(log, number++, episode);
      PlayBack(log, [&] {
        AppendImitationData(PlaybackOf(episode), begin, learned, o.stride, &data);
        AppendImitationData(PlaybackOf(episode), begin, unseen, o.stride, &held_out);
      });
      episodes.push_back(std::move(episode));
    }
  }
  if (episodes.empty()) throw DataError("the logs hold no episode");
  const std::string teacher = episodes.front().policy;
  const auto agreement = [&](const NetWeights& weights) {
    AgreedGpus sum;
    for (const LoggedEpisode& episode : episodes) {
      const AgreedGpus of_episode = Agreement(PlaybackOf(episode), unseen, weights);
      sum.same += of_episode.same;
      sum.logged += of_episode.logged;
    }
    return sum.share();
  };

  const IndexNetWeights start(begin);
  ImitationOptions imitation = o.imitation;
  if (imitation.epochs == 0) imitation.epochs = ImitationOptions{}.epochs;
  if (imitation.learning_rate == 0) imitation.learning_rate = ImitationOptions{}.learning_rate;
  const double before = agreement(start);
  if (!globals.quiet) {
    std::fprintf(stderr, "teacher %s: %s, %s to learn from, %lld held out\n", teacher.c_str(),
                 Counted(std::ssize(episodes), "episode").c_str(),
                 Counted(data.decisions(), "contended decision").c_str(),
                 static_cast<long long>(held_out.decisions()));
  }
  std::string curve = "epoch,loss,held_out_loss,agreement\n";
  double after = before;
  Progress progress("pretraining", imitation.epochs, globals.quiet);
  const IndexNetWeights weights =
      Imitate(data, held_out, imitation, start, [&](const ImitationReport& report) {
        after = agreement(report.weights);
        curve += held_out.decisions() > 0 ? fmt::format("{},{},{},{}\n", report.epoch, report.loss,
                                                        report.held_out_loss, after)
                                          : fmt::format("{},{},,\n", report.epoch, report.loss);
        progress.Update(report.epoch,
                        held_out.decisions() > 0
                            ? fmt::format("loss {:.4f}, held out {:.4f}, agreement {:.1f} %",
                                          report.loss, report.held_out_loss, 100 * after)
                            : fmt::format("loss {:.4f}, nothing held out", report.loss));
      });

  if (!globals.quiet && begin.kind == kIndexKind && after < kFew) {
    std::fprintf(stderr,
                 "note: sizes by the hull say little of this teacher; one that goes by service or "
                 "submission, or gives what is asked for, is learned by --network order "
                 "(order:sizing=hull for elastic ones)\n");
  }
  return {weights, teacher, curve, before, after, kDecisions};
}

}  // namespace allot
