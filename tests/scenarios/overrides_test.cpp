#include "scenarios/overrides.hpp"

#include "tests/scenarios/scenario_text.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim::scenarios;

TEST_CASE("overrides change keys, add blocks and take keys away") {
  const Scenario scenario = load_text(
      scenario_text(), {"cluster.nodes=4", "plan.shard=null", "training.global_batch=64",
                        "cluster.fabric.kind=fat-tree", "cluster.nodes=8",
                        "training.activation_checkpointing={kind: selective, policy: every_n}"});
  CHECK(scenario.cluster.nodes == 8);
  CHECK(scenario.plan.shard == 64);
  CHECK(scenario.training.global_batch == 64);
  CHECK(scenario.cluster.fabric == stepsim::topology::FabricKind::fat_tree);
  CHECK(scenario.training.selective_policy == stepsim::workloads::SelectivePolicy::every_n);
}

TEST_CASE("problems of an override are located by the override") {
  const auto said = [](const std::string& override) {
    return complaint(scenario_text(), {override});
  };
  CHECK(said("cluster.nodes=0") ==
        "--set cluster.nodes=0: cluster.nodes: is 0 (expected a whole number from 1 to 131072)");
  CHECK(said("cluster.nods=4") ==
        "--set cluster.nods=4: cluster.nods: is not a known key (expected node, nodes, gpus, gpu, "
        "fabric, slow or noise)");
  CHECK(said("cluster.nodes=4") ==
        "s.yaml:7:10: plan.shard: shard 16 times replicate 1 is 16 ranks, but the cluster has 32 "
        "GPUs (expected a product of 32) (did you mean \"32\"?)");
  CHECK(said("cluster.nodes") ==
        "--set cluster.nodes: has no value (expected PATH=VALUE, such as cluster.nodes=16)");
  CHECK(said("=4") ==
        "--set =4: has an empty key in its path (expected PATH=VALUE, such as cluster.nodes=16)");
  CHECK(said("cluster..nodes=4") ==
        "--set cluster..nodes=4: has an empty key in its path (expected PATH=VALUE, such as "
        "cluster.nodes=16)");
  CHECK(said("model.layers=4") ==
        "--set model.layers=4: model is \"llama3-8b\" and has no keys (expected a block of keys)");
  CHECK(said("cluster.nodes=[1") ==
        "--set cluster.nodes=[1: is a list or a block used as a key, or one that is never closed "
        "(expected text)");
  CHECK(said("cluster.nodes=1\nplan: 3") ==
        "--set cluster.nodes=1\\nplan: 3: has a value of several lines (expected one line)");
  CHECK(said("model=/nowhere/missing.json") ==
        "--set model=/nowhere/missing.json: model: /nowhere/missing.json: there is no such file");
  CHECK(said("cluster=null") == "s.yaml:1:1: cluster: is missing");
  CHECK(said("cluster.nodes=\x01") ==
        "--set cluster.nodes=\\x01: is the control character \"\\x01\" (expected a text file)");
  CHECK(said("cluster.nodes={a: 1, a: 2}") ==
        "--set cluster.nodes={a: 1, a: 2}: the key \"a\" is there twice (expected it once; first "
        "at line 1)");
  CHECK(said(std::string(500, 'a') + "=1").size() < 300);
}

TEST_CASE("an empty value is refused: an unset variable must not take a key away silently") {
  for (const std::string value : {"", " ", "\t"}) {
    for (const std::string key : {"plan.shard", "training.activation_checkpointing", "cluster"}) {
      const std::string said = complaint(scenario_text(), {key + "=" + value});
      CAPTURE(key, value, said);
      CHECK(said.find("has an empty value (expected PATH=VALUE, or PATH=null") !=
            std::string::npos);
    }
  }
}
