#include "workloads/pipeline_schedule.hpp"

#include "workloads/pipeline_schedule_zero_bubble.hpp"

#include "sim/base/error.hpp"

#include <algorithm>

namespace stepsim::workloads {
namespace {

std::vector<PipelinePass> gpipe(const PipelineShape& shape) {
  std::vector<PipelinePass> passes;
  for (int m = 0; m < shape.micro_batches; ++m) passes.push_back({PassKind::forward, 0, m});
  for (int m = 0; m < shape.micro_batches; ++m) passes.push_back({PassKind::backward, 0, m});
  return passes;
}

/// Forward passes first, then one backward a forward, then the backward passes left: what 1F1B and
/// its interleaved form share. `of(k)` is the k-th pass of a kind.
template <class Forward, class Backward>
std::vector<PipelinePass> one_to_one(int warm_up, int all, Forward forward, Backward backward) {
  std::vector<PipelinePass> passes;
  for (int k = 0; k < warm_up; ++k) passes.push_back(forward(k));
  for (int k = warm_up; k < all; ++k) {
    passes.push_back(forward(k));
    passes.push_back(backward(k - warm_up));
  }
  for (int k = all - warm_up; k < all; ++k) passes.push_back(backward(k));
  return passes;
}

std::vector<PipelinePass> one_f_one_b(const PipelineShape& shape, int rank) {
  const int warm_up = std::min(shape.ranks - rank - 1, shape.micro_batches);
  return one_to_one(
      warm_up, shape.micro_batches,
      [](int k) {
        return PipelinePass{PassKind::forward, 0, k};
      },
      [](int k) {
        return PipelinePass{PassKind::backward, 0, k};
      });
}

/// Megatron's schedule table: blocks of as many micro-batches as there are ranks run through one
/// chunk after the other. The last block may be smaller.
std::vector<PipelinePass> interleaved(const PipelineShape& shape, int rank) {
  const int group = shape.ranks;
  const int chunks = shape.virtual_stages;
  std::vector<PipelinePass> table;
  for (int first = 0; first < shape.micro_batches; first += group) {
    const int end = std::min(first + group, shape.micro_batches);
    for (int chunk = 0; chunk < chunks; ++chunk)
      for (int m = first; m < end; ++m) table.push_back({PassKind::forward, chunk, m});
  }
  const int all = static_cast<int>(table.size());
  const int warm_up = std::min(2 * (shape.ranks - rank - 1) + (chunks - 1) * group, all);
  const auto entry = [&](int k) { return table[static_cast<std::size_t>(k)]; };
  return one_to_one(warm_up, all, entry, [&](int k) {
    return PipelinePass{PassKind::backward, chunks - 1 - entry(k).chunk, entry(k).micro_batch};
  });
}

std::string at_least(const char* schedule, int least, const PipelineShape& shape) {
  if (shape.micro_batches >= least) return {};
  return std::string(schedule) + " over " + std::to_string(shape.ranks) + " ranks needs at least " +
         std::to_string(least) + " micro-batches, there are " + std::to_string(shape.micro_batches);
}

std::string interleaved_problem(const PipelineShape& shape) {
  if (shape.virtual_stages < 2)
    return "interleaved needs at least 2 virtual stages a rank; with one it is 1f1b";
  if (shape.ranks < 2) return "interleaved needs pp of at least 2";
  if (shape.micro_batches % shape.ranks != 0)
    return "interleaved needs a number of micro-batches (" + std::to_string(shape.micro_batches) +
           ") divisible by pp (" + std::to_string(shape.ranks) + ")";
  return {};
}

std::string dualpipe_problem(const PipelineShape& shape) {
  if (shape.ranks % 2 != 0) return "dualpipe needs an even pp";
  if (shape.micro_batches % 2 != 0) return "dualpipe needs an even number of micro-batches";
  return at_least("dualpipe", 2 * shape.ranks, shape);
}

}  // namespace

const char* to_string(PipelineSchedule schedule) {
  switch (schedule) {
    case PipelineSchedule::gpipe:
      return "gpipe";
    case PipelineSchedule::one_f_one_b:
      return "1f1b";
    case PipelineSchedule::interleaved:
      return "interleaved";
    case PipelineSchedule::zb1p:
      return "zb1p";
    case PipelineSchedule::zbv:
      return "zbv";
    case PipelineSchedule::dualpipe:
      return "dualpipe";
    case PipelineSchedule::dualpipev:
      return "dualpipev";
  }
  return "";
}

int chunks_per_rank(const PipelineShape& shape) {
  switch (shape.schedule) {
    case PipelineSchedule::interleaved:
      return shape.virtual_stages;
    case PipelineSchedule::zbv:
    case PipelineSchedule::dualpipe:
    case PipelineSchedule::dualpipev:
      return 2;
    default:
      return 1;
  }
}

int stage_count(const PipelineShape& shape) {
  if (shape.schedule == PipelineSchedule::dualpipe) return shape.ranks;
  return shape.ranks * chunks_per_rank(shape);
}

int stage_of(const PipelineShape& shape, int rank, int chunk) {
  switch (shape.schedule) {
    case PipelineSchedule::zbv:
    case PipelineSchedule::dualpipev:
      return chunk == 0 ? rank : 2 * shape.ranks - 1 - rank;
    case PipelineSchedule::dualpipe:
      return chunk == 0 ? rank : shape.ranks - 1 - rank;
    default:
      return chunk * shape.ranks + rank;
  }
}

StagePlace place_of(const PipelineShape& shape, int stage, int chunk) {
  switch (shape.schedule) {
    case PipelineSchedule::zbv:
    case PipelineSchedule::dualpipev:
      if (stage < shape.ranks) return {stage, 0};
      return {2 * shape.ranks - 1 - stage, 1};
    case PipelineSchedule::dualpipe:
      return {chunk == 0 ? stage : shape.ranks - 1 - stage, chunk};
    default:
      return {stage % shape.ranks, stage / shape.ranks};
  }
}

std::string schedule_problem(const PipelineShape& shape) {
  switch (shape.schedule) {
    case PipelineSchedule::interleaved:
      return interleaved_problem(shape);
    case PipelineSchedule::dualpipe:
      return dualpipe_problem(shape);
    case PipelineSchedule::dualpipev:
      return at_least("dualpipev", 2 * shape.ranks, shape);
    default:
      return {};
  }
}

std::vector<PipelinePass> pipeline_passes(const PipelineShape& shape, int rank) {
  if (const std::string problem = schedule_problem(shape); !problem.empty())
    throw InternalError(problem);
  switch (shape.schedule) {
    case PipelineSchedule::gpipe:
      return gpipe(shape);
    case PipelineSchedule::one_f_one_b:
      return one_f_one_b(shape, rank);
    case PipelineSchedule::interleaved:
      return interleaved(shape, rank);
    case PipelineSchedule::zb1p:
      return zb1p_passes(shape, rank);
    case PipelineSchedule::zbv:
      return zbv_passes(shape, rank);
    case PipelineSchedule::dualpipe:
      return dualpipe_passes(shape, rank);
    case PipelineSchedule::dualpipev:
      return dualpipev_passes(shape, rank);
  }
  return {};
}

int most_in_flight(const std::vector<PipelinePass>& passes) {
  int now = 0;
  int most = 0;
  for (const PipelinePass& pass : passes) {
    if (pass.kind == PassKind::forward) most = std::max(most, ++now);
    // A split backward lets go of its activations when the weight gradient is done.
    if (pass.kind == PassKind::backward || pass.kind == PassKind::weight_gradient) --now;
  }
  return most;
}

int steady_micro_batches(const PipelineShape& shape) {
  // Warm-ups are shorter than two rounds of all ranks in every schedule; two more rounds make sure
  // that a whole one repeats, and keep divisors of the number of ranks.
  if (shape.schedule == PipelineSchedule::gpipe) return shape.micro_batches;
  return std::min(shape.micro_batches, 4 * shape.ranks);
}

}  // namespace stepsim::workloads
