#include "topology/imported_box.hpp"

#include "sim/base/document.hpp"
#include "sim/base/error.hpp"
#include "sim/base/file_hash.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace stepsim::topology {

namespace {

constexpr std::size_t largest_file_bytes = 1'000'000;

/// One line of the text, in words.
struct Line {
  int number = 0;
  std::vector<std::string> words;
};

/// The text without the escape codes of terminals (ESC [ … letter).
std::string without_escapes(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      plain += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '[') ++i;
    while (i + 1 < text.size() && !std::isalpha(static_cast<unsigned char>(text[i + 1]))) ++i;
    ++i;
  }
  return plain;
}

std::vector<Line> words_by_line(const std::string& text) {
  std::vector<Line> lines(1);
  lines.back().number = 1;
  bool in_word = false;
  for (const char c : text) {
    if (c == '\n') {
      lines.push_back({lines.back().number + 1, {}});
      in_word = false;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      in_word = false;
    } else {
      if (!in_word) lines.back().words.emplace_back();
      lines.back().words.back() += c;
      in_word = true;
    }
  }
  return lines;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 6 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_gpu(const std::string& word) {
  return word.rfind("GPU", 0) == 0 && is_number(word.substr(3));
}

/// NVLinks of a cell; 0 for other connections; nothing for another word.
std::optional<int> links_of(const std::string& cell) {
  constexpr std::array<const char*, 7> others = {"X", "PIX", "PXB", "PHB", "NODE", "SYS", "SOC"};
  for (const char* other : others) {
    if (cell == other) return 0;
  }
  if (cell.rfind("NV", 0) == 0 && is_number(cell.substr(2))) return std::stoi(cell.substr(2));
  return std::nullopt;
}

Nearness nearness_of(const std::string& cell) {
  if (cell == "PIX" || cell == "X") return Nearness::one_switch;
  if (cell == "PXB") return Nearness::switches;
  if (cell == "PHB") return Nearness::host_bridge;
  return cell == "NODE" ? Nearness::numa_node : Nearness::system;
}

bool is_row(const Line& line) {
  return line.words.size() >= 2 && links_of(line.words[1]).has_value();
}

[[noreturn]] void refuse(const std::string& file, int line, std::string problem,
                         std::string expected) {
  throw InputError(Diagnostic{{file, line, 0}, {}, std::move(problem), std::move(expected), {}});
}

/// «NIC28NIC29» printed without a gap, as its labels.
std::vector<std::string> split_label(const std::string& word) {
  std::vector<std::string> labels;
  std::size_t start = 0;
  for (std::size_t next = word.find("NIC", 1); next != std::string::npos;
       next = word.find("NIC", next + 1)) {
    labels.push_back(word.substr(start, next - start));
    start = next;
  }
  labels.push_back(word.substr(start));
  return labels;
}

/// The matrix: labels of its columns and the cells of its rows.
struct Matrix {
  std::vector<std::string> labels;
  std::map<std::string, std::vector<std::string>> rows;
  std::map<std::string, int> lines;  // where each row stands
};

/// Labels of the header, which may go on over several lines.
std::vector<std::string> read_header(const std::vector<Line>& lines, std::size_t& next,
                                     const std::string& file) {
  while (next < lines.size() &&
         (lines[next].words.empty() || !is_gpu(lines[next].words[0]) || is_row(lines[next]))) {
    if (is_row(lines[next]) && is_gpu(lines[next].words[0])) break;
    ++next;
  }
  if (next == lines.size() || is_row(lines[next])) {
    refuse(file, 0, "holds no matrix", "the output of nvidia-smi topo -m: a line of GPU0 GPU1 …");
  }
  std::vector<std::string> labels;
  bool at_end = false;
  for (; next < lines.size() && !is_row(lines[next]); ++next) {
    for (const std::string& word : lines[next].words) {
      at_end |= word == "CPU" || word == "NUMA" || word == "GPU" || word == "Affinity";
      if (!at_end) labels.push_back(word);
    }
  }
  return labels;
}

std::vector<std::string> cells_of(const Line& line) {
  std::vector<std::string> cells;
  for (std::size_t i = 1; i < line.words.size() && links_of(line.words[i]); ++i) {
    cells.push_back(line.words[i]);
  }
  return cells;
}

/// Glued labels are several columns or one, whichever the rows have.
std::vector<std::string> columns_for(const std::vector<std::string>& labels, std::size_t cells) {
  if (labels.size() == cells) return labels;
  std::vector<std::string> split;
  for (const std::string& label : labels) {
    for (std::string& part : split_label(label)) split.push_back(std::move(part));
  }
  return split;
}

Matrix read_matrix(const std::string& text, const std::string& file) {
  const std::vector<Line> lines = words_by_line(without_escapes(text));
  std::size_t next = 0;
  const std::vector<std::string> labels = read_header(lines, next, file);
  if (next == lines.size()) refuse(file, 0, "has a header and no rows", "a row for each GPU");
  Matrix matrix;
  matrix.labels = columns_for(labels, cells_of(lines[next]).size());
  for (; next < lines.size(); ++next) {
    const Line& line = lines[next];
    if (!is_row(line)) continue;
    const std::string& label = line.words[0];
    if (std::find(matrix.labels.begin(), matrix.labels.end(), label) == matrix.labels.end()) {
      continue;  // the legend: «X = Self» has no label of ours
    }
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != matrix.labels.size()) {
      refuse(file, line.number,
             "the row of " + label + " has " + std::to_string(cells.size()) + " connections",
             std::to_string(matrix.labels.size()) + ", one for each column");
    }
    if (!matrix.rows.emplace(label, cells).second) {
      refuse(file, line.number, label + " has a second row", "one row for each GPU or port");
    }
    matrix.lines[label] = line.number;
  }
  return matrix;
}

