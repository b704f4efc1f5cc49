#include "calibrate/published_kernels.hpp"

#include "calibrate/kernel_priors.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/temporary_path.hpp"

#include <filesystem>
#include <fstream>
#include <string>

using namespace stepsim;
using namespace stepsim::calibrate;

namespace {

const std::string header =
    "source,gpu,kernel,implementation,batch,seq_q,seq_kv,heads,kv_heads,head_dim,head_dim_v,causal,"
    "rows,cols,dtype,time_ms,GBps,notes\n";

std::string attention(const std::string& kernel, int length, const std::string& time_ms,
                      const std::string& implementation = "cudnn",
                      const std::string& window = "none") {
  return "x,H200-141GB-SXM," + kernel + "," + implementation + ",1," + std::to_string(length) +
         "," + std::to_string(length) + ",32,8,128,128,1,,,bf16," + time_ms +
         ",,sliding_window=" + window + "\n";
}

PublishedKernels read(const std::string& rows) {
  const auto file = temporary_path("published-test.csv");
  std::ofstream(file) << header << rows;
  const PublishedKernels published = read_published_kernels(file.string());
  std::filesystem::remove(file);
  return published;
}

}  // namespace

TEST_CASE("the backward ratio is the median of pairs of equal shape", "[published_kernels]") {
  std::string rows;
  for (const int length : {1024, 2048, 4096}) rows += attention("flash_fwd", length, "1.0");
  rows += attention("flash_bwd", 1024, "2.5") + attention("flash_bwd", 2048, "3.0") +
          attention("flash_bwd", 4096, "9.0") + attention("flash_bwd", 512, "100");
  const auto ratios = backward_ratios(read(rows), "H200-141GB-SXM");
  REQUIRE(ratios.count(128) == 1);
  CHECK(ratios.at(128).value == 3.0);
  CHECK(ratios.at(128).source.kind == SourceKind::measured);
}

TEST_CASE("two pairs are no measurement, windows and slower variants do not count",
          "[published_kernels]") {
  std::string rows;
  for (const int length : {1024, 2048, 4096}) {
    rows += attention("flash_fwd", length, "1.0");
    rows += attention("flash_bwd", length, "4.0", "cudnn deterministic");
    rows += attention("flash_bwd", length, "4.0", "cudnn", "1024");
  }
  rows += attention("flash_bwd", 1024, "3.0") + attention("flash_bwd", 2048, "3.0");
  CHECK(backward_ratios(read(rows), "H200-141GB-SXM").empty());
  CHECK(backward_ratios(read(rows), "GB200").empty());
}

TEST_CASE("a device's own bandwidth is measured, a relative's assumed", "[published_kernels]") {
  const PublishedKernels published = read(
      "x,H200-141GB-SXM,rmsnorm_fwd,torch_compile,,,,,,,,,16384,4096,bf16,,2400,\n"
      "x,H200-141GB-SXM,rmsnorm_fwd,torch_compile,,,,,,,,,16,16,bf16,,10,\n");
  const DataDirectory data = DataDirectory::find();
  for (const char* device : {"h200-sxm-141gb", "h100-sxm-80gb"}) {
    auto streaming = streaming_prior();
    use_published_streaming(published, data, device, streaming);
    const auto& norm = streaming.at(workloads::StreamingKind::norm).memory_efficiency;
    CHECK(norm.value == Approx(0.5).epsilon(0.01));
    const bool own = std::string(device) == "h200-sxm-141gb";
    CHECK((norm.source.kind == SourceKind::measured) == own);
  }
}
