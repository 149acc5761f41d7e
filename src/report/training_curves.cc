#include "report/training_curves.h"

namespace allot {

TrainingCurves ReadTrainingCurves(const std::filesystem::path& directory) {
  TrainingCurves curves;
  const std::filesystem::path plain = directory.lexically_normal();
  curves.name = (plain.has_filename() ? plain : plain.parent_path()).filename().string();
  const auto read = [&](const char* file,
                        const std::vector<std::string>& columns) -> std::optional<NumberColumns> {
    if (!std::filesystem::exists(directory / file)) return std::nullopt;
    return ReadNumberColumns((directory / file).string(), {}, columns);
  };
  curves.curve = read("curve.csv", {"iteration", "episodes", "cpu_s", "train_ratio",
                                    "validation_ratio", "learning_rate"});
  curves.pretrain = read("pretrain.csv", {"epoch", "loss", "held_out_loss", "agreement"});
  return curves;
}

}  // namespace allot