/// A cell and its mirror image should say the same.
void note_asymmetry(const Matrix& matrix, Box& box) {
  for (std::size_t i = 0; i < matrix.labels.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto row = matrix.rows.find(matrix.labels[i]);
      const auto mirror = matrix.rows.find(matrix.labels[j]);
      if (row == matrix.rows.end() || mirror == matrix.rows.end()) continue;
      if (row->second[j] == mirror->second[i]) continue;
      box.notes.push_back("line " + std::to_string(matrix.lines.at(row->first)) + ": " +
                          row->first + " to " + mirror->first + " is " + row->second[j] +
                          ", and the other way round " + mirror->second[i]);
    }
  }
}

Box box_of(const Matrix& matrix, const std::string& file) {
  Box box;
  box.file = file;
  box.peers_are_paths = true;
  std::map<std::string, std::size_t> gpu_index;
  for (const std::string& label : matrix.labels) {
    if (!is_gpu(label)) continue;
    if (!gpu_index.emplace(label, gpu_index.size()).second) {
      refuse(file, 0, label + " stands twice in the header", "one column for each GPU");
    }
  }
  box.gpus.resize(gpu_index.size());
  std::map<std::string, BoxPort> ports;
  for (const auto& [label, index] : gpu_index) {
    const auto row = matrix.rows.find(label);
    if (row == matrix.rows.end()) refuse(file, 0, label + " has no row", "a row for each GPU");
    BoxGpu& gpu = box.gpus[index];
    gpu.label = label;
    for (std::size_t column = 0; column < matrix.labels.size(); ++column) {
      const std::string& other = matrix.labels[column];
      const std::string& cell = row->second[column];
      const int links = links_of(cell).value_or(0);
      if (is_gpu(other)) {
        if (links > 0 && other != label) gpu.peers[gpu_index.at(other)] = links;
        continue;
      }
      BoxPort& port = ports.emplace(other, BoxPort{other, {}, Nearness::system}).first->second;
      port.nearest = std::min(port.nearest, nearness_of(cell));
    }
  }
  for (auto& [label, port] : ports) box.ports.push_back(std::move(port));
  note_asymmetry(matrix, box);
  return box;
}

}  // namespace

NodeImport import_topology_matrix(const DataDirectory& data, const std::string& file,
                                  const ImportChoices& choices) {
  const std::string text = read_file(file, largest_file_bytes);
  NodeImport import = node_from_box(data, box_of(read_matrix(text, file), file), choices);
  import.node.hash = content_hash(text);
  return import;
}

}  // namespace stepsim::topology
