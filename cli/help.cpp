#include "cli/verbs.hpp"

#include "sim/base/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace stepsim::cli {

namespace {

// What «stepsim WORDS --help» prints.
std::string help_of(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* verb = &app;
  std::string command = app.get_name();
  for (const std::string& word : words) {
    std::vector<std::string> names;
    const CLI::App* next = nullptr;
    for (const CLI::App* child : verb->get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(child->get_name());
      if (child->get_name() == word) next = child;
    }
    if (next == nullptr) {
      throw InputError(
          Diagnostic{{},
                     "",
                     fmt::format("there is no verb \"{}\"", word),
                     names.empty() ? "" : fmt::format("one of {}", fmt::join(names, ", ")),
                     nearest_choice(word, names)});
    }
    verb = next;
    command += ' ' + word;
  }
  // App::help would go on to the verb that was parsed, this one.
  return verb->get_formatter()->make_help(verb, command, CLI::AppFormatMode::Normal);
}

}  // namespace

void add_help(CLI::App& app, Invocation& invocation) {
  CLI::App* verb = app.add_subcommand("help", "What a verb does: the same as VERB --help");
  const auto words = std::make_shared<std::vector<std::string>>();
  verb->add_option("VERB", *words, "A verb, such as run, or import hf")->expected(0, 3);
  verb->footer(
      "Examples:\n"
      "  stepsim help\n"
      "  stepsim help import hf");
  verb->callback([words, &app, &invocation] {
    invocation.action = [words, &app] {
      print(help_of(app, *words));
      return ExitCode::done;
    };
  });
}

}  // namespace stepsim::cli
