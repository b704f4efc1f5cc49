#include "sim/program_builder.hpp"

#include "sim/base/error.hpp"

#include "tests/support/catch.hpp"

using namespace stepsim;
using namespace stepsim::sim;

TEST_CASE("ops carry the scope that was set before them") {
  ProgramBuilder b("p");
  b.host_work(Time::zero());
  b.set_scope("forward");
  b.host_work(Time::zero());
  b.set_scope("backward");
  b.host_work(Time::zero());
  b.set_scope("forward");
  b.host_work(Time::zero());
  const Program p = b.finish();
  CHECK(p.scopes == std::vector<std::string>{"", "forward", "backward"});
  CHECK(p.ops[0].scope == ScopeId{0});
  CHECK(p.ops[1].scope == ScopeId{1});
  CHECK(p.ops[3].scope == ScopeId{1});
}

TEST_CASE("waiting for a stream is a record and a wait on an event of its own") {
  ProgramBuilder b("p");
  const StreamId s = b.add_stream("s", StreamKind::compute);
  const StreamId t = b.add_stream("t", StreamKind::copy);
  b.wait_stream(t, s);
  const Program p = b.finish();
  REQUIRE(p.ops.size() == 2);
  CHECK(p.ops[0].kind == OpKind::record);
  CHECK(p.ops[0].stream == s);
  CHECK(p.ops[1].kind == OpKind::wait);
  CHECK(p.ops[1].stream == t);
  CHECK(p.ops[0].target == p.ops[1].target);
  CHECK(p.event_count == 1);
}

TEST_CASE("buffers are taken and returned once") {
  ProgramBuilder b("p");
  const BufferId x = b.add_buffer("x", BufferKind::activations, Bytes(1));
  SECTION("balanced") {
    b.allocate(x);
    b.free(x);
    b.allocate(x);
    b.free(x);
    CHECK_NOTHROW(b.finish());
  }
  SECTION("twice allocated") {
    b.allocate(x);
    b.allocate(x);
    CHECK_THROWS_AS(b.finish(), InternalError);
  }
  SECTION("freed before") {
    b.free(x);
    CHECK_THROWS_AS(b.finish(), InternalError);
  }
  SECTION("left over") {
    b.allocate(x);
    CHECK_THROWS_AS(b.finish(), InternalError);
  }
  SECTION("persistent ones are never taken") {
    b.allocate(b.add_persistent_buffer("w", BufferKind::parameters, Bytes(1)));
    CHECK_THROWS_AS(b.finish(), InternalError);
  }
}
