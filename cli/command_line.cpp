#include "cli/command_line.hpp"

#include "cli/verbs.hpp"

#include "report/build_info.hpp"
#include "report/text_format.hpp"

#include "sim/base/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <new>

namespace stepsim::cli {

namespace {

// Diagnostics quote input, so they are made safe to print; one that cannot be printed is lost.
void complain(const std::string& text) {
  const std::string line = report::inert(text) + '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void complain(const InputError& error) {
  for (const Diagnostic& diagnostic : error.diagnostics()) {
    const std::string text = diagnostic.to_string();
    complain(diagnostic.where.file.empty() ? "stepsim: " + text : text);
  }
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

const CLI::App& chosen_verb(const CLI::App& app) {
  const CLI::App* verb = &app;
  while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().front();
  return *verb;
}

std::string command_of(const CLI::App& app, const CLI::App& verb) {
  if (&verb == &app) return app.get_name();
  return command_of(app, *verb.get_parent()) + ' ' + verb.get_name();
}

// The first argument of the verb that nothing takes: an option misspelt, or a word too many.
std::string unused_argument(const CLI::App& verb, const std::string& argument) {
  const bool is_option = argument.rfind('-', 0) == 0;
  const std::vector<std::string> verbs = verb_names(verb);
  Diagnostic diagnostic;
  if (is_option) {
    const std::string name = argument.substr(0, argument.find('='));
    diagnostic.problem = fmt::format("there is no option \"{}\"", name);
    diagnostic.suggestion = nearest_choice(name, option_names(verb));
  } else if (!verbs.empty()) {
    diagnostic.problem = fmt::format("there is no verb \"{}\"", argument);
    diagnostic.expected = fmt::format("one of {}", fmt::join(verbs, ", "));
    diagnostic.suggestion = nearest_choice(argument, verbs);
  } else {
    diagnostic.problem = fmt::format("\"{}\" is one argument too many", argument);
  }
  return diagnostic.to_string();
}

ExitCode complain_about_usage(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& verb = chosen_verb(app);
  const std::vector<std::string> unused = app.remaining(true);
  std::string problem = error.what();
  if (!unused.empty()) problem = unused_argument(verb, unused.front());
  complain(fmt::format("stepsim: {}", problem));
  complain(fmt::format("Try \"{} --help\".", command_of(app, verb)));
  return ExitCode::bad_input;
}

void add_verbs(CLI::App& app, Invocation& invocation) {
  add_run(app, invocation);
  add_explain(app, invocation);
  add_memory(app, invocation);
  add_clocks(app, invocation);
  add_roofline(app, invocation);
  add_list(app, invocation);
  add_schema(app, invocation);
  add_import(app, invocation);
  add_calibrate(app, invocation);
  add_help(app, invocation);
  add_validate(app, invocation);
}

std::string version_text() {
  return fmt::format("stepsim {}\nbuild {}", report::version(), report::build());
}

ExitCode parse_and_run(int argc, const char* const* argv) {
  CLI::App app(
      "How long one training step takes on a GPU cluster, what it waits for, and whether it fits.",
      "stepsim");
  app.footer(
      "Examples:\n"
      "  stepsim run scenarios/examples/llama3-70b-fsdp-64xh100.yaml\n"
      "  stepsim clocks llama3-70b h100-sxm-80gb --tokens 8192\n"
      "  stepsim list models\n\n"
      "Exit codes: 0 done, 1 the plan does not fit, 2 bad input or usage, 3 internal error.\n"
      "\"stepsim VERB --help\" says more, with examples.");
  app.require_subcommand(1);
  Invocation invocation;
  app.set_version_flag("--version", version_text());
  add_verbs(app, invocation);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion&) {
    print(version_text() + '\n');
    return ExitCode::done;
  } catch (const CLI::Success&) {  // --help of any verb
    print(app.help());
    return ExitCode::done;
  } catch (const CLI::ParseError& error) {
    return complain_about_usage(app, error);
  }
  return invocation.action();
}

}  // namespace

ExitCode run_command_line(int argc, const char* const* argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a pipe whose reader has gone is a failed write, not a death
  try {
    return parse_and_run(argc, argv);
  } catch (const InputError& error) {
    complain(error);
    return ExitCode::bad_input;
  } catch (const RangeError& error) {
    complain(fmt::format("stepsim: outside what can be simulated: {}", error.what()));
    return ExitCode::bad_input;
  } catch (const std::bad_alloc&) {
    complain("stepsim: not enough memory to simulate this");
    return ExitCode::bad_input;
  } catch (const std::exception& error) {
    complain(fmt::format("stepsim: internal error: {}", error.what()));
    complain(
        "This is a defect of stepsim; please report it with the input and \"stepsim --version\".");
    return ExitCode::internal_error;
  }
}

}  // namespace stepsim::cli
