#include "workloads/streaming_cost.hpp"

#include "tests/support/catch.hpp"

using namespace stepsim::workloads;

namespace {

const StreamingMachine machine{1e12, 10e12};
const StreamingCoefficients coefficients{0.8, 2e-6};

double total(double bytes, int launches) {
  return streaming_time({StreamingKind::elementwise, bytes / 2, bytes / 2}, launches, machine,
                        coefficients)
      .total_s;
}

}  // namespace

TEST_CASE("a kernel that moves bytes takes its start and its bytes", "[streaming_cost]") {
  CHECK(total(0, 1) == 2e-6);
  CHECK(total(8e8, 1) == Approx(2e-6 + 1e-3));
  CHECK(total(8e8, 3) == Approx(6e-6 + 1e-3));
}

TEST_CASE("no number of launches is a launch, and bytes never make it faster", "[streaming_cost]") {
  CHECK(total(0, 0) == total(0, 1));
  double previous = 0;
  for (const double bytes : {0.0, 1.0, 1e3, 1e6, 1e9, 1e12}) {
    CHECK(total(bytes, 1) >= previous);
    CHECK(total(bytes, 1) >= bytes / machine.memory_bytes_per_s);
    previous = total(bytes, 1);
  }
}

TEST_CASE("arithmetic outside the tensor cores limits when it is the slower", "[streaming_cost]") {
  const Streaming heavy{StreamingKind::elementwise, 1e6, 0, 1e11};
  const StreamingTime time = streaming_time(heavy, 1, machine, coefficients);
  CHECK(time.compute_s == Approx(1e-2));
  CHECK(time.total_s == Approx(2e-6 + 1e-2));
}
