#include "cli/verbs.hpp"

#include "scenarios/import_hugging_face.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace stepsim::cli {

namespace {

struct ImportOptions {
  scenarios::HuggingFaceImport request;
  std::string output;
};

Verdict import_config(ImportOptions options) {
  if (!options.output.empty()) options.request.output = options.output;
  const std::string text = scenarios::import_hugging_face(DataDirectory::find(), options.request);
  if (options.output.empty()) {
    print(text);
  } else {
    write_file(options.output, text);
  }
  return Verdict::done;
}

void add_hugging_face(CLI::App& import, Invocation& invocation) {
  CLI::App* kind = import.add_subcommand("hf", "A Hugging Face config.json");
  const auto options = std::make_shared<ImportOptions>();
  kind->add_option("FILE", options->request.config, "The config.json")->required();
  kind->add_option("--gpus", options->request.gpus, "GPUs to train on")
      ->type_name("N")
      ->capture_default_str();
  kind->add_option("-o,--output", options->output, "Write to this file, not to standard output")
      ->type_name("FILE");
  kind->footer(
      "Prints a scenario file whose comments say what was read, assumed and ignored.\n\n"
      "Examples:\n"
      "  stepsim import hf config.json\n"
      "  stepsim import hf config.json --gpus 64 -o job.yaml && stepsim run job.yaml");
  kind->callback([options, &invocation] {
    invocation.action = [options] { return import_config(*options); };
  });
}

}  // namespace

void add_import(CLI::App& app, Invocation& invocation) {
  CLI::App* verb = app.add_subcommand("import", "Make a scenario file from another tool's file");
  verb->require_subcommand(1);
  verb->footer(
      "Examples:\n"
      "  stepsim import hf config.json --gpus 64 -o job.yaml");
  add_hugging_face(*verb, invocation);
}

}  // namespace stepsim::cli
