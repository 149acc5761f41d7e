// Writes what allot records (three episodes as a Minari data set, a TensorBoard curve) below the
// folder given as argument, for tests/integration to open with the programs that users open them
// with.

#include <cstdio>
#include <exception>
#include <filesystem>

#include "record/minari_writer.h"
#include "record/tensorboard.h"
#include "tests/unit/record/example_episode.h"

namespace {

void WriteAll(const std::filesystem::path& folder) {
  allot::MinariWriter log(folder / "datasets", "cluster/example-fifo-v0", allot::ExampleSpec());
  for (std::size_t i = 0; i < 3; ++i) log.WriteEpisode(allot::ExampleEpisode(i));
  log.Close();

  allot::TensorboardWriter curves(folder / "tensorboard", "0");
  for (int step = 0; step < 300; ++step) {
    curves.Add("charts/episodic_return", -1000.0 + step, step * 1000);
    curves.Add("losses/policy_loss", 1.0 / (1 + step), step * 1000);
  }
  curves.Flush();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_record_example FOLDER\n");
    return 2;
  }
  try {
    WriteAll(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
