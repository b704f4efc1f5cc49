# cmake -DROOT=DIRECTORY -P check_sources.cmake
# Fails on a source file of more than 450 lines; on words in the product that do not belong there:
# paths of somebody's machine, marks of unfinished work; and, in the layers that compute times, on
# functions of <cmath> whose last bit differs between machines.

cmake_minimum_required(VERSION 3.22)

set(max_lines 450)
set(forbidden
    "\\.\\./shared" "(^|[^A-Za-z0-9_.])/(work|home|root)/" "subagent"
    "(^|[^A-Za-z])(TODO|FIXME|XXX|HACK)([^A-Za-z]|$)"
    "(^|[^A-Za-z])(not implemented|[Pp]laceholder|[Ss]tub)([^A-Za-z]|$)")

set(time_layers "^(sim|topology|workloads)/.*\\.[ch]pp$")
set(inexact "std::(pow|exp|exp2|expm1|log|log2|log10|log1p|cbrt|hypot|sin|cos|tan|tanh|erf|lgamma|tgamma) *\\(")

set(problems "")
set(product_folders sim topology workloads calibrate scenarios report cli bench docs scripts cmake)

set(files "")
set(product_files "")
foreach(folder IN LISTS product_folders ITEMS tests)
  file(GLOB_RECURSE found RELATIVE "${ROOT}" "${ROOT}/${folder}/*")
  list(APPEND files ${found})
  if(NOT folder STREQUAL "tests")
    list(APPEND product_files ${found})
  endif()
endforeach()
file(GLOB found RELATIVE "${ROOT}" "${ROOT}/*.md" "${ROOT}/CMake*")
list(APPEND product_files ${found})

foreach(file IN LISTS files)
  if(file MATCHES "\\.[ch]pp$")
    file(READ "${ROOT}/${file}" text)
    string(REGEX MATCHALL "\n" newlines "${text}")
    list(LENGTH newlines lines)
    if(lines GREATER max_lines)
      string(APPEND problems "${file}: ${lines} lines, more than ${max_lines}\n")
    endif()
  endif()
  if(file MATCHES "_test\\.cpp$")
    # Catch2 takes a name that begins with a dash for an option: the test would not run.
    file(STRINGS "${ROOT}/${file}" hits REGEX "^TEST_CASE\\(\"-" LIMIT_COUNT 1)
    if(NOT hits STREQUAL "")
      string(APPEND problems "${file}: would not run: ${hits}\n")
    endif()
  endif()
  if(file MATCHES "${time_layers}")
    file(STRINGS "${ROOT}/${file}" hits REGEX "${inexact}" LIMIT_COUNT 1)
    if(NOT hits STREQUAL "")
      string(APPEND problems "${file}: differs between machines: ${hits}\n")
    endif()
  endif()
endforeach()

list(REMOVE_ITEM product_files CMakeUserPresets.json)
foreach(file IN LISTS product_files)
  foreach(pattern IN LISTS forbidden)
    file(STRINGS "${ROOT}/${file}" hits REGEX "${pattern}" LIMIT_COUNT 1)
    if(NOT hits STREQUAL "")
      string(APPEND problems "${file}: ${hits}\n")
    endif()
  endforeach()
endforeach()

if(NOT problems STREQUAL "")
  message(FATAL_ERROR "${problems}")
endif()
list(LENGTH product_files count)
message(STATUS "${count} files checked")
