#include "workloads/pipeline_schedule_zero_bubble.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>

namespace stepsim::workloads {
namespace {

/// Writes passes, counting the micro-batches of each kind and chunk by itself.
class PassWriter {
 public:
  void forward(int chunk) { add(PassKind::forward, chunk, forward_[at(chunk)]++); }
  void backward(int chunk) { add(PassKind::backward, chunk, backward_[at(chunk)]++); }
  /// A forward and a backward that run into each other.
  void pair(int forward_chunk, int backward_chunk) {
    forward(forward_chunk);
    passes_.back().paired_with_next = true;
    backward(backward_chunk);
  }
  void input_gradient(int chunk) {
    const int micro_batch = backward_[at(chunk)]++;
    add(PassKind::input_gradient, chunk, micro_batch);
    pending_.push_back({PassKind::weight_gradient, chunk, micro_batch});
  }
  /// The oldest weight gradient that is still to be computed, of one chunk or of any.
  void weight_gradient(int chunk) {
    const auto next = std::find_if(pending_.begin(), pending_.end(),
                                   [&](const PipelinePass& pass) { return pass.chunk == chunk; });
    if (next == pending_.end()) return;
    passes_.push_back(*next);
    pending_.erase(next);
  }
  void next_weight_gradient() {
    if (!pending_.empty()) weight_gradient(pending_.front().chunk);
  }
  void weight_gradients_left(int chunk) {
    for (std::size_t left = pending_.size(); left > 0; --left) weight_gradient(chunk);
  }

  int forwards(int chunk) const { return forward_[at(chunk)]; }
  std::vector<PipelinePass> take() { return std::move(passes_); }

 private:
  static std::size_t at(int chunk) { return static_cast<std::size_t>(chunk); }
  void add(PassKind kind, int chunk, int micro_batch) {
    passes_.push_back({kind, chunk, micro_batch});
  }

  std::vector<PipelinePass> passes_;
  std::deque<PipelinePass> pending_;
  std::array<int, 2> forward_{};
  std::array<int, 2> backward_{};
};

template <class Body>
void repeat(int times, const Body& body) {
  for (int i = 0; i < times; ++i) body();
}

/// What DualPipe and DualPipeV share. `own` and `other` are the chunks of the rank's own direction
/// and of the opposite one, `depth` ranks lie on the way to the turning point, `place` is how far
/// along this one is, and a direction has `steady` micro-batches beside those of the ramps.
struct DualShape {
  int own = 0;
  int other = 1;
  int depth = 1;
  int place = 0;
  int steady = 0;
  bool at_turn = false;
};

void dual_ramp_up(PassWriter& write, const DualShape& shape) {
  repeat(2 * (shape.depth - shape.place - 1), [&] { write.forward(shape.own); });
  repeat(shape.place + 1, [&] {
    write.forward(shape.own);
    write.forward(shape.other);
  });
  repeat(shape.depth - shape.place - 1, [&] {
    write.input_gradient(shape.other);
    write.next_weight_gradient();
    write.forward(shape.other);
  });
}

void dual_steady(PassWriter& write, const DualShape& shape) {
  for (int i = 0; i < shape.steady; ++i) {
    if (i == 0 && shape.at_turn) {
      write.forward(shape.own);
      write.backward(shape.other);
    } else {
      write.pair(shape.own, shape.other);
    }
    write.pair(shape.other, shape.own);
  }
  repeat(shape.depth - shape.place - 1, [&] {
    write.backward(shape.other);
    write.pair(shape.other, shape.own);
  });
}

/// The second half of the last backward passes is split; weight gradients fill the ramp down.
void dual_ramp_down(PassWriter& write, const DualShape& shape) {
  bool splits = false;
  const int half = (shape.place + 1) / 2;
  for (int i = 0; i < shape.place + 1; ++i) {
    if (i == half && shape.place % 2 == 1) splits = true;
    splits ? write.input_gradient(shape.other) : write.backward(shape.other);
    if (i == half && shape.place % 2 == 0) splits = true;
    splits ? write.input_gradient(shape.own) : write.backward(shape.own);
  }
  repeat(shape.depth - shape.place - 1, [&] {
    write.next_weight_gradient();
    write.input_gradient(shape.own);
  });
  repeat(shape.place + 1, [&] { write.next_weight_gradient(); });
}

std::vector<PipelinePass> dual_passes(const DualShape& shape) {
  PassWriter write;
  dual_ramp_up(write, shape);
  dual_steady(write, shape);
  dual_ramp_down(write, shape);
  return write.take();
}

}  // namespace

std::vector<PipelinePass> zb1p_passes(const PipelineShape& shape, int rank) {
  const int all = shape.micro_batches;
  const int warm_up = std::min(shape.ranks - 1 - rank, all);
  PassWriter write;
  repeat(warm_up, [&] { write.forward(0); });
  for (int j = 0; j < all; ++j) {
    if (write.forwards(0) < all) write.forward(0);
    write.input_gradient(0);
    if (j >= rank) write.weight_gradient(0);
  }
  write.weight_gradients_left(0);
  return write.take();
}

std::vector<PipelinePass> zbv_passes(const PipelineShape& shape, int rank) {
  const int ranks = shape.ranks;
  const int all = std::max(2 * ranks - 1, shape.micro_batches);
  PassWriter write;
  repeat(2 * (ranks - rank) - 1, [&] { write.forward(0); });
  repeat(rank, [&] {
    write.forward(1);
    write.forward(0);
  });
  const auto whole = [&](int chunk) {
    write.input_gradient(chunk);
    write.weight_gradient(chunk);
  };
  repeat(ranks - rank, [&] {
    write.forward(1);
    whole(1);
  });
  while (write.forwards(1) < write.forwards(0) || write.forwards(0) < all) {
    if (write.forwards(0) < all) write.forward(0);
    whole(0);
    write.forward(1);
    whole(1);
  }
  repeat(rank, [&] {
    write.input_gradient(0);
    write.input_gradient(1);
  });
  repeat(ranks - rank, [&] {
    write.input_gradient(0);
    write.weight_gradient(0);
  });
  write.weight_gradients_left(1);
  write.weight_gradients_left(0);
  std::vector<PipelinePass> passes = write.take();
  std::erase_if(passes,
                [&](const PipelinePass& pass) { return pass.micro_batch >= shape.micro_batches; });
  return passes;
}

std::vector<PipelinePass> dualpipe_passes(const PipelineShape& shape, int rank) {
  const int half = shape.ranks / 2;
  const bool second_half = rank >= half;
  const int place = std::min(rank, shape.ranks - 1 - rank);
  DualShape dual;
  dual.own = second_half ? 1 : 0;
  dual.other = 1 - dual.own;
  dual.depth = half;
  dual.place = place;
  dual.steady = shape.micro_batches / 2 - shape.ranks + place + 1;
  dual.at_turn = place == half - 1;
  return dual_passes(dual);
}

std::vector<PipelinePass> dualpipev_passes(const PipelineShape& shape, int rank) {
  DualShape dual;
  dual.depth = shape.ranks;
  dual.place = rank;
  dual.steady = shape.micro_batches - 2 * shape.ranks + rank + 1;
  dual.at_turn = rank == shape.ranks - 1;
  return dual_passes(dual);
}

}  // namespace stepsim::workloads
