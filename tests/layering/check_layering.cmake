# cmake -DROOT=DIRECTORY -P check_layering.cmake
# Reads every #include under ROOT and fails on one that reaches up a layer, that is not by path from
# the repository root, or that takes a library into a layer that does without it.

cmake_minimum_required(VERSION 3.22)

# Lowest first; a folder may include itself and those before it.
set(layers sim/base sim topology workloads calibrate scenarios report cli bench)
# All that the engine may see of sim/base.
set(engine_base_headers sim/base/error.hpp sim/base/units.hpp sim/base/wide_integers.hpp)
# A library and the only folders whose files may include it (tests apart).
set(libraries boost yaml-cpp CLI Eigen benchmark)
set(boost_pattern "^topology/.*\\.cpp$")
set(yaml-cpp_pattern "^sim/base/.*\\.cpp$")
set(CLI_pattern "^(cli|calibrate/tools)/")
set(Eigen_pattern "^calibrate/")
set(benchmark_pattern "^bench/")

set(problems "")

# The layer a path belongs to, or an empty string; tests/NAME counts as NAME.
function(layer_of path result)
  string(REGEX REPLACE "^tests/base/" "sim/base/" path "${path}")
  string(REGEX REPLACE "^tests/" "" path "${path}")
  foreach(layer IN LISTS layers)
    string(FIND "${path}" "${layer}/" at)
    if(at EQUAL 0)
      set(${result} "${layer}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} "" PARENT_SCOPE)
endfunction()

function(check_project_include file header)
  layer_of("${file}" from)
  layer_of("${header}" to)
  if(header MATCHES "^tests/")
    if(NOT file MATCHES "^tests/")
      set(problem "${file} includes \"${header}\": tests are not part of the product")
    endif()
  elseif(to STREQUAL "" OR header MATCHES "\\.\\.")
    set(problem "${file} includes \"${header}\": write the path from the repository root")
  elseif(NOT from STREQUAL "")
    list(FIND layers "${from}" from_place)
    list(FIND layers "${to}" to_place)
    if(to_place GREATER from_place)
      set(problem "${file} includes \"${header}\": ${to} is above ${from}")
    elseif(file MATCHES "^sim/" AND from STREQUAL "sim" AND to STREQUAL "sim/base"
           AND NOT header IN_LIST engine_base_headers)
      set(problem "${file} includes \"${header}\": of sim/base the engine may see only ${engine_base_headers}")
    endif()
  endif()
  if(DEFINED problem)
    set(problems "${problems}${problem}\n" PARENT_SCOPE)
  endif()
endfunction()

function(check_library_include file header)
  foreach(library IN LISTS libraries)
    if(header MATCHES "^${library}/" AND NOT file MATCHES "^tests/"
       AND NOT file MATCHES "${${library}_pattern}")
      set(problems "${problems}${file} includes <${header}>: only ${${library}_pattern} may\n"
          PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

file(GLOB_RECURSE files RELATIVE "${ROOT}"
     "${ROOT}/sim/*.[ch]pp" "${ROOT}/topology/*.[ch]pp" "${ROOT}/workloads/*.[ch]pp"
     "${ROOT}/calibrate/*.[ch]pp" "${ROOT}/scenarios/*.[ch]pp" "${ROOT}/report/*.[ch]pp"
     "${ROOT}/cli/*.[ch]pp" "${ROOT}/bench/*.[ch]pp" "${ROOT}/tests/*.[ch]pp")
list(LENGTH files file_count)
if(file_count EQUAL 0)
  message(FATAL_ERROR "no C++ file under «${ROOT}»")
endif()

set(include_count 0)
foreach(file IN LISTS files)
  file(STRINGS "${ROOT}/${file}" includes REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
  foreach(line IN LISTS includes)
    math(EXPR include_count "${include_count} + 1")
    if(line MATCHES "\"([^\"]+)\"")
      check_project_include("${file}" "${CMAKE_MATCH_1}")
    elseif(line MATCHES "<([^>]+)>")
      set(header "${CMAKE_MATCH_1}")
      layer_of("${header}" layer)
      if(NOT layer STREQUAL "")
        check_project_include("${file}" "${header}")
      endif()
      check_library_include("${file}" "${header}")
    endif()
  endforeach()
endforeach()

if(NOT problems STREQUAL "")
  message(FATAL_ERROR "${problems}")
endif()
message(STATUS "${include_count} includes of ${file_count} files keep to the layers")
