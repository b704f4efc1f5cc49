#include "calibrate/profile_writer.hpp"

#include "calibrate/kernel_priors.hpp"

#include "workloads/kernel_grid.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/temporary_path.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace stepsim;
using namespace stepsim::calibrate;
using namespace stepsim::workloads;

namespace {

KernelProfile example() {
  KernelProfile profile;
  profile.device = "made-up";
  for (const auto format : {topology::MatrixFormat::bf16, topology::MatrixFormat::fp8}) {
    GemmProfile& gemm = profile.gemm[format];
    gemm.coefficients = gemm_prior(topology::Architecture::hopper, format);
    gemm.source = {SourceKind::fitted, "made up"};
    gemm.correction = {{1, 2}, {3, 4}, {5, 6}, {1, -2, 3, -4, 5, -6, 7, -8}};
    gemm.held_out = {{"all", 10, 0.0123456, 0.01, 0.03}};
  }
  profile.attention.coefficients = attention_prior(topology::Architecture::hopper);
  profile.attention.source = {SourceKind::fitted, "made up"};
  assume_attention_ratios(topology::Architecture::hopper, profile.attention);
  profile.streaming = streaming_prior();
  return profile;
}

std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a profile that is written reads as it was", "[profile_writer]") {
  const std::filesystem::path root = temporary_path("profile-writer-test");
  const std::filesystem::path folder = root / "workloads" / "kernels";
  std::filesystem::create_directories(folder);
  const KernelProfile written = example();
  for (const auto& [format, gemm] : written.gemm)
    write_whole((folder / grid_name("made-up", format)).string(), grid_text(gemm.correction));
  write_whole((folder / "made-up.yaml").string(), profile_text(written));
  const KernelProfile read = read_kernel_profile(DataDirectory(root), "made-up");
  std::filesystem::remove_all(root);

  CHECK(profile_text(read) == profile_text(written));
  const auto& gemm = read.gemm.at(topology::MatrixFormat::fp8);
  CHECK(gemm.correction.percent == written.gemm.at(topology::MatrixFormat::fp8).correction.percent);
  CHECK(gemm.held_out.at(0).count == 10);
  CHECK(read.streaming.size() == written.streaming.size());
}

TEST_CASE("a file that cannot be written leaves nothing behind", "[profile_writer]") {
  CHECK_THROWS_AS(write_whole("/nowhere/at/all.yaml", "text"), InputError);
}

TEST_CASE("writing replaces a file whole", "[profile_writer]") {
  const std::filesystem::path file = temporary_path("write-whole-test.yaml");
  write_whole(file.string(), "a long first text");
  write_whole(file.string(), "second");
  CHECK(contents(file) == "second");
  CHECK_FALSE(std::filesystem::exists(file.string() + ".partial"));
  std::filesystem::remove(file);
}

TEST_CASE("numbers are stated with four digits", "[profile_writer]") {
  CHECK(rounded(0.123456) == "0.1235");
  CHECK(rounded(1) == "1");
  CHECK(rounded(129.94e9 * 1e-9) == "129.9");
}
