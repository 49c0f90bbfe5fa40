#include "openshift/machine_set.hpp"

#include <filesystem>
#include <initializer_list>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "openshift/machine_architecture.hpp"
#include "support/error.hpp"
#include "support/files/directory.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// As `oc get machineset -o yaml` prints a set of AWS, with what belongs to the object.
constexpr const char* aws_set = R"(apiVersion: machine.openshift.io/v1beta1
kind: MachineSet
metadata:
  annotations:
    machine.openshift.io/GPU: "0"
    machine.openshift.io/vCPU: "4"
  creationTimestamp: "2026-01-01T00:00:00Z"
  generation: 3
  labels:
    machine.openshift.io/cluster-api-cluster: edge-x7k2p
  name: edge-x7k2p-worker-us-east-1a
  namespace: openshift-machine-api
  ownerReferences: [{kind: Other}]
  resourceVersion: "31337"
  uid: 0b54b1a5-8a0f-4f42-a1d8-6f0f5b4c0f3e
spec:
  replicas: 3
  selector:
    matchLabels:
      machine.openshift.io/cluster-api-cluster: edge-x7k2p
      machine.openshift.io/cluster-api-machineset: edge-x7k2p-worker-us-east-1a
  template:
    metadata:
      labels:
        machine.openshift.io/cluster-api-machine-role: worker
        machine.openshift.io/cluster-api-machineset: edge-x7k2p-worker-us-east-1a
    spec:
      lifecycleHooks: {}
      metadata: {}
      providerSpec:
        value:
          ami: {id: ami-0123}
          apiVersion: machine.openshift.io/v1beta1
          credentialsSecret: {name: aws-cloud-credentials}
          instanceType: m6i.xlarge
          kind: AWSMachineProviderConfig
          userDataSecret: {name: worker-user-data}
status:
  replicas: 3
)";

class MachineSetTest : public ::testing::Test {
protected:
    MachineSetTest() {
        request.name = "gpu-us-east-1a";
        request.source = directory / "set.yaml";
        request.instance_type = "g5.2xlarge";
        request.location = {"node.toml", 9, 1};
    }
    /// aws_set with another provider specification.
    [[nodiscard]] static std::string set_of(const std::string& provider) {
        const std::string text = aws_set;
        return text.substr(0, text.find("          ami:")) + provider + "status: {}\n";
    }
    [[nodiscard]] GpuMachineSet made(const std::string& text, const std::string& pool = "gpu") {
        write_file(request.source, text);
        return gpu_machine_set(request, pool, architecture);
    }
    [[nodiscard]] std::string failure(const std::string& text) {
        try {
            static_cast<void>(made(text));
        } catch (const Error& problem) {
            return problem.message() + " | " + problem.hint();
        }
        return "no error";
    }

    TemporaryDirectory directory{std::filesystem::temp_directory_path() / "machine-set"};
    MachineSetRequest request;
    std::string architecture = "x86_64";
};

TEST_F(MachineSetTest, IsACopyWithAnotherNameAndTheGpu) {
    request.replicas = 2;
    const GpuMachineSet set = made(aws_set);
    EXPECT_THAT(set.warnings, IsEmpty());
    EXPECT_EQ(set.object, json::parse(R"({
      "apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet",
      "metadata": {"name": "gpu-us-east-1a", "namespace": "openshift-machine-api",
                   "labels": {"machine.openshift.io/cluster-api-cluster": "edge-x7k2p"}},
      "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {
          "machine.openshift.io/cluster-api-cluster": "edge-x7k2p",
          "machine.openshift.io/cluster-api-machineset": "gpu-us-east-1a"}},
        "template": {
          "metadata": {"labels": {
            "machine.openshift.io/cluster-api-machine-role": "worker",
            "machine.openshift.io/cluster-api-machineset": "gpu-us-east-1a"}},
          "spec": {
            "lifecycleHooks": {},
            "metadata": {"labels": {"node-role.kubernetes.io/gpu": ""}},
            "providerSpec": {"value": {
              "ami": {"id": "ami-0123"}, "apiVersion": "machine.openshift.io/v1beta1",
              "credentialsSecret": {"name": "aws-cloud-credentials"},
              "instanceType": "g5.2xlarge", "kind": "AWSMachineProviderConfig",
              "userDataSecret": {"name": "worker-user-data"}}}}}}})"));
}

