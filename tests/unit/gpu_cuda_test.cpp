#include "gpu/cuda.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

std::string cuda_in(std::string_view image) {
    const std::optional<CudaVersion> version = cuda_of_image(image);
    return version ? version->text() : "";
}

TEST(Cuda, InNamesOfImages) {
    EXPECT_EQ(cuda_in("docker.io/nvidia/cuda:12.2.2-devel-ubi9"), "12.2");
    EXPECT_EQ(cuda_in("nvidia/cuda:11.0-base"), "11.0");
    EXPECT_EQ(cuda_in("nvcr.io/nvidia/cuda:13.0.0-base-ubi9@sha256:00"), "13.0");
    EXPECT_EQ(cuda_in("nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0-ubi8"), "12.5");
    EXPECT_EQ(cuda_in("pytorch/pytorch:2.1.0-cuda11.8-cudnn8-runtime"), "11.8");
    EXPECT_EQ(cuda_in("localhost:5000/a/b:v1-cublas-cuda12-core"), "12");
    EXPECT_EQ(cuda_in("quay.io/x/app:v0.6.0-cu121"), "12.1");
    EXPECT_EQ(cuda_in("x/app:1-cuda-12.4"), "12.4");
    EXPECT_EQ(cuda_in("nvcr.io/nvidia/tensorflow:25.02-tf2-py3"), "12");
    EXPECT_EQ(cuda_in("nvcr.io/nvidia/pytorch:22.12-py3"), "11");
    EXPECT_EQ(cuda_in("nvcr.io/nvidia/tritonserver:25.10-py3"), "13");
}

TEST(Cuda, NotInOthers) {
    for (const char* image : {"",
                              "cuda",
                              "nvidia/cuda",
                              "nvidia/cuda:latest",
                              "nvidia/cuda@sha256:00",
                              "localhost:12/cuda",
                              "x/app:cucumber",
                              "x/app:cu12",
                              "x/app:cu1211",
                              "x/app:1.2-acu121",
                              "x/app:barracuda12.2",
                              "x/app:cuda12x",
                              "x/app:cuda1.2",
                              "x/app:cuda99999",
                              "x/app:cuda11.8-cuda12.1",
                              "nvcr.io/nvidia/pytorch:25.08-py3",
                              "nvcr.io/nvidia/pytorch:99.01-py3",
                              "nvcr.io/nvidia/pytorch:25.13-py3",
                              "quay.io/x/pytorch:25.02-py3",
                              "nvcr.io/nvidia/k8s/dcgm-exporter:4.6.0-4.8.3-distroless",
                              "nvcr.io/nvidia/driver:580-5.14.0-rhel9.4"}) {
        EXPECT_EQ(cuda_in(image), "") << image;
    }
}

TEST(Cuda, BranchesThatRunIt) {
    EXPECT_EQ(first_branch_for({11, 8}), 450U);
    EXPECT_EQ(first_branch_for({12, {}}), 525U);
    EXPECT_EQ(first_branch_for({12, 9}), 525U) << "minor versions need no newer branch";
    EXPECT_EQ(first_branch_for({13, 0}), 580U);
    EXPECT_EQ(first_branch_for({10, 2}), 0U);
    EXPECT_EQ(first_branch_for({14, 0}), 0U);
}

TEST(Cuda, ForwardCompatibility) {
    const GpuTable table = shipped_gpus();
    for (const char* id : {"10de:20b7", "10de:27b8", "10de:2bb1"}) {
        ASSERT_NE(table.find(id), nullptr) << id;
        EXPECT_TRUE(may_have_forward_compatibility(*table.find(id))) << id;
    }
    for (const char* id : {"10de:2684", "10de:2b85"}) {
        ASSERT_NE(table.find(id), nullptr) << id;
        EXPECT_FALSE(may_have_forward_compatibility(*table.find(id))) << id;
    }
}

}  // namespace
}  // namespace edgegpu
