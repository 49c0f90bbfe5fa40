#include "gpu_health/ask/probe_output.hpp"

#include <cstddef>
#include <string>

#include <gtest/gtest.h>

namespace edgegpu::gpu_health {
namespace {

ChildResult ended(const std::string& output, int status = 0, const std::string& errors = {}) {
    return {ChildEnd::ended, status, output, errors, 12.5};
}

const std::string whole_nvml =
    "gpu-probe=1\ncall=dlopen\nnvml-version=13.580.95.05\ncall=nvmlInit_v2\n"
    "driver-version=580.95.05\ngpus=1\ngpu=0\ncall=nvmlDeviceGetHandleByIndex_v2\n"
    "address=0000:65:00.0\nname=NVIDIA H200\nuuid=GPU-1\nrecovery-action=0\nmemory=150754820096\n"
    "persistence=1\nuncorrected-volatile=0\nuncorrected-aggregate=2\nremapped-uncorrectable=1\n"
    "remap-pending=0\nremap-failed=1\ntemperature=41\nmig=1\nmig-device=1g.18gb\n"
    "mig-device=2g.35gb\nfailed=nvmlDeviceGetVirtualizationMode 3\nlicence=Licensed\nend=0\n";

TEST(GpuHealthProbeOutput, ReadsEverythingThatNvmlSaid) {
    const Nvml nvml = read_nvml(ended(whole_nvml));
    EXPECT_EQ(nvml.end, ChildEnd::ended);
    EXPECT_EQ(nvml.code, 0);
    EXPECT_EQ(nvml.text, "");
    EXPECT_EQ(nvml.driver_version, "580.95.05");
    EXPECT_EQ(nvml.library_version, "13.580.95.05");
    ASSERT_EQ(nvml.gpus.size(), 1U);
    NvmlGpu expected;
    expected.address = "0000:65:00.0";
    expected.name = "NVIDIA H200";
    expected.uuid = "GPU-1";
    expected.memory = 150754820096;
    expected.persistence = true;
    expected.mig = true;
    expected.mig_devices = {"1g.18gb", "2g.35gb"};
    expected.recovery_action = 0;
    expected.uncorrected_volatile = 0;
    expected.uncorrected_aggregate = 2;
    expected.remapped_uncorrectable = 1;
    expected.remap_pending = false;
    expected.remap_failed = true;
    expected.temperature = 41;
    expected.licence = "Licensed";
    EXPECT_EQ(nvml.gpus[0], expected);
}

TEST(GpuHealthProbeOutput, CutAnywhereItIsNeverHealthyAndKeepsWhatWasSaid) {
    for (std::size_t length = 0; length < whole_nvml.size(); ++length) {
        const Nvml nvml = read_nvml(ended(whole_nvml.substr(0, length)));
        EXPECT_EQ(nvml.end, ChildEnd::crashed) << length;
        EXPECT_FALSE(nvml.text.empty());
        if (length > whole_nvml.find("name=")) {
            ASSERT_EQ(nvml.gpus.size(), 1U);
            EXPECT_EQ(nvml.gpus[0].address, "0000:65:00.0");
        }
    }
}

TEST(GpuHealthProbeOutput, AFailedInitialisationHasItsCodeAndFunction) {
    const Nvml nvml =
        read_nvml(ended("gpu-probe=1\nnvml-version=13.1\nfailed=nvmlInit_v2 18\nend=1\n", 1));
    EXPECT_EQ(nvml.end, ChildEnd::ended);
    EXPECT_EQ(nvml.code, 18);
    EXPECT_EQ(nvml.function, "nvmlInit_v2");
    EXPECT_EQ(nvml.library_version, "13.1");
    const Nvml missing = read_nvml(
        ended("gpu-probe=1\nfailed=dlopen 12 libnvidia-ml.so.1: no such file\nend=4\n", 4));
    EXPECT_EQ(missing.code, 12);
    EXPECT_EQ(missing.text, "libnvidia-ml.so.1: no such file");
}

TEST(GpuHealthProbeOutput, OnlyCodesOfBrokenGpusCount) {
    const auto code = [](const std::string& failure) {
        const Nvml nvml = read_nvml(
            ended("gpu-probe=1\ngpus=2\ngpu=0\nfailed=" + failure + "\ngpu=1\nname=x\nend=0\n"));
        EXPECT_EQ(nvml.end, ChildEnd::ended);
        EXPECT_EQ(nvml.gpus.at(1).code, 0);
        return nvml.gpus.at(0).code;
    };
    EXPECT_EQ(code("nvmlDeviceGetHandleByIndex_v2 999"), 999);
    EXPECT_EQ(code("nvmlDeviceGetHandleByIndex_v2 4"), 4);
    EXPECT_EQ(code("nvmlDeviceGetTemperature 15"), 15);
    EXPECT_EQ(code("nvmlDeviceGetMemoryInfo 16"), 16);
    EXPECT_EQ(code("nvmlDeviceGetMemoryInfo 14\nfailed=nvmlDeviceGetTemperature 15"), 14);
    for (const char* const harmless : {"3", "13", "999", "4", "2", "25", "26", "10"}) {
        EXPECT_EQ(code(std::string("nvmlDeviceGetMigMode ") + harmless), 0) << harmless;
    }
}

TEST(GpuHealthProbeOutput, AHungOneNamesTheCall) {
    const ChildResult child{ChildEnd::hung, 0, "gpu-probe=1\ncall=nvmlInit_v2\n", "", 45012};
    const Nvml nvml = read_nvml(child);
    EXPECT_EQ(nvml.end, ChildEnd::hung);
    EXPECT_EQ(nvml.function, "nvmlInit_v2");
    EXPECT_EQ(nvml.text, "nvmlInit_v2 did not return in 45.0 s");
    const Nvml silent = read_nvml({ChildEnd::hung, 0, "", "", 1000});
    EXPECT_EQ(silent.text, "gpu-probe did not return in 1.0 s");
}

TEST(GpuHealthProbeOutput, ACrashNamesTheSignal) {
    const Nvml nvml =
        read_nvml({ChildEnd::crashed, 11, "gpu-probe=1\ngpu=0\ncall=nvmlDeviceGetName\n", "", 1});
    EXPECT_EQ(nvml.end, ChildEnd::crashed);
    EXPECT_EQ(nvml.text, "signal 11 ended nvmlDeviceGetName");
    EXPECT_EQ(nvml.gpus.size(), 1U);
}

TEST(GpuHealthProbeOutput, ACodeBeforeACrashIsKept) {
    const Nvml nvml = read_nvml(
        {ChildEnd::crashed, 6, "gpu-probe=1\ncall=nvmlInit_v2\nfailed=nvmlInit_v2 18\n", "", 1});
    EXPECT_EQ(nvml.end, ChildEnd::crashed);
    EXPECT_EQ(nvml.code, 18);
    EXPECT_EQ(nvml.function, "nvmlInit_v2");
    const Workload workload =
        read_workload({ChildEnd::hung, 0,
                       "gpu-probe=1\ngpus=1\ngpu=0\nfailed=cuCtxSynchronize 719 x\n"
                       "call=cuDevicePrimaryCtxRelease_v2\n",
                       "", 1000},
                      "direct");
    EXPECT_EQ(workload.code, 719);
    EXPECT_EQ(workload.text,
              "cuCtxSynchronize failed with 719: x; then "
              "cuDevicePrimaryCtxRelease_v2 did not return in 1.0 s");
}

TEST(GpuHealthProbeOutput, AStatusThatIsNotTheOneThatWasSaidIsNoEnd) {
    EXPECT_EQ(read_nvml(ended(whole_nvml, 1)).end, ChildEnd::crashed);
    EXPECT_EQ(read_nvml({ChildEnd::crashed, 6, whole_nvml, "", 1}).end, ChildEnd::crashed);
}

TEST(GpuHealthProbeOutput, HostileLinesEndTheReading) {
    for (const char* const line : {"gpu=1",
                                   "gpu=-1",
                                   "gpu=0\ngpu=0",
                                   "gpu=99999999999999999999",
                                   "memory=1",
                                   "gpu=0\nmemory=-1",
                                   "gpu=0\nmemory=12x",
                                   "gpu=0\nmig=2",
                                   "gpu=0\nmemory=",
                                   "nonsense",
                                   "",
                                   "unknown=1",
                                   "failed=",
                                   "failed=x",
                                   "failed=x 0",
                                   "failed=x y",
                                   "failed=a;b 3",
                                   "failed=x 3text",
                                   "call=rm -rf /",
                                   "gpu=0\ngpus=1",
                                   "gpu=0\ndriver-version=1",
                                   "gpu=0\ntemperature=99999999999999",
                                   "end=x",
                                   "end="}) {
        const Nvml nvml =
            read_nvml(ended(std::string("gpu-probe=1\n") + line + "\ngpu=0\nname=later\nend=0\n"));
        EXPECT_EQ(nvml.end, ChildEnd::crashed) << line;
        for (const NvmlGpu& gpu : nvml.gpus) {
            EXPECT_NE(gpu.name, "later") << line;
        }
    }
    EXPECT_EQ(read_nvml(ended("gpu-probe=2\nend=0\n")).end, ChildEnd::crashed);
    EXPECT_EQ(read_nvml(ended("end=0\n")).end, ChildEnd::crashed);
    EXPECT_EQ(read_nvml(ended(std::string(1U << 20U, '\0'))).end, ChildEnd::crashed);
}

TEST(GpuHealthProbeOutput, NothingGrowsWithoutLimit) {
    std::string many = "gpu-probe=1\n";
    for (int gpu = 0; gpu < 1000; ++gpu) {
        many += "gpu=" + std::to_string(gpu) + "\n";
    }
    EXPECT_LE(read_nvml(ended(many + "end=0\n")).gpus.size(), 257U);
    std::string instances = "gpu-probe=1\ngpu=0\n";
    for (int index = 0; index < 1000; ++index) {
        instances += "mig-device=1g.5gb\n";
    }
    EXPECT_LE(read_nvml(ended(instances + "end=0\n")).gpus.at(0).mig_devices.size(), 65U);
    const Nvml name =
        read_nvml(ended("gpu-probe=1\ngpu=0\nname=" + std::string(500000, 'x') + "\nend=0\n"));
    EXPECT_EQ(name.gpus.at(0).name.size(), 300U);
}

TEST(GpuHealthProbeOutput, TextsArePrintable) {
    const Nvml nvml =
        read_nvml(ended("gpu-probe=1\ngpu=0\nname=a\x1b[31mb\xff\tc\nuuid=\xe2\x80\xae\nend=0\n"));
    EXPECT_EQ(nvml.gpus.at(0).name, "a?[31mb??c");
    EXPECT_EQ(nvml.gpus.at(0).uuid, "???");
}

TEST(GpuHealthProbeOutput, WithoutAChildThereIsItsReason) {
    const ChildResult child{ChildEnd::missing, 0, "", "/x/gpu-probe: No such file or directory", 0};
    EXPECT_EQ(read_nvml(child).end, ChildEnd::missing);
    EXPECT_EQ(read_nvml(child).text, "/x/gpu-probe: No such file or directory");
    EXPECT_EQ(read_workload(child, "direct").end, ChildEnd::missing);
}

const std::string whole_workload =
    "gpu-probe=1\ncall=dlopen\ncall=cuInit\ngpus=2\ngpu=0\ncall=cuDeviceGet\n"
    "address=0000:65:00.0\nname=NVIDIA H200\ncall=cuLaunchKernel\npassed=50000\ngpu=1\n"
    "address=0000:E5:00.0\npassed=50000\nend=0\n";

TEST(GpuHealthProbeOutput, APassedWorkload) {
    const Workload workload = read_workload(ended(whole_workload), "direct");
    EXPECT_EQ(workload.how, "direct");
    EXPECT_EQ(workload.end, ChildEnd::ended);
    EXPECT_EQ(workload.status, 0);
    EXPECT_EQ(workload.passed, 2U);
    EXPECT_EQ(workload.text, "Test PASSED on 2 GPUs");
}

TEST(GpuHealthProbeOutput, AWorkloadCutAnywhereHasNotPassed) {
    for (std::size_t length = 0; length < whole_workload.size(); ++length) {
        const Workload workload = read_workload(ended(whole_workload.substr(0, length)), "direct");
        EXPECT_EQ(workload.end, ChildEnd::crashed) << length;
        EXPECT_EQ(workload.text.find("PASSED"), std::string::npos);
    }
}

TEST(GpuHealthProbeOutput, AWorkloadsFirstFailureIsItsCause) {
    const Workload workload = read_workload(
        ended("gpu-probe=1\ngpus=2\ngpu=0\naddress=0000:E5:00.0\nfailed=cuLaunchKernel 719 "
              "unspecified launch failure\nfailed=cuDevicePrimaryCtxRelease_v2 719 "
              "unspecified\ngpu=1\npassed=50000\nend=1\n",
              1),
        "direct");
    EXPECT_EQ(workload.status, 1);
    EXPECT_EQ(workload.function, "cuLaunchKernel");
    EXPECT_EQ(workload.code, 719);
    EXPECT_EQ(workload.passed, 1U);
    EXPECT_EQ(workload.text,
              "0000:e5:00.0: cuLaunchKernel failed with 719: unspecified launch failure");
}

TEST(GpuHealthProbeOutput, AWrongResultIsNoFunctionsFailure) {
    const Workload workload = read_workload(
        ended("gpu-probe=1\ngpu=0\naddress=0000:65:00.0\nwrong=element 7 is 1 instead of "
              "2\nfailed=cuDevicePrimaryCtxRelease_v2 1 x\nend=3\n",
              3),
        "direct");
    EXPECT_EQ(workload.status, 3);
    EXPECT_EQ(workload.function, "");
    EXPECT_EQ(workload.code, 0);
    EXPECT_EQ(workload.text, "0000:65:00.0: wrong result: element 7 is 1 instead of 2");
}

TEST(GpuHealthProbeOutput, NoGpuForCudaIsSaid) {
    const Workload workload = read_workload(ended("gpu-probe=1\ngpus=0\nend=1\n", 1), "direct");
    EXPECT_EQ(workload.text, "CUDA sees no GPU");
    EXPECT_EQ(workload.passed, 0U);
}

TEST(GpuHealthProbeOutput, AnEngineThatDoesNotRunItIsToBlame) {
    const Workload podman = read_workload(
        ended("", 125,
              "level=warning msg=\"x\"\nError: setting up CDI devices: unresolvable CDI devices "
              "nvidia.com/gpu=all\n"),
        "podman");
    EXPECT_EQ(podman.end, ChildEnd::ended);
    EXPECT_EQ(podman.function, "podman");
    EXPECT_EQ(podman.code, 0);
    EXPECT_EQ(podman.status, 125);
    EXPECT_EQ(podman.text,
              "Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all");
    EXPECT_EQ(read_workload(ended("", 1), "crio").text, "crictl ended with status 1");
    // A signal as engines tell it.
    const Workload crashed = read_workload(ended("gpu-probe=1\ncall=cuInit\n", 139), "podman");
    EXPECT_EQ(crashed.end, ChildEnd::crashed);
    EXPECT_EQ(crashed.text, "signal 11 ended cuInit");
    const Workload hung = read_workload({ChildEnd::hung, 0, "", "", 2000}, "podman");
    EXPECT_EQ(hung.text, "podman did not return in 2.0 s");
}

}  // namespace
}  // namespace edgegpu::gpu_health