TEST_F(MachineSetTest, OfWorkersHasNoLabelOfItsOwn) {
    const json template_spec = made(aws_set, "worker").object["spec"]["template"]["spec"];
    EXPECT_EQ(template_spec["metadata"], json::object());
}

TEST_F(MachineSetTest, GoogleCloudHasMachineTypesOrAccelerators) {
    const std::string text = set_of(
        "          kind: GCPMachineProviderSpec\n          machineType: n1-standard-4\n"
        "          onHostMaintenance: Migrate\n          gpus: [{count: 4, type: other}]\n");
    const auto provider = [&] {
        return made(text).object["spec"]["template"]["spec"]["providerSpec"]["value"];
    };
    request.instance_type = "g2-standard-8";
    EXPECT_EQ(provider(), json::parse(R"({"kind": "GCPMachineProviderSpec",
        "machineType": "g2-standard-8", "onHostMaintenance": "Terminate"})"));
    request.instance_type.clear();
    request.accelerator = "nvidia-tesla-t4";
    request.accelerators = 2;
    EXPECT_EQ(provider(), json::parse(R"({"kind": "GCPMachineProviderSpec",
        "machineType": "n1-standard-4", "onHostMaintenance": "Terminate",
        "gpus": [{"count": 2, "type": "nvidia-tesla-t4"}]})"));
    request.instance_type = "g2-standard-8";
    EXPECT_THAT(failure(text), HasSubstr("\"g2-standard-8\" takes no accelerator"));
    request.accelerator = "nvidia-l4";
    EXPECT_THAT(failure(text), HasSubstr("attaches no accelerator \"nvidia-l4\""));
}

TEST_F(MachineSetTest, AzureHasSizesAndVSphereTemplates) {
    request.instance_type = "Standard_NC4as_T4_v3";
    const GpuMachineSet azure =
        made(set_of("          kind: AzureMachineProviderSpec\n          vmSize: x\n"));
    EXPECT_THAT(azure.warnings, IsEmpty());
    EXPECT_EQ(azure.object.at("/spec/template/spec/providerSpec/value/vmSize"_json_pointer),
              "Standard_NC4as_T4_v3");
    const std::string vsphere = set_of("          kind: VSphereMachineProviderSpec\n");
    EXPECT_THAT(failure(vsphere), HasSubstr("vSphere has no instance_type | the template has"));
    request.instance_type.clear();
    EXPECT_THAT(failure(vsphere), HasSubstr("says no GPU | template = "));
    request.machine_template = "rhcos-a30";
    EXPECT_EQ(
        made(vsphere).object.at("/spec/template/spec/providerSpec/value/template"_json_pointer),
        "rhcos-a30");
    EXPECT_THAT(failure(aws_set), HasSubstr("AWS has no template"));
}

TEST_F(MachineSetTest, WarnsOfTypesWithoutAnNvidiaGpu) {
    for (const char* type : {"p5.48xlarge", "g4dn.xlarge", "gr6.4xlarge", "g6e.xlarge"}) {
        request.instance_type = type;
        EXPECT_THAT(made(aws_set).warnings, IsEmpty()) << type;
    }
    for (const char* type : {"m6i.xlarge", "g4ad.xlarge", "inf2.xlarge"}) {
        request.instance_type = type;
        EXPECT_THAT(
            made(aws_set).warnings,
            ElementsAre(HasSubstr(std::string("AWS is not known to have machines \"") + type)));
    }
    request.instance_type = "Standard_NV4as_v4";
    EXPECT_THAT(made(set_of("          kind: AzureMachineProviderSpec\n")).warnings,
                ElementsAre(HasSubstr("node.toml:9:1: machine set \"gpu-us-east-1a\": Azure")));
}

