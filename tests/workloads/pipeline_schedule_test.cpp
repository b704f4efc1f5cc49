#include "workloads/pipeline_schedule.hpp"

#include "tests/support/catch.hpp"
#include "tests/workloads/pipeline_schedule_golden.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace stepsim::workloads {
namespace {

using testing::golden_schedules;
using testing::GoldenSchedule;

char letter(PassKind kind) {
  switch (kind) {
    case PassKind::forward:
      return 'F';
    case PassKind::backward:
      return 'B';
    case PassKind::input_gradient:
      return 'I';
    case PassKind::weight_gradient:
      return 'W';
  }
  return '?';
}

std::string text_of(const PipelineShape& shape, int rank) {
  std::string text;
  bool in_pair = false;
  for (const PipelinePass& pass : pipeline_passes(shape, rank)) {
    const std::string word = letter(pass.kind) + std::to_string(stage_of(shape, rank, pass.chunk)) +
                             '.' + std::to_string(pass.micro_batch);
    if (in_pair) {
      text += '|' + word + ']';
    } else {
      if (!text.empty()) text += ' ';
      text += pass.paired_with_next ? '[' + word : word;
    }
    in_pair = pass.paired_with_next;
  }
  return text;
}

/// Times of whole stages; a chunk of two takes half.
struct Durations {
  int forward = 2;
  int input_gradient = 2;
  int weight_gradient = 2;
};

/// Runs the schedule with free messages: the step's time, or none when it gets stuck.
class DependencyRun {
 public:
  DependencyRun(const PipelineShape& shape, const Durations& durations)
      : shape_(shape), durations_(durations) {
    for (int rank = 0; rank < shape.ranks; ++rank) passes_.push_back(pipeline_passes(shape, rank));
  }

  std::optional<int> step_time() {
    std::vector<std::size_t> next(passes_.size(), 0);
    std::vector<int> free_at(passes_.size(), 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < passes_.size(); ++rank) {
        while (next[rank] < passes_[rank].size()) {
          const PipelinePass& pass = passes_[rank][next[rank]];
          const std::optional<int> ready = ready_at(static_cast<int>(rank), pass);
          if (!ready) break;
          free_at[rank] = std::max(free_at[rank], *ready) + duration(pass.kind);
          end_[key(static_cast<int>(rank), pass)] = free_at[rank];
          ++next[rank];
          moved = true;
        }
      }
    }
    for (std::size_t rank = 0; rank < passes_.size(); ++rank)
      if (next[rank] < passes_[rank].size()) return std::nullopt;
    return *std::max_element(free_at.begin(), free_at.end());
  }

  int busy() const {
    int sum = 0;
    for (const PipelinePass& pass : passes_.front()) sum += duration(pass.kind);
    return sum;
  }

 private:
  using Key = std::tuple<char, int, int, int>;  // kind, direction, stage, micro-batch

  Key key(char kind, int stage, const PipelinePass& pass) const {
    const bool two_ways = shape_.schedule == PipelineSchedule::dualpipe;
    return {kind, two_ways ? pass.chunk : 0, stage, pass.micro_batch};
  }
  Key key(int rank, const PipelinePass& pass) const {
    const char kind = pass.kind == PassKind::backward ? 'I' : letter(pass.kind);
    return key(kind, stage_of(shape_, rank, pass.chunk), pass);
  }

  std::optional<int> end_of(const Key& key) const {
    const auto found = end_.find(key);
    return found == end_.end() ? std::nullopt : std::optional(found->second);
  }

  std::optional<int> ready_at(int rank, const PipelinePass& pass) const {
    const int stage = stage_of(shape_, rank, pass.chunk);
    if (pass.kind == PassKind::forward)
      return stage == 0 ? std::optional(0) : end_of(key('F', stage - 1, pass));
    if (pass.kind == PassKind::weight_gradient) return end_of(key('I', stage, pass));
    const std::optional<int> forward = end_of(key('F', stage, pass));
    if (!forward || stage + 1 == stage_count(shape_)) return forward;
    const std::optional<int> after = end_of(key('I', stage + 1, pass));
    return after ? std::optional(std::max(*forward, *after)) : std::nullopt;
  }

  int duration(PassKind kind) const {
    const int chunks = shape_.schedule == PipelineSchedule::dualpipe ? 1 : chunks_per_rank(shape_);
    const int whole = kind == PassKind::forward          ? durations_.forward
                      : kind == PassKind::input_gradient ? durations_.input_gradient
                      : kind == PassKind::weight_gradient
                          ? durations_.weight_gradient
                          : durations_.input_gradient + durations_.weight_gradient;
    return whole / chunks;
  }

  PipelineShape shape_;
  Durations durations_;
  std::vector<std::vector<PipelinePass>> passes_;
  std::map<Key, int> end_;
};

int bubble(const PipelineShape& shape, const Durations& durations) {
  DependencyRun run(shape, durations);
  const std::optional<int> time = run.step_time();
  REQUIRE(time.has_value());
  return *time - run.busy();
}

TEST_CASE("pipeline schedules are the golden ones") {
  for (const GoldenSchedule& golden : golden_schedules()) {
    const PipelineShape shape{golden.schedule, 4, golden.virtual_stages, golden.micro_batches};
    for (int rank = 0; rank < 4; ++rank) {
      CAPTURE(to_string(golden.schedule), rank);
      CHECK(text_of(shape, rank) == golden.ranks[static_cast<std::size_t>(rank)]);
    }
  }
}

