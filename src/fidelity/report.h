#pragma once
// bench/results/fidelity.md: every run of every peer, and every defect, as Markdown. Written by
// `allot reproduce --markdown`.

#include <fmt/format.h>

#include <span>
#include <string>

#include "fidelity/peer.h"

namespace allot {

struct PeerResults {
  const PeerInfo* peer = nullptr;
  std::vector<FidelityResult> results;
  std::vector<double> repaired_avg_jct_s;  // by result
};

// As fmt::format would; "-" where it is not known or no job ended.
std::string FigureText(fmt::format_string<double&> format, double figure);

const char* VerdictName(FidelityResult::Verdict verdict);

// `command`: what made it.
std::string FidelityMarkdown(std::span<const PeerResults> peers, const std::string& command);

}  // namespace allot