TEST_F(MachineSetTest, WarnsOfMachinesOfAnotherArchitecture) {
    const std::string gcp =
        set_of("          kind: GCPMachineProviderSpec\n          machineType: n1-standard-4\n");
    const std::string azure = set_of("          kind: AzureMachineProviderSpec\n");
    const auto warnings = [&](const std::string& set, const std::string& type,
                              const std::string& of) {
        request.instance_type = type;
        architecture = of;
        return made(set).warnings;
    };
    EXPECT_THAT(
        warnings(aws_set, "g5g.xlarge", "x86_64"),
        ElementsAre(
            "node.toml:9:1: machine set \"gpu-us-east-1a\": machines \"g5g.xlarge\" of AWS are "
            "aarch64, and the image is for x86_64: none becomes a node"));
    EXPECT_THAT(warnings(aws_set, "g5g.xlarge", "aarch64"), IsEmpty());
    EXPECT_THAT(warnings(aws_set, "g5.xlarge", "aarch64"),
                ElementsAre(HasSubstr("of AWS are x86_64, and the image is for aarch64")));
    EXPECT_THAT(warnings(gcp, "a4x-highgpu-4g", "x86_64"),
                ElementsAre(HasSubstr("of Google Cloud are aarch64")));
    EXPECT_THAT(warnings(azure, "Standard_ND128isr_NDR_GB200_v6", "x86_64"),
                ElementsAre(HasSubstr("of Azure are aarch64")));
    // The existing set's type, to which a GPU is attached.
    request.accelerator = "nvidia-tesla-t4";
    EXPECT_THAT(warnings(gcp, "", "aarch64"),
                ElementsAre(HasSubstr("machines \"n1-standard-4\" of Google Cloud are x86_64")));
    EXPECT_THAT(warnings(gcp, "", "x86_64"), IsEmpty());
}

TEST(MachineArchitecture, IsWhatTheNameSaysWhereThatIsCertain) {
    const auto of = [](const char* kind, std::initializer_list<const char*> types) {
        std::set<std::string> found;
        for (const char* type : types) {
            found.insert(architecture_of_machines(kind, type));
        }
        return found.size() == 1 ? *found.begin() : "different ones";
    };
    const char* aws = "AWSMachineProviderConfig";
    const char* gcp = "GCPMachineProviderSpec";
    const char* azure = "AzureMachineProviderSpec";
    EXPECT_EQ(of(aws, {"g5g.2xlarge", "c7g.large", "c6gn.medium", "m6gd.metal", "t4g.micro",
                       "im4gn.large", "x2gd.large", "hpc7g.4xlarge", "i8ge.large", "a1.large",
                       "p6e-gb200.36xlarge"}),
              "aarch64");
    EXPECT_EQ(of(aws, {"p3.2xlarge", "p4d.24xlarge", "p5en.48xlarge", "p6-b200.48xlarge",
                       "g3s.xlarge", "g4dn.xlarge", "g4ad.xlarge", "g5.xlarge", "g6e.xlarge",
                       "gr6.4xlarge", "m6i.large", "m7a.large", "c7i-flex.large", "x2idn.metal"}),
              "x86_64");
    // Of what comes next nothing is known, nor of what has no letter that says it.
    EXPECT_EQ(of(aws, {"", "g", "g5g", "g9.xlarge", "p7.48xlarge", "trn2.48xlarge", "u-6tb1.metal",
                       "mac2.metal", "m5.large", "Standard_D4ps_v5"}),
              "");
    EXPECT_EQ(of(gcp, {"t2a-standard-4", "c4a-highmem-8-lssd", "n4a-standard-1", "a4x-highgpu-4g"}),
              "aarch64");
    EXPECT_EQ(of(gcp, {"g2-standard-8", "a2-highgpu-1g", "a3-megagpu-8g", "a4-highgpu-8g",
                       "n1-standard-4", "c4-standard-4", "c4d-standard-4", "t2d-standard-1"}),
              "x86_64");
    EXPECT_EQ(of(gcp, {"", "t2a", "custom-4-16384", "a5-highgpu-8g", "x4-megamem-960"}), "");
    EXPECT_EQ(of(azure, {"Standard_D4ps_v5", "Standard_B2pts_v2", "Standard_E4pds_v6",
                         "Standard_D2plds_v5", "Standard_ND128isr_NDR_GB200_v6",
                         "Standard_ND128isr_GB300_v6"}),
              "aarch64");
    EXPECT_EQ(of(azure, {"Standard_NC4as_T4_v3", "Standard_NC40ads_H100_v5", "Standard_NC6s_v3",
                         "Standard_NP10s", "Standard_E4-2ads_v5", "Standard_DS3_v2",
                         "Standard_ND96isr_H100_v5", "Standard_NV36ads_A10_v5"}),
              "x86_64");
    EXPECT_EQ(of(azure, {"", "Standard_", "Standard_ND200isr_VR200_v7", "Basic_A0",
                         "Standard_D11_v2_Promo"}),
              "");
    EXPECT_EQ(of("VSphereMachineProviderSpec", {"g5g.2xlarge"}), "");
}

