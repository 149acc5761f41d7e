#include "rules/fair_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "core/index.h"

namespace allot {
namespace {

// A level at which a party begins or ends to grow with the level, by its weight.
struct Bend {
  double level;
  double weight;  // negative: it ends
};

}  // namespace

void FairShares::Find(const Observation& all, const Constraints& constraints,
                      const std::vector<bool>& hidden, const ClusterSpec& shown,
                      std::span<const Guarantee> guarantees) {
  shares_.clear();
  share_of_row_.clear();
  contended_ = false;
  FindMembers(all, constraints, hidden);
  FindAccounts(all, constraints, guarantees);

  std::vector<Party> parties(members_.size());
  std::vector<std::vector<GpuCount>> of_type(members_.size());
  const std::size_t types = shown.types().size();
  for (std::size_t t = 0; types > 1 && t < types; ++t) {
    for (std::size_t m = 0; m < members_.size(); ++m) parties[m] = members_[m].of_type[t];
    const std::vector<GpuCount> gpus = DivideAmongAccounts(
        shown.total_of(static_cast<GpuTypeIndex>(t)).gpus, parties, &shown.types()[t]);
    for (std::size_t m = 0; m < members_.size(); ++m) {
      of_type[m].push_back(gpus[m]);
      members_[m].all.demand -= parties[m].demand - gpus[m];
    }
  }
  GpuCount gpus = shown.total().gpus;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    parties[m] = members_[m].all;
    gpus += parties[m].least;
  }
  WriteShares(DivideAmongAccounts(gpus, parties, nullptr), of_type);
  for (std::size_t r = 0; r < hidden.size(); ++r) {
    if (!hidden[r]) share_of_row_.push_back(member_of_row_[r]);
  }
}

void FairShares::FindMembers(const Observation& all, const Constraints& constraints,
                             const std::vector<bool>& hidden) {
  std::vector<Submitter> submitters;
  for (const Constraints::Owner& owner : constraints.owners) submitters.push_back(owner.submitter);
  std::sort(submitters.begin(), submitters.end());
  submitters.erase(std::unique(submitters.begin(), submitters.end()), submitters.end());
  members_.clear();
  const std::size_t types = all.cluster->types().size();
  for (const Submitter& submitter : submitters) {
    Member member{.submitter = submitter, .all = {}};
    member.all.used = constraints.usage->Of(submitter, all.now);
    if (types > 1) member.of_type.assign(types, member.all);
    members_.push_back(std::move(member));
  }
  member_of_row_.clear();
  asked_of_row_.clear();
  for (std::int32_t row = 0; row < all.rows(); ++row) {
    const Constraints::Owner& owner = constraints.owners[At(row)];
    const auto at = std::lower_bound(submitters.begin(), submitters.end(), owner.submitter);
    member_of_row_.push_back(static_cast<std::int32_t>(at - submitters.begin()));
    Member& member = members_[At(member_of_row_.back())];
    member.all.weight = owner.user_weight;
    for (Party& party : member.of_type) party.weight = owner.user_weight;
    const ConfigurationTable& table = *all.table[At(row)];
    const GpuCount asks = owner.asks.value_or(table[all.requested[At(row)]].demand.gpus);
    if (!hidden[At(row)]) asked_of_row_.push_back(asks);
    AddRow(all, row, hidden[At(row)], asks, &member);
  }
}

void FairShares::AddRow(const Observation& all, std::int32_t row, bool hidden, GpuCount asked,
                        Member* member) const {
  const ConfigurationTable& table = *all.table[At(row)];
  const std::int32_t running = all.running[At(row)];
  const GpuCount has = running < 0 ? 0 : table[running].demand.gpus;
  // An elastic job that asks for little competes with all that it could use: else whoever asks for
  // more would be entitled to all of it, and elastic jobs to nothing beyond what they ask for.
  const GpuCount uses = table.fastest().empty() ? 0 : table[table.fastest().front()].demand.gpus;
  const GpuCount demand = hidden ? has : std::max(asked, uses);
  member->all.demand += demand;
  member->all.allocated += has;
  if (hidden) member->all.least += has;
  if (hidden || member->of_type.empty() || table.types().size() != 1) return;
  Party& party = member->of_type[At(table.types().front())];
  party.demand += demand;
  party.allocated += has;
}

void FairShares::FindAccounts(const Observation& all, const Constraints& constraints,
                              std::span<const Guarantee> guarantees) {
  accounts_.clear();
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const std::int32_t account = members_[m].submitter.account;
    if (m == 0 || account != members_[m - 1].submitter.account) {
      accounts_.push_back(
          {.begin = m, .end = m, .used = constraints.usage->OfAccount(account, all.now)});
    }
    accounts_.back().end = m + 1;
  }
  std::vector<std::size_t> account_of_member(members_.size());
  for (std::size_t a = 0; a < accounts_.size(); ++a) {
    for (std::size_t m = accounts_[a].begin; m < accounts_[a].end; ++m) account_of_member[m] = a;
  }
  for (std::size_t r = 0; r < member_of_row_.size(); ++r) {
    Account& account = accounts_[account_of_member[At(member_of_row_[r])]];
    account.weight = constraints.owners[r].account_weight;
    const std::int32_t guarantee = constraints.guarantee[r];
    if (guarantee >= 0) account.guarantee = &guarantees[At(guarantee)];
  }
}

