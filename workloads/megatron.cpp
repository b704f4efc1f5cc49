#include "workloads/megatron.hpp"

#include "workloads/megatron_exchange.hpp"
#include "workloads/megatron_gradients.hpp"
#include "workloads/step_emitter.hpp"

#include "sim/base/error.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace stepsim::workloads {
namespace {

/// When messages are posted and waited for.
enum class Exchange {
  batched,       // 1F1B: posted together, waited for at once, then the host synchronises
  overlapped,    // interleaved: waited for before the next pass of the same direction
  asynchronous,  // PyTorch's runtime: a receive is posted a pass ahead, a send waits for nothing
};

Exchange exchange_of(PipelineSchedule schedule) {
  switch (schedule) {
    case PipelineSchedule::one_f_one_b:
      return Exchange::batched;
    case PipelineSchedule::interleaved:
      return Exchange::overlapped;
    default:
      return Exchange::asynchronous;
  }
}

bool is_forward(const PipelinePass& pass) { return pass.kind == PassKind::forward; }
bool has_messages(const PipelinePass& pass) { return pass.kind != PassKind::weight_gradient; }
bool ends_micro_batch(const PipelinePass& pass) {
  return pass.kind == PassKind::backward || pass.kind == PassKind::weight_gradient;
}

class StageEmitter {
 public:
  StageEmitter(const MegatronStage& stage, StepCosts& costs)
      : stage_(stage),
        builder_("stage " + std::to_string(stage.rank), stage.memory_ops),
        compute_stream_(builder_.add_stream("default", sim::StreamKind::compute)),
        tensor_(tensor_group()),
        compute_(stage.work, builder_, compute_stream_, tensor_),
        gradients_(stage, costs, builder_, compute_stream_, slots_, tensor_),
        exchange_(stage, costs, builder_, compute_stream_, slots_),
        passes_(pipeline_passes(stage.shape, stage.rank)),
        free_sets_(stage.work.chunks.size()),
        sets_made_(stage.work.chunks.size(), 0) {
    find_last_passes();
  }

  StageProgram emit() {
    gradients_.begin_step();
    switch (exchange_of(stage_.shape.schedule)) {
      case Exchange::batched:
        run_batched();
        break;
      case Exchange::overlapped:
        run_overlapped();
        break;
      case Exchange::asynchronous:
        run_asynchronous();
        break;
    }
    gradients_.end_step();
    return {builder_.finish(), std::move(slots_)};
  }

 private:
  using Key = std::pair<int, int>;  // chunk, micro-batch
  /// A micro-batch of a chunk from its input's arrival until nothing of it is needed.
  struct InFlight {
    std::size_t set = 0;
    int uses = 1;
  };
  /// A message, or a tensor that stays on the rank for another of its chunks.
  struct Handover {
    bool is_remote = false;
    MessageKind kind{};
    Key other{};  // of the rank's own chunk at the other end
  };

  std::optional<StepEmitter::TensorGroup> tensor_group() {
    if (stage_.plan.tp == 1) return std::nullopt;
    slots_.push_back({"tensor"});
    return StepEmitter::TensorGroup{builder_.add_stream("tensor", sim::StreamKind::communication),
                                    builder_.add_communicator_slot("tensor")};
  }

  void find_last_passes() {
    last_micro_batch_.assign(stage_.work.chunks.size(), -1);
    for (const PipelinePass& pass : passes_)
      if (ends_micro_batch(pass)) last_micro_batch_[chunk_of(pass)] = pass.micro_batch;
  }

  static std::size_t chunk_of(const PipelinePass& pass) {
    return static_cast<std::size_t>(pass.chunk);
  }
  static Key key_of(const PipelinePass& pass) { return {pass.chunk, pass.micro_batch}; }
  const ModuleChunk& modules_of(int chunk) const {
    return stage_.work.chunks[static_cast<std::size_t>(chunk)];
  }

  // Where what a pass needs comes from, and where what it makes goes: absent at the ends.
  std::optional<Handover> source(const PipelinePass& pass) const {
    return handover(pass, is_forward(pass) ? -1 : 1, false);
  }
  std::optional<Handover> target(const PipelinePass& pass) const {
    return handover(pass, is_forward(pass) ? 1 : -1, true);
  }
  std::optional<Handover> handover(const PipelinePass& pass, int step, bool sends) const {
    if (!has_messages(pass)) return std::nullopt;
    const int stage = stage_of(stage_.shape, stage_.rank, pass.chunk) + step;
    if (stage < 0 || stage >= stage_count(stage_.shape)) return std::nullopt;
    const StagePlace place = place_of(stage_.shape, stage, pass.chunk);
    return Handover{place.rank != stage_.rank,
                    {sends, !is_forward(pass), place.rank},
                    {place.chunk, pass.micro_batch}};
  }

