#pragma once

#include "gpu_health/facts.hpp"
#include "gpu_health/observe/observe.hpp"

/// The steps that `observe` calls, each with the guarantees that it gives.
namespace edgegpu::gpu_health {

/// Facts::functions.
void observe_presence(const Places& places, Facts& facts);
/// LoadedDriver::rivals and companions.
void observe_binding(const Places& places, Facts& facts);
/// Facts::module.
void observe_module(const Places& places, Facts& facts);
/// Facts::trust.
void observe_trust(const Places& places, Facts& facts);
/// The rest of LoadedDriver, and Facts::proc_gpus.
void observe_version(const Places& places, Facts& facts);
/// Facts::firmware: the files of gpu-stack.json, and those that the kernel finds for the version.
void observe_firmware(const Places& places, Facts& facts);
/// Facts::kernel_log, kernel_log_cut.
void observe_kernel_log(const Places& places, Facts& facts);
/// Facts::nodes, selinux.
void observe_nodes(const Places& places, Facts& facts);
/// Facts::libraries.
void observe_library(const Places& places, Facts& facts);
/// Facts::cdi.
void observe_cdi(const Places& places, Facts& facts);

}  // namespace edgegpu::gpu_health
