#pragma once

/// Pipeline schedules as data: which pass of which micro-batch a pipeline rank runs, in order. Pure
/// functions of the shape; what a pass costs, sends and receives is workloads/megatron.hpp's.
///
/// A rank holds one or several *chunks* of the model, each a *stage* of the pipeline that every
/// micro-batch runs through in order. Sources: Megatron-LM core 0.20
/// (core/pipeline_parallel/schedules.py) for 1f1b and interleaved; PyTorch's ScheduleGPipe,
/// ScheduleInterleavedZeroBubble (zb1p, one stage a rank: ZB-H1) and ScheduleZBVZeroBubble;
/// DeepSeek's dualpipe.py and dualpipev.py. docs/megatron.md draws them.

#include <string>
#include <vector>

namespace stepsim::workloads {

enum class PipelineSchedule { gpipe, one_f_one_b, interleaved, zb1p, zbv, dualpipe, dualpipev };
/// «gpipe», «1f1b», «interleaved», …
const char* to_string(PipelineSchedule schedule);

/// How many ranks and micro-batches a schedule is for.
struct PipelineShape {
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  int ranks = 1;
  int virtual_stages = 1;  // interleaved: chunks a rank
  int micro_batches = 1;
};

enum class PassKind {
  forward,
  backward,         // both gradients
  input_gradient,   // of the activations only: what the stage before waits for
  weight_gradient,  // the rest
};

struct PipelinePass {
  PassKind kind = PassKind::forward;
  int chunk = 0;
  int micro_batch = 0;
  /// DualPipe and DualPipeV: this forward and the backward after it run into each other, so that
  /// each hides the other's communication.
  bool paired_with_next = false;
  friend bool operator==(const PipelinePass&, const PipelinePass&) = default;
};

/// Chunks a rank holds: virtual_stages for interleaved, two for zbv, dualpipe and dualpipev, else
/// one.
int chunks_per_rank(const PipelineShape& shape);
/// Stages a micro-batch runs through: ranks × chunks, except that dualpipe holds every stage twice.
int stage_count(const PipelineShape& shape);
/// The stage that a chunk of a rank is.
int stage_of(const PipelineShape& shape, int rank, int chunk);
/// The rank that runs a stage for the micro-batches of `chunk`'s direction (dualpipe: chunk 0 runs
/// from the first rank to the last, chunk 1 back; elsewhere a stage is on one rank), and its chunk
/// there.
struct StagePlace {
  int rank = 0;
  int chunk = 0;
};
StagePlace place_of(const PipelineShape& shape, int stage, int chunk);

/// Why there is no such schedule, in the framework's words; empty when there is one.
std::string schedule_problem(const PipelineShape& shape);

/// The passes of a rank in the order in which its host issues them. The shape has no problem.
std::vector<PipelinePass> pipeline_passes(const PipelineShape& shape, int rank);

/// The most (chunk, micro-batch) pairs whose activations a rank holds at one time.
int most_in_flight(const std::vector<PipelinePass>& passes);

/// The fewest micro-batches after which more of them no longer change what is in flight: programs
/// that only memory is asked of need no more.
int steady_micro_batches(const PipelineShape& shape);

}  // namespace stepsim::workloads
