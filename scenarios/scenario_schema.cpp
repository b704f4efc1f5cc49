#include "scenarios/inline_block_schemas.hpp"
#include "scenarios/resolve_scenario.hpp"
#include "scenarios/scenario.hpp"
#include "scenarios/scenario_blocks.hpp"

#include "workloads/hf_config.hpp"

namespace stepsim::scenarios {

namespace {

// Of keys whose default does not depend on other keys.
ScenarioSpec defaults() {
  ScenarioSpec spec = spec_of(Scenario{});
  spec.model.reset();
  spec.cluster.node.reset();
  spec.cluster.nodes.reset();
  spec.cluster.gpus.reset();
  spec.plan.strategy.reset();
  spec.plan.shard.reset();
  spec.plan.replicate.reset();
  spec.plan.gradient_as_bucket_view = workloads::Plan{}.gradient_as_bucket_view;
  spec.training.sequence_length.reset();
  spec.training.global_batch.reset();
  spec.training.reduce_precision.reset();
  return spec;
}

// Any path may stand there too, so that the names are only offered; or a block.
void offer(Json& key, const std::vector<std::string>& names, Json block) {
  key.erase("type");
  const Json path = {{"type", "string"}, {"pattern", "[/.]"}};
  Json offered = {{"anyOf", Json::array({Json{{"enum", names}}, path, std::move(block)})}};
  offered.update(key);
  key = offered;
}

}  // namespace

std::string scenario_schema(const DataDirectory& data) {
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"title", "stepsim scenario"}};
  schema.update(scenario_block().schema(defaults()));
  Json& properties = schema["properties"];
  offer(properties["model"], workloads::zoo_names(data), model_block_schema());
  offer(properties["cluster"]["properties"]["node"], topology::node_names(data),
        node_block_schema(data));
  return schema.dump(2) + '\n';
}

}  // namespace stepsim::scenarios
