#include "clients/slurm/slurm_events.h"

#include "clients/slurm/slurm_program.h"
#include "core/strings.h"

namespace allot {

bool SlurmNodeEvent::IsFailure() const {
  for (const SlurmNodeFlag wanted :
       {SlurmNodeFlag::kMaintenance, SlurmNodeFlag::kPoweredDown, SlurmNodeFlag::kPoweringDown,
        SlurmNodeFlag::kPowerDownAsked, SlurmNodeFlag::kPoweringUp, SlurmNodeFlag::kRebootAsked,
        SlurmNodeFlag::kRebootIssued, SlurmNodeFlag::kFuture}) {
    if (state.Has(wanted)) return false;
  }
  return state.Has(SlurmNodeFlag::kDown) || state.Has(SlurmNodeFlag::kFail);
}

std::vector<SlurmNodeEvent> ReadEventsText(std::string_view text) {
  constexpr std::size_t kFields = 5;  // a reason may have more bars
  std::vector<SlurmNodeEvent> events;
  for (const std::string_view line : Split(text, '\n')) {
    const std::vector<std::string_view> fields = Split(line, '|');
    if (fields.size() < kFields || Trim(fields[0]).empty()) continue;
    const auto begin = ParseInteger(Trim(fields[1]));
    if (!begin) continue;
    SlurmNodeEvent event;
    event.node = Trim(fields[0]);
    event.begin = static_cast<std::time_t>(*begin);
    if (const auto end = ParseInteger(Trim(fields[2]))) event.end = static_cast<std::time_t>(*end);
    event.state.AddText(Trim(fields[3]));
    event.reason = Trim(fields[4]);
    events.push_back(std::move(event));
  }
  return events;
}

Status LoadNodeEvents(const std::string& sacctmgr, int days, Seconds patience,
                      std::vector<SlurmNodeEvent>* events) {
  SlurmProgramOutput output;
  Status run = RunSlurmProgram(
      {{sacctmgr, "--noheader", "--parsable2", "show", "event", "event=node",
        fmt::format("start=now-{}days", days), "format=nodename,timestart,timeend,state,reason"},
       SlurmEnvironment(),
       ""},
      SlurmDeadline(patience), &output);
  if (!run.ok()) return run;
  if (output.exit != 0) {
    return Status::Refused("asking for events of nodes: Slurm says: {}", LastLineOf(output));
  }
  *events = ReadEventsText(output.text);
  return Status::Ok();
}

}  // namespace allot
