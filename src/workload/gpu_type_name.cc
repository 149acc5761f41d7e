#include "workload/gpu_type_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "core/gpu_parts.h"
#include "core/strings.h"

namespace allot {
namespace {

// What a name says.
struct GpuTypeFacts {
  std::string letters;   // all letters and digits
  std::string chip;      // those without vendor, family, memory and form; "": nothing is left
  std::string form;      // "sxm", "pcie"; "": not said
  double memory_gb = 0;  // 0: not said
};

constexpr std::string_view kTypeDigits = "0123456789";

// Vendors, families and words of marketing: they tell no chip from another.
constexpr std::array<std::string_view, 27> kNoise = {
    "nvidia",   "amd",  "intel",       "corporation", "corp",     "tesla", "quadro",
    "geforce",  "rtx",  "gtx",         "radeon",      "instinct", "gpu",   "gpus",
    "graphics", "card", "accelerator", "generation",  "tensor",   "core",  "tm",
    "r",        "hgx",  "dgx",         "nvlink",      "ecc",      "module"};
// Families that are written in one word with the chip: "rtx3090", "teslav100".
constexpr std::array<std::string_view, 9> kFamilies = {
    "nvidia", "tesla", "quadro", "geforce", "rtx", "gtx", "radeon", "instinct", "amd"};
constexpr std::array<std::string_view, 4> kForms = {"sxm", "pcie", "nvl", "oam"};
// Sizes of memory in GB that a bare number after a chip may mean: "a100-80".
constexpr std::array<std::string_view, 20> kSizes = {"8",   "10",  "11",  "12",  "16",  "20", "24",
                                                     "32",  "40",  "48",  "64",  "80",  "94", "96",
                                                     "120", "128", "141", "144", "180", "192"};

template <typename List>
bool Holds(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kTypeDigits) == std::string_view::npos;
}

std::vector<std::string> WordsOfType(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : ToLower(name)) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || byte >= 0x80) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// Takes "32gb", "80g", "40gib".
bool TakeMemory(std::string_view word, GpuTypeFacts* facts) {
  const std::size_t digits = std::min(word.find_first_not_of(kTypeDigits), word.size());
  const std::string_view unit = word.substr(digits);
  if (digits == 0 || (unit != "g" && unit != "gb" && unit != "gib")) return false;
  facts->memory_gb = ParseNumber(word.substr(0, digits)).value_or(0);
  return true;
}

// Takes "sxm4", "pcie"; of "a100sxm4" the end.
void TakeForm(std::string* word, GpuTypeFacts* facts) {
  const std::string bare = word->substr(0, word->find_last_not_of(kTypeDigits) + 1);
  for (const std::string_view form : kForms) {
    const bool ends = form == "sxm" ? bare.ends_with(form) : word->ends_with(form);
    if (!ends) continue;
    facts->form = form;
    word->resize((form == "sxm" ? bare : *word).size() - form.size());
    return;
  }
}

// Takes the end of "v100m32", as Alibaba's traces write 32 GB.
void TakeJoinedMemory(std::string* word, GpuTypeFacts* facts) {
  const std::size_t m = word->find_last_of('m');
  if (m == std::string::npos || m < 2 || !IsNumber(std::string_view(*word).substr(m + 1))) return;
  const bool after_digit = kTypeDigits.find((*word)[m - 1]) != std::string_view::npos;
  const bool after_letter = kTypeDigits.find(word->front()) == std::string_view::npos;
  if (!after_digit || !after_letter) return;
  facts->memory_gb = ParseNumber(std::string_view(*word).substr(m + 1)).value_or(0);
  word->resize(m);
}

void TakeFamilies(std::string* word) {
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view family : kFamilies) {
      if (!word->starts_with(family) || word->size() == family.size()) continue;
      word->erase(0, family.size());
      again = true;
    }
  }
}

GpuTypeFacts FactsOf(const KnownGpuType& type) {
  GpuTypeFacts facts;
  const std::vector<std::string> words = WordsOfType(type.name);
  facts.letters = Join(words, "");
  facts.memory_gb = type.memory_gb;
  if (NamesPartOfGpu(type.name)) return facts;  // no chip: only a part of that name is one
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    if (IsNumber(word) && i + 1 < words.size() && !IsNumber(words[i + 1]) &&
        TakeMemory(word + words[i + 1], &facts)) {
      ++i;  // "80 GB"
      continue;
    }
    const bool memory_kind = word.starts_with("hbm") || word.starts_with("gddr");
    if (memory_kind || Holds(kNoise, word) || TakeMemory(word, &facts)) continue;
    const bool named = facts.chip.find_first_not_of(kTypeDigits) != std::string::npos &&
                       facts.chip.find_first_of(kTypeDigits) != std::string::npos;
    if (named && Holds(kSizes, word)) {
      facts.memory_gb = ParseNumber(word).value_or(0);
      continue;
    }
    TakeForm(&word, &facts);
    TakeJoinedMemory(&word, &facts);
    TakeFamilies(&word);
    facts.chip += word;
  }
  return facts;
}

// How much of what the name says the type confirms; < 0: it says something else.
int Agreement(const GpuTypeFacts& name, const GpuTypeFacts& type) {
  constexpr double kNearlyEqual = 0.1;  // drivers report somewhat less than vendors print
  int confirmed = 0;
  if (name.memory_gb > 0 && type.memory_gb > 0) {
    if (std::abs(name.memory_gb - type.memory_gb) > kNearlyEqual * type.memory_gb) return -1;
    ++confirmed;
  }
  if (!name.form.empty() && !type.form.empty()) {
    if (name.form != type.form) return -1;
    ++confirmed;
  }
  return confirmed;
}

}  // namespace

std::vector<std::size_t> FindGpuTypes(std::string_view name,
                                      const std::vector<KnownGpuType>& known) {
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < known.size(); ++k) {
    if (known[k].name == name) return {k};
  }
  const GpuTypeFacts asked = FactsOf(std::string(name));
  if (asked.letters.empty()) return found;
  std::vector<GpuTypeFacts> facts;
  for (std::size_t k = 0; k < known.size(); ++k) {
    facts.push_back(FactsOf(known[k]));
    if (facts[k].letters == asked.letters) found.push_back(k);
  }
  if (!found.empty() || asked.chip.empty()) return found;
  int most = 0;
  for (std::size_t k = 0; k < known.size(); ++k) {
    if (facts[k].chip != asked.chip) continue;
    const int agreement = Agreement(asked, facts[k]);
    if (agreement < most) continue;
    if (agreement > most) found.clear();
    most = agreement;
    found.push_back(k);
  }
  return found;
}

}  // namespace allot
