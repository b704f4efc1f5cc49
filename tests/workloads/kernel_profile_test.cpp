#include "workloads/kernel_profile.hpp"

#include "workloads/kernel_grid.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/temporary_path.hpp"

#include <filesystem>
#include <fstream>
#include <string>

using namespace stepsim;
using namespace stepsim::workloads;

namespace {

/// A data directory with one profile in it, removed at the end of the test.
class ProfileFolder {
 public:
  ProfileFolder() {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ / "workloads" / "kernels");
  }
  ~ProfileFolder() { std::filesystem::remove_all(root_); }
  ProfileFolder(const ProfileFolder&) = delete;
  ProfileFolder& operator=(const ProfileFolder&) = delete;

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / "workloads" / "kernels" / name) << text;
  }
  DataDirectory data() const { return DataDirectory(root_); }
  std::string error(const std::string& name) const {
    try {
      read_kernel_profile(data(), name);
    } catch (const InputError& problem) {
      return problem.what();
    }
    return "";
  }

 private:
  std::filesystem::path root_ = temporary_path("kernel-profile-test");
};

const std::string gemm_block = R"(
gemm:
  bf16:
    source: assumed
    note: "made up"
    launch: 2 us
    math_efficiency: 0.9
    tile_half_size: 1
    k_fill: 100
    feed: 100 GB/s
    memory_efficiency: 0.8
    l2_share: 0.5
    warm_share: 0.1
    wave_quantisation: 0.1
    wave_latency: 0.1 us
    split_k: 2 us
    sustained_slowdown: 0.1
)";
const std::string other_blocks = R"(
attention:
  forward:
    source: fitted
    note: "made up"
    launch: 5 us
    row: 1 us
    memory_efficiency: 0.8
    quantisation: 1
    prepare_passes: 2
    head_dims:
      - { head_dim: 128, efficiency: 0.5, source: fitted, note: "made up" }
  backward:
    - { head_dim: 64, ratio: 2.5, source: assumed, note: "made up" }
    - { head_dim: 128, ratio: 3, source: assumed, note: "made up" }
  kernels:
    flash2: { value: 1.5, source: assumed, note: "made up" }
streaming:
  elementwise:
    efficiency: { value: 0.8, source: assumed, note: "made up" }
    start: { value: 2 us, source: assumed, note: "made up" }
)";

}  // namespace

TEST_CASE("a profile is read with its units and sources", "[kernel_profile]") {
  const ProfileFolder folder;
  folder.write("one.yaml", "device: one" + gemm_block + other_blocks);
  const KernelProfile profile = read_kernel_profile(folder.data(), "one");
  const GemmProfile& gemm = profile.gemm.at(topology::MatrixFormat::bf16);
  CHECK(gemm.coefficients.launch_s == Approx(2e-6));
  CHECK(gemm.coefficients.feed_bytes_per_s_per_sm == 1e11);
  CHECK(gemm.source.kind == SourceKind::assumed);
  CHECK(gemm.inherited_from.empty());
  CHECK(profile.attention.coefficients.head_dims.at(0).measured);
  CHECK(profile.attention.kernel_factor.at(AttentionKernel::flash2).value == 1.5);
  CHECK(profile.streaming.at(StreamingKind::elementwise).start_s.value == Approx(2e-6));
  CHECK(backward_ratio(profile.attention, 128).value == 3);
  CHECK(backward_ratio(profile.attention, 96).value == 2.5);
  CHECK(backward_ratio(profile.attention, 32).value == 2.5);
  CHECK(backward_ratio(profile.attention, 256).value == 3);
}

TEST_CASE("a profile takes from the one it inherits what it does not say", "[kernel_profile]") {
  const ProfileFolder folder;
  folder.write("one.yaml", "device: one" + gemm_block + other_blocks);
  folder.write("two.yaml", R"(device: two
inherits: one
attention:
  backward: [{ head_dim: 128, ratio: 4, source: measured, note: "made up" }]
)");
  const KernelProfile profile = read_kernel_profile(folder.data(), "two");
  CHECK(profile.device == "two");
  CHECK(profile.gemm.at(topology::MatrixFormat::bf16).inherited_from == "one");
  CHECK(profile.attention.inherited_from == "one");
  CHECK(profile.attention.backward_ratio.size() == 1);
  CHECK(backward_ratio(profile.attention, 64).value == 4);
  CHECK(profile.streaming.at(StreamingKind::elementwise).inherited_from == "one");
}

TEST_CASE("a profile that inherits itself or nothing known is refused", "[kernel_profile]") {
  const ProfileFolder folder;
  folder.write("one.yaml", "device: one\ninherits: one\n");
  CHECK(folder.error("one").find("inherits") != std::string::npos);
  folder.write("two.yaml", "device: two\ninherits: three\n");
  folder.write("three.yaml", "device: three\ninherits: two\n");
  CHECK(folder.error("two").find("inherits") != std::string::npos);
  folder.write("four.yaml", "device: four\ninherits: nowhere\n");
  CHECK(folder.error("four").find("nowhere") != std::string::npos);
}

TEST_CASE("every problem of a profile is reported with its place", "[kernel_profile]") {
  const ProfileFolder folder;
  std::string broken = gemm_block;
  broken.replace(broken.find("0.9"), 3, "1.9");
  broken.replace(broken.find("launch: 2 us"), 12, "launch: 2   ");
  folder.write("one.yaml", "device: one\nspeed: 3" + broken + other_blocks);
  const std::string error = folder.error("one");
  CHECK(error.find("gemm.bf16.math_efficiency") != std::string::npos);
  CHECK(error.find("gemm.bf16.launch") != std::string::npos);
  CHECK(error.find("one.yaml:2:1: speed") != std::string::npos);
}

TEST_CASE("a grid survives being written and read", "[kernel_grid]") {
  const GemmCorrection grid{
      {1, 128, 129}, {32, 64}, {32, 4096}, {0, -5, 7, 1, 2, 3, 4, 5, 6, 7, 8, 9}};
  const GemmCorrection read = parse_grid(grid_text(grid), "grid.csv");
  CHECK(read.m == grid.m);
  CHECK(read.n == grid.n);
  CHECK(read.k == grid.k);
  CHECK(read.percent == grid.percent);
}

TEST_CASE("a grid that is none is refused with its line", "[kernel_grid]") {
  const auto error = [](const std::string& text) -> std::string {
    try {
      parse_grid(text, "grid.csv");
    } catch (const InputError& problem) {
      return problem.what();
    }
    return "";
  };
  CHECK(error("").find("grid.csv") != std::string::npos);
  CHECK(error("a,b\n").find("grid.csv:1") != std::string::npos);
  CHECK(error("m,n,1,2\n1,1,0\n").find("grid.csv:2") != std::string::npos);
  CHECK(error("m,n,1,2\n1,1,0,x\n").find("grid.csv:2") != std::string::npos);
  CHECK(error("m,n,1,2\n1,1,0,0,0\n").find("too many") != std::string::npos);
  CHECK(error("m,n,2,1\n").find("rise") != std::string::npos);
  CHECK(error("m,n,1,2\n1,1,0,0\n1,2,0,0\n2,2,0,0\n").find("order") != std::string::npos);
  CHECK(error("m,n,1,2\n1,1,0,0\n1,2,0,0\n2,1,0,0\n").find("not complete") != std::string::npos);
  CHECK(error("m,n,1,2\n1,1,0,5000\n").find("1000") != std::string::npos);
  CHECK(error("m,n,1,2\n1,1,0,0\n1,2,0,0\n2,1,0,0\n2,2,0,0\n").empty());
}
