#include "gpu_health/ask/ask.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

namespace edgegpu::gpu_health {
namespace {

namespace fs = std::filesystem;

/// Variables of this process, restored at the end.
class Variables {
public:
    explicit Variables(const std::map<std::string, std::string>& wanted) {
        for (const auto& [name, value] : wanted) {
            const char* const before = std::getenv(name.c_str());
            before_.emplace_back(name, before == nullptr ? "" : before);
            ::setenv(name.c_str(), value.c_str(), 1);
        }
    }
    ~Variables() {
        for (const auto& [name, value] : before_) {
            if (value.empty()) {
                ::unsetenv(name.c_str());
            } else {
                ::setenv(name.c_str(), value.c_str(), 1);
            }
        }
    }
    Variables(const Variables&) = delete;
    Variables& operator=(const Variables&) = delete;

private:
    std::vector<std::pair<std::string, std::string>> before_;
};

const Probe probe{EDGEGPU_GPU_PROBE};

Settings with_deadline(Step step, unsigned seconds) {
    Settings settings;
    settings.deadlines[std::string(name_of(step))] = seconds;
    return settings;
}

/// What NVML says when the library that stands in for it is told so.
Nvml nvml(const std::string& words, unsigned seconds = 60,
          const std::string& libraries = EDGEGPU_STAND_IN) {
    const Variables variables({{"LD_LIBRARY_PATH", libraries}, {"STAND_IN_NVML", words}});
    return ask_nvml(probe, with_deadline(Step::nvml, seconds));
}

Workload cuda(const std::string& words, unsigned seconds = 60, const Facts& facts = {}) {
    const Variables variables({{"LD_LIBRARY_PATH", EDGEGPU_STAND_IN}, {"STAND_IN_CUDA", words}});
    return run_workload("direct", probe, with_deadline(Step::workload, seconds), facts);
}

TEST(GpuHealthAskNvml, EveryValueArrives) {
    const Nvml said = nvml(
        "gpus=2 mig=1 mig-devices=3 mode=2 licensed=1 recovery=4 volatile=5 aggregate=6 "
        "uncorrectable=7 pending=1 failure=1 persistence=0 memory=42 driver=535.1");
    EXPECT_EQ(said.end, ChildEnd::ended) << said.text;
    EXPECT_EQ(said.code, 0);
    EXPECT_EQ(said.driver_version, "535.1");
    EXPECT_EQ(said.library_version, "13.535.1");
    ASSERT_EQ(said.gpus.size(), 2U);
    const NvmlGpu& gpu = said.gpus[1];
    EXPECT_EQ(gpu.address, "0000:66:00.0");
    EXPECT_EQ(gpu.name, "NVIDIA Stand-in");
    EXPECT_EQ(gpu.uuid, "GPU-00000000-0000-0000-0000-000000000001");
    EXPECT_EQ(gpu.memory, 42U);
    EXPECT_EQ(gpu.persistence, false);
    EXPECT_EQ(gpu.mig, true);
    EXPECT_EQ(gpu.mig_devices, std::vector<std::string>(3, "1g.18gb"));
    EXPECT_EQ(gpu.recovery_action, 4);
    EXPECT_EQ(gpu.uncorrected_volatile, 5U);
    EXPECT_EQ(gpu.uncorrected_aggregate, 6U);
    EXPECT_EQ(gpu.remapped_uncorrectable, 7U);
    EXPECT_EQ(gpu.remap_pending, true);
    EXPECT_EQ(gpu.remap_failed, true);
    EXPECT_EQ(gpu.temperature, 41U);
    EXPECT_EQ(gpu.licence, "Licensed");
    EXPECT_EQ(gpu.code, 0);
}

TEST(GpuHealthAskNvml, EveryCodeOfTheInitialisation) {
    for (const int code : {4, 8, 9, 12, 13, 15, 16, 18, 999}) {
        const Nvml said = nvml("nvmlInit_v2=" + std::to_string(code));
        EXPECT_EQ(said.end, ChildEnd::ended);
        EXPECT_EQ(said.code, code);
        EXPECT_EQ(said.function, "nvmlInit_v2");
        EXPECT_EQ(said.library_version, "13.580.95.05");
    }
}

TEST(GpuHealthAskNvml, AGpuThatIsLostLeavesTheOthers) {
    const Nvml said = nvml("gpus=3 nvmlDeviceGetHandleByIndex_v2:1=15");
    ASSERT_EQ(said.gpus.size(), 3U);
    EXPECT_EQ(said.gpus[0].code, 0);
    EXPECT_EQ(said.gpus[1].code, 15);
    EXPECT_EQ(said.gpus[2].code, 0);
    EXPECT_EQ(said.gpus[2].address, "0000:67:00.0");
    EXPECT_EQ(nvml("nvmlDeviceGetTemperature=15").gpus.at(0).code, 15);
}

TEST(GpuHealthAskNvml, NoLibraryIsNvmls12) {
    const Nvml said = nvml("", 60, "/nowhere");
    EXPECT_EQ(said.end, ChildEnd::ended);
    EXPECT_EQ(said.code, 12);
    EXPECT_EQ(said.function, "dlopen");
    EXPECT_NE(said.text.find("libnvidia-ml.so.1"), std::string::npos) << said.text;
}

TEST(GpuHealthAskNvml, AnOlderLibraryLacksValuesAndIsNoFault) {
    const Nvml said = nvml("mig=1 failure=1", 60, EDGEGPU_STAND_IN "/old");
    EXPECT_EQ(said.end, ChildEnd::ended) << said.text;
    EXPECT_EQ(said.code, 0);
    ASSERT_EQ(said.gpus.size(), 1U);
    EXPECT_EQ(said.gpus[0].code, 0);
    EXPECT_EQ(said.gpus[0].mig, std::nullopt);
    EXPECT_EQ(said.gpus[0].remap_failed, std::nullopt);
    EXPECT_EQ(said.gpus[0].temperature, 41U);
}

TEST(GpuHealthAskNvml, AFunctionThatNeverReturnsIsNamedAndTheRestKept) {
    const Nvml init = nvml("nvmlInit_v2=hang", 1);
    EXPECT_EQ(init.end, ChildEnd::hung);
    EXPECT_EQ(init.function, "nvmlInit_v2");
    const Nvml memory = nvml("gpus=2 nvmlDeviceGetMemoryInfo:1=hang", 1);
    EXPECT_EQ(memory.end, ChildEnd::hung);
    EXPECT_EQ(memory.function, "nvmlDeviceGetMemoryInfo");
    ASSERT_EQ(memory.gpus.size(), 2U);
    EXPECT_TRUE(memory.gpus[0].memory.has_value());
    EXPECT_EQ(memory.gpus[1].address, "0000:66:00.0");
}

TEST(GpuHealthAskNvml, ALibraryThatCrashesOrExitsOrChatters) {
    const Nvml crash = nvml("nvmlDeviceGetCount_v2=crash");
    EXPECT_EQ(crash.end, ChildEnd::crashed);
    EXPECT_EQ(crash.text, "signal " + std::to_string(SIGSEGV) + " ended nvmlDeviceGetCount_v2");
    const Nvml exits = nvml("nvmlDeviceGetCount_v2=exit");
    EXPECT_EQ(exits.end, ChildEnd::crashed);
    EXPECT_EQ(exits.text, "nvmlDeviceGetCount_v2 ended with status 0 before it had finished");
    const Nvml chatter = nvml("nvmlDeviceGetName=chatter");
    EXPECT_EQ(chatter.end, ChildEnd::ended) << chatter.text;
    EXPECT_EQ(chatter.gpus.at(0).temperature, 41U);
}

TEST(GpuHealthAskNvml, WithoutGpuProbeNothingIsKnown) {
    const Nvml said = ask_nvml({"/nowhere/gpu-probe"}, {});
    EXPECT_EQ(said.end, ChildEnd::missing);
    EXPECT_EQ(said.text, "/nowhere/gpu-probe: No such file or directory");
}

TEST(GpuHealthAskWorkload, PassesOnEachGpu) {
    const Workload said = cuda("gpus=3");
    EXPECT_EQ(said.end, ChildEnd::ended);
    EXPECT_EQ(said.status, 0);
    EXPECT_EQ(said.text, "Test PASSED on 3 GPUs");
    EXPECT_EQ(said.passed, 3U);
    EXPECT_EQ(said.how, "direct");
}

TEST(GpuHealthAskWorkload, AWrongSumAnywhereIsNoticed) {
    for (const char* const wrong : {"0", "255", "256", "25000", "49999"}) {
        const Workload said = cuda(std::string("wrong=") + wrong);
        EXPECT_EQ(said.status, 3) << wrong;
        EXPECT_EQ(said.passed, 0U);
        EXPECT_NE(said.text.find(std::string("wrong result: element ") + wrong + " "),
                  std::string::npos)
            << said.text;
    }
    EXPECT_EQ(cuda("wrong=50000").status, 0);
}

TEST(GpuHealthAskWorkload, EveryFunctionThatFailsIsNamed) {
    for (const char* const name :
         {"cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDevicePrimaryCtxRetain",
          "cuCtxSetCurrent", "cuModuleLoadData", "cuModuleGetFunction", "cuMemAlloc_v2",
          "cuMemcpyHtoD_v2", "cuLaunchKernel", "cuCtxSynchronize", "cuMemcpyDtoH_v2"}) {
        const Workload said = cuda(std::string(name) + "=719");
        EXPECT_EQ(said.status, 1) << name;
        EXPECT_EQ(said.function, name);
        EXPECT_EQ(said.code, 719);
        EXPECT_NE(said.text.find("unspecified launch failure"), std::string::npos) << said.text;
    }
}

TEST(GpuHealthAskWorkload, OneGpuThatFailsLeavesTheOthers) {
    const Workload said = cuda("gpus=3 cuDevicePrimaryCtxRetain:1=46");
    EXPECT_EQ(said.status, 1);
    EXPECT_EQ(said.passed, 2U);
    EXPECT_EQ(said.text, "0000:66:00.0: cuDevicePrimaryCtxRetain failed with 46: unknown error");
}

TEST(GpuHealthAskWorkload, ADriverThatTakesNewerPtxAloneIsGivenIt) {
    EXPECT_EQ(cuda("ptx=6.3").status, 0);
    EXPECT_EQ(cuda("ptx=8.0").status, 0);
    const Workload said = cuda("ptx=99.0");
    EXPECT_EQ(said.function, "cuModuleLoadData");
    EXPECT_EQ(said.code, 218);
}

TEST(GpuHealthAskWorkload, HangsCrashesAndNoGpu) {
    const Workload hung = cuda("cuCtxSynchronize=hang", 1);
    EXPECT_EQ(hung.end, ChildEnd::hung);
    EXPECT_EQ(hung.function, "cuCtxSynchronize");
    EXPECT_EQ(cuda("cuInit=crash").end, ChildEnd::crashed);
    EXPECT_EQ(cuda("gpus=0").text, "CUDA sees no GPU");
}

TEST(GpuHealthAskWorkload, NoLibraryIsCudas302) {
    const std::map<std::string, std::string> none{{"LD_LIBRARY_PATH", "/nowhere"},
                                                  {"STAND_IN_CUDA", ""}};
    const Variables variables(none);
    const Workload said = run_workload("direct", probe, with_deadline(Step::workload, 60), {});
    EXPECT_EQ(said.status, 4);
    EXPECT_EQ(said.function, "dlopen");
    EXPECT_EQ(said.code, 302);
    EXPECT_NE(said.text.find("libcuda.so.1"), std::string::npos) << said.text;
}

TEST(GpuHealthAskWorkload, MigWithoutDevicesIsTheReasonForNoDevice) {
    Facts facts;
    facts.nvml.gpus.resize(1);
    facts.nvml.gpus[0].mig = true;
    EXPECT_EQ(cuda("cuInit=100", 60, facts).text,
              "cuInit failed with 100: no CUDA-capable device is detected; MIG is on, and a GPU "
              "has no MIG devices");
    facts.nvml.gpus[0].mig_devices = {"1g.18gb"};
    EXPECT_EQ(cuda("cuInit=100", 60, facts).text,
              "cuInit failed with 100: no CUDA-capable device is detected");
}

TEST(GpuHealthAskWorkload, AnUnknownWayIsNotRun) {
    const Workload said = run_workload("docker", probe, {}, {});
    EXPECT_EQ(said.end, ChildEnd::not_run);
    EXPECT_EQ(said.how, "docker");
    EXPECT_NE(said.text, "");
}

/// Programs of this directory are found before others; each writes its arguments into "calls".
class GpuHealthContainers : public testing::Test {
protected:
    GpuHealthContainers()
        : directory_(fs::path(testing::TempDir()) / ("gpu_health_" + std::to_string(::getpid()))),
          path_({{"PATH", directory_.string() + ":/usr/bin:/bin"},
                 {"LD_LIBRARY_PATH", EDGEGPU_STAND_IN},
                 {"PLACE", directory_.string()}}) {
        fs::create_directories(directory_);
        settings_ = with_deadline(Step::workload, 60);
        probe_ = {EDGEGPU_GPU_PROBE, directory_ / "work"};
    }
    ~GpuHealthContainers() override { fs::remove_all(directory_); }

