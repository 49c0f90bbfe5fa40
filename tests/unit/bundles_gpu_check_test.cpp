#include "bundles/checks/gpu_check.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bundles_check_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string gpu_pod(const std::string& limits, const std::string& requests = "",
                    const std::string& kind = "Job", const std::string& name = "a") {
    const std::string resources = "{limits: {" + limits + "}" +
                                  (requests.empty() ? "" : ", requests: {" + requests + "}") + "}";
    return fmt::format(
        "apiVersion: {}/v1\nkind: {}\nmetadata: {{name: {}}}\nspec:\n  template:\n    spec:\n      "
        "containers:\n      - name: main\n        image: x/app:1\n        resources: {}\n",
        kind == "Job" ? "batch" : "apps", kind, name, resources);
}

/// NVIDIA's plugin with these lines in its container.
std::string nvidia_plugin(const std::string& more = "",
                          const std::string& image = "nvcr.io/nvidia/k8s-device-plugin:v0.20.0") {
    return "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: plugin}\nspec:\n  "
           "template:\n"
           "    spec:\n      containers:\n      - name: plugin\n        image: " +
           image + "\n" + more +
           "      volumes:\n      - name: x\n        hostPath: {path: "
           "/var/lib/kubelet/device-plugins}\n";
}

std::string configured_plugin(const std::string& config) {
    std::string text =
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata:\n  config.yaml: |\n"
        "    version: v1\n";
    return text + config + nvidia_plugin("        args: [--config-file=/etc/config.yaml]\n");
}

std::string shared_gpu(const std::string& more, const std::string& how = "timeSlicing") {
    return configured_plugin("    sharing:\n      " + how + ":\n" + more +
                             "        resources: [{name: nvidia.com/gpu, replicas: 4}]\n");
}

std::string gpu_findings(const std::string& text, const ImageFacts& facts) {
    return text_of_findings(check_gpus, text, facts);
}

/// A device with so many GPUs; 0: unknown.
ImageFacts device_with(unsigned gpus, std::vector<std::string> devices = {}) {
    ImageFacts facts = closed_image();
    facts.may_have_driver = true;
    facts.devices = std::move(devices);
    if (gpus > 0) {
        facts.gpus = gpus;
    }
    return facts;
}

TEST(GpuCheck, AmountsThatKubernetesRefuses) {
    const ImageFacts unknown = facts_without_blueprint();
    EXPECT_EQ(
        gpu_findings(gpu_pod("nvidia.com/gpu: 2, cpu: 0.5, memory: 1.5Gi", "cpu: 100m"), unknown),
        "");
    EXPECT_THAT(gpu_findings(gpu_pod("nvidia.com/gpu: \"0.5\""), unknown),
                AllOf(HasSubstr("/home/user/b/a.yaml:10:46: Job a: limits of nvidia.com/gpu is "
                                "\"0.5\": only whole numbers"),
                      HasSubstr("time-slicing")));
    EXPECT_THAT(gpu_findings(gpu_pod("cpu: 1", "x.com/fpga: 1"), unknown),
                HasSubstr("requests x.com/fpga without a limit"));
    EXPECT_THAT(gpu_findings(gpu_pod("x.com/fpga: 2", "x.com/fpga: 1"), unknown),
                HasSubstr("requests 1 of x.com/fpga, and its limit is 2: they must be equal"));
    EXPECT_EQ(gpu_findings(gpu_pod("x.com/fpga: 2", "x.com/fpga: \"2000m\""), unknown), "");
    EXPECT_EQ(
        gpu_findings("apiVersion: x.com/v1\nkind: Farm\nmetadata: {name: a}\nspec: {containers: "
                     "[{resources: {limits: {x.com/gpu: 0.5}}}]}\n",
                     unknown),
        "");
}

