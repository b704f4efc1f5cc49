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

// Any path may stand there too, so that the names are only offered.
Json names_or_path(const std::vector<std::string>& names) {
  return {
      {"anyOf", Json::array({Json{{"enum", names}}, Json{{"type", "string"}, {"pattern", "[/.]"}},
                             Json{{"type", "object"}}})}};
}

void offer(Json& key, const std::vector<std::string>& names) {
  key.erase("type");
  Json offered = names_or_path(names);
  offered.update(key);
  key = offered;
}

}  // namespace

std::string scenario_schema(const DataDirectory& data) {
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"title", "stepsim scenario"}};
  schema.update(scenario_block().schema(defaults()));
  Json& properties = schema["properties"];
  offer(properties["model"], workloads::zoo_names(data));
  offer(properties["cluster"]["properties"]["node"], topology::node_names(data));
  return schema.dump(2) + '\n';
}

}  // namespace stepsim::scenarios