TEST_F(MachineSetTest, RefusesWhatIsNoMachineSet) {
    EXPECT_THAT(failure(""), HasSubstr("0 documents, not one"));
    EXPECT_THAT(failure(std::string(aws_set) + "---\na: 1\n"), HasSubstr("2 documents"));
    EXPECT_THAT(failure("apiVersion: v1\nkind: List\n"),
                HasSubstr("List of v1 is not a MachineSet"));
    EXPECT_THAT(failure("a: [1\n"), HasSubstr("set.yaml:"));
    EXPECT_THAT(failure("- 1\n"), HasSubstr("an object without kind of no API"));
    const std::string head = "apiVersion: machine.openshift.io/v1beta1\nkind: MachineSet\n";
    EXPECT_THAT(failure(head), HasSubstr("has no spec.selector.matchLabels"));
    EXPECT_THAT(failure(head + "metadata: 1\nspec: {selector: {matchLabels: 1}}\n"),
                HasSubstr("has no spec.selector.matchLabels"));
    const std::string selected = head + "spec:\n  selector: {matchLabels: {}}\n  template:\n";
    EXPECT_THAT(failure(selected + "    metadata: {labels: []}\n"),
                HasSubstr("has no spec.template.metadata.labels"));
    EXPECT_THAT(failure(selected + "    metadata: {labels: {}}\n    spec: {metadata: 1}\n"),
                HasSubstr("has no spec.template.spec.metadata"));
    EXPECT_THAT(failure(selected + "    metadata: {labels: {}}\n    spec: {}\n"),
                HasSubstr("has no spec.template.spec.providerSpec.value"));
    EXPECT_THAT(failure(set_of("          kind: [1]\n")),
                HasSubstr("the provider specification has no kind"));
    EXPECT_THAT(failure(set_of("          kind: OpenstackProviderSpec\n")),
                HasSubstr("not supported: machines of OpenstackProviderSpec"));
}

TEST_F(MachineSetTest, TakesNotThePlaceOfTheSetThatItCopies) {
    request.name = "edge-x7k2p-worker-us-east-1a";
    EXPECT_THAT(
        failure(aws_set),
        HasSubstr("node.toml:9:1: machine set \"edge-x7k2p-worker-us-east-1a\" has the name "
                  "of the one in "));
}

TEST_F(MachineSetTest, RefusesSecrets) {
    const std::string text = set_of(
        "          kind: GCPMachineProviderSpec\n          gcpMetadata:\n"
        "          - {key: password, value: x}\n          password: s3cr3t-Wörd-9\n");
    const std::string refused = failure(text);
    EXPECT_THAT(refused, HasSubstr("set.yaml:35: a password"));
    EXPECT_THAT(refused, ::testing::Not(HasSubstr("s3cr3t")));
}

}  // namespace
}  // namespace edgegpu
