#include "workloads/layer_kernels.hpp"

#include "workloads/hf_config.hpp"

#include "tests/support/catch.hpp"

#include <algorithm>
#include <map>

using namespace stepsim;
using namespace stepsim::workloads;

namespace {

Model zoo(const char* name) { return load_zoo_model(DataDirectory::find(), name).model; }

constexpr KernelStack compiled{true, AttentionKernel::flash2, DType::bf16};
constexpr KernelStack eager{false, AttentionKernel::flash2, DType::bf16};
constexpr KernelStack unfused{false, AttentionKernel::unfused, DType::bf16};

int launches(const std::vector<LaunchedKernel>& kernels) {
  int count = 0;
  for (const LaunchedKernel& launched : kernels) count += launched.kernel.launches;
  return count;
}

double flops_of(const std::vector<LaunchedKernel>& kernels, const std::string& kind) {
  double sum = 0;
  for (const LaunchedKernel& launched : kernels) {
    if (category(launched.kernel) == kind) sum += flops(launched.kernel);
  }
  return sum;
}

double streaming_bytes(const std::vector<LaunchedKernel>& kernels) {
  double sum = 0;
  for (const LaunchedKernel& launched : kernels) {
    if (std::holds_alternative<Streaming>(launched.kernel.work)) {
      sum += minimum_bytes(launched.kernel);
    }
  }
  return sum;
}

std::int64_t saved_bytes(const ModuleKernels& module) {
  std::int64_t sum = module.tensors.input_size.count();
  for (const ActivationTensor& tensor : module.tensors.activations) {
    if (tensor.last_backward_use) sum += tensor.size.count();
  }
  return sum;
}

const Gemm& gemm(const std::vector<LaunchedKernel>& kernels, const std::string& name) {
  for (const LaunchedKernel& launched : kernels) {
    if (launched.kernel.name == name) return std::get<Gemm>(launched.kernel.work);
  }
  throw std::runtime_error("there is no " + name);
}

}  // namespace

TEST_CASE("a block's matrix products have their true shapes, three passes each",
          "[layer_kernels]") {
  const ModuleKernels block = layer_kernels(zoo("llama3-8b"), 0, {2, 4096}, compiled);
  const Gemm& k = gemm(block.forward, "k");
  CHECK(k.m == 8192);
  CHECK(k.n == 1024);
  CHECK(k.k == 4096);
  const Gemm& down = gemm(block.backward, "down_dgrad");
  CHECK(down.m == 8192);
  CHECK(down.n == 14336);
  CHECK(down.k == 4096);
  CHECK(down.pass == Pass::input_gradient);
  const Gemm& up = gemm(block.backward, "up_wgrad");
  CHECK(up.m == 14336);
  CHECK(up.n == 4096);
  CHECK(up.k == 8192);
  CHECK(up.pass == Pass::weight_gradient);
}

TEST_CASE("the products' FLOPs are those of the model, and twice that backward",
          "[layer_kernels]") {
  for (const char* name : {"llama3-8b", "gpt2-124m", "falcon-7b", "gemma2-9b", "qwen3-8b", "mpt-7b",
                           "gpt-neox-20b", "opt-13b", "bloom-7b1"}) {
    for (const KernelStack& stack : {compiled, eager}) {
      const Model model = zoo(name);
      CAPTURE(name, stack.compile);
      const ModuleKernels block = layer_kernels(model, 0, {1, 1024}, stack);
      const double forward =
          1024 * layer_forward_flops_per_token(model, 0, 1024, FlopsConvention::six_n);
      CHECK(flops_of(block.forward, "gemm") == forward);
      CHECK(flops_of(block.backward, "gemm") == 2 * forward);
      const ModuleKernels head = head_kernels(model, {1, 1024}, stack);
      CHECK(flops_of(head.forward, "gemm") == 1024 * head_forward_flops_per_token(model));
      CHECK(flops_of(head.backward, "gemm") == 2 * 1024 * head_forward_flops_per_token(model));
    }
  }
}