  InFlight& enter(const Key& key) {
    const auto chunk = static_cast<std::size_t>(key.first);
    if (free_sets_[chunk].empty()) free_sets_[chunk].push_back(sets_made_[chunk]++);
    const auto lowest = std::min_element(free_sets_[chunk].begin(), free_sets_[chunk].end());
    const InFlight entered{*lowest, 1};
    free_sets_[chunk].erase(lowest);
    return in_flight_.emplace(key, entered).first->second;
  }
  void leave(const Key& key) {
    const auto found = in_flight_.find(key);
    if (--found->second.uses > 0) return;
    free_sets_[static_cast<std::size_t>(key.first)].push_back(found->second.set);
    in_flight_.erase(found);
  }
  std::size_t set_of(const Key& key) const { return in_flight_.at(key).set; }

  sim::BufferId received_buffer(const Key& key, bool is_gradient) {
    const ModuleChunk& chunk = modules_of(key.first);
    return is_gradient ? compute_.output_gradient(chunk.end - 1, set_of(key))
                       : compute_.input(chunk.first, set_of(key));
  }
  sim::BufferId sent_buffer(const Key& key, bool is_gradient) {
    const ModuleChunk& chunk = modules_of(key.first);
    return is_gradient ? compute_.input_gradient(chunk.first, set_of(key))
                       : compute_.output(chunk.end - 1, set_of(key));
  }

  void post_receive(const PipelinePass& pass);
  void wait_receive(const PipelinePass& pass);
  void post_send(const PipelinePass& pass);
  enum class Sent { waited_for, left_alone };
  void let_go_of_sends(bool is_gradient, Sent sent);
  void let_go_of_output(const Key& key);
  void wait_sends(bool is_gradient) { let_go_of_sends(is_gradient, Sent::waited_for); }
  void hand_over_here(const PipelinePass& pass, const Handover& from);
  void run(const PipelinePass& pass);

  void run_batched();
  void run_overlapped();
  void run_asynchronous();
  const PipelinePass* next_of_direction(std::size_t place, bool forward) const;

  const MegatronStage& stage_;
  std::vector<StageSlot> slots_;
  sim::ProgramBuilder builder_;
  sim::StreamId compute_stream_;
  std::optional<StepEmitter::TensorGroup> tensor_;
  StepEmitter compute_;
  MegatronGradients gradients_;
  PipelineExchange exchange_;
  std::vector<PipelinePass> passes_;
  std::vector<int> last_micro_batch_;  // per chunk: whose backward is the last
  std::map<Key, InFlight> in_flight_;
  std::vector<std::vector<std::size_t>> free_sets_;  // per chunk
  std::vector<std::size_t> sets_made_;
  std::map<std::pair<bool, Key>, bool> posted_;         // receives: is gradient, of
  std::deque<std::pair<MessageKind, Key>> being_sent_;  // in the order posted
};

void StageEmitter::post_receive(const PipelinePass& pass) {
  const std::optional<Handover> from = source(pass);
  if (!from || !from->is_remote) return;
  if (!posted_.emplace(std::pair(from->kind.is_gradient, key_of(pass)), true).second) return;
  builder_.set_scope("pipeline");
  if (is_forward(pass)) enter(key_of(pass));
  builder_.allocate(received_buffer(key_of(pass), from->kind.is_gradient));
  exchange_.post(from->kind);
}

void StageEmitter::wait_receive(const PipelinePass& pass) {
  const std::optional<Handover> from = source(pass);
  if (!from) {
    if (is_forward(pass)) enter(key_of(pass));
    return;
  }
  if (!from->is_remote) return hand_over_here(pass, *from);
  post_receive(pass);
  posted_.erase({from->kind.is_gradient, key_of(pass)});
  exchange_.wait(from->kind);
}

/// The turning point of a V: the next stage is on the same rank, and takes the tensor as it is.
void StageEmitter::hand_over_here(const PipelinePass& pass, const Handover& from) {
  if (is_forward(pass)) enter(key_of(pass));
  builder_.free(sent_buffer(from.other, from.kind.is_gradient));
  builder_.allocate(received_buffer(key_of(pass), from.kind.is_gradient));
  leave(from.other);
}

void StageEmitter::post_send(const PipelinePass& pass) {
  const std::optional<Handover> to = target(pass);
  if (to) {
    if (to->is_remote) {
      builder_.set_scope("pipeline");
      exchange_.post(to->kind);
      being_sent_.emplace_back(to->kind, key_of(pass));
    }
    ++in_flight_.at(key_of(pass)).uses;
  }
  if (ends_micro_batch(pass)) leave(key_of(pass));
}

/// Memory of what was sent in a direction is free, once the compute stream has waited for it or,
/// where the allocator knows which stream uses it, at once.
void StageEmitter::let_go_of_sends(bool is_gradient, Sent sent) {
  for (auto each = being_sent_.begin(); each != being_sent_.end();) {
    if (each->first.is_gradient != is_gradient) {
      ++each;
      continue;
    }
    if (sent == Sent::waited_for) exchange_.wait(each->first);
    builder_.free(sent_buffer(each->second, is_gradient));
    leave(each->second);
    each = being_sent_.erase(each);
  }
}

/// A gradient has come back, so the output has been received: recomputation may write it again.
void StageEmitter::let_go_of_output(const Key& key) {
  const auto sent = std::find_if(being_sent_.begin(), being_sent_.end(), [&](const auto& each) {
    return each.second == key && !each.first.is_gradient;
  });
  if (sent == being_sent_.end()) return;
  builder_.free(sent_buffer(key, false));
  being_sent_.erase(sent);
  leave(key);
}

void StageEmitter::run(const PipelinePass& pass) {
  builder_.set_scope("pass");
  builder_.host_work(stage_.host.pass);
  const ModuleChunk& chunk = modules_of(pass.chunk);
  const std::size_t set = set_of(key_of(pass));
  if (is_forward(pass)) {
    for (std::size_t m = chunk.first; m < chunk.end; ++m) {
      gradients_.wait_for_parameters(m);
      compute_.forward(m, set);
    }
    return;
  }
  let_go_of_output(key_of(pass));
  gradients_.begin_backward(pass.micro_batch == last_micro_batch_[chunk_of(pass)]);
  for (std::size_t m = chunk.end; m-- > chunk.first;) {
    if (pass.kind != PassKind::weight_gradient) compute_.backward(m, gradients_, set);
    if (ends_micro_batch(pass)) compute_.weight_gradients(m, gradients_, set);
  }
}

/// forward_backward_pipelining_without_interleaving: a send and the receive after it are one batch
/// when the direction turns between them. torch.cuda.synchronize() follows every batch.
void StageEmitter::run_batched() {
  const auto synchronise = [&] { builder_.host_sync_stream(compute_stream_); };
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    const PipelinePass& pass = passes_[i];
    const std::optional<Handover> from = source(pass);
    const bool is_posted = from && posted_.contains({from->kind.is_gradient, key_of(pass)});
    wait_receive(pass);
    if (from && !is_posted) synchronise();
    run(pass);
    const bool sends = target(pass).has_value();
    post_send(pass);
    const bool turns = i + 1 < passes_.size() && is_forward(passes_[i + 1]) != is_forward(pass);
    const bool receives = turns && source(passes_[i + 1]).has_value();
    if (receives) {
      post_receive(passes_[i + 1]);
      exchange_.wait(source(passes_[i + 1])->kind);
    }
    wait_sends(!is_forward(pass));
    if (sends || receives) synchronise();
  }
}

