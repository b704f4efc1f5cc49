// The answer does not depend on how many ranks are executed.

#include "tests/cli/command.hpp"
#include "tests/support/catch.hpp"

#include <string>
#include <vector>

using namespace stepsim::test;
using nlohmann::ordered_json;

namespace {

/// Without what may differ between equal runs.
ordered_json result_of(ordered_json json) {
  json.erase("simulation");
  json["provenance"].erase("build");
  return json;
}

const std::string small =
    "run scenarios/examples/llama3.2-1b-1xh100.yaml --set training.global_batch=";

std::vector<std::string> commands() {
  const std::string two_nodes = small +
                                "16 --set training.micro_batch=1 --set cluster.nodes=2 "
                                "--set cluster.gpus=16 --set plan.strategy=fsdp2 ";
  const std::string hybrid = small +
                             "32 --set training.micro_batch=1 --set cluster.nodes=4 "
                             "--set cluster.gpus=32 --set plan.strategy=fsdp2 --set plan.shard=16 "
                             "--set plan.replicate=2 ";
  // Groups that straddle nodes, the last of which is partly used.
  const auto straddling = [](int gpus, int shard) {
    return small + std::to_string(gpus) + " --set training.micro_batch=1 --set cluster.nodes=3 " +
           "--set cluster.gpus=" + std::to_string(gpus) +
           " --set plan.strategy=fsdp2 --set plan.shard=" + std::to_string(shard) +
           " --set plan.replicate=" + std::to_string(gpus / shard);
  };
  return {
      "run scenarios/examples/tinyllama-1.1b-fsdp-8xa100.yaml",
      "run scenarios/examples/gpt2-124m-ddp-8xa100.yaml --set "
      "'cluster.slow=[{rank: 3, compute_time: 1.2}]'",
      two_nodes + "--set plan.shard=16",
      two_nodes + "--set plan.shard=16 --set 'cluster.slow=[{node: 1, nic_bandwidth: 0.1}]'",
      two_nodes +
          "--set plan.shard=16 --set software.interference=false --set "
          "'cluster.slow=[{node: 1, nic_bandwidth: 0.1}, {rank: 2, compute_time: 1.5}]'",
      hybrid,
      hybrid +
          "--set 'cluster.slow=[{node: 3, nic_bandwidth: 0.25}, {node: 0, compute_time: 1.1}]'",
      hybrid +
          "--set cluster.fabric.nics_per_node=2 --set "
          "'cluster.slow=[{rank: 1, compute_time: 1.1}]'",
      straddling(24, 12),
      straddling(24, 12) + " --set 'cluster.slow=[{node: 1, nic_bandwidth: 0.2}]'",
      straddling(21, 7) +
          " --set 'cluster.slow=[{node: 2, nic_bandwidth: 0.2}, "
          "{rank: 8, compute_time: 1.2}]'",
  };
}

}  // namespace

TEST_CASE("executing every rank gives the same result") {
  for (const std::string& command : commands()) {
    INFO(command);
    const ordered_json folded = stepsim_json(command);
    const ordered_json every = stepsim_json(command + " --no-fold");
    // Where nearly every rank is a class of its own, every rank is executed anyway.
    const int classes = folded.at("simulation").at("classes").get<int>();
    const int ranks = folded.at("simulation").at("ranks").get<int>();
    CHECK(folded.at("simulation").at("folded") == (4 * classes <= 3 * ranks));
    CHECK(every.at("simulation").at("folded") == false);
    CHECK(every.at("simulation").at("simulated_ranks") == every.at("simulation").at("ranks"));
    CHECK(every.at("simulation").at("classes") == folded.at("simulation").at("classes"));
    CHECK(result_of(folded).dump() == result_of(every).dump());
  }
}

TEST_CASE("a node with slow ports holds the others up and is named") {
  const std::string command = commands()[2];
  const std::string slow_node = " --set 'cluster.slow=[{node: 1, nic_bandwidth: 0.05}]'";
  for (const char* sharing : {" --set software.interference=false", ""}) {
    const ordered_json usual = stepsim_json(command + sharing);
    const ordered_json slow = stepsim_json(command + sharing + slow_node);
    const double more =
        slow.at("step_time_s").get<double>() - usual.at("step_time_s").get<double>();
    CHECK(more > 0.5 * usual.at("step_time_s").get<double>());
    double named = 0;
    for (const ordered_json& entry : slow.at("clocks_added"))
      if (entry.at("cause") == "slow node 1") named += entry.at("added_s").get<double>();
    CHECK(named > 0.9 * more);
    CHECK(named <= slow.at("clocks").at("communication_s").get<double>());
  }
}

TEST_CASE("a step with noise is the same for any number of threads, folded or not") {
  const std::string command =
      commands()[2] + " --set 'cluster.noise={kernel: 0.05, step: 0.02}' --seeds 6 --jobs ";
  const ordered_json one = stepsim_json(command + "1");
  CHECK(one.at("simulation").at("threads") == 1);
  const ordered_json& noise = one.at("noise");
  CHECK(noise.at("seeds") == 6);
  CHECK(noise.at("p50_s") == one.at("step_time_s"));
  CHECK(one.at("provenance").at("seed") == noise.at("median_seed"));
  CHECK(noise.at("min_s") <= noise.at("p10_s"));
  CHECK(noise.at("p10_s") <= noise.at("p50_s"));
  CHECK(noise.at("p50_s") <= noise.at("p90_s"));
  CHECK(noise.at("p90_s") <= noise.at("max_s"));
  CHECK(result_of(stepsim_json(command + "2")).dump() == result_of(one).dump());
  CHECK(result_of(stepsim_json(command + "5 --no-fold")).dump() == result_of(one).dump());
  const double usual = stepsim_json(commands()[2]).at("step_time_s").get<double>();
  CHECK(noise.at("min_s").get<double>() > usual);
}

TEST_CASE("a long run with failures has its goodput, and seeds need noise") {
  const std::string command =
      commands()[0] +
      " --set 'reliability={gpu_failures_per_year: 10, checkpoint_write: 30 s, restart: 5 min}'";
  const ordered_json result = stepsim_json(command);
  const ordered_json& reliability = result.at("reliability");
  const double goodput = reliability.at("goodput").get<double>();
  CHECK(goodput > 0.9);
  CHECK(goodput < 1);
  CHECK(reliability.at("effective_mfu").get<double>() ==
        Approx(goodput * result.at("mfu").get<double>()));
  CHECK(result_of(stepsim_json(command + " --jobs 3")).dump() ==
        result_of(stepsim_json(command + " --jobs 1")).dump());
  CHECK(contains(run_stepsim(command).out, "Long run  200 simulated runs of 30.0 d with failures"));
  const Outcome refused = run_stepsim(commands()[0] + " --seeds 3");
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "--seeds: needs noise, and the scenario has none"));
}
