// Steps in which kernels slow beside collectives, and in which a rank is declared slow.

#include "tests/cli/command.hpp"
#include "tests/support/catch.hpp"

#include <string>

using namespace stepsim::test;
using nlohmann::ordered_json;

namespace {

const std::string run_example = "run scenarios/examples/llama3-8b-fsdp-8xh100.yaml";

double added(const ordered_json& result, const std::string& cause) {
  double sum = 0;
  for (const ordered_json& entry : result.at("clocks_added"))
    if (entry.at("cause") == cause) sum += entry.at("added_s").get<double>();
  return sum;
}

double sum_of(const ordered_json& parts) {
  double sum = 0;
  for (const auto& [name, value] : parts.items())
    if (value.is_number()) sum += value.get<double>();
  return sum;
}

bool assumes(const ordered_json& result, const std::string& start) {
  for (const ordered_json& text : result.at("provenance").at("assumptions"))
    if (text.get<std::string>().find(start) == 0) return true;
  return false;
}

}  // namespace

TEST_CASE("collectives slow the kernels beside them, and the result says by how much") {
  const ordered_json with = stepsim_json(run_example);
  const ordered_json without = stepsim_json(run_example + " --set software.interference=false");
  const double more =
      with.at("step_time_s").get<double>() - without.at("step_time_s").get<double>();
  CHECK(more > 0);
  CHECK(more < 0.4 * without.at("step_time_s").get<double>());
  CHECK(added(with, "interference with shard") == Approx(more).epsilon(0.2));
  CHECK(without.at("clocks_added").empty());
  for (const ordered_json* result : {&with, &without}) {
    CHECK(sum_of(result->at("clocks")) ==
          Approx(result->at("step_time_s").get<double>()).epsilon(1e-12));
    CHECK(sum_of(result->at("timeline")) ==
          Approx(result->at("step_time_s").get<double>()).epsilon(1e-12));
  }
  CHECK(assumes(with, "interference: "));
  CHECK_FALSE(assumes(with, "collectives take no SMs"));
  CHECK(assumes(without, "collectives take no SMs"));
}

TEST_CASE("a rank declared slow holds the others up and is named") {
  const ordered_json usual = stepsim_json(run_example);
  const ordered_json slow =
      stepsim_json(run_example + " --set 'cluster.slow=[{rank: 5, compute_time: 1.3}]'");
  const double more = slow.at("step_time_s").get<double>() - usual.at("step_time_s").get<double>();
  CHECK(more > 0.2 * usual.at("step_time_s").get<double>());
  CHECK(added(slow, "slow rank 5") == Approx(more).epsilon(0.1));
  CHECK(sum_of(slow.at("clocks")) == Approx(slow.at("step_time_s").get<double>()).epsilon(1e-12));
  CHECK(sum_of(slow.at("timeline")) == Approx(slow.at("step_time_s").get<double>()).epsilon(1e-12));
  CHECK(slow.at("simulation").at("classes") == 2);
}