TEST_CASE("golden schedules hold as many activations as they should") {
  const auto in_flight = [](PipelineSchedule schedule, int virtual_stages, int micro_batches) {
    std::vector<int> most;
    for (int rank = 0; rank < 4; ++rank)
      most.push_back(
          most_in_flight(pipeline_passes({schedule, 4, virtual_stages, micro_batches}, rank)));
    return most;
  };
  CHECK(in_flight(PipelineSchedule::one_f_one_b, 1, 8) == std::vector{4, 3, 2, 1});
  CHECK(in_flight(PipelineSchedule::zb1p, 1, 8) == std::vector{4, 4, 4, 4});
  CHECK(in_flight(PipelineSchedule::interleaved, 2, 8) == std::vector{11, 9, 7, 5});
  CHECK(in_flight(PipelineSchedule::zbv, 1, 8) == std::vector{8, 8, 8, 8});
  CHECK(in_flight(PipelineSchedule::gpipe, 1, 8) == std::vector{8, 8, 8, 8});
}

TEST_CASE("bubbles are those of the formulas when messages are free") {
  const auto [ranks, micro_batches] =
      GENERATE(std::pair(4, 8), std::pair(8, 32), std::pair(16, 64), std::pair(2, 12));
  CAPTURE(ranks, micro_batches);
  const Durations even{12, 12, 12};
  const Durations uneven{12, 24, 8};
  for (const Durations& d : {even, uneven}) {
    const int backward = d.input_gradient + d.weight_gradient;
    using enum PipelineSchedule;
    CHECK(bubble({one_f_one_b, ranks, 1, micro_batches}, d) ==
          (ranks - 1) * (d.forward + backward));
    CHECK(bubble({gpipe, ranks, 1, micro_batches}, d) == (ranks - 1) * (d.forward + backward));
    CHECK(bubble({interleaved, ranks, 2, micro_batches}, d) ==
          (ranks - 1) * (d.forward + backward) / 2);
    CHECK(bubble({interleaved, ranks, 4, micro_batches}, d) ==
          (ranks - 1) * (d.forward + backward) / 4);
  }
  CHECK(bubble({PipelineSchedule::zb1p, ranks, 1, micro_batches}, even) == (ranks - 1) * 12);
  // A chunk is half a stage; the ramp remains because the step ends for all ranks together.
  CHECK(bubble({PipelineSchedule::zbv, ranks, 1, micro_batches}, even) == (ranks - 1) * 6);
}

TEST_CASE("every micro-batch passes every stage forward and backward once, in order") {
  using enum PipelineSchedule;
  const PipelineSchedule schedule =
      GENERATE(gpipe, one_f_one_b, interleaved, zb1p, zbv, dualpipe, dualpipev);
  const int ranks = GENERATE(2, 4, 6);
  const int rounds = GENERATE(2, 5);
  const PipelineShape shape{schedule, ranks, schedule == interleaved ? 3 : 1, rounds * ranks};
  REQUIRE(schedule_problem(shape).empty());
  CAPTURE(to_string(schedule), ranks, rounds);
  for (int rank = 0; rank < ranks; ++rank) {
    std::set<std::tuple<char, int, int>> seen;
    for (const PipelinePass& pass : pipeline_passes(shape, rank)) {
      const bool whole = pass.kind == PassKind::backward;
      if (pass.kind != PassKind::weight_gradient)
        CHECK(
            seen.insert({pass.kind == PassKind::forward ? 'F' : 'I', pass.chunk, pass.micro_batch})
                .second);
      if (whole || pass.kind == PassKind::weight_gradient)
        CHECK(seen.insert({'W', pass.chunk, pass.micro_batch}).second);
    }
    const int chunks = schedule == dualpipe ? 1 : chunks_per_rank(shape);
    CHECK(seen.size() == static_cast<std::size_t>(3 * chunks * shape.micro_batches));
  }
  CHECK(DependencyRun(shape, {}).step_time().has_value());
}

TEST_CASE("stages and their places are each other's inverse") {
  using enum PipelineSchedule;
  for (const PipelineSchedule schedule : {one_f_one_b, interleaved, zbv, dualpipe, dualpipev}) {
    const PipelineShape shape{schedule, 4, 3, 12};
    for (int rank = 0; rank < 4; ++rank) {
      for (int chunk = 0; chunk < chunks_per_rank(shape); ++chunk) {
        const StagePlace place = place_of(shape, stage_of(shape, rank, chunk), chunk);
        CHECK(place.rank == rank);
        CHECK(place.chunk == chunk);
      }
    }
  }
}

TEST_CASE("schedules that frameworks refuse are refused with the reason") {
  using enum PipelineSchedule;
  CHECK(schedule_problem({interleaved, 4, 1, 8}).find("at least 2 virtual stages") !=
        std::string::npos);
  CHECK(schedule_problem({interleaved, 4, 2, 10}).find("divisible by pp (4)") != std::string::npos);
  CHECK(schedule_problem({dualpipe, 3, 1, 8}).find("even pp") != std::string::npos);
  CHECK(schedule_problem({dualpipev, 4, 1, 6}).find("at least 8 micro-batches") !=
        std::string::npos);
  CHECK(schedule_problem({one_f_one_b, 4, 1, 2}).empty());
}

TEST_CASE("what is in flight stops growing at the steady number of micro-batches") {
  using enum PipelineSchedule;
  for (const PipelineSchedule schedule :
       {one_f_one_b, interleaved, zb1p, zbv, dualpipe, dualpipev}) {
    const PipelineShape many{schedule, 4, schedule == interleaved ? 3 : 1, 64};
    PipelineShape few = many;
    few.micro_batches = steady_micro_batches(many);
    for (int rank = 0; rank < 4; ++rank)
      CHECK(most_in_flight(pipeline_passes(few, rank)) ==
            most_in_flight(pipeline_passes(many, rank)));
  }
}

}  // namespace
}  // namespace stepsim::workloads
