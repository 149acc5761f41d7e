#include "models/checkpoint.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "core/json_text.h"
#include "core/rng.h"
#include "core/user_json.h"
#include "models/safetensors.h"

namespace allot {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kFormatVersion = 1;
constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kOptimizerFile = "optimizer.safetensors";
constexpr const char* kMemoryFile = "memory.safetensors";
constexpr const char* kStateFile = "state.json";
constexpr const char* kConfigFile = "config.json";
constexpr const char* kManifestFile = "manifest.json";
constexpr const char* kCardFile = "card.md";
constexpr std::string_view kFirstMoment = ".exp_avg";
constexpr std::string_view kSecondMoment = ".exp_avg_sq";

using FileMap = std::map<std::string, std::string>;  // name -> bytes

std::string Checksum(std::string_view bytes) {
  return fmt::format("fnv1a64:{:016x}", StableHash(bytes));
}

// Runs keep their checkpoints in folders of these names.
std::string NearCheckpoint(const fs::path& folder) {
  for (const char* name : {"best", "accepted", "checkpoint", "latest"}) {
    if (!fs::exists(folder / name / kManifestFile)) continue;
    return fmt::format(" (did you mean '{}'?)", (folder / name).string());
  }
  return "";
}

// Not core's ReadTextFile: binary data must not be taken for gzip by its first bytes.
std::string ReadBytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || fs::is_directory(path)) {
    throw DataError("{}: a checkpoint needs a readable file '{}'{}", path.parent_path().string(),
                    path.filename().string(), NearCheckpoint(path.parent_path()));
  }
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

json ParseJson(const std::string& text, const std::string& origin) {
  JsonFault fault;
  json value = ParseUserJson(text, &fault);
  if (value.is_discarded()) throw DataError("{}: {}: byte {}", origin, fault.rule, fault.byte);
  return value;
}

std::string Dump(const json& value) { return JsonText(value, 1) + "\n"; }

// entry[key] as T; `T` also decides which JSON types pass.
template <typename T>
T Get(const json& entry, const char* key, const std::string& origin) {
  const auto found = entry.is_object() ? entry.find(key) : entry.end();
  if (found == entry.end()) throw DataError("{}: key '{}' is missing", origin, key);
  const bool fits = std::is_integral_v<T> ? found->is_number_integer() : found->is_string();
  if (!fits) {
    throw DataError("{}: '{}' must be {}, got {}", origin, key,
                    std::is_integral_v<T> ? "a whole number" : "text", found->dump());
  }
  return found->get<T>();
}

// The first value that is not finite, in words; empty when there is none.
std::string NotFinite(const TensorMap& tensors) {
  for (const auto& [name, tensor] : tensors) {
    for (std::size_t i = 0; i < tensor.data.size(); ++i) {
      if (!std::isfinite(tensor.data[i])) {
        return fmt::format("value {} of tensor '{}' must be finite, got {}", i, name,
                           tensor.data[i]);
      }
    }
  }
  return "";
}

TensorMap MomentTensors(const AdamState& adam) {
  TensorMap tensors;
  for (const auto& [name, tensor] : adam.exp_avg) {
    tensors[name + std::string(kFirstMoment)] = tensor;
  }
  for (const auto& [name, tensor] : adam.exp_avg_sq) {
    tensors[name + std::string(kSecondMoment)] = tensor;
  }
  return tensors;
}

AdamState AdamFromTensors(const TensorMap& tensors, std::int64_t step, const TensorMap& weights,
                          const std::string& origin) {
  AdamState adam;
  adam.step = step;
  if (step > 0) {
    adam.exp_avg = ZerosLike(weights);
    adam.exp_avg_sq = ZerosLike(weights);
  }
  RequireSameLayout(tensors, MomentTensors(adam), origin);
  for (auto& [name, moment] : adam.exp_avg) moment = tensors.at(name + std::string(kFirstMoment));
  for (auto& [name, moment] : adam.exp_avg_sq) {
    moment = tensors.at(name + std::string(kSecondMoment));
  }
  return adam;
}

json Manifest(const FileMap& files) {
  json entries = json::object();
  for (const auto& [name, bytes] : files) {
    entries[name] = {{"bytes", bytes.size()}, {"checksum", Checksum(bytes)}};
  }
  return {{"format", "allot-checkpoint"}, {"version", kFormatVersion}, {"files", entries}};
}