TEST(GpuCheck, NoDriver) {
    const std::string pod = gpu_pod("nvidia.com/gpu: 1");
    EXPECT_THAT(gpu_findings(pod + nvidia_plugin(), closed_image()),
                AllOf(HasSubstr("wants nvidia.com/gpu, and the image has no NVIDIA driver"),
                      HasSubstr("add [nvidia]")));
    EXPECT_EQ(gpu_findings(pod, facts_without_blueprint()), "");
    const std::string policy =
        "---\napiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec: {driver: "
        "{enabled: ";
    EXPECT_EQ(gpu_findings(pod + policy + "true}}\n", closed_image()), "");
    EXPECT_THAT(gpu_findings(pod + policy + "false}}\n", closed_image()),
                HasSubstr("no NVIDIA driver"));
}

TEST(GpuCheck, NoPlugin) {
    const std::string pod = gpu_pod("nvidia.com/gpu: 1");
    EXPECT_THAT(gpu_findings(pod, device_with(1)),
                AllOf(HasSubstr("wants nvidia.com/gpu, and nothing on the device offers it"),
                      HasSubstr("\"nvidia-device-plugin\" to [microshift] bundles")));
    EXPECT_EQ(gpu_findings(pod + nvidia_plugin(), device_with(1)), "");
    EXPECT_EQ(gpu_findings(pod + nvidia_plugin("", "x/other-plugin:1"), device_with(1)), "");
    ImageFacts others = device_with(1);
    others.may_have_manifests = true;
    EXPECT_EQ(gpu_findings(pod, others), "");
    for (const char* object : {"apiVersion: nvidia.com/v1\nkind: ClusterPolicy\n",
                               "apiVersion: argoproj.io/v1alpha1\nkind: Application\n",
                               "apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\n"}) {
        EXPECT_EQ(gpu_findings(pod + "---\n" + object + "metadata: {name: x}\n", device_with(1)),
                  "")
            << object;
    }
    const std::string discovery =
        "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: gfd}\nspec: {template: {spec: "
        "{containers: [{image: \"nvcr.io/nvidia/k8s-device-plugin:v0.20.0\"}]}}}\n";
    EXPECT_THAT(gpu_findings(pod + discovery, device_with(1)),
                HasSubstr("nothing on the device offers it"))
        << "GPU feature discovery has the plugin's image";
}

TEST(GpuCheck, MoreThanADeviceHas) {
    const std::string two = gpu_pod("nvidia.com/gpu: 2") + nvidia_plugin();
    EXPECT_THAT(gpu_findings(two, device_with(1)),
                HasSubstr("wants 2 of nvidia.com/gpu, and a device has 1 at most (1 GPU)"));
    EXPECT_EQ(gpu_findings(two, device_with(2)), "");
    EXPECT_EQ(gpu_findings(two, device_with(0)), "");
    EXPECT_EQ(gpu_findings(gpu_pod("nvidia.com/gpu: 4") + shared_gpu(""), device_with(1)), "");
    EXPECT_THAT(gpu_findings(gpu_pod("nvidia.com/gpu: 5") + shared_gpu(""), device_with(1)),
                HasSubstr("a device has 4 at most (1 GPU, shared by 4)"));
}

TEST(GpuCheck, TogetherMoreThanADeviceHas) {
    const std::string one = gpu_pod("nvidia.com/gpu: 1", "", "Deployment", "one");
    const std::string two = gpu_pod("nvidia.com/gpu: 1", "", "StatefulSet", "two");
    const std::string job = gpu_pod("nvidia.com/gpu: 1");
    EXPECT_THAT(gpu_findings(one + "---\n" + two + nvidia_plugin(), device_with(1)),
                HasSubstr("pods that never end want 2 of nvidia.com/gpu together (Deployment one, "
                          "StatefulSet two), and a device has 1 at most"));
    EXPECT_EQ(gpu_findings(one + "---\n" + job + nvidia_plugin(), device_with(1)), "")
        << "jobs end";
    EXPECT_EQ(gpu_findings(one + "---\n" + two + shared_gpu(""), device_with(1)), "");
    const std::string elsewhere = two + "      nodeSelector: {gpu: large}\n";
    EXPECT_EQ(gpu_findings(one + "---\n" + elsewhere + nvidia_plugin(), device_with(1)), "");
    const std::string present = two + "      nodeSelector: {nvidia.com/gpu.present: \"true\"}\n";
    EXPECT_NE(gpu_findings(one + "---\n" + present + nvidia_plugin(), device_with(1)), "");
}

