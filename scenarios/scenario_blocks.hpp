#pragma once

/// The blocks of a scenario file: which keys there are, what they may be and what they mean. Adding
/// a key to the format is adding a line to scenarios/scenario_blocks.cpp, a field to
/// scenarios/scenario_spec.hpp and its meaning to scenarios/resolve_scenario.cpp.

#include "scenarios/block.hpp"
#include "scenarios/scenario_spec.hpp"

#include <string>

namespace stepsim::scenarios {

/// Largest values the blocks take, chosen so that products of them stay in range.
struct ScenarioLimits {
  static constexpr int gpus = 131'072;
  static constexpr int nodes = 131'072;
  static constexpr int nics_per_node = 1'024;
  static constexpr std::int64_t sequence_length = 10'000'000;
  static constexpr std::int64_t micro_batch = 65'536;
  static constexpr std::int64_t global_batch = 1'000'000'000;
  /// Layers × micro-batches: a program holds the ops of each, about 27 KB (measured: fsdp2, 80
  /// layers, full recomputation).
  static constexpr std::int64_t layer_passes = 100'000;
  /// Tokens of a micro-batch.
  static constexpr std::int64_t micro_batch_tokens = 134'217'728;
  static constexpr std::int64_t seed = 1'000'000'000'000'000;
  static constexpr int seeds = 100'000;
};

const Block<ScenarioSpec>& scenario_block();

/// `none`, `full`, `selective`, or a block with the key kind.
struct Checkpointing {};
bool read_value(const ValueSite& site, const Checkpointing& format, CheckpointingSpec& value);
Json schema_of(const Checkpointing& format);
DocumentNode to_node(const Checkpointing& format, const CheckpointingSpec& value);

/// cluster.noise: a block.
struct NoiseBlock {};
bool read_value(const ValueSite& site, const NoiseBlock& format, NoiseSpec& value);
Json schema_of(const NoiseBlock& format);
DocumentNode to_node(const NoiseBlock& format, const NoiseSpec& value);

/// reliability: a block.
struct ReliabilityBlock {};
bool read_value(const ValueSite& site, const ReliabilityBlock& format, ReliabilitySpec& value);
Json schema_of(const ReliabilityBlock& format);
DocumentNode to_node(const ReliabilityBlock& format, const ReliabilitySpec& value);

/// A list of `{ rank: 17, compute_time: 1.3 }` and `{ node: 3, nic_bandwidth: 0.5 }`.
struct SlowParts {};
bool read_value(const ValueSite& site, const SlowParts& format, SlowPartSpec& value);
Json schema_of(const SlowParts& format);
DocumentNode to_node(const SlowParts& format, const std::vector<SlowPartSpec>& value);

/// A version, or a block of what a user may set of NCCL.
struct NcclBlock {};
bool read_value(const ValueSite& site, const NcclBlock& format, NcclSpec& value);
Json schema_of(const NcclBlock& format);
DocumentNode to_node(const NcclBlock& format, const NcclSpec& value);

/// `{ step_time: …, source: … }`: the block may be absent as a whole.
struct MeasuredBlock {};
bool read_value(const ValueSite& site, const MeasuredBlock& format, MeasuredSpec& value);
Json schema_of(const MeasuredBlock& format);
DocumentNode to_node(const MeasuredBlock& format, const MeasuredSpec& value);

}  // namespace stepsim::scenarios
