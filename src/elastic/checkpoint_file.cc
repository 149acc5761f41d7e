#include "elastic/checkpoint_file.h"

#include <zlib.h>

#include <cstring>
#include <string>
#include <string_view>

#include "core/error.h"
#include "elastic/job_folder.h"

namespace allot {
namespace {

constexpr char kMagic[8] = {'A', 'L', 'L', 'O', 'T', 'C', 'P', '1'};

struct Header {
  char magic[8];
  std::int64_t step;
  std::uint64_t bytes;  // of all blocks
  std::uint64_t checksum;
};

std::uint64_t Checksum(std::uint64_t sum, const void* data, std::size_t bytes) {
  return crc32_z(static_cast<uLong>(sum), static_cast<const Bytef*>(data), bytes);
}

}  // namespace

std::size_t SizeOf(std::span<const StateBlock> blocks) {
  std::size_t bytes = 0;
  for (const StateBlock& block : blocks) bytes += block.bytes;
  return bytes;
}

void SaveCheckpoint(const OwnedFolder& folder, std::int64_t step,
                    std::span<const StateBlock> state) {
  Header header{{}, step, SizeOf(state), 0};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  for (const StateBlock& block : state) {
    header.checksum = Checksum(header.checksum, block.data, block.bytes);
  }
  std::vector<std::string_view> pieces{{reinterpret_cast<const char*>(&header), sizeof header}};
  for (const StateBlock& block : state) {
    pieces.emplace_back(static_cast<const char*>(block.data), block.bytes);
  }
  folder.Write(kCheckpoint, pieces);
}

std::optional<std::int64_t> LoadCheckpoint(const OwnedFolder& folder,
                                           std::span<const StateBlock> state) {
  const std::optional<std::string> content = folder.Read(kCheckpoint);
  if (!content) return std::nullopt;
  const std::filesystem::path path = folder.path() / kCheckpoint;
  Header header{};
  if (content->size() >= sizeof header) std::memcpy(&header, content->data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
    throw DataError("{}: a checkpoint begins with '{:.8}', this file does not", path.string(),
                    kMagic);
  }
  const std::uint64_t wanted = SizeOf(state);
  const std::uint64_t found = content->size() - sizeof header;
  if (header.bytes != wanted || found != wanted) {
    throw DataError("{}: the state has {} bytes, the checkpoint announces {} and contains {}",
                    path.string(), wanted, header.bytes, found);
  }
  const char* const begin = content->data() + sizeof header;
  const std::uint64_t checksum = Checksum(0, begin, wanted);
  if (checksum != header.checksum) {
    throw DataError("{}: checksum must be {:08x}, got {:08x}: the checkpoint is damaged",
                    path.string(), header.checksum, checksum);
  }
  const char* from = begin;
  for (const StateBlock& block : state) {
    std::memcpy(block.data, from, block.bytes);
    from += block.bytes;
  }
  return header.step;
}

}  // namespace allot