TEST_CASE("every parameter's gradient is written once, in every model and stack",
          "[layer_kernels]") {
  const auto check = [](const ModuleKernels& module, std::size_t parameters) {
    std::map<std::uint32_t, int> written;
    for (const ParameterGradient& gradient : module.tensors.parameter_gradients) {
      ++written[gradient.parameter];
      CHECK(gradient.written_by < module.backward.size());
    }
    CHECK(written.size() == parameters);
    for (const auto& [place, times] : written) {
      CAPTURE(place);
      CHECK(place < parameters);
      CHECK(times == 1);
    }
  };
  for (const std::string& name : zoo_names(DataDirectory::find())) {
    const Model model = zoo(name.c_str());
    for (const KernelStack& stack : {compiled, eager, unfused}) {
      CAPTURE(name, stack.compile, to_string(stack.attention));
      check(layer_kernels(model, 0, {1, 512}, stack), layer_parameters(model, 0).size());
      check(embedding_kernels(model, {1, 512}, stack), embedding_parameters(model).size());
      check(head_kernels(model, {1, 512}, stack), head_parameters(model).size());
    }
  }
}

TEST_CASE("tensors live between kernels that exist, and are written before they are read",
          "[layer_kernels]") {
  for (const char* name : {"llama3-8b", "gemma2-9b", "falcon-7b", "mpt-7b"}) {
    for (const KernelStack& stack : {compiled, eager, unfused}) {
      CAPTURE(name, stack.compile);
      const ModuleKernels block = layer_kernels(zoo(name), 0, {1, 512}, stack);
      for (const ActivationTensor& tensor : block.tensors.activations) {
        CAPTURE(tensor.name);
        CHECK(tensor.last_forward_use < block.forward.size());
        CHECK(tensor.written_by <= tensor.last_forward_use);
        CHECK(tensor.size.count() > 0);
        if (tensor.last_backward_use) {
          CHECK(*tensor.last_backward_use < block.backward.size());
        }
      }
      for (const BackwardTensor& tensor : block.tensors.backward_tensors) {
        CAPTURE(tensor.name);
        CHECK(tensor.written_by <= tensor.last_use);
        CHECK(tensor.last_use < block.backward.size());
      }
      CHECK(block.tensors.output_written_by == block.forward.size() - 1);
    }
  }
}

TEST_CASE("a compiled Llama block saves what the closed form says", "[layer_kernels]") {
  // s·b·h·(8 + q·(4 + 4g)) + 6·s·b·f + 4·s·b·a, and 4 bytes a token for each of two norms.
  const Model model = zoo("llama3-8b");
  const std::int64_t tokens = 8192;
  const std::int64_t expected =
      tokens * (model.hidden * 13 + 6 * model.ffn + 4 * model.heads) + 8 * tokens;
  CHECK(saved_bytes(layer_kernels(model, 0, {1, tokens}, compiled)) == expected);
}

TEST_CASE("an eager SwiGLU keeps one more tensor, and eager RMS norms keep fp32",
          "[layer_kernels]") {
  const Model model = zoo("llama3-8b");
  const std::int64_t tokens = 1024;
  const std::int64_t more = saved_bytes(layer_kernels(model, 0, {1, tokens}, eager)) -
                            saved_bytes(layer_kernels(model, 0, {1, tokens}, compiled));
  // silu(gate): 2f. Each norm: its input in fp32 and its normalised value (6h); the sum between the
  // halves is not needed any more (−2h), the block's input is kept all the same.
  CHECK(more == tokens * (2 * model.ffn + 12 * model.hidden - 2 * model.hidden));
}

TEST_CASE("element-wise bytes of an eager MPT block are the published model's", "[layer_kernels]") {
  // A model of the llm-foundry runs was fitted with 36·h·T forward and 92·h·T backward; the
  // statistics of two layer norms (16 bytes a token) are beside the first.
  const Model model = zoo("mpt-7b");
  const double tokens = 4096;
  const double unit = tokens * 4096;
  const ModuleKernels block = layer_kernels(model, 0, {2, 2048}, eager);
  CHECK(streaming_bytes(block.forward) - 2 * 8 * tokens == 36 * unit);
  CHECK(streaming_bytes(block.backward) == Approx(86 * unit).epsilon(0.001));
  CHECK(streaming_bytes(block.backward) == Approx(92 * unit).epsilon(0.08));
}

TEST_CASE("an eager Llama block launches some forty kernels, and twice as many backward",
          "[layer_kernels]") {
  const ModuleKernels block = layer_kernels(zoo("llama3-8b"), 0, {1, 4096}, eager);
  CHECK(launches(block.forward) == 38);
  CHECK(launches(block.backward) == 71);
}

