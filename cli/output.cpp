#include "cli/output.hpp"

#include "report/result_json.hpp"

#include "sim/base/error.hpp"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace stepsim::cli {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The first of the three variables that is set decides, as setlocale does.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = environment(name);
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(), [](unsigned char character) {
      return static_cast<char>(std::tolower(character));
    });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

[[noreturn]] void throw_unwritable(const std::string& path, int error) {
  throw InputError(Diagnostic{
      {path, 0, 0}, "", std::string("cannot be written: ") + std::strerror(error), "", ""});
}

// Both return whether all of the text was taken; errno says why not.
bool write_all(std::FILE* file, const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Devices, pipes and the names of open files (/dev/stdout is one) are written into, not replaced.
bool is_special(const std::string& path) {
  if (path.rfind("/dev/", 0) == 0 || path.rfind("/proc/", 0) == 0) return true;
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

void write_special(const std::string& path, const std::string& text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND);
  if (descriptor < 0) throw_unwritable(path, errno);
  const bool complete = write_all(descriptor, text);
  const int error = errno;
  if (::close(descriptor) != 0 || !complete) throw_unwritable(path, complete ? errno : error);
}

// mkstemp makes files that only their owner reads; a result gets what the umask allows.
void allow_as_umask(int descriptor) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, static_cast<mode_t>(0666 & ~mask));
}

// What a link names in the end, whether it is there yet or not.
std::filesystem::path link_target(const std::string& path) {
  constexpr int most_links = 40;  // as the kernel follows
  std::filesystem::path target = path;
  std::error_code error;
  for (int i = 0; i < most_links; ++i) {
    if (!std::filesystem::is_symlink(target, error)) return target;
    const std::filesystem::path named = std::filesystem::read_symlink(target, error);
    if (error) return target;
    target = target.parent_path() / named;  // an absolute one replaces what it is appended to
  }
  throw_unwritable(path, ELOOP);
}

// A link stays a link: what it names is replaced.
void write_renamed(const std::string& path, const std::string& text) {
  const std::string file = link_target(path).string();
  std::string temporary = file + ".XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) throw_unwritable(path, errno);
  allow_as_umask(descriptor);
  const bool written = write_all(descriptor, text);
  const int write_error = errno;
  const bool closed = ::close(descriptor) == 0;
  if (written && closed && ::rename(temporary.c_str(), file.c_str()) == 0) return;
  const int error = written ? errno : write_error;
  ::unlink(temporary.c_str());
  throw_unwritable(path, error);
}

}  // namespace

report::Style terminal_style() {
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  const std::string kind = environment("TERM");
  const bool colours = terminal && !kind.empty() && kind != "dumb";
  return {locale_is_utf8(), colours && environment("NO_COLOR").empty()};
}

void print(const std::string& text) {
  if (write_all(stdout, text)) return;
  // Whoever read the pipe has seen enough: `stepsim run … | head` is no failure.
  if (errno == EPIPE) return;
  throw_unwritable("standard output", errno);
}

void write_file(const std::string& path, const std::string& text) {
  if (is_special(path)) {
    write_special(path, text);
  } else {
    write_renamed(path, text);
  }
}

void print(const Forms& forms, Format format) {
  switch (format) {
    case Format::text:
      return print(forms.text(terminal_style()));
    case Format::markdown:
      return print(forms.markdown ? forms.markdown() : report::to_markdown(forms.table()));
    case Format::csv:
      return print(report::to_csv(forms.table()));
    case Format::json:
      return print(report::to_json_text(forms.json()));
  }
}

}  // namespace stepsim::cli
