#include "sim/population.hpp"

#include <algorithm>
#include <numeric>

namespace stepsim::sim {

namespace {

/// Adds the participants that stand for the given ranks, and binds their slots by `number_of`,
/// which maps a communicator or channel to its rendezvous.
template <class NumberOf>
void add_participants(const Job& job, const Classes& classes, const std::vector<Rank>& ranks,
                      NumberOf number_of, Population& population) {
  for (const Rank rank : ranks) {
    const RankSetup& setup = job.ranks[rank.index()];
    population.participants.push_back({setup.program, rank, classes.of_rank[rank.index()],
                                       static_cast<std::uint32_t>(population.bindings.size())});
    const std::vector<Slot>& slots = job.programs[setup.program.index()].slots;
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      population.bindings.push_back(number_of(slots[slot].is_channel, setup.bindings[slot]));
    }
  }
}

/// Fills `members` from the bindings, in order of participants.
void add_members(const Job& job, Population& population) {
  for (const std::uint32_t id : population.bindings) ++population.rendezvous[id].member_count;
  std::uint32_t first = 0;
  for (Population::Rendezvous& rendezvous : population.rendezvous) {
    rendezvous.first_member = first;
    first += rendezvous.member_count;
    rendezvous.member_count = 0;
  }
  population.members.resize(first);
  for (std::uint32_t i = 0; i < population.participants.size(); ++i) {
    const Population::Participant& participant = population.participants[i];
    const std::size_t slots = job.programs[participant.program.index()].slots.size();
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      Population::Rendezvous& rendezvous =
          population.rendezvous[population.bindings[participant.first_binding + slot]];
      population.members[rendezvous.first_member + rendezvous.member_count++] = {ParticipantId{i},
                                                                                 SlotId{slot}};
    }
  }
}

/// Adds the load that each rendezvous puts on the links it crosses. With classes of links, that is
/// the load on the first link of each.
void add_links(const Job& job, const std::vector<std::uint32_t>& of_communicator,
               const std::vector<std::uint32_t>& of_channel,
               const std::vector<std::uint32_t>& of_link, const Classes& classes,
               Population& population) {
  std::vector<std::uint32_t> first;  // link of each class
  for (std::uint32_t i = 0; i < job.links.size(); ++i) {
    if (of_link[i] != first.size()) continue;
    first.push_back(i);
    population.link_capacity.push_back(job.links[i].capacity);
    population.link_class.push_back(classes.of_link[i]);
  }
  const auto add = [&](std::uint32_t number, const std::vector<LinkUse>& uses) {
    std::vector<LinkUse>& links = population.rendezvous[number].links;
    for (const LinkUse& use : uses) {
      const LinkId link{of_link[use.link.index()]};
      if (first[link.index()] != use.link.value) continue;
      const auto same = [&](const LinkUse& known) { return known.link == link; };
      const auto known = std::find_if(links.begin(), links.end(), same);
      if (known == links.end()) {
        links.push_back({link, use.times});
      } else {
        known->times += use.times;
      }
    }
  };
  for (std::size_t i = 0; i < of_communicator.size(); ++i) {
    add(of_communicator[i], job.communicators[i].links);
  }
  for (std::size_t i = 0; i < of_channel.size(); ++i) {
    add(population.communicator_count + of_channel[i], job.channels[i].links);
  }
  for (Population::Rendezvous& rendezvous : population.rendezvous) {
    std::sort(rendezvous.links.begin(), rendezvous.links.end());
  }
}

/// Binds the participants that stand for `ranks`, given which rendezvous each communicator and
/// channel is and that rendezvous are numbered from `communicator_count` on for channels.
Population make_population(const Job& job, const Classes& classes, const std::vector<Rank>& ranks,
                           const std::vector<std::uint32_t>& of_communicator,
                           const std::vector<std::uint32_t>& of_channel,
                           const std::vector<std::uint32_t>& of_link) {
  Population population;
  const auto rendezvous = [&](std::uint32_t number) -> Population::Rendezvous& {
    if (number >= population.rendezvous.size()) population.rendezvous.resize(number + 1);
    return population.rendezvous[number];
  };
  for (std::size_t i = 0; i < of_communicator.size(); ++i) {
    rendezvous(of_communicator[i]).cost_row = job.communicators[i].cost_row;
  }
  const auto communicators = static_cast<std::uint32_t>(population.rendezvous.size());
  population.communicator_count = communicators;
  for (std::size_t i = 0; i < of_channel.size(); ++i) {
    rendezvous(communicators + of_channel[i]).cost_row = job.channels[i].cost_row;
  }
  const auto number_of = [&](bool is_channel, std::uint32_t id) {
    return is_channel ? communicators + of_channel[id] : of_communicator[id];
  };
  add_participants(job, classes, ranks, number_of, population);
  add_members(job, population);
  add_links(job, of_communicator, of_channel, of_link, classes, population);
  return population;
}

std::vector<std::uint32_t> counting(std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

}  // namespace

Population every_rank(const Job& job, const Classes& classes) {
  std::vector<Rank> ranks;
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r) ranks.push_back(Rank{r});
  return make_population(job, classes, ranks, counting(job.communicators.size()),
                         counting(job.channels.size()), counting(job.links.size()));
}

Population one_of_each_class(const Job& job, const Classes& classes) {
  return make_population(job, classes, classes.representative, classes.of_communicator,
                         classes.of_channel, classes.of_link);
}

}  // namespace stepsim::sim