TEST_CASE("compiling removes 40 to 70 % of a block's launches and most element-wise bytes",
          "[layer_kernels]") {
  const ModuleKernels slow = layer_kernels(zoo("llama3-8b"), 0, {1, 4096}, eager);
  const ModuleKernels fast = layer_kernels(zoo("llama3-8b"), 0, {1, 4096}, compiled);
  const double before = launches(slow.forward) + launches(slow.backward);
  const double after = launches(fast.forward) + launches(fast.backward);
  CHECK(launches(fast.forward) == 13);
  CHECK(launches(fast.backward) == 25);
  CHECK(after / before > 0.3);
  CHECK(after / before < 0.6);
  CHECK(streaming_bytes(fast.forward) < 0.5 * streaming_bytes(slow.forward));
  CHECK(streaming_bytes(fast.backward) < 0.5 * streaming_bytes(slow.backward));
}

TEST_CASE("fusing changes no matrix product", "[layer_kernels]") {
  const Model model = zoo("qwen3-8b");
  const ModuleKernels slow = layer_kernels(model, 0, {1, 512}, eager);
  const ModuleKernels fast = layer_kernels(model, 0, {1, 512}, compiled);
  CHECK(flops_of(slow.forward, "gemm") == flops_of(fast.forward, "gemm"));
  CHECK(flops_of(slow.backward, "attention") == flops_of(fast.backward, "attention"));
}

TEST_CASE("backward needs neither the last product nor the last sum of a block",
          "[layer_kernels]") {
  const ModuleKernels block = layer_kernels(zoo("llama3-8b"), 0, {1, 512}, compiled);
  std::uint32_t last_needed = 0;
  for (const ActivationTensor& tensor : block.tensors.activations) {
    if (tensor.last_backward_use) last_needed = std::max(last_needed, tensor.written_by);
  }
  REQUIRE(last_needed + 3 == block.forward.size());
  CHECK(block.forward[last_needed + 1].kernel.name == "down");
  CHECK(block.forward[last_needed + 2].kernel.name == "residual");
}

TEST_CASE("unfused attention writes out the scores and keeps the probabilities",
          "[layer_kernels]") {
  const Model model = zoo("gpt2-124m");
  const std::int64_t length = 512;
  const ModuleKernels flash = layer_kernels(model, 0, {2, length}, eager);
  const ModuleKernels written = layer_kernels(model, 0, {2, length}, unfused);
  const std::int64_t matrix = 2 * 12 * length * length;  // elements of all heads
  // fp32 and bf16 probabilities; no log-sum-exp.
  CHECK(saved_bytes(written) - saved_bytes(flash) == 6 * matrix - 4 * 2 * length * 12);
  const auto matrices =
      std::count_if(written.forward.begin(), written.forward.end(),
                    [](const LaunchedKernel& k) { return k.role == KernelRole::attention_matrix; });
  CHECK(matrices == 2);
}

TEST_CASE("a window reaches the attention kernel", "[layer_kernels]") {
  const Model model = zoo("gemma2-9b");
  const auto window = [&](std::int64_t layer) {
    const ModuleKernels block = layer_kernels(model, layer, {1, 8192}, compiled);
    for (const LaunchedKernel& launched : block.forward) {
      if (const auto* attention = std::get_if<Attention>(&launched.kernel.work)) {
        return attention->window;
      }
    }
    return std::int64_t{-1};
  };
  CHECK(window(0) == 4096);
  CHECK(window(1) == 0);
}

TEST_CASE("eager cross-entropy keeps logits and their log-softmax, compiled the logits",
          "[layer_kernels]") {
  const Model model = zoo("llama3-8b");
  const std::int64_t logits = 1024 * model.vocabulary;
  const auto saved_logits = [&](const KernelStack& stack) {
    std::int64_t sum = 0;
    for (const ActivationTensor& tensor :
         head_kernels(model, {1, 1024}, stack).tensors.activations) {
      if (tensor.kind == sim::BufferKind::logits && tensor.last_backward_use) {
        sum += tensor.size.count();
      }
    }
    return sum;
  };
  CHECK(saved_logits(eager) == (2 + 4) * logits);
  CHECK(saved_logits(compiled) == 2 * logits);
}

TEST_CASE("the embedding's gradient covers the whole table", "[layer_kernels]") {
  const Model model = zoo("llama3-8b");
  const ModuleKernels module = embedding_kernels(model, {1, 8}, compiled);
  REQUIRE(module.backward.size() == 1);
  CHECK(minimum_bytes(module.backward.front().kernel) >=
        2.0 * static_cast<double>(model.vocabulary * model.hidden));
  CHECK(module.tensors.input_size.count() == 0);
}
