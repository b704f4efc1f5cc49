#include "calibrate/kernel_measurements.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/temporary_path.hpp"

#include <filesystem>
#include <fstream>
#include <string>

using namespace stepsim;
using namespace stepsim::calibrate;

namespace {

/// A file that is removed at the end of the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) { std::ofstream(path_) << text; }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = (temporary_path("measurements-test.csv")).string();
};

}  // namespace

TEST_CASE("measured multiplications are read with their format and seconds", "[measurements]") {
  const TemporaryFile file("gpu,dtype,m,n,k,time_us\nx,bf16,1,32,64,2.5\nx,fp8,128,32,64,9\n");
  const auto rows = read_gemm_measurements(file.path());
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].device == "x");
  CHECK(rows[0].gemm.k == 64);
  CHECK(rows[0].time_s == 2.5 * 1e-6);
  CHECK(rows[1].gemm.format == topology::MatrixFormat::fp8);
}

TEST_CASE("a negative time, a zero size and an unknown format are refused", "[measurements]") {
  for (const char* row : {"x,bf16,1,32,64,-2.5", "x,bf16,0,32,64,2", "x,int3,1,32,64,2"}) {
    const TemporaryFile file(std::string("gpu,dtype,m,n,k,time_us\n") + row + "\n");
    CHECK_THROWS_AS(read_gemm_measurements(file.path()), InputError);
  }
}

TEST_CASE("measured attention is causal over equal lengths", "[measurements]") {
  const TemporaryFile file(
      "gpu,dtype,batch,seq_len,q_heads,kv_heads,head_dim,time_us\nx,bf16,2,512,8,4,128,20\n");
  const auto rows = read_attention_measurements(file.path());
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].attention.causal);
  CHECK(rows[0].attention.key_length == 512);
  CHECK(rows[0].attention.kv_heads == 4);
}

TEST_CASE("one shape in five is held out, whatever its format", "[measurements]") {
  int held = 0;
  int all = 0;
  for (std::int64_t m = 1; m <= 40; ++m)
    for (std::int64_t n = 1; n <= 50; ++n, ++all)
      held += held_out(workloads::Gemm{m, n, 4096}) ? 1 : 0;
  CHECK(held > all * 0.17);
  CHECK(held < all * 0.23);
  // The hashes of «1,1,1» and «128,4096,4096» are 2992409588 and 3631807500.
  CHECK_FALSE(held_out(workloads::Gemm{1, 1, 1}));
  CHECK(held_out(workloads::Gemm{128, 4096, 4096}));
}
