#include "cli/verbs.hpp"

#include "report/clocks_text.hpp"

#include "scenarios/regime_answer.hpp"

#include "sim/base/error.hpp"
#include "sim/base/parse_quantity.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace stepsim::cli {

namespace {

struct ClocksOptions {
  scenarios::ClocksRequest request;
  std::string decode;
  std::string link;
  std::optional<std::int64_t> tokens;
  std::optional<std::int64_t> sequence_length;
  bool cuda_graph = false;
  bool eager = false;
  Format format = Format::text;
};

// What 0 stands for in a request nobody may ask for.
std::int64_t token_count(const char* option, std::int64_t count) {
  if (count >= 1) return count;
  throw InputError(Diagnostic{{},
                              option,
                              std::to_string(count) + " makes no sense",
                              "a whole number of tokens from 1",
                              ""});
}

scenarios::ClocksRequest request_of(const ClocksOptions& options) {
  scenarios::ClocksRequest request = options.request;
  if (options.tokens) request.tokens = token_count("--tokens", *options.tokens);
  if (options.sequence_length) {
    request.sequence_length = token_count("--sequence-length", *options.sequence_length);
  }
  if (!options.decode.empty()) {
    const std::vector<std::int64_t> numbers =
        whole_numbers("--decode", options.decode, {"BATCH,CONTEXT", "32,8192", 2});
    request.decode = {numbers[0], numbers[1]};
  }
  request.launch_mode = workloads::launch_mode(!options.eager, options.cuda_graph);
  if (options.link.empty()) return request;
  const ParsedQuantity<Bandwidth> link = parse_bandwidth(options.link);
  if (!link.value) {
    throw InputError(Diagnostic{{}, "--link", link.problem, link.expected, link.suggestion});
  }
  request.data_link = *link.value;
  return request;
}

ExitCode clocks(const ClocksOptions& options) {
  const scenarios::ClocksAnswer answer = answer_clocks(DataDirectory::find(), request_of(options));
  const scenarios::ClocksRequest& request = answer.request;
  print(
      Forms{[&](const report::Style& style) { return report::clocks_text(request, answer, style); },
            [&] { return report::clocks_table(answer); },
            [&] { return report::clocks_json(request, answer); }},
      options.format);
  return ExitCode::done;
}

void add_options(CLI::App& verb, ClocksOptions& options) {
  scenarios::ClocksRequest& request = options.request;
  verb.add_option("MODEL", request.model, "Zoo name, or path of a Hugging Face config.json")
      ->required();
  verb.add_option("GPU", request.device, "Device, see stepsim list devices")->required();
  CLI::Option* tokens =
      verb.add_option("--tokens", options.tokens, "Train on so many tokens a GPU and step")
          ->type_name("N")
          ->default_str("8192");
  CLI::Option* length = verb.add_option("--sequence-length", options.sequence_length,
                                        "Cut the tokens into sequences (default: one sequence)")
                            ->type_name("N");
  verb.add_option("--decode", options.decode,
                  "Decode one token for a batch of sequences that look back at a context")
      ->type_name("BATCH,CONTEXT")
      ->excludes(tokens)
      ->excludes(length);
  verb.add_option("--tensor-parallel", request.tensor_parallel, "GPUs that share each layer")
      ->type_name("T")
      ->capture_default_str();
  verb.add_option("--data-parallel", request.data_parallel, "GPUs whose gradients are summed")
      ->type_name("D")
      ->capture_default_str();
  verb.add_option("--link", options.link,
                  "What each GPU sends gradients over, such as \"400 Gb/s\" (default: NVLink)")
      ->type_name("RATE");
  CLI::Option* graph =
      verb.add_flag("--cuda-graph", options.cuda_graph, "Launch all kernels as one CUDA graph");
  verb.add_flag("--eager", options.eager, "Launch kernels from Python, one by one")
      ->excludes(graph);
  add_format_option(verb, options.format);
}

}  // namespace

void add_clocks(CLI::App& app, Invocation& invocation) {
  CLI::App* verb = app.add_subcommand(
      "clocks",
      "The four clocks of a layer and a model: arithmetic, memory, communication, launches");
  const auto options = std::make_shared<ClocksOptions>();
  add_options(*verb, *options);
  verb->footer(
      "Examples:\n"
      "  stepsim clocks llama3-70b h100-sxm-80gb --tokens 8192\n"
      "  stepsim clocks llama3-70b h100-sxm-80gb --tokens 128\n"
      "  stepsim clocks llama3-70b h100-sxm-80gb --decode 32,8192 --tensor-parallel 8\n"
      "  stepsim clocks llama3.2-1b h100-sxm-80gb --decode 1,1024 --cuda-graph\n"
      "  stepsim clocks llama3-70b h100-sxm-80gb --data-parallel 64 --link \"400 Gb/s\"");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return clocks(*options); }; });
}

}  // namespace stepsim::cli
