#include "live/runtimes/slurm/lease_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr std::string_view kLease = "allot.lease.";

}  // namespace

std::int64_t LeaseNumber(const fs::path& file) {
  const std::string name = file.filename().string();
  if (!name.starts_with(kLease)) return 0;
  return ParseInteger(name.substr(kLease.size())).value_or(0);
}

fs::path LeaseFile(const fs::path& folder, std::int64_t number) {
  return folder / fmt::format("{}{}", kLease, number);
}

std::string ShownHolder(const std::string& holder) {
  const std::size_t token = holder.rfind('_');
  if (token == std::string::npos) return holder;
  std::string process = holder.substr(0, token);
  const std::size_t pid = process.rfind('_');
  if (pid == std::string::npos) return process;
  return fmt::format("{}, process {}", process.substr(0, pid), process.substr(pid + 1));
}

LeaseRecord ReadLease(const fs::path& folder) {
  LeaseRecord record;
  std::int64_t& number = record.lease.changes;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    number = std::max(number, LeaseNumber(entry.path()));
  }
  if (number == 0) return record;
  std::ifstream in(LeaseFile(folder, number));
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  try {
    const Json said = Json::parse(text);
    record.lease.holder = said.at("holder");
    record.lease.duration = said.at("duration_s");
    record.lease.acquired = said.at("acquired");
    record.lease.renewed = said.at("renewed");
    record.boot = said.at("boot");
    record.pid = said.at("pid");
    record.locked = said.at("locked");
  } catch (const Json::exception&) {
    const std::int64_t changes = number;
    record = LeaseRecord();
    record.lease.holder = "unreadable";
    record.lease.changes = changes;
  }
  return record;
}

bool WriteLease(const fs::path& folder, const LeaseRecord& record, bool ours) {
  const fs::path file = LeaseFile(folder, record.lease.changes);
  const fs::path part = folder / fmt::format("allot.lease-{}", record.lease.holder);
  {
    std::ofstream out(part);
    out << Json{{"holder", record.lease.holder},
                {"duration_s", record.lease.duration},
                {"acquired", record.lease.acquired},
                {"renewed", record.lease.renewed},
                {"boot", record.boot},
                {"pid", record.pid},
                {"locked", record.locked}}
               .dump()
        << '\n';
    if (!out.flush()) throw RunError("cannot write '{}': {}", part.string(), SystemMessage());
  }
  if (ours) {
    fs::rename(part, file);
    return true;
  }
  const bool made = ::link(part.c_str(), file.c_str()) == 0;
  const int error = errno;
  fs::remove(part);
  if (made || error == EEXIST) return made;
  throw RunError("cannot make '{}': {}", file.string(), SystemMessage(error));
}

}  // namespace allot