// The files that the manifest lists, each of the size and checksum that it states.
FileMap ReadVerified(const fs::path& folder) {
  const std::string origin = (folder / kManifestFile).string();
  const json manifest = ParseJson(ReadBytes(folder / kManifestFile), origin);
  if (const auto format = Get<std::string>(manifest, "format", origin);
      format != "allot-checkpoint") {
    throw DataError("{}: 'format' must be 'allot-checkpoint', got '{}'", origin, format);
  }
  if (const auto version = Get<std::int64_t>(manifest, "version", origin);
      version != kFormatVersion) {
    throw DataError("{}: checkpoint format has version {}, this allot reads {}", origin, version,
                    kFormatVersion);
  }
  const json entries = manifest.value("files", json());
  FileMap files;
  for (const std::string name :
       {kModelFile, kOptimizerFile, kMemoryFile, kStateFile, kConfigFile}) {
    const bool optional = name == kOptimizerFile || name == kMemoryFile;
    if (optional && !entries.contains(name) && !fs::exists(folder / name)) continue;
    const std::string file = (folder / name).string();
    if (!entries.is_object() || !entries.contains(name)) {
      throw DataError("{}: lists no file '{}'", origin, name);
    }
    const auto size = Get<std::uint64_t>(entries.at(name), "bytes", origin);
    const auto checksum = Get<std::string>(entries.at(name), "checksum", origin);
    std::string bytes = ReadBytes(folder / name);
    if (bytes.size() != size) {
      throw DataError("{}: must have {} bytes by {}, got {}", file, size, kManifestFile,
                      bytes.size());
    }
    if (Checksum(bytes) != checksum) {
      throw DataError("{}: damaged: checksum must be {} by {}, got {}", file, checksum,
                      kManifestFile, Checksum(bytes));
    }
    files.emplace(name, std::move(bytes));
  }
  return files;
}

}  // namespace

void SaveCheckpoint(const Checkpoint& checkpoint, const std::string& path) {
  const TensorMap moments = checkpoint.adam ? MomentTensors(*checkpoint.adam) : TensorMap();
  for (const TensorMap* tensors : {&checkpoint.weights.tensors, &moments, &checkpoint.memory}) {
    if (const std::string fault = NotFinite(*tensors); !fault.empty()) {
      throw RunError("{}: not saved: {}", path, fault);
    }
  }

  json state = {{"kind", checkpoint.weights.kind},
                {"feature_version", checkpoint.feature_version},
                {"shape", checkpoint.weights.sizes},
                {"state", checkpoint.state}};
  FileMap files;
  files[kModelFile] =
      EncodeSafetensors(checkpoint.weights.tensors, {{"kind", checkpoint.weights.kind}});
  if (checkpoint.adam) {
    state["adam_step"] = checkpoint.adam->step;
    files[kOptimizerFile] = EncodeSafetensors(moments);
  }
  if (!checkpoint.memory.empty()) files[kMemoryFile] = EncodeSafetensors(checkpoint.memory);
  files[kStateFile] = Dump(state);
  files[kConfigFile] = Dump(checkpoint.config);
  files[kManifestFile] = Dump(Manifest(files));
  files[kCardFile] = checkpoint.card;

  AtomicDirectory folder(path);
  for (const auto& [name, bytes] : files) WriteTextFile(folder.path() / name, bytes);
  folder.Commit();
}

Checkpoint LoadCheckpoint(const std::string& path) {
  const fs::path folder(path);
  if (!fs::exists(folder)) throw DataError("{}: no such checkpoint", path);
  if (!fs::is_directory(folder)) {
    throw DataError("{}: a checkpoint must be a folder, got a file", path);
  }
  const FileMap files = ReadVerified(folder);
  const auto origin = [&](const char* name) { return (folder / name).string(); };

  Checkpoint checkpoint;
  const std::string state_file = origin(kStateFile);
  json state = ParseJson(files.at(kStateFile), state_file);
  checkpoint.feature_version = Get<int>(state, "feature_version", state_file);
  checkpoint.weights.kind = Get<std::string>(state, "kind", state_file);
  checkpoint.weights.sizes = state.value("shape", json());
  checkpoint.state = state.value("state", json());
  checkpoint.config = ParseJson(files.at(kConfigFile), origin(kConfigFile));
  if (fs::exists(folder / kCardFile)) checkpoint.card = ReadBytes(folder / kCardFile);

  checkpoint.weights.tensors = DecodeSafetensors(files.at(kModelFile), origin(kModelFile));
  if (const std::string fault = NotFinite(checkpoint.weights.tensors); !fault.empty()) {
    throw DataError("{}: {}", origin(kModelFile), fault);
  }
  if (const auto optimizer = files.find(kOptimizerFile); optimizer != files.end()) {
    const std::string file = origin(kOptimizerFile);
    checkpoint.adam = AdamFromTensors(DecodeSafetensors(optimizer->second, file),
                                      Get<std::int64_t>(state, "adam_step", state_file),
                                      checkpoint.weights.tensors, file);
  }
  if (const auto memory = files.find(kMemoryFile); memory != files.end()) {
    checkpoint.memory = DecodeSafetensors(memory->second, origin(kMemoryFile));
  }
  return checkpoint;
}

void RequireFeatureVersion(const Checkpoint& checkpoint, int feature_version,
                           const std::string& path) {
  if (checkpoint.feature_version != feature_version) {
    throw DataError("{}: checkpoint has feature version {}, this allot needs {}", path,
                    checkpoint.feature_version, feature_version);
  }
}

}  // namespace allot
