#include "workloads/host_launch_costs.hpp"

#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::workloads;

TEST_CASE("issuing costs host time a launch, and none inside a graph", "[host_costs]") {
  const HostCosts costs = default_host_costs();
  const Kernel chain{"rms_norm", Streaming{}, 8};
  CHECK(issue_time(chain, LaunchMode::eager, costs) == Time::microseconds(80));
  CHECK(issue_time(chain, LaunchMode::compiled, costs) == Time::microseconds(48));
  CHECK(issue_time(chain, LaunchMode::graph, costs) == Time::zero());
  CHECK(launch_mode(true, true) == LaunchMode::graph);
  CHECK(launch_mode(true, false) == LaunchMode::compiled);
  CHECK(launch_mode(false, false) == LaunchMode::eager);
}

TEST_CASE("every host cost says where it comes from", "[host_costs]") {
  const HostCosts costs = default_host_costs();
  for (const auto* cost : {&costs.eager_kernel, &costs.compiled_kernel, &costs.graph_launch,
                           &costs.graph_node, &costs.launch_latency}) {
    CHECK(cost->value > Time::zero());
    CHECK_FALSE(cost->source.note.empty());
  }
}
