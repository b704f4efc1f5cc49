#include "workloads/rank_grid.hpp"

#include <algorithm>
#include <sstream>

namespace stepsim::workloads {
namespace {

std::vector<std::string> names_of(const std::string& order) {
  std::vector<std::string> names;
  std::istringstream text(order);
  for (std::string name; std::getline(text, name, '-');) names.push_back(name);
  return names;
}

}  // namespace

RankGrid::RankGrid(const Plan& plan) {
  sizes_ = {plan.tp, plan.replicate, plan.pp};
  int stride = 1;
  const auto next = [&](GridAxis axis) {
    strides_[index(axis)] = stride;
    stride *= size(axis);
  };
  for (const std::string& name : names_of(plan.rank_order)) {
    if (name == "tp") next(GridAxis::tensor);
    if (name == "dp") next(GridAxis::data);
    if (name == "pp") next(GridAxis::pipeline);
  }
}

int RankGrid::ranks() const { return sizes_[0] * sizes_[1] * sizes_[2]; }

sim::Rank RankGrid::rank(const GridPlace& place) const {
  return {static_cast<std::uint32_t>(place.tensor * strides_[0] + place.data * strides_[1] +
                                     place.pipeline * strides_[2])};
}

GridPlace RankGrid::place(sim::Rank rank) const {
  const auto along = [&](GridAxis axis) {
    return static_cast<int>(rank.value) / strides_[index(axis)] % size(axis);
  };
  return {along(GridAxis::tensor), along(GridAxis::data), along(GridAxis::pipeline)};
}

std::string rank_order_problem(const std::string& order) {
  const std::vector<std::string> names = names_of(order);
  const auto count = [&](const char* name) { return std::count(names.begin(), names.end(), name); };
  for (const std::string& name : names)
    if (name != "tp" && name != "cp" && name != "ep" && name != "dp" && name != "pp")
      return "names \"" + name + "\", which is no axis";
  for (const char* name : {"tp", "dp", "pp"})
    if (count(name) != 1) return std::string("has to name ") + name + " once";
  for (const char* name : {"cp", "ep"})
    if (count(name) > 1) return std::string("names ") + name + " twice";
  return {};
}

}  // namespace stepsim::workloads
