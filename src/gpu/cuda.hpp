#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gpu/gpus.hpp"

namespace edgegpu {

/// A version of CUDA as the name of a container image has it.
struct CudaVersion {
    unsigned major = 0;
    /// nothing if the name has only the major version
    std::optional<unsigned> minor;

    /// "12.5", "12"
    [[nodiscard]] std::string text() const;
};

/// The version of CUDA in the name of an image: of NVIDIA's images of CUDA itself
/// ("nvidia/cuda:12.2.2-devel-ubi9"), in a tag ("vectoradd-cuda12.5.0", "2.1.0-cuda11.8-cudnn8",
/// "v0.6-cu121"), and of NVIDIA's monthly images of frameworks ("nvcr.io/nvidia/pytorch:25.02-py3"
/// has CUDA 12). Nothing if the name has none, or two that differ.
[[nodiscard]] std::optional<CudaVersion> cuda_of_image(std::string_view image);

/// The first driver branch that runs programs of this version. From CUDA 11 on, one of the major
/// version's branches runs all of its minor versions. 0 if it is not known.
[[nodiscard]] unsigned first_branch_for(const CudaVersion& cuda);

/// Whether CUDA's forward compatibility packages may work on a GPU: NVIDIA supports them on GPUs
/// for data centers and on some of the RTX series.
[[nodiscard]] bool may_have_forward_compatibility(const Gpu& gpu);

}  // namespace edgegpu
