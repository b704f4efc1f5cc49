#include "tests/support/catch.hpp"
#include "tests/topology/nccl_fixture.hpp"

using namespace stepsim;
using namespace stepsim::topology::nccl;

namespace {

constexpr std::int64_t mebibyte = 1 << 20;

}  // namespace

TEST_CASE("with 2.27.7 an H200 node changes from ring to NVLS between 4 and 5 GPUs", "[nccl]") {
  const TestSystem system("dgx-h200", "2.27.7");
  for (int gpus = 4; gpus <= 8; ++gpus) {
    const Choice choice = system.choose_of(system.communicator(1, gpus), Operation::all_reduce,
                                           std::int64_t{8192} * mebibyte);
    INFO(gpus << " GPUs");
    CHECK((choice.algorithm == Algorithm::ring) == (gpus <= 4));
    CHECK((choice.algorithm == Algorithm::nvls) == (gpus >= 5));
  }
}

TEST_CASE("with 2.27.7 a B200 node changes from ring to NVLS between 5 and 6 GPUs", "[nccl]") {
  const TestSystem system("dgx-b200", "2.27.7");
  for (int gpus = 4; gpus <= 8; ++gpus) {
    const Choice choice = system.choose_of(system.communicator(1, gpus), Operation::all_reduce,
                                           std::int64_t{8192} * mebibyte);
    INFO(gpus << " GPUs");
    CHECK((choice.algorithm == Algorithm::ring) == (gpus <= 5));
    CHECK((choice.algorithm == Algorithm::nvls) == (gpus >= 6));
  }
}

TEST_CASE("with 2.27.7 eight H200 use an LL ring up to 1 MiB and NVLS from 2 MiB", "[nccl]") {
  const TestSystem system("dgx-h200", "2.27.7");
  const Communicator node = system.communicator(1);
  const Choice small = system.choose_of(node, Operation::all_reduce, mebibyte);
  CHECK(small.algorithm == Algorithm::ring);
  CHECK(small.protocol == Protocol::ll);
  CHECK(small.time_us == Approx(28.0).margin(0.05));
  const Choice large = system.choose_of(node, Operation::all_reduce, 2 * mebibyte);
  CHECK(large.algorithm == Algorithm::nvls);
  CHECK(large.time_us == Approx(32.9).margin(0.05));
}

TEST_CASE("five nodes of H100 with four ports have the measured ring and tree ceilings", "[nccl]") {
  // NVIDIA/nccl issue 1368: ring 190 GB/s, tree 150 GB/s of bus bandwidth.
  const TestSystem system("hgx-h100-4nic");
  const Communicator communicator = system.communicator(5);
  const double to_bus = 2.0 * 39 / 40;
  CHECK(to_bus * candidate_bandwidth(communicator, Operation::all_reduce, Algorithm::ring,
                                     Protocol::simple) ==
        Approx(192).epsilon(0.02));
  CHECK(to_bus * candidate_bandwidth(communicator, Operation::all_reduce, Algorithm::tree,
                                     Protocol::simple) ==
        Approx(150).epsilon(0.03));
}

TEST_CASE("PAT serves one rank a node and nothing else", "[nccl]") {
  const TestSystem system("dgx-h100");
  const auto has_pat = [&](int nodes, int gpus) {
    const auto found = candidates(system.communicator(nodes, gpus), Operation::all_gather);
    return std::any_of(found.begin(), found.end(),
                       [](const Candidate& c) { return c.algorithm == Algorithm::pat; });
  };
  CHECK(has_pat(16, 1));
  CHECK_FALSE(has_pat(16, 2));
  CHECK_FALSE(has_pat(1, 8));
}

TEST_CASE("LL128 needs NVLink between the GPUs of a node", "[nccl]") {
  const TestSystem box("h100-pcie-box");
  for (const Candidate& candidate : candidates(box.communicator(1), Operation::all_reduce)) {
    CHECK(candidate.protocol != Protocol::ll128);
  }
}

TEST_CASE("broadcast uses a ring in every protocol", "[nccl]") {
  const TestSystem system("dgx-h100");
  const auto found = candidates(system.communicator(2), Operation::broadcast);
  CHECK(found.size() == protocol_count);
  for (const Candidate& candidate : found) CHECK(candidate.algorithm == Algorithm::ring);
}

TEST_CASE("the chosen time never falls as messages grow, beyond the tree's own correction",
          "[nccl]") {
  for (const char* node : {"dgx-a100", "dgx-h100", "dgx-b200", "h100-pcie-box", "gb200-nvl72"}) {
    const TestSystem system(node);
    for (const int nodes : {1, 2, 4, 16}) {
      const Communicator communicator = system.communicator(nodes);
      for (const Operation operation : {Operation::all_gather, Operation::broadcast}) {
        double previous = 0;
        for (std::int64_t bytes = 256; bytes <= std::int64_t{1} << 34; bytes += bytes / 4) {
          const double time = system.choose_of(communicator, operation, bytes).time_us;
          INFO(node << " x " << nodes << ", " << bytes << " B");
          CHECK(time >= previous);
          previous = time;
        }
      }
    }
  }
}
