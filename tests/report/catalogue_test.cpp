#include "report/catalogue.hpp"

#include "workloads/kernel_profile.hpp"

#include "tests/support/catch.hpp"

#include <fmt/format.h>

using namespace stepsim;

namespace {

// The table's error of a device, or why there is none, from the profile itself.
std::string expected_error(const std::vector<workloads::FitError>& errors,
                           const std::string& inherited_from) {
  if (!inherited_from.empty()) return "";
  for (const workloads::FitError& error : errors) {
    if (error.band == "all") return fmt::format("{:.1f}", error.mean * 100);
  }
  return "";
}

}  // namespace

TEST_CASE("the kernels table shows errors over all sizes, and only a device's own") {
  const DataDirectory data = DataDirectory::find();
  const report::Table table = report::kernels_table(data);
  REQUIRE(table.rows.size() == topology::device_names(data).size());
  int inherited = 0;
  for (const std::vector<std::string>& row : table.rows) {
    const workloads::KernelProfile profile =
        workloads::load_kernel_profile(data, topology::load_device(data, row[0]));
    const workloads::AttentionProfile& attention = profile.attention;
    CAPTURE(row[0]);
    CHECK(row[5] == expected_error(attention.held_out, attention.inherited_from));
    if (attention.inherited_from.empty()) continue;
    ++inherited;
    CHECK(row[4] == "assumed, as " + attention.inherited_from);
  }
  CHECK(inherited >= 4);  // GB200, H200, H100 PCIe, V100
}