    void stand_in(const std::string& name, const std::string& script) const {
        const fs::path path = directory_ / name;
        std::ofstream(path) << "#!/bin/sh\necho \"" << name << " $*\" >> $PLACE/calls\n" << script;
        fs::permissions(path, fs::perms(0755));
    }
    [[nodiscard]] std::string read(const std::string& name) const {
        std::ifstream in(directory_ / name);
        std::ostringstream text;
        text << in.rdbuf();
        return text.str();
    }
    [[nodiscard]] Workload run(const std::string& how) const {
        return run_workload(how, probe_, settings_, {});
    }

    fs::path directory_;
    Variables path_;
    Settings settings_;
    Probe probe_;
};

using GpuHealthPodman = GpuHealthContainers;

TEST_F(GpuHealthPodman, TakesTheDevicesOwnUsr) {
    stand_in("podman", "exec $PLACE/work/gpu-probe workload\n");
    const Workload said = run("podman");
    EXPECT_EQ(said.text, "Test PASSED on 1 GPU");
    const std::string calls = read("calls");
    for (const char* const option :
         {" run --rm ", " --network=none ", " --cap-drop=all ", " --device=nvidia.com/gpu=all ",
          " --pull=never ", " --volume=/usr:/usr:O ", "/work/root:O /gpu-probe workload\n"}) {
        EXPECT_NE(calls.find(option), std::string::npos) << option << " in " << calls;
    }
    EXPECT_EQ(calls.find("podman rm"), std::string::npos);
    EXPECT_TRUE(fs::is_directory(directory_ / "work/root/usr"));
}

TEST_F(GpuHealthPodman, TakesAnImageWithoutItsEntryPoint) {
    settings_.workload_image = "registry.example/base:1";
    stand_in("podman", "exec $PLACE/work/gpu-probe workload\n");
    EXPECT_EQ(run("podman").status, 0);
    const std::string calls = read("calls");
    EXPECT_NE(calls.find("/gpu-probe:ro,z --entrypoint=/gpu-probe registry.example/base:1 "
                         "workload\n"),
              std::string::npos)
        << calls;
    EXPECT_EQ(calls.find("--rootfs"), std::string::npos);
    settings_.workload_image = "--privileged";
    EXPECT_EQ(run("podman").end, ChildEnd::not_run);
}

TEST_F(GpuHealthPodman, AContainerThatHangsIsRemovedInTime) {
    settings_ = with_deadline(Step::workload, 2);
    stand_in("podman",
             "[ $1 = run ] || exit 0\n"
             "echo gpu-probe=1; echo call=cuInit; exec sleep 1000\n");
    const Workload said = run("podman");
    EXPECT_EQ(said.end, ChildEnd::hung);
    EXPECT_EQ(said.function, "cuInit");
    EXPECT_EQ(said.text, "cuInit did not return in 1.5 s");
    EXPECT_NE(read("calls").find("podman rm --force --ignore --time=0 edgegpu-gpu-health\n"),
              std::string::npos);
    stand_in("podman", "exec sleep 1000\n");
    EXPECT_NE(run("podman").text.find("; its container could not be removed"), std::string::npos);
}

TEST_F(GpuHealthPodman, ItsOwnFailureIsNotTheGpus) {
    stand_in("podman", "echo 'Error: unresolvable CDI devices nvidia.com/gpu=all' >&2; exit 125\n");
    const Workload said = run("podman");
    EXPECT_EQ(said.function, "podman");
    EXPECT_EQ(said.code, 0);
    EXPECT_EQ(said.status, 125);
    EXPECT_EQ(said.text, "Error: unresolvable CDI devices nvidia.com/gpu=all");
    probe_.path = "/nowhere/gpu-probe";
    EXPECT_EQ(run("podman").end, ChildEnd::not_run);
}

using GpuHealthCrio = GpuHealthContainers;

/// A crictl with one pod and one container, which runs gpu-probe when it is started.
const char* const crictl = R"(shift 2
case $1 in
    pods) cat $PLACE/pods 2>/dev/null ;;
    rmp) shift 2; echo "$@" >> $PLACE/removed; rm -f $PLACE/pods ;;
    runp) cp $2 $PLACE/pod.json; echo pod1 | tee $PLACE/pods ;;
    create) cp $3 $PLACE/container.json; echo container1 ;;
    start) $PLACE/work/gpu-probe workload > $PLACE/log; echo $? > $PLACE/status; echo container1 ;;
    inspect) printf '{"status":{"state":"CONTAINER_EXITED","exitCode":%s}}' $(cat $PLACE/status) ;;
    logs) cat $PLACE/log ;;
    *) echo "unknown $1" >&2; exit 1 ;;
