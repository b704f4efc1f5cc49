#include "sim/base/data_directory.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/temporary_path.hpp"

#include <filesystem>
#include <fstream>

using stepsim::DataDirectory;

TEST_CASE("names of a data folder are sorted, without their extension") {
  const auto root = temporary_path("data_directory_test");
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root / "topology" / "nodes");
  for (const char* name : {"b.yaml", "a.yaml", "README.md"}) {
    std::ofstream(root / "topology" / "nodes" / name) << "x";
  }
  const DataDirectory data(root);
  REQUIRE(data.names("topology/nodes", ".yaml") == std::vector<std::string>{"a", "b"});
  REQUIRE(data.names("nowhere", ".yaml").empty());
  REQUIRE(data.file("topology/nodes", "a.yaml") == root / "topology" / "nodes" / "a.yaml");
  std::filesystem::remove_all(root);
}
