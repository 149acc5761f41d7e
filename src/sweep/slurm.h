#pragma once
// A sweep as a Slurm job array: one task a shard, every task a writer of the sweep's folder; the
// task that finds all cells finished writes the results.

#include <filesystem>
#include <string>
#include <vector>

namespace allot {

struct SlurmArray {
  std::string program;           // the program that the tasks run
  std::filesystem::path folder;  // of the sweep, on a file system that all nodes see
  int tasks = 1;
  int threads = 1;                   // of a task
  std::vector<std::string> options;  // "--partition=gpu", one #SBATCH line each
};

// A script for sbatch, which holds all that a task needs to know.
std::string SlurmScript(const SlurmArray& array);

// Hands the script to the sbatch on PATH and returns the job id that it prints. RunError naming
// sbatch when there is none or when it refuses.
std::string SubmitToSlurm(const std::filesystem::path& script);

}  // namespace allot