esac
)";

TEST_F(GpuHealthCrio, RunsAPodAndRemovesIt) {
    settings_.workload_image = "registry.example/base:1";
    stand_in("crictl", crictl);
    const Workload said = run("crio");
    EXPECT_EQ(said.text, "Test PASSED on 1 GPU");
    EXPECT_EQ(said.status, 0);
    EXPECT_EQ(read("removed"), "pod1\n");
    const std::string container = read("container.json");
    EXPECT_NE(container.find(R"("cdi.k8s.io/edgegpu": "nvidia.com/gpu=all")"), std::string::npos);
    EXPECT_NE(container.find(R"("image": "registry.example/base:1")"), std::string::npos);
    EXPECT_NE(read("pod.json").find(R"("network": 2)"), std::string::npos);
}

TEST_F(GpuHealthCrio, RemovesWhatWasLeftBehind) {
    settings_.workload_image = "base";
    stand_in("crictl", crictl);
    std::ofstream(directory_ / "pods") << "old1\nold2\n";
    EXPECT_EQ(run("crio").status, 0);
    EXPECT_EQ(read("removed"), "old1 old2\npod1\n");
}

TEST_F(GpuHealthCrio, AContainerThatDoesNotEndIsRemovedInTime) {
    settings_ = with_deadline(Step::workload, 3);
    settings_.workload_image = "base";
    std::string running = crictl;
    running.replace(running.find("CONTAINER_EXITED"), 16, "CONTAINER_RUNNING");
    stand_in("crictl", running);
    const Workload said = run("crio");
    EXPECT_EQ(said.end, ChildEnd::hung);
    EXPECT_EQ(said.text.find("could not be removed"), std::string::npos) << said.text;
    EXPECT_EQ(read("removed"), "pod1\n");
}

TEST_F(GpuHealthCrio, ACrictlThatFailsIsNotTheGpus) {
    EXPECT_EQ(run("crio").text, "CRI-O needs an image: workload_image is not set");
    settings_.workload_image = "base";
    stand_in("crictl", "echo 'FATA[0000] creating container: image not known' >&2; exit 1\n");
    const Workload said = run("crio");
    EXPECT_EQ(said.end, ChildEnd::ended);
    EXPECT_EQ(said.function, "crictl");
    EXPECT_EQ(said.text,
              "FATA[0000] creating container: image not known; its pod could not be removed");
    std::string odd = crictl;
    odd.replace(odd.find("{\"status\""), 9, "[{{{{{{{{");
    stand_in("crictl", odd);
    EXPECT_EQ(run("crio").text, "crictl inspect printed what is no status");
}

TEST_F(GpuHealthCrio, WithoutCrictlItIsMissing) {
    settings_.workload_image = "base";
    ::setenv("PATH", directory_.c_str(), 1);
    EXPECT_EQ(run("crio").end, ChildEnd::missing);
    EXPECT_EQ(run("podman").end, ChildEnd::missing);
}

}  // namespace
}  // namespace edgegpu::gpu_health
