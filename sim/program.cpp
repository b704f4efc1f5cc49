#include "sim/program.hpp"

#include "sim/base/error.hpp"

namespace stepsim::sim {

const char* to_string(OpKind kind) {
  switch (kind) {
    case OpKind::kernel:
      return "kernel";
    case OpKind::collective:
      return "collective";
    case OpKind::send:
      return "send";
    case OpKind::receive:
      return "receive";
    case OpKind::record:
      return "record";
    case OpKind::wait:
      return "wait";
    case OpKind::host_work:
      return "host_work";
    case OpKind::host_sync:
      return "host_sync";
    case OpKind::allocate:
      return "allocate";
    case OpKind::free:
      return "free";
  }
  throw InternalError("an op kind out of range");
}

const char* to_string(BufferKind kind) {
  switch (kind) {
    case BufferKind::parameters:
      return "parameters";
    case BufferKind::gradients:
      return "gradients";
    case BufferKind::optimizer_states:
      return "optimizer_states";
    case BufferKind::unsharded_parameters:
      return "unsharded_parameters";
    case BufferKind::unsharded_gradients:
      return "unsharded_gradients";
    case BufferKind::activations:
      return "activations";
    case BufferKind::logits:
      return "logits";
    case BufferKind::communication:
      return "communication";
    case BufferKind::workspace:
      return "workspace";
  }
  throw InternalError("a buffer kind out of range");
}

bool is_coupling_op(OpKind kind) {
  return kind == OpKind::collective || kind == OpKind::send || kind == OpKind::receive;
}

bool is_stream_op(OpKind kind) {
  return is_coupling_op(kind) || kind == OpKind::kernel || kind == OpKind::record ||
         kind == OpKind::wait;
}

}  // namespace stepsim::sim