const PipelinePass* StageEmitter::next_of_direction(std::size_t place, bool forward) const {
  for (std::size_t i = place + 1; i < passes_.size(); ++i)
    if (is_forward(passes_[i]) == forward) return &passes_[i];
  return nullptr;
}

/// forward_backward_pipelining_with_interleaving with overlap_p2p_comm: after a pass its result is
/// sent and the input of the next pass of the same direction is received, both beside the pass of
/// the other direction that follows.
void StageEmitter::run_overlapped() {
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    const PipelinePass& pass = passes_[i];
    wait_receive(pass);
    wait_sends(!is_forward(pass));
    run(pass);
    post_send(pass);
    if (const PipelinePass* next = next_of_direction(i, is_forward(pass))) post_receive(*next);
    const bool ends_warm_up = is_forward(pass) && i + 1 < passes_.size() &&
                              std::none_of(passes_.begin(), passes_.begin() + std::ptrdiff_t(i),
                                           [](const auto& each) { return !is_forward(each); });
    // The last forward of the warm-up also posts the first gradient's receive.
    if (ends_warm_up && i + 2 < passes_.size() && !is_forward(passes_[i + 2]))
      post_receive(passes_[i + 2]);
  }
  wait_sends(false);
  wait_sends(true);
}

void StageEmitter::run_asynchronous() {
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    const PipelinePass& pass = passes_[i];
    if (has_messages(pass)) {
      wait_receive(pass);
      let_go_of_sends(!is_forward(pass), Sent::left_alone);
    }
    if (i + 1 < passes_.size() && has_messages(passes_[i + 1])) post_receive(passes_[i + 1]);
    run(pass);
    post_send(pass);
  }
  wait_sends(false);
  wait_sends(true);
}

}  // namespace

StageProgram emit_megatron(const MegatronStage& stage, StepCosts& costs) {
  if (stage.work.chunks.size() != static_cast<std::size_t>(chunks_per_rank(stage.shape)))
    throw InternalError("a stage does not have the chunks of its schedule");
  return StageEmitter(stage, costs).emit();
}

}  // namespace stepsim::workloads