// Max-min fair by weight: all grow with one level, each from its least to its demand, until the
// GPUs are used up.
std::vector<GpuCount> FairShares::Divide(GpuCount gpus, std::span<const Party> parties) {
  std::vector<GpuCount> shares;
  GpuCount demand = 0;
  double given = 0;
  std::vector<Bend> bends;
  for (const Party& party : parties) {
    const GpuCount least = std::min(party.least, party.demand);
    shares.push_back(party.demand);
    demand += party.demand;
    given += least;
    bends.push_back({least / party.weight, party.weight});
    bends.push_back({party.demand / party.weight, -party.weight});
  }
  if (demand <= gpus) return shares;
  contended_ = true;
  std::sort(bends.begin(), bends.end(),
            [](const Bend& a, const Bend& b) { return a.level < b.level; });
  double level = 0;
  double weight = 0;
  for (const Bend& bend : bends) {
    const double grown = weight * (bend.level - level);
    if (given + grown >= gpus) break;
    given += grown;
    level = bend.level;
    weight += bend.weight;
  }
  if (weight > 0) level += std::max(0.0, gpus - given) / weight;

  constexpr double kRounding = 1e-9;  // relative, so that a whole number stays one
  GpuCount left = gpus;
  std::vector<std::size_t> more;  // parties that could use more than this
  for (std::size_t p = 0; p < parties.size(); ++p) {
    const Party& party = parties[p];
    const auto grown =
        static_cast<GpuCount>(std::floor(party.weight * level * (1 + kRounding) + kRounding));
    shares[p] = std::min(party.demand, std::max(std::min(party.least, party.demand), grown));
    left -= shares[p];
    if (shares[p] < party.demand) more.push_back(p);
  }
  std::stable_sort(more.begin(), more.end(), [&](std::size_t a, std::size_t b) {
    const auto usage = [&](std::size_t p) {
      return parties[p].EffectiveUsage(parties[p].allocated > shares[p] ? 1 : 0);
    };
    return usage(a) < usage(b);
  });
  for (std::size_t m = 0; left > 0 && m < more.size(); ++m, --left) ++shares[more[m]];
  return shares;
}

// `members`: what each asks for; `type`: of which GPUs, null: of any.
std::vector<GpuCount> FairShares::DivideAmongAccounts(GpuCount gpus, std::span<const Party> members,
                                                      const std::string* type) {
  std::vector<Party> parties;
  for (const Account& account : accounts_) {
    Party party{.weight = account.weight, .used = account.used};
    for (const Party& member : members.subspan(account.begin, account.end - account.begin)) {
      party.demand += member.demand;
      party.least += member.least;
      party.allocated += member.allocated;
    }
    const Guarantee* guarantee = account.guarantee;
    if (guarantee != nullptr && (type == nullptr || guarantee->Counts(*type))) {
      party.least = std::max(party.least, guarantee->gpus);
    }
    parties.push_back(party);
  }
  const std::vector<GpuCount> of_account = Divide(gpus, parties);
  std::vector<GpuCount> shares;
  for (std::size_t a = 0; a < accounts_.size(); ++a) {
    const Account& account = accounts_[a];
    const std::vector<GpuCount> of_member =
        Divide(of_account[a], members.subspan(account.begin, account.end - account.begin));
    shares.insert(shares.end(), of_member.begin(), of_member.end());
  }
  return shares;
}

// Leaves out users whose jobs can use no GPUs now and have none; rows refer to shares from now on.
void FairShares::WriteShares(const std::vector<GpuCount>& gpus,
                             const std::vector<std::vector<GpuCount>>& of_type) {
  std::vector<Share> by_member;
  for (const Account& account : accounts_) {
    GpuCount beyond = 0;
    for (std::size_t m = account.begin; m < account.end; ++m) {
      beyond += members_[m].all.allocated - gpus[m];
    }
    const double account_usage =
        Party{.weight = account.weight, .used = account.used}.EffectiveUsage(std::max(0, beyond));
    for (std::size_t m = account.begin; m < account.end; ++m) {
      const Party& party = members_[m].all;
      by_member.push_back({.submitter = members_[m].submitter,
                           .gpus = gpus[m],
                           .hidden = party.least,
                           .of_type = of_type[m],
                           .usage = party.EffectiveUsage(std::max(0, party.allocated - gpus[m])),
                           .account_usage = account_usage});
    }
  }
  std::vector<std::size_t> order(by_member.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t m) {
      const Share& share = by_member[m];
      return std::tuple(share.account_usage, share.submitter.account, share.usage, m);
    };
    return key(a) < key(b);
  });
  std::vector<std::int32_t> share_of_member(members_.size(), -1);
  for (const std::size_t m : order) {
    if (members_[m].all.demand == 0) continue;
    share_of_member[m] = static_cast<std::int32_t>(shares_.size());
    shares_.push_back(std::move(by_member[m]));
  }
  for (std::int32_t& member : member_of_row_) member = share_of_member[At(member)];
}

}  // namespace allot
