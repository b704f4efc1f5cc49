// What a scenario says of a cluster that is not as good as its types: slow parts, noise, failures.

#include "scenarios/scenario_blocks.hpp"

namespace stepsim::scenarios {

namespace {

const Block<SlowPartSpec>& slow_part_block() {
  static const Block<SlowPartSpec> block =
      Block<SlowPartSpec>()
          .optional("rank", &SlowPartSpec::rank, Integer{0, ScenarioLimits::gpus - 1},
                    "Which GPU, counted from 0")
          .optional("node", &SlowPartSpec::node, Integer{0, ScenarioLimits::nodes - 1},
                    "Or which node, counted from 0: all of its GPUs, or its network ports")
          .optional("compute_time", &SlowPartSpec::compute_time, Number{1, 1000},
                    "How long its kernels take, as a multiple of what they take on its type")
          .optional("nic_bandwidth", &SlowPartSpec::nic_bandwidth, Number{0.001, 1},
                    "What each network port of the node carries, as a share of its line rate");
  return block;
}

const Block<NoiseSpec>& noise_block() {
  static const Block<NoiseSpec> block =
      Block<NoiseSpec>()
          .optional("kernel", &NoiseSpec::kernel, Number{0, 0.5},
                    "By what share each kernel's time varies: evenly between 1 - kernel and 1 + "
                    "kernel of what it costs")
          .optional("step", &NoiseSpec::step, Number{0, 0.1},
                    "Standard deviation of the pace of a rank in a step, as a share of 1")
          .optional("seed", &NoiseSpec::seed, Integer{0, ScenarioLimits::seed},
                    "Of the first step; the others count on from it")
          .optional("seeds", &NoiseSpec::seeds, Integer{1, ScenarioLimits::seeds},
                    "How many steps to simulate, each with a seed of its own");
  return block;
}

const Block<ReliabilitySpec>& reliability_block() {
  static const Block<ReliabilitySpec> block =
      Block<ReliabilitySpec>()
          .optional("gpu_failures_per_year", &ReliabilitySpec::gpu_failures_per_year,
                    Number{0, 1000}, "Failures of each GPU in a year that end the job")
          .optional("node_failures_per_year", &ReliabilitySpec::node_failures_per_year,
                    Number{0, 1000}, "Failures of each node in a year, besides those of its GPUs")
          .optional("link_failures_per_year", &ReliabilitySpec::link_failures_per_year,
                    Number{0, 1000}, "Failures of each network port and its cable in a year")
          .required("checkpoint_write", &ReliabilitySpec::checkpoint_write, Duration{},
                    "How long training waits for a checkpoint to be written")
          .optional("checkpoint_interval", &ReliabilitySpec::checkpoint_interval, Duration{},
                    "Work between two checkpoints; the optimum by Daly's formula when left out")
          .required("restart", &ReliabilitySpec::restart, Duration{},
                    "From a failure until training goes on: detection, replacement, loading")
          .optional("days", &ReliabilitySpec::days, Number{0.01, 3650}, "Length of the run")
          .optional("runs", &ReliabilitySpec::runs, Integer{1, 100'000},
                    "How many runs to simulate, each with failures of its own")
          .optional("seed", &ReliabilitySpec::seed, Integer{0, ScenarioLimits::seed},
                    "Of the failures");
  return block;
}

}  // namespace

bool read_value(const ValueSite& site, const SlowParts& /*format*/, SlowPartSpec& value) {
  return slow_part_block().read(site.node, site.path, site.diagnostics, value);
}

Json schema_of(const SlowParts& /*format*/) {
  return {{"type", "array"}, {"items", slow_part_block().schema({})}};
}

DocumentNode to_node(const SlowParts& /*format*/, const std::vector<SlowPartSpec>& value) {
  DocumentNode list;
  list.kind = NodeKind::list;
  for (const SlowPartSpec& part : value) list.items.push_back(slow_part_block().write(part));
  return list;
}

bool read_value(const ValueSite& site, const NoiseBlock& /*format*/, NoiseSpec& value) {
  return noise_block().read(site.node, site.path, site.diagnostics, value);
}

Json schema_of(const NoiseBlock& /*format*/) {
  NoiseSpec defaults;
  defaults.seed = 0;
  defaults.seeds = usual_noise_seeds;
  return noise_block().schema(defaults);
}

DocumentNode to_node(const NoiseBlock& /*format*/, const NoiseSpec& value) {
  return noise_block().write(value);
}

bool read_value(const ValueSite& site, const ReliabilityBlock& /*format*/, ReliabilitySpec& value) {
  return reliability_block().read(site.node, site.path, site.diagnostics, value);
}

Json schema_of(const ReliabilityBlock& /*format*/) {
  ReliabilitySpec defaults;
  defaults.days = usual_run_days;
  defaults.runs = usual_runs;
  defaults.seed = 0;
  return reliability_block().schema(defaults);
}

DocumentNode to_node(const ReliabilityBlock& /*format*/, const ReliabilitySpec& value) {
  return reliability_block().write(value);
}

}  // namespace stepsim::scenarios
