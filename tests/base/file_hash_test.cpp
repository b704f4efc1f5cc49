#include "sim/base/file_hash.hpp"

#include "tests/support/catch.hpp"

TEST_CASE("the content hash is FNV-1a of 64 bits") {
  // Test vectors of draft-eastlake-fnv, appendix C.
  REQUIRE(stepsim::content_hash("") == "cbf29ce484222325");
  REQUIRE(stepsim::content_hash("a") == "af63dc4c8601ec8c");
  REQUIRE(stepsim::content_hash("foobar") == "85944171f73967e8");
}