TEST(GpuCheck, SharedResources) {
    const std::string one = gpu_pod("nvidia.com/gpu: 1");
    const std::string renamed = gpu_pod("nvidia.com/gpu.shared: 1");
    EXPECT_EQ(gpu_findings(one + shared_gpu(""), device_with(1)), "");
    EXPECT_THAT(gpu_findings(one + shared_gpu("        renameByDefault: true\n"), device_with(1)),
                HasSubstr("wants nvidia.com/gpu, and the device plugin offers "
                          "nvidia.com/gpu.shared instead"));
    EXPECT_EQ(gpu_findings(renamed + shared_gpu("        renameByDefault: true\n"), device_with(1)),
              "");
    EXPECT_NE(gpu_findings(renamed + shared_gpu(""), device_with(1)), "");
    EXPECT_NE(gpu_findings(renamed + nvidia_plugin(), device_with(0)), "");
    const std::string two = gpu_pod("nvidia.com/gpu: 2");
    EXPECT_EQ(gpu_findings(two + shared_gpu(""), device_with(0)), "");
    EXPECT_THAT(gpu_findings(two + shared_gpu("        failRequestsGreaterThanOne: true\n"),
                             device_with(0)),
                HasSubstr("refuses more than one of a shared resource"));
    EXPECT_NE(gpu_findings(two + shared_gpu("", "mps"), device_with(0)), "") << "always with MPS";
    EXPECT_EQ(gpu_findings(two + shared_gpu("        failRequestsGreaterThanOne: false\n", "mps"),
                           device_with(0)),
              "");
    EXPECT_EQ(
        gpu_findings(one + configured_plugin("    resources: {gpus: [{pattern: A, name: x}]}\n"),
                     device_with(1)),
        "")
        << "names of its own";
}

TEST(GpuCheck, MigProfiles) {
    const std::string pod = gpu_pod("nvidia.com/mig-1g.10gb: 1");
    const std::string mixed = nvidia_plugin("        env: [{name: MIG_STRATEGY, value: mixed}]\n");
    EXPECT_THAT(gpu_findings(pod + mixed, device_with(0, {"10de:20b7"})),
                AllOf(HasSubstr("wants nvidia.com/mig-1g.10gb: NVIDIA A30 (10de:20b7) has 1g.6gb, "
                                "2g.12gb, 4g.24gb"),
                      HasSubstr("ask for a profile that the GPU has")));
    EXPECT_THAT(gpu_findings(pod + mixed, device_with(0, {"10de:1eb8"})),
                AllOf(HasSubstr("has no MIG"), HasSubstr("time-slicing")));
    EXPECT_EQ(gpu_findings(pod + mixed, device_with(0, {"10de:20b7", "10de:2331"})), "")
        << "one of them";
    EXPECT_EQ(gpu_findings(pod + mixed, device_with(0)), "");
    EXPECT_EQ(gpu_findings(pod + mixed, device_with(0, {"10de:fffe"})), "");
    EXPECT_THAT(gpu_findings(pod + nvidia_plugin(), device_with(0, {"10de:2331"})),
                HasSubstr("with the MIG strategy \"mixed\" only, and it is \"none\""));
    const std::string eight = gpu_pod("nvidia.com/mig-1g.10gb: 8") + mixed;
    EXPECT_NE(gpu_findings(eight, device_with(1, {"10de:2331"})), "");
    EXPECT_EQ(gpu_findings(eight, device_with(2, {"10de:2331"})), "");
    const std::string single = nvidia_plugin("        args: [--mig-strategy, single]\n");
    EXPECT_EQ(gpu_findings(gpu_pod("nvidia.com/gpu: 4") + single, device_with(1, {"10de:20b7"})),
              "");
    EXPECT_EQ(
        gpu_findings(gpu_pod("nvidia.com/gpu: 9") +
                         nvidia_plugin("        command: [sh, -c, \"x --mig-strategy=$S\"]\n"),
                     device_with(1)),
        "")
        << "not known";
}

