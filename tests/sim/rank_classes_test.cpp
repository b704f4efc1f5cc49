#include "sim/rank_classes.hpp"

#include "tests/sim/job_fixture.hpp"
#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::sim;
using namespace stepsim::sim::testing;

namespace {

/// Eight ranks in four pairs (tensor), and two communicators across the pairs (data).
struct Grid : JobFixture {
  Grid() {
    const CollectiveId reduce = collective("all_reduce", 0, 10);
    ProgramBuilder b("p");
    const StreamId s = b.add_stream("default", StreamKind::compute);
    const SlotId tensor = b.add_communicator_slot("tensor");
    const SlotId data = b.add_communicator_slot("data");
    b.kernel(s, kernel(10), {});
    b.collective(s, tensor, reduce, {});
    b.collective(s, data, reduce, {});
    const ProgramId p = program(b);
    for (std::uint32_t pair = 0; pair < 4; ++pair) {
      communicator({Rank{2 * pair}, Rank{2 * pair + 1}}, "tensor");
    }
    communicator({Rank{0}, Rank{2}, Rank{4}, Rank{6}}, "data");
    communicator({Rank{1}, Rank{3}, Rank{5}, Rank{7}}, "data");
    for (std::uint32_t r = 0; r < 8; ++r) rank(p, {r / 2, 4 + r % 2});
  }
};

std::vector<std::uint32_t> class_numbers(const Classes& classes) {
  std::vector<std::uint32_t> numbers;
  for (const ClassId id : classes.of_rank) numbers.push_back(id.value);
  return numbers;
}

}  // namespace

TEST_CASE("ranks that nothing tells apart are one class") {
  const Classes classes = find_classes(Grid().job);
  CHECK(classes.count() == 1);
  CHECK(classes.size == std::vector<std::uint32_t>{8});
  CHECK(classes.of_communicator == std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1});
}

TEST_CASE("a slow rank splits off those that can tell, and no others") {
  // Rank 5 is slow. Its tensor partner 4 differs, so does its data communicator {1,3,5,7} and that
  // of its partner {0,2,4,6}: four classes, 0 2 6 | 1 3 7 | 4 | 5.
  Grid grid;
  grid.job.ranks[5].compute_time_millionths = 1'300'000;
  const Classes classes = find_classes(grid.job);
  CHECK(class_numbers(classes) == std::vector<std::uint32_t>{0, 1, 0, 1, 2, 3, 0, 1});
  CHECK(classes.representative == std::vector<Rank>{Rank{0}, Rank{1}, Rank{4}, Rank{5}});
}

TEST_CASE("a communicator that costs more splits its members and their neighbours") {
  Grid grid;
  grid.job.collective_costs.push_back(grid.job.collective_costs[0]);
  grid.job.communicators[3].cost_row = 1;  // ranks 6 and 7, tensor
  const Classes classes = find_classes(grid.job);
  CHECK(class_numbers(classes) == std::vector<std::uint32_t>{0, 0, 0, 0, 0, 0, 1, 1});
}

TEST_CASE("the ranks of a ring are one class, and its channels one class") {
  JobFixture f;
  const CollectiveId message = f.collective("send", 0, 3, "context");
  ProgramBuilder b("p");
  const StreamId out = b.add_stream("out", StreamKind::communication);
  const StreamId in = b.add_stream("in", StreamKind::communication);
  const SlotId next = b.add_channel_slot("context");
  const SlotId before = b.add_channel_slot("context");
  b.send(out, next, message, {});
  b.receive(in, before, message, {});
  const ProgramId p = f.program(b);
  for (std::uint32_t r = 0; r < 5; ++r) f.channel(Rank{r}, Rank{(r + 1) % 5}, "context");
  for (std::uint32_t r = 0; r < 5; ++r) f.rank(p, {r, (r + 4) % 5});
  CHECK(find_classes(f.job).count() == 1);
  f.job.ranks[2].compute_time_millionths = 2'000'000;
  CHECK(find_classes(f.job).count() == 5);  // each is at its own distance from the slow one
}
