#pragma once
// What 'allot doctor' thinks of a Slurm cluster: whether its settings are as docs/deploy.md asks.

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/types.h"
#include "live/health/health_check.h"
#include "live/runtimes/slurm/slurm_client.h"

namespace allot {

struct SlurmFacts {
  SlurmSettings settings;
  std::string way;         // to the controller: SlurmClient::way()
  bool api_named = false;  // by the runtime's parameters
  int gpu_nodes = 0;
  int gpu_nodes_up = 0;
  std::string partition, queue;       // of the runtime's parameters
  std::vector<std::string> others{};  // partitions of scripts and of jobs without GPUs, where named
  std::filesystem::path launcher;     // allot-elastic, as this machine finds it
  int port = 0;                       // of the daemon, for workers; 0: none was chosen yet
  std::pair<int, int> ephemeral{32768, 60999};  // ports that this machine gives to any program
  std::uint32_t user_id = 0;                    // of this process
  bool may_claim = true;                        // it may make files in StateSaveLocation
  std::string may_not_open;                     // of those that are there, and why; "": none
  std::string in_charge;                        // who holds the lease there; "": nobody
  Seconds renewed_ago = 0;                      // it was
};

std::vector<HealthFinding> CheckSlurm(const SlurmFacts& facts);

}  // namespace allot