TEST(GpuCheck, InstancesOfTheLayout) {
    const std::string mixed = nvidia_plugin("        env: [{name: MIG_STRATEGY, value: mixed}]\n");
    ImageFacts facts = device_with(1, {"10de:2335"});
    facts.mig = {{"10de:2335", {"3g.71gb", "1g.18gb", "1g.18gb+me"}, {}}};
    EXPECT_EQ(gpu_findings(gpu_pod("nvidia.com/mig-3g.71gb: 1") + mixed, facts), "");
    EXPECT_EQ(gpu_findings(gpu_pod("nvidia.com/mig-1g.18gb.me: 1") + mixed, facts), "");
    EXPECT_THAT(gpu_findings(gpu_pod("nvidia.com/mig-2g.35gb: 1") + mixed, facts),
                HasSubstr("wants nvidia.com/mig-2g.35gb, and [nvidia.mig] makes "
                          "nvidia.com/mig-3g.71gb, nvidia.com/mig-1g.18gb, "
                          "nvidia.com/mig-1g.18gb.me: the pod stays Pending"));
    EXPECT_THAT(gpu_findings(gpu_pod("nvidia.com/mig-3g.71gb: 2") + mixed, facts),
                HasSubstr("a device has 1 at most"));
    EXPECT_THAT(gpu_findings(gpu_pod("nvidia.com/gpu: 1") + mixed, facts),
                AllOf(HasSubstr("wants nvidia.com/gpu, and [nvidia.mig] makes"),
                      HasSubstr("strategy = \"single\"")));
    facts.devices.emplace_back("10de:20b7");
    EXPECT_EQ(gpu_findings(gpu_pod("nvidia.com/gpu: 1") + mixed, facts), "") << "the other card";
    facts.mig.push_back({"", {"1g.6gb"}, {}});
    EXPECT_NE(gpu_findings(gpu_pod("nvidia.com/gpu: 1") + mixed, facts), "") << "divided as well";
    facts.mig.back().profiles.clear();
    EXPECT_EQ(gpu_findings(gpu_pod("nvidia.com/gpu: 1") + mixed, facts), "") << "MIG is off there";
}

TEST(GpuCheck, InstancesThatAreOfferedAsGpus) {
    const std::string single = nvidia_plugin("        args: [--mig-strategy, single]\n");
    ImageFacts facts = device_with(2, {"10de:2335"});
    facts.mig = {{"", {"3g.71gb", "3g.71gb"}, {}}};
    EXPECT_EQ(gpu_findings(gpu_pod("nvidia.com/gpu: 4") + single, facts), "");
    EXPECT_THAT(gpu_findings(gpu_pod("nvidia.com/gpu: 5") + single, facts),
                HasSubstr("a device has 4 at most"));
}

TEST(GpuCheck, RuntimeClasses) {
    const std::string pod =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {runtimeClassName: nvidia, "
        "containers: [{name: a, image: \"x:1\"}]}\n";
    EXPECT_THAT(
        gpu_findings(pod, device_with(1)),
        AllOf(HasSubstr("no bundle defines the RuntimeClass nvidia"), HasSubstr("handler: nvidia"),
              HasSubstr("provided = [\"RuntimeClass nvidia\"]")));
    EXPECT_EQ(gpu_findings(pod, facts_without_blueprint()), "");
    for (const auto& [name, silent] :
         {std::pair("nvidia", true), std::pair("*", true), std::pair("other", false)}) {
        ImageFacts facts = device_with(1);
        facts.provided = {{"RuntimeClass", "", name, {}}};
        EXPECT_EQ(gpu_findings(pod, facts).empty(), silent) << name;
    }
    for (const char* object : {"apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nhandler: nvidia\n",
                               "apiVersion: nvidia.com/v1\nkind: ClusterPolicy\n"}) {
        EXPECT_EQ(
            gpu_findings(pod + "---\n" + object + "metadata: {name: nvidia}\n", device_with(1)),
            "");
    }
}

}  // namespace
}  // namespace edgegpu::test
