#include "workloads/stage_layout.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <numeric>

namespace stepsim::workloads {
namespace {

std::int64_t stages_of(const Plan& plan) { return stage_count(pipeline_shape(plan, 1)); }

std::int64_t counted_layers(const Plan& plan, std::int64_t layers) {
  return layers + (plan.embedding_as_layer ? 1 : 0) + (plan.head_as_layer ? 1 : 0);
}

std::string listed_problem(const Plan& plan, std::int64_t layers) {
  const auto stages = static_cast<std::size_t>(stages_of(plan));
  if (plan.stage_layers.size() != stages)
    return "lists " + std::to_string(plan.stage_layers.size()) + " stages, there are " +
           std::to_string(stages);
  const std::int64_t sum =
      std::accumulate(plan.stage_layers.begin(), plan.stage_layers.end(), std::int64_t{0});
  if (sum != layers)
    return "adds up to " + std::to_string(sum) + " layers, the model has " + std::to_string(layers);
  return {};
}

}  // namespace

std::string stage_layout_problem(const Plan& plan, std::int64_t layers) {
  if (!plan.stage_layers.empty()) return listed_problem(plan, layers);
  const std::int64_t stages = stages_of(plan);
  const std::int64_t counted = counted_layers(plan, layers);
  if (counted % stages == 0) return {};
  std::string what = std::to_string(layers) + " layers";
  if (plan.embedding_as_layer) what += " and the embedding";
  if (plan.head_as_layer) what += " and the head";
  return what + " (" + std::to_string(counted) + ") do not divide into " + std::to_string(stages) +
         " pipeline stages";
}

std::vector<StageContent> stage_contents(const Plan& plan, std::int64_t layers) {
  if (const std::string problem = stage_layout_problem(plan, layers); !problem.empty())
    throw InternalError(problem);
  std::vector<StageContent> stages(static_cast<std::size_t>(stages_of(plan)));
  const std::int64_t even = counted_layers(plan, layers) / static_cast<std::int64_t>(stages.size());
  for (std::size_t i = 0; i < stages.size(); ++i)
    stages[i].layers = plan.stage_layers.empty() ? even : plan.stage_layers[i];
  stages.front().embedding = true;
  stages.back().head = true;
  if (plan.stage_layers.empty()) {
    if (plan.embedding_as_layer) --stages.front().layers;
    if (plan.head_as_layer) --stages.back().layers;
  }
  std::int64_t first = 0;
  for (StageContent& stage : stages) {
    stage.first_layer = first;
    first += stage.layers;
  }
  return stages;
}

}  // namespace stepsim::workloads
