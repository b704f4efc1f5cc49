#pragma once

/// Which rank has which place in a plan of tensor, data and pipeline parallel groups.

#include "workloads/plan.hpp"

#include "sim/ids.hpp"

#include <array>
#include <string>
#include <vector>

namespace stepsim::workloads {

enum class GridAxis { tensor, data, pipeline };
constexpr int grid_axis_count = 3;

/// A rank's place along each axis.
struct GridPlace {
  int tensor = 0;
  int data = 0;
  int pipeline = 0;
};

/// Ranks are numbered along the axes in the plan's rank_order, the first fastest: «tp-cp-ep-dp-pp»
/// puts tensor groups on neighbouring ranks and pipeline neighbours tp × dp ranks apart.
class RankGrid {
 public:
  explicit RankGrid(const Plan& plan);

  int ranks() const;
  int size(GridAxis axis) const { return sizes_[index(axis)]; }
  sim::Rank rank(const GridPlace& place) const;
  GridPlace place(sim::Rank rank) const;

 private:
  static std::size_t index(GridAxis axis) { return static_cast<std::size_t>(axis); }

  std::array<int, grid_axis_count> sizes_{};
  std::array<int, grid_axis_count> strides_{};
};

/// Why an order is none, or empty: it names tp, dp and pp once each, and may name cp and ep.
std::string rank_order_problem(const std::string& order);

}  // namespace stepsim::workloads
